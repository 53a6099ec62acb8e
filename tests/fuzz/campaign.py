#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs all fuzzers side by side for a long time, stores what adds edges, and writes the table of README.md.

usage: campaign.py FOUND README CORPORA SECONDS NAME=PROGRAM...

SECONDS is for each fuzzer; as many run at a time as there are cores. FOUND holds what they find, in this run and in those
before: FOUND/NAME, the inputs; FOUND/NAME-crash-HASH and the like, what fails; FOUND/NAME.log. A fuzzer that has found
something goes on, up to FINDINGS_MAX times. When its time is over, few inputs are selected from stored and found ones
that reach all edges; they take the place of those in CORPORA/NAME only if they reach more. Files with names are
written by hand, and stay.
"""
import concurrent.futures
import datetime
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

FINDINGS_MAX = 5
MARKS = ("<!-- campaign: written by ./dev campaign -->", "<!-- end of campaign -->")
HEAD = """| fuzzer | date | minutes | executions | edges | of them new | inputs | KiB | findings |
|---|---|---|---|---|---|---|---|---|"""
# A minute for an input: other work on the machine may take most of the time. What an input costs, ./dev test counts.
LIMITS = ["-max_len=4096", "-close_fd_mask=3"]
RUN = ["-timeout=60", "-rss_limit_mb=1024", "-malloc_limit_mb=64", "-print_final_stats=1"]


class Fuzzer:
    def __init__(self, name, program, found, corpora):
        self.name, self.program = name, program
        self.folder, self.corpus = found / name, corpora / name
        self.found, self.log = found, found / f"{name}.log"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.corpus.mkdir(parents=True, exist_ok=True)
        self.executions, self.findings, self.seconds = 0, [], 0

    def call(self, *arguments):
        """Returns the status, and what was printed, which also goes to the log."""
        environment = dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=16")
        done = subprocess.run([self.program, *LIMITS, *arguments], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output = done.stdout.decode(errors="replace")
        with self.log.open("a") as log:
            log.write(output)
        return done.returncode, output

    def artifacts(self):
        """What has failed: a slow input, which libFuzzer writes down too, has not."""
        return {path for path in self.found.glob(f"{self.name}-*") if path.is_file() and "-slow-unit-" not in path.name}

    def run(self, seconds):
        self.log.write_text("")
        begin, before = time.monotonic(), self.artifacts()
        status, output = 1, ""
        for _ in range(FINDINGS_MAX):
            left = int(seconds - (time.monotonic() - begin))
            if left < 1:
                break
            status, output = self.call(f"-max_total_time={left}", *RUN, f"-artifact_prefix={self.found}/{self.name}-",
                                       self.folder, self.corpus)
            self.executions += sum(map(int, re.findall(r"stat::number_of_executed_units: *(\d+)", output)))
            if status == 0:
                break
        self.findings = sorted(self.artifacts() - before)
        if status != 0 and not self.findings:
            raise RuntimeError(f"fuzz_{self.name} does not run; what it has printed is in {self.log}")
        self.seconds = time.monotonic() - begin

    def edges(self, folder):
        """How many are reached, in each of three runs: threads and time may change some."""
        return [self.edges_once(folder) for _ in range(3)]

    def edges_once(self, folder):
        status, output = self.call("-runs=0", folder)
        reached = re.findall(r"\bcov: (\d+)", output)
        if status != 0:
            raise RuntimeError(f"fuzz_{self.name} fails with what is in {folder}: see {self.log}")
        return int(reached[-1]) if reached else 0

    def select(self):
        """Returns a folder with few inputs that reach all edges."""
        kept = self.found / f"kept-{self.name}"
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir()
        for path in self.corpus.iterdir():
            if not re.fullmatch("[0-9a-f]+", path.name):
                shutil.copy2(path, kept)
        status, _ = self.call("-set_cover_merge=1", "-use_counters=0", kept, self.corpus, self.folder)
        if status != 0:
            raise RuntimeError(f"the inputs of fuzz_{self.name} cannot be merged: see {self.log}")
        return kept

    def keep(self):
        """Stores a selection if it adds edges. Returns how many are reached, and how many of them were not before."""
        stored, kept = max(self.edges(self.corpus)), self.select()
        reached = min(self.edges(kept))
        if reached > stored:
            shutil.rmtree(self.corpus)
            shutil.move(kept, self.corpus)
            return reached, reached - stored
        shutil.rmtree(kept)
        return stored, 0

    def row(self, edges, new):
        inputs = [path for path in self.corpus.iterdir() if path.is_file()]
        size = sum(path.stat().st_size for path in inputs)
        date = datetime.date.today().isoformat()
        return (f"| `fuzz_{self.name}` | {date} | {self.seconds / 60:.0f} | {grouped(self.executions)} | {grouped(edges)} | "
                f"{new} | {len(inputs)} | {(size + 1023) // 1024} | {len(self.findings)} |")


def grouped(number):
    return f"{number:,}".replace(",", " ")


class Table:
    """The rows between two marks of a document, by their fuzzers; each row is of the last campaign of its fuzzer."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()

    def write(self, row):
        with self.lock:
            before, begin, rest = self.path.read_text().partition(MARKS[0])
            table, end, after = rest.partition(MARKS[1])
            if not end:
                sys.exit(f"campaign: {self.path} has no place for the table")
            rows = {line.split("|")[1]: line for line in table.splitlines() if line.startswith("| `")}
            rows[row.split("|")[1]] = row
            lines = "\n".join(rows[name] for name in sorted(rows))
            self.path.write_text(f"{before}{begin}\n{HEAD}\n{lines}\n{end}{after}")


def campaign(fuzzer, seconds, table):
    fuzzer.run(seconds)
    edges, new = fuzzer.keep()
    row = fuzzer.row(edges, new)
    table.write(row)
    print(row, flush=True)
    for path in fuzzer.findings:
        print(f"FOUND: {fuzzer.program} {path}", flush=True)


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    found, readme, corpora = map(pathlib.Path, sys.argv[1:4])
    seconds, table = float(sys.argv[4]), Table(readme)
    fuzzers = [Fuzzer(*argument.split("=", 1), found, corpora) for argument in sys.argv[5:]]
    failed = False
    print(HEAD, flush=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for fuzzer, run in [(fuzzer, pool.submit(campaign, fuzzer, seconds, table)) for fuzzer in fuzzers]:
            if run.exception() is not None:
                print(f"campaign: {run.exception()}", flush=True)
            failed = failed or run.exception() is not None or bool(fuzzer.findings)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
