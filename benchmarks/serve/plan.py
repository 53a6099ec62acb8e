# SPDX-License-Identifier: MIT
"""What is run: htw serve and beanstalkd, with their files and without."""

import pathlib
import subprocess
import tempfile

from common import measure

ABOUT = "Measures htw serve beside beanstalkd."
ROUNDS = "5; delayed 1"
LIMIT_S = 300

PEERS = {"beanstalkd": "beanstalkd 1.12 of Debian, left out where it is not installed"}
BEANSTALKD = "/usr/bin/beanstalkd"
CLIENTS = ("1", "16", "256")
WARM = ["--warmup", "2"]  # until the log of the journal begins at its start again
SLOW = ["--rate", "2000"]  # what both keep with a file


def add_options(parser):
    parser.add_argument("--folder", default="", metavar="DIR",
                        help="where the files are, on the disk to be measured (that of --json)")


def prepare(options, parser):
    options.folder = options.folder or str(pathlib.Path(options.json).parent)
    pathlib.Path(options.folder).mkdir(parents=True, exist_ok=True)
    program = pathlib.Path(options.program).resolve()
    options.program, options.serve = str(program), str(program.parents[2] / "htw-serve")
    if not pathlib.Path(options.serve).exists():
        parser.error(f"there is no {options.serve}")
    if pathlib.Path(BEANSTALKD).exists():
        said = subprocess.run([BEANSTALKD, "-v"], capture_output=True, text=True, check=True).stdout
        options.versions = {"beanstalkd": said.split()[-1]}


def run(options, workload, is_durable, *arguments):
    """Both, each in a folder of its own, which is removed when the next run is asked for."""
    for peer in ("htw", "beanstalkd"):
        if workload not in options.workloads:
            continue
        with tempfile.TemporaryDirectory(prefix="htw-bench-", dir=options.folder) as folder:
            yield measure.Run([options.program, "--workload", workload, "--peer", peer, "--serve", options.serve,
                               "--folder", folder, *["--durable"] * is_durable, *["--quick"] * options.quick, *arguments])


def plan(options):
    for _ in range(options.rounds or (1 if options.quick else 5)):
        for is_durable in (False, True):
            for workload in ("put", "cycle"):
                for clients in CLIENTS:
                    yield from run(options, workload, is_durable, "--clients", clients, *WARM * is_durable)
            for workload in ("hand", "beside"):
                yield from run(options, workload, is_durable)
            yield from run(options, "lateness", is_durable, *SLOW * is_durable)
        yield from run(options, "waiting", False)
    for _ in range(options.rounds or 1):
        for is_durable in (False, True):
            yield from run(options, "delayed", is_durable)
