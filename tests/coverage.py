#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Says how much of the library the tests reach, layer by layer, and fails below the floors.

usage: coverage.py BUILD [LAYER]

BUILD is a folder built by clang with -fcoverage-mapping -fcoverage-mcdc, in which the tests have
run; its file build.log holds what the compiler said. The branches and the MC/DC conditions are
those that llvm-cov counts. With LAYER, only that layer is shown, with each branch that no test
takes both ways.

A line that holds a branch which no test can reach says so in the source: a comment on it, or in the line
before it, that begins with "uncovered:" and gives the reason. Its branches are left out of the count, and
listed.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys

from layers import LAYERS, layer_of, name_of

# How much of each layer, in percent, the tests must reach: branches, MC/DC. What needs a race is left to tests/explore, where
# counters cannot be: it would take them for memory that threads share.
FLOORS = {"wheel": (99, 95), "scheduler": (95, 0), "purgatory": (96, 0), "calendar": (99, 95), "journal": (90, 0), "monitor": (88, 0), "programs": (87, 0)}
SUFFIX = "-19"


class Tally:
    """Of one layer: places that count, and those of them that tests have reached."""

    def __init__(self):
        self.total = self.reached = 0
        self.missed = []

    def count(self, reached, place):
        self.total += 1
        self.reached += reached
        if not reached:
            self.missed.append(place)

    def percent(self):
        return 100 * self.reached / self.total if self.total else 100

    def __str__(self):
        return f"{self.reached:5}/{self.total:5} {self.percent():6.2f} %"


def programs(build):
    for folder in [build, build / "tests", build / "tests/unit"]:
        for path in sorted(folder.iterdir()):
            if path.is_file() and os.access(path, os.X_OK) and path.suffix != ".so":
                if path.open("rb").read(4) == b"\x7fELF" and ".so." not in path.name:
                    yield str(path)


def build_id(program):
    """By which a profile names the program that wrote it."""
    notes = subprocess.run(["readelf", "-n", program], check=True, capture_output=True, text=True).stdout
    return re.search(r"Build ID: (\w+)", notes)[1]


def profiles(build):
    """By build id."""
    found = collections.defaultdict(list)
    for path in sorted((build / "profiles").glob("*.profraw")):
        shown = subprocess.run(["llvm-profdata" + SUFFIX, "show", "--binary-ids", str(path)],
                               check=True, capture_output=True, text=True).stdout
        found[shown.split()[-1]].append(str(path))
    return found or sys.exit(f"coverage: no profiles in {build}: have the tests run?")


def functions(merged, raw, objects):
    """As llvm-cov knows them by these profiles and programs."""
    subprocess.run(["llvm-profdata" + SUFFIX, "merge", "-sparse", *raw, "-o", merged], check=True)
    first, *others = objects
    words = [word for other in others for word in ("-object", other)]
    run = subprocess.run(["llvm-cov" + SUFFIX, "export", "-instr-profile=" + merged, first, *words],
                         check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(run.stdout)["data"][0]["functions"]


def export(build):
    """The functions by all profiles, and by those of each program: the counters of threads lose updates, and that a
    branch is not taken, llvm-cov only knows as the difference of two. Where all are added up, the few calls of one test
    vanish behind the millions of another."""
    merged = str(build / "all.profdata")
    by_id, objects = profiles(build), list(programs(build))
    yield from functions(merged, [path for paths in by_id.values() for path in paths], objects)
    for program in objects:
        if raw := by_id.get(build_id(program)):
            yield from functions(merged, raw, [program])


def unreachable(path):
    """The lines of a file whose branches do not count, with the reason."""
    reasons = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := re.search(r"/\* uncovered: (.*?)(\*/|$)", line):
            alone = line.strip().startswith("/*")
            reasons[number + alone] = match[1].strip()
    return reasons


def main(build, only):
    root = pathlib.Path(__file__).resolve().parent.parent
    branches = collections.defaultdict(lambda: [False, False])
    decisions = {}
    for function in export(build):
        files = function["filenames"]
        for branch in function["branches"]:
            # A branch out of a macro is counted where the macro is used, as llvm-cov does.
            place = (files[branch[6]], *branch[:4])
            branches[place][0] |= branch[4] > 0
            branches[place][1] |= branch[5] > 0
        for record in function["mcdc_records"]:
            place = (files[0], *record[:4])
            known = decisions.get(place, [False] * len(record[6]))
            decisions[place] = [old or new for old, new in zip(known, record[6])]

    reasons = {}
    left_out = set()
    branch_tally = {layer: Tally() for layer in LAYERS}
    decision_tally = {layer: Tally() for layer in LAYERS}

    def layer_counted(place):
        path = pathlib.Path(place[0])
        if not path.is_relative_to(root):
            return None
        if path not in reasons:
            reasons[path] = unreachable(path)
        if place[1] in reasons[path]:
            left_out.add((str(path.relative_to(root)), place[1], reasons[path][place[1]]))
            return None
        return layer_of(name_of(root, path))

    def text(place, what):
        return f"{pathlib.Path(place[0]).relative_to(root)}:{place[1]}:{place[2]}: {what}"

    for place, (taken, not_taken) in sorted(branches.items()):
        if layer := layer_counted(place):
            branch_tally[layer].count(taken, text(place, "never true"))
            branch_tally[layer].count(not_taken, text(place, "never false"))
    for place, conditions in sorted(decisions.items()):
        if layer := layer_counted(place):
            for number, reached in enumerate(conditions, 1):
                decision_tally[layer].count(
                    reached, text(place, f"condition {number} is not shown to decide"))

    failed = False
    print("                 branches                MC/DC")
    for layer, (branch_floor, decision_floor) in FLOORS.items():
        if only and layer != only:
            continue
        tallies = branch_tally[layer], decision_tally[layer]
        if not tallies[0].total:
            continue
        low = tallies[0].percent() < branch_floor or tallies[1].percent() < decision_floor
        failed |= low
        floors = f"  below the floor: {branch_floor} %, {decision_floor} %" if low else ""
        print(f"{layer:10} {tallies[0]}   {tallies[1]}{floors}")
        if only or low:
            print("\n".join("  " + line for tally in tallies for line in tally.missed))
    if left_out:
        print("left out, since no test can reach them:")
        print("\n".join(f"  {path}:{line}: {reason}" for path, line, reason in sorted(left_out)))
    log = build / "build.log"
    skipped = re.findall(r"(src/\S+?:\d+):\d+: warning: (unsupported MC/DC boolean expression)",
                         log.read_text() if log.exists() else "")
    if skipped:
        print("decisions in which clang cannot count MC/DC (a boolean expression inside another):")
        print("\n".join(f"  {place}" for place in sorted({place for place, _ in skipped})))
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or (len(sys.argv) == 3 and sys.argv[2] not in LAYERS):
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) == 3 else None))
