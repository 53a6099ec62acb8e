# SPDX-License-Identifier: MIT
"""End-to-end tests of `./dev bench broker`: test_bench.py HTW_BENCH_BLPOP [SERVER]

First htw-bench-blpop runs against a small server in this file, which can be told to misbehave. Then the
whole benchmark runs in its shortest form with those of the real servers that are installed: SERVER is the
broker. No test depends on speed.
"""
import contextlib
import io
import json
import os
import pathlib
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

PROGRAM = sys.argv[1]
BROKER = sys.argv[2] if len(sys.argv) > 2 else ""
FOLDER = pathlib.Path(__file__).parents[1] / "bench"
sys.path.insert(0, str(FOLDER))
import report  # noqa: E402

PERCENTILES = ["p50", "p99", "p99.9", "max"]
METRICS = {
    "wake": {f"wake_{name}_us" for name in PERCENTILES},
    "timeouts": {f"late_{name}_us" for name in PERCENTILES} | {"early"},
    "memory": {"bytes_per_connected_client", "bytes_per_blocked_client",
               "bytes_per_idle_client", "idle_bytes"},
}
SHORT = ["--clients", "200", "--keys", "40"]


class FakeServer:
    """The part of the protocol that htw-bench-blpop uses. `fault` names what it does wrong."""

    def __init__(self, fault=""):
        self.fault = fault
        self.selector = selectors.DefaultSelector()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.told, self.to_tell = socket.socketpair()
        self.selector.register(self.told, selectors.EVENT_READ)
        self.waiting = {}  # key: clients in order of arrival
        self.due = {}  # client: its deadline
        self.thread = threading.Thread(target=self.serve)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.to_tell.send(b"x")
        self.thread.join()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.to_tell.close()

    def serve(self):
        while True:
            soonest = min(self.due.values(), default=None)
            wait = None if soonest is None else max(0, soonest - time.monotonic())
            for key, _ in self.selector.select(wait):
                if key.fileobj is self.told:
                    return
                if key.fileobj is self.listener:
                    self.selector.register(self.listener.accept()[0], selectors.EVENT_READ)
                else:
                    self.read(key.fileobj)
            self.expire()

    def expire(self):
        now = time.monotonic()
        for client in [client for client, due in self.due.items() if due <= now]:
            self.forget(client)
            client.sendall(b"*-1\r\n")

    def forget(self, client):
        self.due.pop(client, None)
        for clients in self.waiting.values():
            if client in clients:
                clients.remove(client)

    def read(self, client):
        try:
            request = client.recv(4096)
            if request:
                self.answer(client, request)
                return
        except ConnectionError:  # the client has closed
            pass
        self.forget(client)
        self.selector.unregister(client)
        client.close()

    def answer(self, client, request):
        words = request.split(b"\r\n")
        command = words[0] if words[0] in (b"PING", b"INFO") else words[2]
        getattr(self, command.decode().lower())(client, words)

    def ping(self, client, _):
        client.sendall(b"+PONG\r\n")

    def info(self, client, _):
        blocked = sum(map(len, self.waiting.values()))
        text = f"# Clients\r\nblocked_clients:{blocked}\r\n".encode()
        client.sendall(b"$%d\r\n%s\r\n" % (len(text), text))

    def blpop(self, client, words):
        self.waiting.setdefault(words[4], []).append(client)
        timeout = float(words[6])
        if timeout:
            self.due[client] = time.monotonic() + timeout * (0.5 if self.fault == "early" else 1)

    def lpush(self, client, words):
        item = b"00000000" if self.fault == "item" else words[6]
        served = self.waiting[words[4]][0]
        self.forget(served)
        if self.fault == "hang up":
            self.selector.unregister(served)
            served.close()
        else:
            served.sendall(b"*2\r\n$12\r\n%s\r\n$8\r\n%s\r\n" % (words[4], item))
        client.sendall(b":1\r\n")


def blpop(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)


def against(server, workload, *more):
    return blpop("--port", str(server.port), "--workload", workload, *SHORT, *more)


def figures(run):
    assert run.returncode == 0 and run.stderr == "", run.stderr
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    return {line["metric"]: line["value"] for line in lines}


def bench_each_workload_prints_its_metrics():
    for workload, more in (("wake", ["--pushes", "100"]), ("wake", ["--timeout-ms", "0"]),
                           ("timeouts", ["--timeout-ms", "50-150"]),
                           ("memory", ["--idle-s", "0", "--server", str(os.getpid())])):
        with FakeServer() as server:
            found = figures(against(server, workload, *more))
        assert set(found) == METRICS[workload], (workload, found)
        assert found.get("early", 0) == 0, found
        assert found.get("wake_p50_us", 1) > 0, found


def bench_time_out_that_is_early_is_counted():
    with FakeServer("early") as server:
        found = figures(against(server, "timeouts", "--timeout-ms", "400-500"))
    assert found["early"] > 0, found


def bench_wrong_item_fails_the_run():
    for fault, said in (("item", "and one on key"), ("hang up", "hung up")):
        with FakeServer(fault) as server:
            run = against(server, "wake")
        assert run.returncode == 1 and said in run.stderr, (fault, run)


def bench_wrong_options_are_refused():
    for arguments in ([], ["--port", "1", "--workload", "nosuch"], ["--workload", "wake"],
                      ["--port", "70000", "--workload", "wake"],
                      ["--port", "1", "--workload", "timeouts", "--timeout-ms", "0"],
                      ["--port", "1", "--workload", "timeouts", "--timeout-ms", "20-10"],
                      ["--port", "1", "--workload", "wake", "--keys", "20000"],
                      ["--port", "1", "--workload", "wake", "more"], ["--nosuch"]):
        run = blpop(*arguments)
        assert run.returncode == 2 and run.stdout == "", (arguments, run)
        assert "htw-bench-blpop: " in run.stderr, (arguments, run)


def document(broker_wake_us):
    """One case of each workload, in which all figures of redis-server are 100."""
    results = []
    for workload, metrics in report.COLUMNS.items():
        for metric in metrics:
            for server in report.SERVERS:
                value = 0 if metric[0] == "early" else 100
                if (metric[0], server) == ("wake_p50_us", "broker"):
                    value = broker_wake_us
                results.append({"workload": workload, "server": server, "case": "a case",
                                "metric": metric[0], "value": value})
    return {"machine": {"CPUs": 2}, "notes": ["These figures are invented."], "results": results}


def printed(what):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        report.print_all(what)
    return output.getvalue()


def bench_report_compares_figures_with_the_targets():
    good, bad = printed(document(90)), printed(document(110))
    assert "| wake | a case, p50 over redis-server's | <= 1 | 0.9 | yes |" in good, good
    assert "| wake | a case, p50 over redis-server's | <= 1 | 1.1 | **no** |" in bad, bad
    assert "**These figures are invented.**" in good, good
    for workload in report.WORKLOADS:
        assert f"\n## {workload}: " in good, good


def bench_report_of_one_server_has_no_ratios():
    one = document(90)
    one["results"] = [line for line in one["results"] if line["server"] == "redis"]
    text = printed(one)
    assert "| >= 0.7 |  | not measured |" in text, text


def bench_real_servers_run_through():
    """With those of the two that are installed; run.py says what is missing."""
    broker = BROKER if pathlib.Path(BROKER or "none").exists() else ""
    if not broker and shutil.which("redis-server") is None:
        print("skipped: neither redis-server nor the broker is there")
        return
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.json"
        run = subprocess.run([sys.executable, str(FOLDER / "run.py"), PROGRAM, broker or "none",
                              str(results), "--quick", "--clients", "200", "--workload",
                              "wake,timeouts,memory"],
                             capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        lines = json.loads(results.read_text())["results"]
    servers = {line["server"] for line in lines}
    assert servers <= set(report.SERVERS) and servers, servers
    for workload, metrics in METRICS.items():
        found = {line["metric"] for line in lines if line["workload"] == workload}
        assert found == metrics, (workload, found)
    assert not any(line["value"] for line in lines if line["metric"] == "early"), lines


def main():
    failed = 0
    for name, function in list(globals().items()):
        if not name.startswith("bench_"):
            continue
        try:
            function()
            print("ok", name, flush=True)
        except AssertionError as failure:
            failed += 1
            print(f"FAIL {name}: {failure}", flush=True)
    return 1 if failed else 0


sys.exit(main())
