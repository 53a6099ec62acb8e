#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Deletes, one at a time, the calls that tests/mutate/permanent.txt lists, and makes the mistakes of
tests/mutate/planted.txt, in a copy of the source, and fails unless the test named there fails each time.

usage: permanent.py ROOT FOLDER [CALL | WORD]...
       permanent.py ROOT --names

FOLDER holds the copy and its builds, and makes the next run faster. CALLs: only these; a WORD: what has
it in its description or in its test, such as the name of a suite: explore, simulate, unit. --names: only asks whether the source has each call and line that the tables name.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

OPTIONS = ["-Dbuildtype=debugoptimized", "-Dcheck_level=1", "-Dexamples=false"]
BUILDS = {"plain": [], "yield": ["-Dyield_points=true"]}
PARALLEL = 8  # most tests that miss a wake-up only wait for it
UNCHANGED_S = 1800  # for a test in the unchanged source, on a loaded machine

only_names = sys.argv[2] == "--names"
root, folder = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
chosen = sys.argv[3:]
source = root if only_names else folder / "source"


def fail(text):
    sys.exit(f"permanent.py: {text}")


def copy_source():
    """Writes only what has changed, so that only that is compiled again."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=root, check=True, capture_output=True).stdout
    names = {name for name in os.fsdecode(listed).split("\0") if (root / name).is_file()}
    for old in [path for path in source.rglob("*") if path.is_file()]:
        if str(old.relative_to(source)) not in names:
            old.unlink()
    for name in names:
        copy = source / name
        if not copy.exists() or copy.read_bytes() != (root / name).read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, copy)
            os.utime(copy)


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


class Mutant:
    limit_s = None  # a test that takes longer hangs, which counts as a failure

    def __init__(self, kind, path, span, new, what, test):
        self.kind, self.path, self.new, self.test = kind, path, new, test
        self.begin, self.end = span
        line = path.read_text().count("\n", 0, self.begin) + 1
        self.name = f"{path.relative_to(source)}:{line}: {what}"

    def make(self, number):
        """Builds the program, and keeps a copy of it under a name of its own."""
        text = self.path.read_text()
        try:
            self.path.write_text(text[:self.begin] + self.new + text[self.end:])
            program = build(self.kind, self.test[0])
        finally:
            self.path.write_text(text)
        self.program = folder / f"mutant-{number}"
        shutil.copy2(program, self.program)

    def start(self):
        self.started = time.monotonic()
        self.run = start(self.program, self.test[1:])

    def seconds(self):
        return time.monotonic() - self.started

    def is_over(self):
        if self.run.poll() is None and self.seconds() > self.limit_s:
            self.run.kill()
            self.run.wait()
        return self.run.poll() is not None


def start(program, arguments):
    return subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


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
    found = [Mutant(kind, path, match.span("call"), "", f"{match['name']}() deleted", test) for path in sorted(source.glob(files))
             for match in pattern.finditer(path.read_text())]
    if not found:
        fail(f"no call of {call} in {files}: correct tests/mutate/permanent.txt")
    return found


def read_planted():
    above = {}
    for part in (root / "tests/mutate/planted.txt").read_text().split("\n\n"):
        lines = [line.split(None, 1) for line in part.splitlines() if line and not line.startswith("#")]
        if lines:
            row = {**above, **dict(lines)}
            above = {"FILES": row["FILES"], "TEST": row["TEST"]}
            if not chosen or any(word in row["WHAT"] or word in row["TEST"] for word in chosen):
                yield row


def find_planted(row):
    places = [(path, path.read_text().find(row["OLD"])) for path in sorted(source.glob(row["FILES"]))
              if row["OLD"] in path.read_text()]
    if len(places) != 1 or places[0][0].read_text().count(row["OLD"]) != 1:
        fail(f"not once in {row['FILES']}: {row['OLD']}: correct tests/mutate/planted.txt")
    path, begin = places[0]
    return Mutant(row.get("BUILD", "plain"), path, (begin, begin + len(row["OLD"])), row["NEW"], row["WHAT"], row["TEST"].split())


def check_unchanged(mutants):
    """A test that always fails would prove nothing. Measures what each mutant may take."""
    seconds = {}
    for mutant in mutants:
        test = (mutant.kind, *mutant.test)
        if test not in seconds:
            started = time.monotonic()
            try:
                status = start(build(mutant.kind, mutant.test[0]), mutant.test[1:]).wait(UNCHANGED_S)
            except subprocess.TimeoutExpired:
                status = "a time-out"
            if status != 0:
                fail(f"{' '.join(mutant.test)} fails without any change: {status}")
            seconds[test] = time.monotonic() - started
        mutant.limit_s = 10 + 10 * seconds[test]


def report(mutant):
    caught = mutant.run.returncode != 0
    print(f"{'caught' if caught else 'SURVIVED'}  {mutant.name}, "
          f"{' '.join(mutant.test)} ({mutant.seconds():.1f} s)", flush=True)
    return caught


def try_all(mutants):
    running, caught = [], 0
    try:
        for number, mutant in enumerate(mutants):
            mutant.make(number)
            mutant.start()
            running.append(mutant)
            while len(running) == PARALLEL or running and number + 1 == len(mutants):
                time.sleep(0.05)
                for over in [one for one in running if one.is_over()]:
                    running.remove(over)
                    caught += report(over)
    finally:
        for mutant in running:
            mutant.run.kill()
    return caught


def main():
    if not only_names:
        folder.mkdir(parents=True, exist_ok=True)
        copy_source()
    rows, planted = list(read_table()), list(read_planted())
    if not rows and not planted:
        fail(f"no such call or mistake: {' '.join(chosen)}")
    mutants = [mutant for row in rows for mutant in find_mutants(*row)] + [find_planted(row) for row in planted]
    if only_names:
        return 0
    check_unchanged(mutants)
    caught = try_all(mutants)
    print(f"{caught} of {len(mutants)} permanent mutants caught")
    return 0 if caught == len(mutants) else 1


sys.exit(main())
