#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a benchmark, a process a run, and prints its report.

usage: run.py wheel|scheduler|purgatory|journal|relay|serve --program PROGRAM [OPTION]...

The folder of a benchmark has two modules: plan.py says what is run, report.py what is printed of it
(common/report.py). plan.py has these names:
    ABOUT, ROUNDS, LIMIT_S      for --help, --rounds and --limit
    SLOW_IS_WRONG               optional: whether a run that exceeds the limit counts as a failure (True)
    WORKLOADS, PEERS            optional: workloads in place of those of the program, peers besides its own, with
                                what --list says of them
    add_options(parser)         optional: the benchmark's own options
    prepare(options, parser)    checks these, and compiles what the runs need; options.versions: of the peers, by name
    plan(options)               the runs of each round, in order
Peers take turns within a round, so that a machine that slows down slows all of them.
"""

import argparse
import importlib
import json
import pathlib
import sys

from common import measure
from common.report import print_all

HERE = pathlib.Path(__file__).resolve().parent


def parse(name, plan, report, arguments):
    prog = "./dev bench" + ("" if name == "wheel" else f" {name}")
    parser = argparse.ArgumentParser(prog=prog, description=plan.ABOUT)
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--build", default="", help=argparse.SUPPRESS)  # where peers are built
    parser.add_argument("--quick", action="store_true", help="shorter and fewer runs")
    parser.add_argument("--rounds", "--reps", type=int, default=0, metavar="N",
                        help=f"how often each run is done, of which the median counts "
                             f"({plan.ROUNDS})")
    parser.add_argument("--workload", default="", metavar="NAME,...",
                        help=f"only these: {', '.join(report.COLUMNS)}")
    parser.add_argument("--limit", type=int, default=plan.LIMIT_S, metavar="SECONDS",
                        help=f"a run that takes longer is too slow ({plan.LIMIT_S})")
    parser.add_argument("--json", default="results.json", metavar="FILE",
                        help="write the figures there")
    parser.add_argument("--keep", action="store_true",
                        help="keep the figures that the file has of other workloads")
    parser.add_argument("--tables", action="store_true",
                        help="measure nothing: print the figures that the file has")
    parser.add_argument("--list", action="store_true", help="list workloads and peers")
    parser.add_argument("--in-c", action="store_true", help="no peers that are fetched and built first")
    getattr(plan, "add_options", lambda _: None)(parser)
    options = parser.parse_args(arguments)
    options.build = "" if options.in_c else options.build
    options.workloads = options.workload.split(",") if options.workload else list(report.COLUMNS)
    if not set(options.workloads) <= set(report.COLUMNS):
        parser.error(f"no such workload in: {options.workload}")
    if options.rounds < 0 or options.limit < 1:
        parser.error("--rounds, --limit: not a number above 0")
    if options.tables and not pathlib.Path(options.json).exists():
        parser.error(f"--tables: there is no {options.json}")
    options.versions = {}
    if not options.tables and not options.list:
        plan.prepare(options, parser)
    return options


def measure_all(plan, options):
    path = pathlib.Path(options.json)
    try:  # before a run that may take an hour
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("a").close()
    except OSError as wrong:
        print(f"run.py: {wrong}", file=sys.stderr)
        sys.exit(2)
    kept = []
    if options.keep and path.stat().st_size > 0:
        kept = [line for line in json.loads(path.read_text())["results"]
                if line["workload"] not in options.workloads]
    runner = measure.Runner(options.limit, getattr(plan, "SLOW_IS_WRONG", True))
    machine = measure.machine(options.program, options.versions)

    def save():  # each time, so that a run that is interrupted leaves what it has measured
        document = {"machine": machine, "results": kept + runner.results}
        new = path.with_suffix(".new")
        new.write_text(json.dumps(document, indent=0) + "\n")
        new.replace(path)

    runner.run_all(plan.plan(options), save)
    save()
    return runner.failures


def modules(name):
    """plan and report of a benchmark: beside this file, or the relay's, which lies beside its sources."""
    folder = HERE / name
    if not (folder / "plan.py").exists():
        folder = HERE.parent / "programs" / name / "benchmark"
        sys.path.insert(0, str(folder.parent))
    return (importlib.import_module(f"{folder.name}.{part}") for part in ("plan", "report"))


def print_names(section, names):
    print(f"{section}:")
    for name, about in names.items():
        print(f"  {name:14} {about}")


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("wheel", "scheduler", "purgatory", "journal", "relay", "serve"):
        sys.exit(__doc__)
    name = sys.argv[1]
    plan, report = modules(name)
    options = parse(name, plan, report, sys.argv[2:])
    if options.list:
        print_names("workloads", getattr(plan, "WORKLOADS", None) or measure.names(options.program, "workloads"))
        peers = measure.names(options.program, "peers", getattr(options, "plugin", ()))
        print_names("peers", {**peers, **getattr(plan, "PEERS", {})})
        return 0
    failures = 0 if options.tables else measure_all(plan, options)
    print_all(report, json.loads(pathlib.Path(options.json).read_text()))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
