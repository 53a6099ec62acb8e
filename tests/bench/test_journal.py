# SPDX-License-Identifier: MIT
"""End-to-end tests of `./dev bench journal`: test_journal.py PROGRAM

PROGRAM is htw-bench-journal. Each workload in its quickest form. Servers are started if they are
installed; nothing depends on speed.
"""
import json
import pathlib
import re
import sys
import tempfile

import harness
from journal import report

PROGRAM = sys.argv[1]
SHORT = ["--seconds", "0.3", "--warmup", "0.05"]
PERCENTILES = ("p50_us", "p99_us", "p99.9_us", "max_us")
# Of each workload: what makes it short, and the metrics that it must print.
WORKLOADS = {
    "cycle": (SHORT + ["--jobs", "20"], {"jobs_per_s"}),
    "put": (SHORT + ["--threads", "3"], {"puts_per_s"} | {f"put_{name}" for name in PERCENTILES}),
    "latency": (["--seconds", "0.1"],
                {"written_bytes"} | {f"{what}_{name}" for name in PERCENTILES
                                     for what in ("put", "append", "overwrite")}),
    "lateness": (SHORT + ["--jobs", "1000"], {f"lateness_{name}" for name in PERCENTILES}),
    "space": (["--jobs", "3000"], {"disk_bytes_per_job", "resident_mib", "put_per_s"}),
    "restart": (["--jobs", "3000"], {"clean_warm_ms", "killed_warm_ms", "resident_mib"}),
}
MEMORY = "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None  # where nothing waits for a disk
EMBEDDED = ("htw", "htw-normal", "sqlite", "sqlite-normal")
RESULTS = []


def bench(*arguments):
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        pathlib.Path(folder).chmod(0o711)
        run = harness.call(PROGRAM, "--folder", folder, *arguments)
        logs = [log.read_text() for log in pathlib.Path(folder).glob("*.log")]
    return run, logs


def measure(workload, peer, *more):
    run, logs = bench("--workload", workload, "--peer", peer, *WORKLOADS[workload][0], *more)
    assert run.returncode == 0, (workload, peer, more, run.stderr, logs)
    assert run.stderr == "", (workload, peer, run.stderr)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    for line in lines:
        assert set(line) == {"workload", "peer", "place", "case", "threads", "metric", "value"}
        assert (line["workload"], line["peer"]) == (workload, peer), line
    RESULTS.extend(lines)
    return {line["metric"]: line["value"] for line in lines}


def bench_every_workload_accepts_every_embedded_peer():
    for workload, (_, metrics) in WORKLOADS.items():
        for peer in EMBEDDED:
            figures = measure(workload, peer)
            assert metrics <= set(figures), (workload, peer, figures)
            assert all(value >= 0 for value in figures.values()), (workload, peer, figures)
            assert figures.get("jobs_per_s", 1) > 0, figures


def bench_jobs_with_delays_are_delivered():
    for peer in EMBEDDED:
        figures = measure("cycle", peer, "--jobs", "200", "--delay", "0.05", "--in-flight", "30")
        assert figures["jobs_per_s"] > 0, (peer, figures)


def bench_cases_of_space_and_restart_are_named():
    measure("space", "htw", "--random", "--payload", "100")
    figures = measure("restart", "htw", "--log", "2")
    assert figures["log_mib"] >= 2, figures
    cases = {line["case"] for line in RESULTS}
    assert {"32 bytes, in order", "100 bytes, at random", "3000 jobs",
            "3000 jobs, log of 2 MiB"} <= cases, cases


def bench_servers_are_measured_or_left_out():
    run, _ = bench("--help")
    peers = [line.split()[0] for line in run.stdout.split("\npeers:\n")[1].splitlines()]
    for peer in peers[len(EMBEDDED):]:
        figures = measure("cycle", peer)
        left_out = str(figures.get("state", "")).startswith("left out: ")
        assert left_out or figures["jobs_per_s"] >= 0, (peer, figures)
        if not left_out:
            figures = measure("restart", peer, "--jobs", "500")
            assert figures["killed_warm_ms"] > 0, (peer, figures)


def bench_report_has_every_figure():
    text = harness.report_text(report, RESULTS + RESULTS)
    for workload in WORKLOADS:
        assert f"\n## {workload}\n" in text, text
    assert "| least-most |" in text, text
    assert "\n| cycle | k jobs/s, 1000 in flight, htw, disk | >= 150 |" in text, text


def bench_runner_leaves_no_file():
    run, names = harness.quick_run("journal", PROGRAM, "--workload", "put", "--no-servers", "--tmpfs", "", folder=MEMORY)
    assert names == ["results.json"], names
    for row in ("htw", "sqlite"):
        assert re.search(rf"\n\| {row} .*\| 256 ", run.stdout), run.stdout


def bench_wrong_options_are_refused():
    harness.refuses(lambda *words: bench(*words)[0], "htw-bench-journal: ", "", "--workload nosuch --peer htw",
                    "--workload put", "--workload put --peer nosuch", "--workload put --peer htw --delay 1",
                    "--workload put --peer htw --threads 0", "--workload space --peer htw --payload 31",
                    "--workload restart --peer sqlite --log 1", "--workload put --peer htw --folder /nosuch",
                    "--workload put --peer htw extra", "--nosuch")


harness.run(globals())
