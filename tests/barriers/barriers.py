#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""barriers.py - ./dev barriers: is each memory order of src/ needed, and does a check fail without it?

  barriers.py --check                    whether a comment says of each atomic operation of src/ why its order is enough
  barriers.py EXPLORE [--quick] [FILE]...
                                         weakens each order in turn, of all files or FILE (base/lock.h), and judges it by
                                         the scenes of tests/explore/, whose program is EXPLORE

The comment `order: REASON [WEAKER: SCENE; ...]` stands before the operation, and holds for those that follow in its function
up to the next one. It names the scene that finds each weaker order, or says why there is none. --quick: only those for
which a scene is named, each by its scene. What has been judged is kept in build/barriers and not judged again, unless the
program has changed.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

from operations import all_comments, all_operations  # noqa: E402

# ---- what the source says


def scenes_of_sources():
    texts = [path.read_text() for path in (ROOT / "tests" / "explore").glob("*_scenes.c")]
    return {name for text in texts for name in re.findall(r"^    \{ \"([a-z-]+)\",", text, re.M)}


def is_finder(said):
    return said.split(",")[0] in scenes_of_sources() or said.startswith(("not played, ", "no, "))


def check(top):
    """What is wrong in the comments below src/ or programs/."""
    wrong, used, there, operations = [], {}, {}, all_operations(ROOT / top)
    for operation in operations:
        where = f"{top}/{operation.file}: {operation.function}(): {operation.text()}"
        if operation.comment is None:
            wrong.append(f"{where}: no comment `order: ...` before it says why")
            continue
        names = {name_of(weakening) for weakening in operation.weakenings()}
        said = operation.comment.found
        there[operation.comment.place] = set(said)
        used.setdefault(operation.comment.place, set()).update(names)
        wrong += [f"{where}: which scene finds it if it is weaker ({name})?" for name in sorted(names - set(said))]
        wrong += [f"{where}: no scene, and no reason: {said[name]}" for name in sorted(names & set(said)) if not is_finder(said[name])]
    for (file, line), names in there.items():
        wrong += [f"{top}/{file}:{line}: no operation can be weaker so: {name}" for name in sorted(names - used[file, line])]
    lines = {(operation.file, operation.comment.place[1]) for operation in operations if operation.comment}
    wrong += [f"{top}/{file}:{line}: a comment on an order, and no atomic operation" for file, line in all_comments(ROOT / top) if (file, line) not in lines]
    return wrong


def name_of(weakening):
    _, weaker, index = weakening
    return f"failed {weaker}" if index == 1 else weaker


# ---- where the operations are in the program

CALL = re.compile(r"^ *([0-9a-f]+):\s.*<__tsan_atomic\w+>$")
NEXT = re.compile(r"^ *([0-9a-f]+):\s")


def calls_in(program):
    """The address behind each call that stands for an atomic operation."""
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], capture_output=True, text=True, check=True).stdout
    is_call = False
    for line in code.split("\n"):
        at = NEXT.match(line)
        if is_call and at:
            yield int(at.group(1), 16)
        is_call = CALL.match(line) is not None and "call" in line


def places_of(program, addresses):
    """The file below src/ and the line of each, or of what was inlined there."""
    asked = "\n".join(hex(address - 1) for address in addresses)
    lines = subprocess.run(["addr2line", "-e", program], input=asked, capture_output=True, text=True, check=True).stdout
    for address, line in zip(addresses, lines.split("\n")):
        found = re.search(r"([^ ]*):(\d+)", line)
        path = os.path.normpath(os.path.join("/", found.group(1))) if found else ""
        if "/src/" in path:
            yield address, path.rsplit("/src/", 1)[1], int(found.group(2))


def offsets_of(program, operations):
    """For each operation the addresses in the program."""
    addresses = sorted(calls_in(program))
    offsets = {id(operation): [] for operation in operations}
    for address, file, line in places_of(program, addresses):
        if "atomic_init" in (ROOT / "src" / file).read_text().split("\n")[line - 1]:
            continue
        fitting = [each for each in operations if each.file == file and each.first_line <= line <= each.last_line]
        if len(fitting) != 1:
            sys.exit(f"barriers: src/{file}:{line} has {len(fitting)} atomic operations in the program, not one")
        offsets[id(fitting[0])].append(address)
    return offsets


# ---- judging


NOT_FOUND = ("no", "not played")


class Explorer:
    def __init__(self, program):
        self.program = program
        listed = self.run("--list").split("\n")
        self.scenes = [line.split()[0] for line in listed if line]
        self.played, self.seconds = {}, {}

    def run(self, *arguments):
        return subprocess.run([self.program, *arguments], capture_output=True, text=True).stdout

    def find_played(self, pool):
        """Which operations each scene plays, where several threads live."""
        def play(scene):
            begin = time.monotonic()
            output = self.run("--operations", "--deviations", "1", scene)
            self.played[scene] = {int(at, 16) for at in re.findall(r"operation at (0x[0-9a-f]+)", output)}
            self.seconds[scene] = time.monotonic() - begin

        list(pool.map(play, self.scenes))

    def finds(self, scene, weakening, offsets, *bounds):
        weak = f"{weakening[0]}:{weakening[1]}:{','.join(map(hex, offsets))}"
        return f"FAILED {scene}" in self.run("--weaken", weak, *bounds, scene)

    def search(self, weakening, offsets, first, only_first):
        """The scene that finds it, "no", or "not played"."""
        scenes = [scene for scene in self.scenes if self.played[scene] & set(offsets)]
        scenes.sort(key=lambda scene: (scene != first, self.seconds[scene]))
        if not scenes:
            return "not played"
        for bounds in ([], ["--full"]) if first in scenes else ():
            if self.finds(first, weakening, offsets, *bounds):
                return first
        for bounds in () if only_first else (["--deviations", "1"], []):
            for scene in scenes:
                if self.finds(scene, weakening, offsets, *bounds):
                    return scene
        return "no"


class Kept:
    """What has been judged already, by this program."""

    def __init__(self, program):
        self.path = ROOT / "build" / "barriers" / hashlib.sha256(Path(program).read_bytes()).hexdigest()[:16]
        self.results = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.lock = threading.Lock()

    def get(self, key):
        return self.results.get(key)

    def put(self, key, value):
        with self.lock:
            self.results[key] = value
            self.path.write_text(json.dumps(self.results))


class Judge:
    def __init__(self, program, is_quick):
        self.explorer, self.kept, self.is_quick = Explorer(program), Kept(program), is_quick

    def judge(self, operation, weakening, offsets, said):
        """The scene that finds it, or why none does."""
        key = " ".join([operation.file, operation.function, operation.text(), str(operation.first_line), *map(str, weakening)])
        found = self.kept.get(key)
        if found is None:
            found = self.explorer.search(weakening, offsets, said, self.is_quick)
            self.kept.put(key, found)
        return found


def main():
    arguments = sys.argv[1:]
    if arguments == ["--check"]:
        wrong = check("src") + check("programs")
        print("\n".join(wrong) or "each atomic operation has its reason")
        sys.exit(bool(wrong))
    is_quick = "--quick" in arguments
    program, *files = [argument for argument in arguments if argument != "--quick"]
    operations = all_operations(ROOT / "src")
    wrong = check("src")
    if wrong:
        sys.exit("\n".join(wrong))
    said = {id(operation): operation.comment.found for operation in operations}
    unknown = set(files) - {operation.file for operation in operations}
    if unknown:
        sys.exit(f"barriers: no such file with an atomic operation below src/: {' '.join(unknown)}")
    offsets = offsets_of(program, operations)
    judge = Judge(program, is_quick)
    begin, different, counts = time.monotonic(), [], {}

    def run(task):
        operation, weakening = task
        expected = said[id(operation)][name_of(weakening)].split(",")[0]
        return expected, judge.judge(operation, weakening, offsets[id(operation)], expected)

    tasks = [
        (operation, weakening)
        for operation in operations
        if not files or operation.file in files
        for weakening in operation.weakenings()
        if not is_quick or said[id(operation)][name_of(weakening)].split(",")[0] in judge.explorer.scenes
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        judge.explorer.find_played(pool)
        for (operation, weakening), (expected, found) in zip(tasks, pool.map(run, tasks)):
            right = found == expected
            what = f"src/{operation.file}: {operation.function}(): {operation.text()}, weaker: {name_of(weakening)}"
            print(f"{what}: {found}{'' if right else f', but its comment says: {expected}'}", flush=True)
            different += [] if right else [what]
            kind = found if found in NOT_FOUND else "found"
            counts[kind] = counts.get(kind, 0) + 1
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())), f"in {time.monotonic() - begin:.0f} s")
    if different:
        sys.exit(f"FAILED: {len(different)} not as the comments say")


main()
