# SPDX-License-Identifier: MIT
"""test_peers.py - the runner of the benchmarks, and the peers that are not C.

Nothing is fetched, compiled or measured: the tools are scripts in a folder that is the whole PATH, and so are
the programs, which print a figure for each run.
"""
import json
import re
import signal
import sys
import types

from bench import RUNNER, call
from common import peers  # of benchmarks/
from scheduler import plan, report

# A program in C: what it lists, and a figure with the labels of all benchmarks.
PROGRAM = """case "$1" in
--help) printf '%s\\n' usage '' workloads: '  some  of them' '' peers: '  htw  this' '  at-once  none'; exit ;;
--build) echo gcc; exit ;;
esac
while [ $# -gt 1 ]; do case "$1" in --workload) workload=$2 ;; --peer) peer=$2 ;; esac; shift; done
echo '{"workload":"'"$workload"'","peer":"'"${peer:-htw}"'","producers":1,"case":"","threads":1,"timers":1000,' \\
     '"metric":"ns_per_pair_p50","value":1}'
"""
JAVA = 'case "$1" in -version) echo openjdk version 99 ;; esac'
# What each script of a folder of tools does. Maven leaves a JAR; compilers leave programs that print figures.
PRINT = ('echo "{\\"workload\\":\\"stall\\",\\"peer\\":\\"%s\\",\\"producers\\":1,'
         '\\"metric\\":\\"schedule_p50_us\\",\\"value\\":%d}"')
WORKING = {
    "java": JAVA,
    "javac": "exit 0",
    "mvn": 'for word; do case "$word" in -DoutputDirectory=*) folder=${word#*=} ;; esac; done; '
           '/bin/mkdir -p "$folder"; echo >"$folder/netty-common-9.8.7.jar"',
    "go": 'case "$1" in env) echo go9.9; exit ;; esac; '
          "echo '#!/bin/sh' >\"$4\"; echo '" + PRINT % ("go", 4321) + "' >>\"$4\"; /bin/chmod +x \"$4\"",
    "rustc": "echo rustc 1.99.0",
    "cargo": 'for word; do target=$word; done; /bin/mkdir -p "$target/release"; '
             "echo >$target/release/libhtw_bench_tokio.so",
}
FAILING = {
    **WORKING,
    "mvn": "echo '[INFO] Scanning'; echo '[ERROR] Could not resolve dependencies'; exit 1",
    "go": "echo './main.go:1: undefined: x'; exit 1",
    "rustc": "echo rustc 1.63.0",
}


def write_scripts(folder, scripts):
    folder.mkdir()
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)


def bench(folder, name, scripts, *arguments, program=PROGRAM):
    """Runs the runner with such tools. Returns how it ended, and the file of results."""
    for place, content in (("tools", scripts), ("programs", {"bench": program})):
        if not (folder / place).exists():
            write_scripts(folder / place, content)
    run = call(sys.executable, RUNNER, name, "--program", folder / "programs/bench", "--build", folder / "build",
               "--json", folder / "results.json", "--quick", *arguments, env={"PATH": str(folder / "tools")})
    return run, json.loads((folder / "results.json").read_text())


def test_bench_tools_that_are_missing_are_named(directory):
    run, document = bench(directory, "scheduler", {}, "--workload", "pair")
    assert run.returncode == 0, run.stderr
    for peer, tool, package in (("JVM", "java", "default-jdk-headless"), ("go", "go", "golang-go"),
                                ("tokio", "cargo", "cargo-web")):
        sentence = f"left out: {tool} is missing (Debian: {package})"
        assert f"run.py: {peer} is {sentence}\n" in run.stderr, (peer, run.stderr)
        assert document["machine"][peer] == sentence, document["machine"]
    assert "\n| htw " in run.stdout and "tokio: left out" in run.stdout, run.stdout


def test_bench_download_or_compilation_that_fails_leaves_the_rest(directory):
    run, document = bench(directory, "scheduler", FAILING, "--workload", "pair")
    assert run.returncode == 0, run.stderr
    for sentence in ("JVM is left out: Maven cannot fetch it (is there a network?): "
                     "[ERROR] Could not resolve dependencies",
                     "go is left out: it does not compile: ./main.go:1: undefined: x",
                     "tokio is left out: rustc 1.63.0 is older than 1.85, which it needs "
                     "(Debian: rustc-web and cargo-web in place of rustc and cargo)"):
        assert f"run.py: {sentence}\n" in run.stderr, run.stderr


def test_bench_peers_that_are_not_c_can_be_left_out(directory):
    run, document = bench(directory, "scheduler", {}, "--workload", "pair", "--in-c")
    assert run.returncode == 0 and "left out" not in run.stderr + run.stdout, run.stderr
    assert {line["peer"] for line in document["results"]} == {"htw", "htw-absolute"}, document


def test_bench_figures_of_other_workloads_are_kept(directory):
    for words, workloads in (("idle", {"idle"}), ("pair --keep", {"pair", "idle"}), ("pair", {"pair"})):
        run, document = bench(directory, "scheduler", {}, "--workload", *words.split())
        assert run.returncode == 0 and {line["workload"] for line in document["results"]} == workloads, run.stderr


def test_bench_run_that_is_interrupted_leaves_what_it_measured(directory):
    interrupt = 'case "$*" in *"--workload idle"*) kill -TERM $PPID ;; esac\n'
    run, document = bench(directory, "scheduler", {}, "--workload", "pair,idle", program=interrupt + PROGRAM)
    assert run.returncode == -signal.SIGTERM and {line["workload"] for line in document["results"]} == {"pair"}, run


def test_bench_peers_that_were_built_are_measured(directory):
    run, document = bench(directory, "scheduler", WORKING, "--workload", "stall")
    machine = document["machine"]
    assert machine["netty"] == "9.8.7" and machine["Go"] == "go9.9", machine
    assert re.fullmatch(r"1\.\d+\.\d+ \(rustc 1\.99\.0\)", machine["tokio"]), machine
    text = re.sub(" +", " ", run.stdout)
    assert "\n| go | 4321 |" in text, text
    assert "tokio" in {line["peer"] for line in document["results"]}, document


def test_bench_kafka_and_agrona_are_looked_for(directory):
    for name, workload, peer in (("purgatory", "wake", "kafka"), ("wheel", "sparse", "agrona")):
        run, document = bench(directory, name, FAILING, "--workload", workload, "--rounds", "1")
        assert run.returncode == 0 and f"run.py: {peer} is left out: Maven cannot fetch it" in run.stderr, run.stderr
        assert document["machine"][peer].startswith("left out: "), document["machine"]
        run, _ = bench(directory, name, FAILING, "--workload", workload, "--in-c", "--rounds", "1")
        assert run.returncode == 0 and "left out" not in run.stderr, run.stderr


def test_bench_plan_has_each_peer_where_it_can_be():
    options = types.SimpleNamespace(
        program="bench", quick=False, rounds=1, workloads=list(report.COLUMNS),
        peers=["htw", "htw-absolute", "heap-cond", "at-once"], jvm_peers=["kafka", "jdk"],
        outside={"kafka": "classes", "jdk": "classes", "go": ["bench-go"], "tokio": ["bench-tokio"], "tokio-sleep": ["bench-tokio"]})
    seen = {}
    for entry in plan.plan(options):
        for run in entry if isinstance(entry, list) else [entry]:
            words = run.command
            peer = words[words.index("--peer") + 1]
            seen.setdefault(words[words.index("--workload") + 1], set()).add(peer)
            assert words[0] == {"kafka": "java", "jdk": "java", "go": "bench-go", "tokio": "bench-tokio",
                                "tokio-sleep": "bench-tokio"}.get(peer, "bench"), words
    fired = {"kafka", "jdk", "go", "tokio"}
    for workload in ("headline", "lateness", "stall", "memory"):
        assert fired <= seen[workload] and "tokio-sleep" not in seen[workload], (workload, seen)
    assert seen["idle"] == {"htw", "heap-cond", "tokio"}, seen
    for workload in ("threads", "foreign"):
        assert fired | {"tokio-sleep"} <= seen[workload], (workload, seen)
    assert seen["pair"] == {"htw", "htw-absolute", "heap-cond"}, seen


def test_bench_versions_are_pinned():
    pom = peers.POM.read_text()
    for artifact in ("netty-common", "kafka-server-common", "agrona"):
        assert re.search(rf"<artifactId>{artifact}</artifactId>\s*<version>\d[^\[\](),]*</version>",
                         pom), artifact
    assert re.fullmatch(r"1\.\d+\.\d+", peers.locked_version(plan.TOKIO, "tokio"))
