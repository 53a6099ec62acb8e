#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the broker beside redis-server: requests/s, and thousands of blocked clients.

usage: run.py PROGRAM BROKER RESULTS.json [--quick] [--rounds N] [--workload NAME,...]
              [--clients N] [--threads N] [--realtime] [--redis PROGRAM]

PROGRAM is htw-bench-blpop. The servers take turns, and the first one changes from round to round. If
there are two cores, the servers have one and the clients the other. If a program is missing, a note says
so, and the rest is measured.
"""

import argparse
import concurrent.futures
import contextlib
import csv
import json
import os
import pathlib
import platform
import resource
import shutil
import subprocess
import sys

import report
from servers import ServerError, start_broker, start_redis

CLIENTS_PER_KEY = 20  # where clients share keys
SPARE_FILES = 200  # descriptors of a server and of htw-bench-blpop besides clients
CONNECTIONS = 50  # of redis-benchmark
PIPELINES = [1, 16]
# In this order: LPOP pops what LPUSH has pushed.
COMMANDS = ["SET", "GET", "LPUSH", "LPOP", "RPUSH"]
TIMEOUT_S = 120
LOAD_MAX = 0.5


class Length:
    """How much is measured."""

    def __init__(self, quick, rounds):
        self.rounds = rounds or (1 if quick else 3)
        self.throughput_s = 0.4 if quick else 3
        self.pushes = 4000 if quick else 20000
        self.timeout_rounds = 1 if quick else min(self.rounds, 2)
        self.idle_s = 1 if quick else 15


class Failure(Exception):
    """A measurement has failed; the others continue."""


class Bench:
    def __init__(self, options):
        self.options = options
        self.length = Length(options.quick, options.rounds)
        self.results = []
        self.failures = 0
        cores = sorted(os.sched_getaffinity(0))
        self.server_cpu, self.client_cpu = cores[0], cores[-1]
        self.clients = min(options.clients, allowed_files() - SPARE_FILES)
        self.starters = self.find_servers()

    def find_servers(self):
        found = {}
        if self.options.redis:
            found["redis"] = lambda: start_redis(self.options.redis, self.pin(self.server_cpu),
                                                 self.clients + 100)
        if pathlib.Path(self.options.broker).exists():
            found["broker"] = lambda: start_broker(self.options.broker, self.pin(self.server_cpu),
                                                   self.clients + 100, self.options.threads)
        return found

    @staticmethod
    def pin(cpu):
        return ["taskset", "-c", str(cpu)]

    def say(self, *words):
        print("run.py:", *words, file=sys.stderr, flush=True)

    def order(self, turn):
        names = list(self.starters)
        return names if turn % 2 == 0 else names[::-1]

    def add(self, workload, server, case, metric, value):
        self.results.append({"workload": workload, "server": server, "case": case,
                             "metric": metric, "value": value})

    @contextlib.contextmanager
    def attempt(self, what):
        try:
            yield
        except (Failure, ServerError, OSError) as wrong:
            self.say(f"{what}: {wrong}")
            self.failures += 1

    @contextlib.contextmanager
    def server(self, name):
        server = self.starters[name]()
        try:
            yield server
        finally:
            if not server.stop():
                self.say(f"{name}: did not end with exit status 0")
                self.failures += 1

    # ------------------------------------------------------------ redis-benchmark

    def requests(self, server, command, pipeline, count):
        """Returns requests/s, and the CPU seconds of the server."""
        before = server.cpu_s()
        done = self.call(["redis-benchmark", "-p", str(server.port), "-c", str(CONNECTIONS),
                          "-P", str(pipeline), "-n", str(count), "-t", command.lower(), "--csv"])
        used = server.cpu_s() - before
        rows = [row for row in csv.reader(done.splitlines()) if row and row[0] == command]
        if len(rows) != 1 or "rror" in done:
            raise Failure(f"redis-benchmark: {done.strip()}")
        return float(rows[0][1]), used

    def call(self, command):
        try:
            done = subprocess.run([*self.pin(self.client_cpu), *command], capture_output=True,
                                  text=True, check=False, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise Failure(f"not done after {TIMEOUT_S} s") from None
        if done.returncode != 0:
            raise Failure(f"{done.stderr.strip()} (exit status {done.returncode})")
        return done.stdout

    def measure_requests(self, server, command, pipeline, count):
        if command == "RPUSH":
            server.command("DEL", "mylist")
        had = int(server.command("LLEN", "mylist"))
        rate, used = self.requests(server, command, pipeline, count)
        has = int(server.command("LLEN", "mylist"))
        grown = {"LPUSH": count, "RPUSH": count, "LPOP": -count}.get(command, 0)
        # redis-benchmark sends whole pipelines, so it may send more than asked.
        if not 0 <= abs(has - had - grown) <= CONNECTIONS * pipeline:
            raise Failure(f"a list of {had} has {has} after {count} {command}")
        case = f"{command} P={pipeline}"
        self.add("requests", server.name, case, "requests_per_s", rate)
        self.add("requests", server.name, case, "cpu_us_per_request", used / count * 1e6)
        self.add("requests", server.name, case, "busy_percent", used / (count / rate) * 100)

    def count_for(self, servers, pipeline):
        """The same count for all servers: what takes the fastest long enough."""
        rates = [self.requests(server, "SET", pipeline, 20000 * pipeline)[0] for server in servers]
        return int(max(rates) * self.length.throughput_s)

    def run_requests(self):
        if shutil.which("redis-benchmark") is None:
            self.say("redis-benchmark is missing: no requests/s")
            return
        with contextlib.ExitStack() as stack:
            servers = {name: stack.enter_context(self.server(name)) for name in self.starters}
            counts = {pipeline: self.count_for(servers.values(), pipeline)
                      for pipeline in PIPELINES}
            for turn in range(self.length.rounds):
                for pipeline in PIPELINES:
                    for command in COMMANDS:
                        for name in self.order(turn):
                            self.say(f"requests {command} P={pipeline} {name}")
                            with self.attempt(f"{command} P={pipeline} {name}"):
                                self.measure_requests(servers[name], command, pipeline,
                                                      counts[pipeline])
                    for server in servers.values():
                        server.command("DEL", "mylist")

    # ------------------------------------------------------------ blocked clients

    def blocked(self, server, workload, keys, *more):
        """Runs htw-bench-blpop, and records its figures."""
        case = f"{self.clients} clients on {keys} keys"
        self.say(f"{workload} {case} {server.name}")
        lines = self.call([self.options.program, "--workload", workload, "--port",
                           str(server.port), "--clients", str(self.clients), "--keys", str(keys),
                           *more])
        for line in lines.splitlines():
            found = json.loads(line)
            self.add(workload, server.name, case, found["metric"], found["value"])

    def run_wake(self):
        for turn in range(self.length.rounds):
            for keys in (self.clients, max(self.clients // CLIENTS_PER_KEY, 2)):
                for name in self.order(turn):
                    with self.attempt(f"wake {name}"), self.server(name) as server:
                        self.blocked(server, "wake", keys, "--pushes", str(self.length.pushes))

    def run_timeouts(self):
        for turn in range(self.length.timeout_rounds):
            for name in self.order(turn):
                with self.attempt(f"timeouts {name}"), self.server(name) as server:
                    self.blocked(server, "timeouts", self.clients)

    def measure_memory(self, name):
        with self.attempt(f"memory {name}"), self.server(name) as server:
            self.blocked(server, "memory", self.clients, "--server", str(server.pid),
                         "--idle-s", str(self.length.idle_s))

    def run_memory(self):
        """All servers at once: most of it is waiting, and no time is measured."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(self.measure_memory, self.starters))

    def run(self, workloads):
        for workload in workloads:
            with self.attempt(workload):
                getattr(self, f"run_{workload}")()


def allowed_files():
    """Raises the limit on open files, which servers inherit, as far as allowed, and returns it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard if hard != resource.RLIM_INFINITY else 1 << 30


def first_after(path, name):
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith(name):
            return line.split(":", 1)[1].strip()
    return "unknown"


def machine(bench):
    found = {"cpu": first_after("/proc/cpuinfo", "model name"),
             "CPUs": len(os.sched_getaffinity(0)),
             "memory free": first_after("/proc/meminfo", "MemAvailable"),
             "kernel": platform.release(),
             "load before": round(os.getloadavg()[0], 2),
             "servers on CPU": bench.server_cpu, "clients on CPU": bench.client_cpu}
    if bench.options.redis:
        version = subprocess.run([bench.options.redis, "--version"], capture_output=True,
                                 text=True, check=True).stdout
        found["redis"] = version.split("v=")[1].split()[0]
    return found


def notes(bench):
    """Notes about this run besides its figures."""
    if bench.clients < bench.options.clients:
        yield (f"Only {bench.clients} clients were blocked: this process may have no more files "
               "open (ulimit -Hn).")
    if bench.server_cpu == bench.client_cpu:
        yield "Servers and clients shared one core: the figures are those of both together."
    if "redis" not in bench.starters:
        yield "redis-server is missing (on Debian: redis-server): there is nothing to compare with."
    if "broker" not in bench.starters:
        yield f"The broker is missing: {bench.options.broker} was not built."
    if bench.options.realtime:
        yield "Servers and clients ran with real-time priority (SCHED_FIFO)."
    elif os.getloadavg()[0] > LOAD_MAX:
        yield "This machine was not quiet in the minute before: measure again on a quiet one."


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench broker", description=(
        "Measures the broker beside redis-server."))
    parser.add_argument("program", help=argparse.SUPPRESS)
    parser.add_argument("broker", help=argparse.SUPPRESS)
    parser.add_argument("results", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="one short round: half a minute")
    parser.add_argument("--rounds", type=int, default=0, metavar="N",
                        help="rounds (3; timeouts at most 2, memory 1)")
    parser.add_argument("--workload", default="", metavar="NAME,...",
                        help=f"only these: {', '.join(report.WORKLOADS)}")
    parser.add_argument("--clients", type=int, default=10000, metavar="N",
                        help="how many are blocked (10000)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="of the broker (1)")
    parser.add_argument("--realtime", action="store_true", help=(
        "servers and clients run before everything else (as root, on a machine that is not quiet)"))
    parser.add_argument("--redis", default=shutil.which("redis-server"), metavar="PROGRAM",
                        help="instead of the installed redis-server; '' for none")
    options = parser.parse_args(arguments)
    if set(filter(None, options.workload.split(","))) - set(report.WORKLOADS):
        parser.error(f"no such workload in: {options.workload}")
    if options.rounds < 0 or options.threads < 1 or options.clients < 2:
        parser.error("--rounds, --threads, --clients: too small a number")
    return options


def main():
    options = parse(sys.argv[1:])
    for name in ("program", "broker", "results", "redis"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    if options.realtime:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))  # children inherit it
    bench = Bench(options)
    document = {"machine": machine(bench), "notes": list(notes(bench)), "results": bench.results}
    for note in document["notes"]:
        bench.say(note)
    if not bench.starters:
        return 1
    bench.run(options.workload.split(",") if options.workload else report.WORKLOADS)
    path = pathlib.Path(options.results)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=0) + "\n")
    report.print_all(document)
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
