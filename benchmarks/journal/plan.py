# SPDX-License-Identifier: MIT
"""What is run: htw's journal, SQLite alone, and Redis if it is installed."""

import pathlib
import tempfile

from common import measure

ABOUT = "Measures htw's journal, SQLite alone and Redis."
ROUNDS = "3; space and restart 1"
LIMIT_S = 300

EMBEDDED = ["htw", "htw-normal", "sqlite", "sqlite-normal"]
DURABLE = ["htw", "sqlite", "redis"]  # synced before they answer
LOOSE = ["htw", "sqlite", "redis-everysec"]  # where that is slow
DELAYED = ["--jobs", "100000", "--delay", "0.5"]


def add_options(parser):
    parser.add_argument("--folder", default="", metavar="DIR",
                        help="where the files are, on the disk to be measured (that of --json)")
    parser.add_argument("--tmpfs", default="/dev/shm", metavar="DIR",
                        help="where they are in memory; empty: not measured (/dev/shm)")


def prepare(options, parser):
    options.folder = options.folder or str(pathlib.Path(options.json).parent)
    pathlib.Path(options.folder).mkdir(parents=True, exist_ok=True)
    if options.tmpfs and not pathlib.Path(options.tmpfs).is_dir():
        parser.error(f"--tmpfs: there is no folder {options.tmpfs}")
    options.program = str(pathlib.Path(options.program).resolve())
    options.peers = list(measure.names(options.program, "peers"))


def run(options, place, workload, peer, *arguments):
    """A run in a folder of its own, which is removed when the next run is asked for."""
    if workload not in options.workloads or peer not in options.peers or not place:
        return
    with tempfile.TemporaryDirectory(prefix="htw-bench-", dir=place) as folder:
        yield measure.Run([options.program, "--folder", folder, "--workload", workload,
                           "--peer", peer, *arguments, *["--quick"] * options.quick])


def plan_rates(options):
    disk, tmpfs = options.folder, options.tmpfs
    for delay in ([], DELAYED):
        for peer in options.peers:
            yield from run(options, disk, "cycle", peer, *delay)
        for peer in EMBEDDED:
            yield from run(options, tmpfs, "cycle", peer, *delay)
    for threads in ("1", "16", "256"):
        for peer in DURABLE:
            yield from run(options, disk, "put", peer, "--threads", threads, "--warmup", "0.3")
        yield from run(options, tmpfs, "put", "htw", "--threads", threads, "--warmup", "0.3")
        for workload in ("queue", "queue-durable"):
            for peer in ("htw", "sqlite"):
                yield from run(options, disk, workload, peer, "--threads", threads, "--warmup", "0.3")


def plan_times(options):
    for place in (options.folder, options.tmpfs):
        for peer in ("htw", "htw-normal", "sqlite"):
            yield from run(options, place, "latency", peer)
        yield from run(options, place, "lateness", "htw")
    for peer in ("sqlite", "redis"):
        yield from run(options, options.folder, "lateness", peer)


def plan_sizes(options):
    for peer in LOOSE:
        yield from run(options, options.folder, "space", peer)
    for peer in ("htw", "sqlite"):
        yield from run(options, options.folder, "space", peer, "--random")
    yield from run(options, options.folder, "space", "htw", "--payload", "1000")
    for peer in LOOSE:
        yield from run(options, options.folder, "restart", peer)
    log = "8" if options.quick else "256"
    yield from run(options, options.folder, "restart", "htw", "--log", log)
    if not options.quick:
        yield from run(options, options.folder, "restart", "htw", "--jobs", "10000000")
        yield from run(options, options.tmpfs, "restart", "htw", "--jobs", "10000000")


def plan(options):
    for _ in range(options.rounds or (1 if options.quick else 3)):
        yield from plan_rates(options)
        yield from plan_times(options)
    for _ in range(options.rounds or 1):
        yield from plan_sizes(options)
