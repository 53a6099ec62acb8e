#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks the library in many small ways, one at a time, and says which of them no test notices.

usage: mutate.py [LAYER]... [--seed N] [--count N] [--jobs N] [--survivors]

A mutant is a copy of the source with one thing changed: a relation, a constant, a missing statement
(operators.py has the list). COUNT of them (40) are chosen in each LAYER (wheel, scheduler, purgatory,
calendar, journal, monitor, programs; all) by the seed, and the layer's own tests run until one fails. Mutants that do not compile, or
of which the compiler makes the same objects, do not count. The score is how many are caught of those
that are left; below 95 % the exit status is 1.

What was tried is kept in build/mutate/, so that an interrupted run goes on where it was; a change of the
sources or of the tests starts it anew. With --survivors only those run again that no test noticed, and
the others count as they were.

A mutant that behaves as the original does is declared in equivalent.txt, with the reason; at most 5 % may be.
The mutants that must be caught for ever are in permanent.py.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from layers import LAYERS, layer_of, name_of, path_of  # noqa: E402
import operators  # noqa: E402

WANTED = 95  # percent of the mutants of each layer
DECLARED_MAX = 5  # percent of them that may be declared equivalent
FOLDER = ROOT / "build/mutate"
PLAIN = ["-Dcalendar=enabled", "-Djournal=enabled", "-Dmonitor=enabled", "-Dtop=enabled", "-Dbuildtype=plain", "-Doptimization=2", "-Dcheck_level=1", "-Db_ndebug=false"]
TSAN = [*PLAIN, "-Db_sanitize=thread"]


def project_files(root):
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=root, check=True,
                            capture_output=True).stdout.decode()
    return [name for name in listed.split("\0") if name and (root / name).is_file()]


def copy_project(root, tree):
    """Writes only what has changed, so that only that is compiled again."""
    wanted = set(project_files(root))
    for path in [path for path in tree.rglob("*") if path.is_file()]:
        if str(path.relative_to(tree)) not in wanted:
            path.unlink()
    for name in wanted:
        target = tree / name
        if not target.exists() or target.read_bytes() != (root / name).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, target)


def digest_of_project():
    state = hashlib.sha256()
    for name in sorted(project_files(ROOT)):
        if re.match(r"src/|programs/|include/|tests/|meson", name) and not name.startswith("tests/mutate/"):
            state.update(name.encode() + b"\0" + (ROOT / name).read_bytes())
    return state.hexdigest()


class Unfit(Exception):
    """The unchanged source does not build, or fails a test: nothing can be said of mutants."""


class Test:
    """A program of the layer's tests, in a worker's build folder."""

    def __init__(self, description, build, files):
        self.name = description["name"]
        self.command = list(description["cmd"])
        if self.name.startswith("stress_"):
            self.command[-1] = "1"  # second
        if "--steps" in self.command:
            self.command[-1] = str(min(int(self.command[-1]), 300000))
        self.environment = description["env"] if isinstance(description["env"], dict) else {}
        # Programs that are arguments: relative to the folder of the build.
        self.command = [str(build / word) if word.startswith(("./", "tests/")) else word for word in self.command]
        self.targets = [files[target] for target in description["depends"]]
        self.of_threads = self.name.endswith("_threads") or any(
            suite.endswith((":threads", ":stress")) for suite in description["suite"])
        self.seconds = None

    def run(self, timeout, tsan):
        """None when it passes; otherwise how it failed."""
        environment = {**os.environ, **self.environment,
                       "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1", "MALLOC_PERTURB_": "85"}
        wrapper = ["setarch", "-R"] if tsan else []
        process = subprocess.Popen(wrapper + self.command, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            status = process.wait(timeout)
            return None if status in (0, 77) else f"status {status}"
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


class Build:
    """One way in which a worker builds its copy."""

    def __init__(self, worker, name, options):
        self.folder = worker.folder / name
        self.tsan = name == "tsan"
        if not (self.folder / "build.ninja").exists():
            subprocess.run(["meson", "setup", str(self.folder), str(worker.tree), *options,
                            "-Dexamples=false"], check=True, stdout=subprocess.DEVNULL)
        self.tests = []
        self.objects = []  # those of the project that the tests are made of
        self.intact = {}

    def introspect(self, what):
        return json.loads(subprocess.run(["meson", "introspect", what, str(self.folder)], check=True,
                                         capture_output=True, text=True).stdout)

    def prepare(self, pattern, only_threads):
        self.make(["build.ninja"])  # the list of tests may have changed
        files = {target["id"]: os.path.relpath(target["filename"][0], self.folder)
                 for target in self.introspect("--targets")}
        self.tests = [test for test in (Test(one, self.folder, files) for one in self.introspect("--tests"))
                      if re.fullmatch(pattern, test.name) and (test.of_threads or not only_threads)]
        if not self.tests:
            return
        targets = [target for test in self.tests for target in test.targets]
        if not self.make(targets):
            raise Unfit(f"{self.folder} does not build:\n{self.complaint}")
        inputs = subprocess.run(["ninja", "-C", str(self.folder), "-t", "inputs", *targets], check=True,
                                capture_output=True, text=True).stdout.splitlines()
        self.objects = sorted({name for name in inputs if name.endswith(".o") and not name.startswith("tests/")})
        self.intact = self.read_objects()
        for test in self.tests:
            started = time.monotonic()
            failure = test.run(600, self.tsan)
            test.seconds = time.monotonic() - started
            if failure:
                raise Unfit(f"the test {test.name} fails in the unchanged source: {failure}")

    def make(self, targets):
        run = subprocess.run(["ninja", "-C", str(self.folder), "--quiet", *targets],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.complaint = run.stdout[-2000:]
        return run.returncode == 0

    def read_objects(self):
        return {name: hashlib.sha256((self.folder / name).read_bytes()).digest() for name in self.objects}

    def first_failure(self, order):
        for test in sorted(self.tests, key=order):
            if not self.make(test.targets):
                return f"{test.name} (not built)"
            # A test that hangs is caught; one that is merely starved by a loaded machine is not.
            failure = test.run(10 + 10 * test.seconds, self.tsan)
            if failure:
                return f"{'tsan ' if self.tsan else ''}{test.name} ({failure})"
        return None


class Worker:
    """A copy of the project, in which one mutant at a time lives."""

    def __init__(self, number):
        self.folder = FOLDER / f"worker-{number}"
        self.tree = self.folder / "tree"
        copy_project(ROOT, self.tree)
        self.plain = Build(self, "plain", PLAIN)
        self.tsan = Build(self, "tsan", TSAN)

    def prepare(self, layer):
        self.plain.prepare(LAYERS[layer][1], only_threads=False)
        self.tsan.prepare(LAYERS[layer][1], only_threads=True)

    def attempt(self, mutant, kills):
        """What becomes of a mutant: (outcome, detail)."""
        path = path_of(self.tree, mutant.path)
        intact = path.read_text()
        lines = intact.splitlines(keepends=True)
        for number, text in mutant.lines:
            lines[number - 1] = text + "\n"
        path.write_text("".join(lines))
        try:
            if not self.plain.make(self.plain.objects):
                return "not compiled", ""
            if self.plain.read_objects() == self.plain.intact:
                return "same objects", ""

            def order(test):
                # Quick ones first, and those that have caught mutants of the file: a slow one that
                # caught some may take minutes to find out that the next one hangs.
                return test.seconds / (1 + kills[mutant.path, test.name])
            builds = [self.plain]
            if mutant.operator in operators.OF_THREADS and self.tsan.tests:
                builds = [self.tsan, self.plain]
            for build in builds:
                if failure := build.first_failure(order):
                    kills[mutant.path, failure.split(" (")[0].removeprefix("tsan ")] += 1
                    return "caught", failure
            return "survived", ""
        finally:
            path.write_text(intact)


def sampled(layer, seed):
    """All mutants of a layer, in the order in which they are tried."""
    by_operator = collections.defaultdict(list)
    for path in sorted(path for top in ("src", "programs") for kind in ("*.[ch]", "*.cc") for path in (ROOT / top).rglob(kind)):
        name = name_of(ROOT, path)
        if layer_of(name) == layer:
            for mutant in operators.Source(name, path.read_text()).mutants():
                by_operator[mutant.operator].append(mutant)
    # By hashes, not shuffled: a change of one line leaves the rest of the sample as it is.
    for mutants in by_operator.values():
        mutants.sort(key=lambda one: hashlib.sha256(f"{seed} {one.name()}".encode()).digest())
    taken = collections.Counter()
    while any(by_operator.values()):
        operator = max((one for one in by_operator if by_operator[one]),
                       key=lambda one: (operators.SHARES[one] / (taken[one] + 1), one))
        taken[operator] += 1
        yield by_operator[operator].pop()


def declared():
    reasons = {}
    path = HERE / "equivalent.txt"
    for line in path.read_text().splitlines() if path.exists() else []:
        if line and not line.startswith("#"):
            key, separator, reason = line.rpartition(" # ")
            if not separator:
                sys.exit(f"mutate: equivalent.txt: no reason: {line}")
            reasons[key] = reason
    return reasons


class Run:
    """The mutants of one layer."""

    def __init__(self, layer, arguments, digest):
        self.layer = layer
        self.count = arguments.count
        self.file = FOLDER / f"{layer}-{arguments.seed}.json"
        self.seed = arguments.seed
        kept = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.outcomes = kept.get("outcomes", {})
        if arguments.survivors:
            self.outcomes = {key: one for key, one in self.outcomes.items() if one[0] != "survived"}
        elif kept.get("digest") != digest:
            self.outcomes = {}
        self.digest = digest
        self.equivalent = declared()
        self.lock = threading.Lock()
        self.error = None
        self.tried = []  # (mutant, outcome, detail), in the order of the sample
        self.kills = collections.Counter()

    def next_mutant(self, sample):
        """The next one that has no outcome yet; None when enough count."""
        while True:
            with self.lock:
                pending = sum(outcome in ("caught", "survived", "equivalent", "running")
                              for _, outcome, _ in self.tried)
                if pending >= self.count:
                    return None
                mutant = next(sample, None)
                if mutant is None:
                    return None
                if mutant.key() in self.equivalent:
                    self.tried.append((mutant, "equivalent", self.equivalent[mutant.key()]))
                elif mutant.name() in self.outcomes:
                    self.tried.append((mutant, *self.outcomes[mutant.name()]))
                else:
                    self.tried.append((mutant, "running", ""))
                    return mutant

    def work(self, worker, sample):
        try:
            self.work_through(worker, sample)
        except Exception as error:  # a thread ends in silence otherwise
            self.error = error

    def work_through(self, worker, sample):
        worker.prepare(self.layer)
        while mutant := self.next_mutant(sample):
            outcome, detail = worker.attempt(mutant, self.kills)
            with self.lock:
                place = next(index for index, one in enumerate(self.tried) if one[0] is mutant)
                self.tried[place] = (mutant, outcome, detail)
                self.outcomes[mutant.name()] = (outcome, detail)
                self.file.write_text(json.dumps({"digest": self.digest, "outcomes": self.outcomes}))
                print(f"{self.layer}: {outcome:12} {mutant.key()}  [{mutant.operator}] {detail}", flush=True)

    def go(self, workers):
        sample = sampled(self.layer, self.seed)
        threads = [threading.Thread(target=self.work, args=(worker, sample), daemon=True)
                   for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.error:
            sys.exit(f"mutate: {self.layer}: {self.error}")

    def report(self):
        """Prints the score; whether it is high enough."""
        by_outcome = collections.Counter(outcome for _, outcome, _ in self.tried)
        counted = by_outcome["caught"] + by_outcome["survived"]
        score = 100 * by_outcome["caught"] / counted if counted else 0
        declared_share = 100 * by_outcome["equivalent"] / max(1, counted + by_outcome["equivalent"])
        print(f"\n{self.layer}: {by_outcome['caught']} of {counted} caught, {score:.1f} %; "
              f"{by_outcome['equivalent']} declared equivalent ({declared_share:.1f} %), "
              f"{by_outcome['same objects']} compiled to the same, {by_outcome['not compiled']} not compiled")
        for operator in operators.SHARES:
            outcomes = collections.Counter(outcome for mutant, outcome, _ in self.tried
                                           if mutant.operator == operator)
            if outcomes["caught"] + outcomes["survived"]:
                print(f"  {operator:22} {outcomes['caught']:3} caught {outcomes['survived']:3} survived")
        for mutant, outcome, _ in self.tried:
            if outcome == "survived":
                print(f"  survived: {mutant.path}:{mutant.line}: {mutant.before}\n"
                      f"            -> {mutant.after}")
        return score >= WANTED and declared_share <= DECLARED_MAX


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2].removeprefix("usage: "))
    parser.add_argument("layers", nargs="*", metavar="LAYER")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--survivors", action="store_true")
    arguments = parser.parse_args()
    for layer in arguments.layers:
        if layer not in LAYERS:
            parser.error(f"no such layer: {layer}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    digest = digest_of_project()
    workers = [Worker(number) for number in range(1, arguments.jobs + 1)]
    runs = [Run(layer, arguments, digest) for layer in arguments.layers or LAYERS]
    for run in runs:
        run.go(workers)
    good = [run.report() for run in runs]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
