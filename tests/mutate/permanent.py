#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Deletes, one at a time, the calls that tests/mutate/permanent.txt lists, and makes the mistakes of
tests/mutate/planted.txt, in a copy of the source, and fails unless the test named there fails each time.

usage: permanent.py ROOT FOLDER [CALL | WORD]...
       permanent.py ROOT --names

FOLDER holds the copy and its builds, and makes the next run faster. CALLs: only these; a WORD: what has
it in its description or in its test, such as the name of a suite: explore, simulate, unit. --names: only asks whether the source has each call and line that the tables name.
"""
import collections
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import mutate  # noqa: E402
import planted  # noqa: E402

OPTIONS = ["-Dbuildtype=debugoptimized", "-Dcheck_level=1", "-Dexamples=false"]
BUILDS = {"plain": [], "yield": ["-Dyield_points=true"]}
PARALLEL = 8  # most tests that miss a wake-up only wait for it
UNCHANGED_S = 1800  # for a test in the unchanged source, on a loaded machine

only_names = sys.argv[2] == "--names"
root, folder = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
chosen = sys.argv[3:]
source = root if only_names else folder / "source"

# In `build`, `old` at `begin` of the file becomes `new`; the program of `test` must fail then.
Mutant = collections.namedtuple("Mutant", "build path begin old new name test")


def mutant_at(kind, path, begin, old, new, what, test):
    line = path.read_text().count("\n", 0, begin) + 1
    return Mutant(kind, path, begin, old, new, f"{path.relative_to(source)}:{line}: {what}", test)


def fail(text):
    sys.exit(f"permanent.py: {text}")


def build(kind, program):
    """Returns the path of the program."""
    place = folder / kind
    if not (place / "build.ninja").exists():
        subprocess.run(["meson", "setup", place, source, *OPTIONS, *BUILDS[kind]], check=True,
                       stdout=subprocess.DEVNULL)
    done = subprocess.run(["ninja", "-C", place, "-j2", "--quiet", f"tests/{program}"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        fail(f"cannot build {program}\n{done.stdout}")
    return place / "tests" / program


def build_mutant(number, mutant):
    """Returns the path of a copy of the program, with a name of its own."""
    text = mutant.path.read_text()
    try:
        mutant.path.write_text(text[:mutant.begin] + mutant.new + text[mutant.begin + len(mutant.old):])
        return shutil.copy2(build(mutant.build, mutant.test[0]), folder / f"mutant-{number}")
    finally:
        mutant.path.write_text(text)


def run(program, arguments, limit_s):
    """Whether it passes, and the seconds. One that takes longer hangs, which counts as a failure."""
    started = time.monotonic()
    try:
        passes = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, timeout=limit_s, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        passes = False
    return passes, time.monotonic() - started


def read_table():
    for line in (root / "tests/mutate/permanent.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            kind, files, call, *test = line.split()
            if not chosen or call in chosen or any(word in " ".join(test) for word in chosen):
                yield kind, files, call, test


def find_mutants(kind, files, call, test):
    """A call that is a statement: only white space, `)` or `else` are before it in its line."""
    pattern = re.compile(rf"^[ \t]+(?:.*\)|else)?[ \t]*(?P<call>(?P<name>{call})\([^;{{}}]*\));",
                         re.MULTILINE)
    found = [mutant_at(kind, path, match.start("call"), match["call"], "", f"{match['name']}() deleted", test)
             for path in sorted(source.glob(files)) for match in pattern.finditer(path.read_text())]
    if not found:
        fail(f"no call of {call} in {files}: correct tests/mutate/permanent.txt")
    return found


def find_planted(row):
    places = [(path, text) for path in sorted(source.glob(row["FILES"])) if row["OLD"] in (text := path.read_text())]
    if len(places) != 1 or places[0][1].count(row["OLD"]) != 1:
        fail(f"not once in {row['FILES']}: {row['OLD']}: correct tests/mutate/planted.txt")
    path, text = places[0]
    return mutant_at(row.get("BUILD", "plain"), path, text.find(row["OLD"]), row["OLD"], row["NEW"], row["WHAT"], row["TEST"].split())


def seconds_unchanged(mutants):
    """By test. One that always fails would prove nothing."""
    seconds = {}
    for kind, test in {(mutant.build, tuple(mutant.test)) for mutant in mutants}:
        passes, seconds[kind, test] = run(build(kind, test[0]), test[1:], UNCHANGED_S)
        if not passes:
            fail(f"{' '.join(test)} fails without any change")
    return seconds


def is_caught(mutant, program, limit_s):
    passes, seconds = run(program, mutant.test[1:], limit_s)
    print(f"{'SURVIVED' if passes else 'caught'}  {mutant.name}, {' '.join(mutant.test)} ({seconds:.1f} s)", flush=True)
    return not passes


def main():
    if not only_names:
        mutate.copy_project(root, source)
    rows = list(read_table())
    mistakes = [row for row in planted.read(root / "tests/mutate/planted.txt")
                if not chosen or any(word in row["WHAT"] or word in row["TEST"] for word in chosen)]
    if not rows and not mistakes:
        fail(f"no such call or mistake: {' '.join(chosen)}")
    mutants = [mutant for row in rows for mutant in find_mutants(*row)] + [find_planted(row) for row in mistakes]
    if only_names:
        return 0
    seconds = seconds_unchanged(mutants)
    with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
        runs = [pool.submit(is_caught, mutant, build_mutant(number, mutant),
                            10 + 10 * seconds[mutant.build, tuple(mutant.test)]) for number, mutant in enumerate(mutants)]
        caught = sum(one.result() for one in runs)
    print(f"{caught} of {len(mutants)} permanent mutants caught")
    return 0 if caught == len(mutants) else 1


sys.exit(main())
