# SPDX-License-Identifier: MIT
"""test_limits.py - hostile clients: what exceeds a limit is refused, and other clients are not disturbed."""
import contextlib
import os
import resource
import threading
import time

import pytest
from harness import note, percentiles, settings
from programs import Stopwatch, content_of, wait_for
from wire import Wire

PAGE = b"POST / HTTP/1.1\r\nHost: localhost:11300\r\nContent-Type: text/plain\r\n\r\nput 0 0 60 4\r\nevil\r\n"


def is_served(server):
    with Wire(server) as wire:
        wire.ask("use check")
        job = wire.put(b"value")
        assert wire.ask(f"peek {job}") == b"FOUND %d 5\r\nvalue" % job
        assert wire.ask(f"delete {job}") == b"DELETED"


class Pinger(threading.Thread):
    """Sends commands on one connection, and measures how long each answer takes."""

    def __init__(self, server):
        super().__init__()
        self.wire, self.watch = Wire(server), Stopwatch(server.process.pid)
        self.took, self.fault = [], None
        self.ended = threading.Event()

    def run(self):
        try:
            while not self.ended.wait(0.001):
                began = self.watch.seconds()
                assert self.wire.ask("list-tube-used") == b"USING default"
                self.took.append((self.watch.seconds() - began) * 1000)
        except Exception as fault:  # raised again by finish()
            self.fault = fault
        self.wire.close()

    def finish(self):
        self.ended.set()
        self.join()
        assert self.fault is None, f"another client suffered: {self.fault!r}"
        return sorted(self.took)


def beside(server, act):
    """What others wait while `act` goes on."""
    pinger = Pinger(server)
    pinger.start()
    try:
        act()
    finally:
        took = pinger.finish()
    note(server, f"others were answered within {percentiles(took)}")
    limit = took[-1] if settings.quiet_machine else took[len(took) // 2]
    assert limit < 50 * settings.slowness, f"another client waited for {limit:.1f} ms"


def busy(server):
    """The seconds of a processor that it has used."""
    return sum(map(int, content_of(f"/proc/{server.process.pid}/stat").rsplit(b")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def sleeps(server):
    """Nobody can go on: it must not turn in a circle."""
    before = busy(server)
    time.sleep(0.5)
    used = busy(server) - before
    assert used < 0.4, f"it turns in a circle: {used} s"


def pipeline(server, command, count):
    """The answers to so many: one thread sends, this one reads."""
    with Wire(server) as wire:
        sender = threading.Thread(target=wire.send, args=(command * count,))
        sender.start()
        answers = wire.answers(count)
        sender.join()
    return answers


# holds: serve-8
def test_serve_100_000_commands_of_one_client_delay_no_other(either):
    beside(either, lambda: pipeline(either, b"use a\r\n", 100000 // settings.slowness))


# holds: serve-8
def test_serve_puts_of_one_client_in_a_pipeline_delay_no_other(server):
    """Each is on the disk before it is answered, many in one commit."""
    count = 50000 // settings.slowness
    beside(server, lambda: pipeline(server, b"put 0 0 60 1\r\nx\r\n", count))
    assert server.stat("current-jobs-ready") == str(count)


def keeps_at_most(server, size, what):
    used = server.resident()
    assert used < size or settings.slowness > 1, f"{used} bytes are kept for {what}"


@pytest.mark.options("--max-output", "1M")
# holds: serve-8
def test_serve_clients_that_never_read_are_held_back_and_delay_no_other(server):
    with Wire(server) as wire:
        job = wire.put(b"v" * 60000)
        wires = [Wire(server, receive_buffer=4096) for _ in range(10)]
        for one in wires:
            one.socket.setblocking(False)

        line, sent = b"peek %d\r\n" % job, []

        def flood():
            end = time.monotonic() + 0.6
            while time.monotonic() < end:
                for one in wires:
                    with contextlib.suppress(BlockingIOError, ConnectionError):
                        sent.append(one.socket.send(line * 100))
                time.sleep(0.001)

        def are_held_back():
            before = server.stat("cmd-peek")
            time.sleep(0.2)
            return server.stat("cmd-peek") == before
        beside(server, flood)
        wait_for(are_held_back, "that they are held back")
        sleeps(server)
        executed = int(server.stat("cmd-peek"))
        assert executed < sum(sent) // len(line), f"{executed} commands were executed"
        keeps_at_most(server, 10 * (4 << 20) + (64 << 20), "10 clients")
        for one in wires:  # it goes on when they read
            one.socket.setblocking(True)
            for _ in range(30):
                assert len(one.answer()) == len(b"FOUND %d 60000\r\n" % job) + 60000
            one.close()
    is_served(server)


# holds: serve-8
def test_serve_large_bodies_that_nobody_reads_delay_no_other_and_take_little_memory(server):
    """Each client is owed far more than it is sent; none is closed for what the others do not read."""
    count = 60 // settings.slowness
    with Wire(server) as wire:
        job = wire.put(b"v" * 60000)
        wires = [Wire(server, receive_buffer=4096) for _ in range(count)]

        def ask_all():
            for one in wires:
                one.send(b"peek %d\r\n" % job * 100)
            for _ in range(100):
                assert wire.ask(f"delete {wire.put()}") == b"DELETED"
        beside(server, ask_all)
        keeps_at_most(server, count * (256 << 10) + (32 << 20), f"{count} clients")
        for one in wires:
            for _ in range(3):
                assert len(one.answer()) == len(b"FOUND %d 60000\r\n" % job) + 60000
            one.close()
    is_served(server)


# holds: serve-8
def test_serve_clients_that_send_slowly_delay_no_other(server):
    """Each sends a part of a command."""
    wires = [Wire(server) for _ in range(200)]
    for number, wire in enumerate(wires):
        wire.send((b"put 0 0 60 1000\r\nxyz", b"u", b"list-tube-us")[number % 3])
    beside(server, lambda: time.sleep(0.3))
    for number, wire in enumerate(wires):
        wire.send((b"v" * 997 + b"\r\n", b"se a\r\n", b"ed\r\n")[number % 3])
        assert wire.answer().startswith((b"INSERTED ", b"USING a", b"USING default")[number % 3])
        wire.close()


@pytest.mark.options("--max-clients", "50")
# holds: serve-7
def test_serve_a_client_too_many_is_closed(server):
    wait_for(lambda: server.stat("current-connections") == "1", "only one client")
    clients = [Wire(server) for _ in range(50)]
    for _ in range(20):
        with Wire(server) as refused:
            assert refused.until_closed() == b""
    for client in clients:
        assert client.ask("list-tube-used") == b"USING default"
    clients.pop().close()

    def is_let_in():
        with contextlib.suppress(ConnectionError), Wire(server) as wire:
            return wire.ask("list-tube-used") == b"USING default"
    wait_for(is_let_in, "a place that is free")


# holds: serve-7
def test_serve_without_descriptors_those_that_are_connected_are_served(server):
    def count_descriptors():
        return len(os.listdir(f"/proc/{server.process.pid}/fd"))
    at_rest = count_descriptors()
    limit = at_rest + 20
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (limit, limit))
    clients = [Wire(server) for _ in range(60)]  # the kernel lets them in, up to its backlog
    for wire in clients:
        wire.send(b"list-tube-used\r\n")
    served = []

    def count_served():
        for wire in clients:
            if wire not in served and not wire.is_silent():
                with contextlib.suppress(ConnectionError):
                    assert wire.answer() == b"USING default"
                served.append(wire)
        return len(served)
    wait_for(lambda: count_served() >= 10, "that some are served")
    sleeps(server)

    def close_served():
        are_all = count_served() == len(clients)
        for wire in served:
            wire.close()
        return are_all
    wait_for(close_served, "that the others are served")
    wait_for(lambda: count_descriptors() <= at_rest, "that it has noticed")
    is_served(server)


# holds: serve-12
def test_serve_a_page_in_a_browser_puts_no_job(server):
    for first in (b"POST / HTTP/1.1\r\n", b"GET /x HTTP/1.1\r\n", b"POST /?a=b HTTP/1.0\r\n", b"OPTIONS * HTTP/1.1\r\n"):
        with Wire(server) as wire:
            wire.send(first + PAGE.split(b"\r\n", 1)[1])
            with contextlib.suppress(ConnectionResetError):
                wire.until_closed()
    assert server.stat("total-jobs") == "0"


@pytest.mark.options("--max-memory", "8M", "--max-job-size", "1M")
# holds: serve-8
def test_serve_unfinished_commands_are_limited_altogether(server):
    """40 clients, each within its own limits: some are closed, and the others go on."""
    wires = [Wire(server) for _ in range(40)]
    for wire in wires:
        with contextlib.suppress(ConnectionError):  # this one was closed
            wire.send(b"put 0 0 60 1000000\r\n" + b"v" * 500000)
    wait_for(lambda: int(server.stat("current-connections")) < 30, "that enough are closed")
    is_served(server)
    put = 0
    for wire in wires:
        with contextlib.suppress(ConnectionError):
            wire.send(b"v" * 500000 + b"\r\n")
            put += wire.answer().startswith(b"INSERTED ")
        wire.close()
    assert 3 <= put < 40, f"{put} puts were finished"
    wait_for(lambda: server.stat("current-connections") == "1", "that all have gone")
    assert server.stat("current-jobs-ready") == str(put), "jobs"
    assert server.stat("max-job-size") == str(1 << 20)


WATCHED = 10000


def watch_many(wire, count):
    """Beside the tube default."""
    for start in range(0, count, 500):
        numbers = range(start, min(start + 500, count))
        wire.send(b"".join(b"watch w%d\r\n" % number for number in numbers))
        assert wire.answers(len(numbers))[-1] == b"WATCHING %d" % (numbers[-1] + 2)


@pytest.mark.options("--memory")
# holds: serve-7
def test_serve_a_tube_too_many_is_not_watched(server):
    with Wire(server) as wire:
        watch_many(wire, WATCHED - 1)
        told = [wire.ask(command) for command in ("watch more", "watch w0", "ignore w0", "watch more", "watch w0")]
        assert told == [b"OUT_OF_MEMORY", b"WATCHING 10000", b"WATCHING 9999", b"WATCHING 10000", b"OUT_OF_MEMORY"]
        wire.ask("use more")
        assert wire.put() == wire.reserve()[0], "job of the last one"


@pytest.mark.options("--memory")
# holds: serve-8
def test_serve_clients_that_watch_many_tubes_delay_no_other(server):
    """Each of their commands looks at all of them."""
    count = 400 // settings.slowness
    wires = [Wire(server) for _ in range(4)]
    for wire in wires:
        watch_many(wire, WATCHED - 1)

    def reserve_all():
        for wire in wires:
            wire.send(b"reserve-with-timeout 0\r\n" * count)
        for wire in wires:
            assert set(wire.answers(count)) == {b"TIMED_OUT"}
            wire.close()
    before = busy(server)
    beside(server, reserve_all)
    each = (busy(server) - before) * 1000 / count / len(wires)
    assert each < 2 * settings.slowness, f"a reserve takes {each:.2f} ms"


@pytest.mark.options("--memory")
# holds: serve-8
def test_serve_tubes_that_were_paused_and_left_keep_no_memory(server):
    count = 5000

    def leave(first):
        with Wire(server) as wire:
            tubes = [b"%0190d" % number for number in range(first, first + count)]
            sender = threading.Thread(target=wire.send, args=(b"".join(b"use %b\r\npause-tube %b 1\r\n" % (tube, tube) for tube in tubes),))
            sender.start()
            assert wire.answers(2 * count)[-1] == b"PAUSED"
            sender.join()
        time.sleep(1.1)
        return server.resident()
    leave(0)
    before = leave(count)
    assert leave(2 * count) - before < 1 << 20 or settings.slowness > 1


@pytest.mark.options("--memory")
# holds: serve-7
def test_serve_a_kick_above_its_limit_kicks_as_many(server):
    """And urgent jobs are counted up to theirs."""
    count, limit = 65537, 65536
    pipeline(server, b"put 0 1000 60 0\r\n\r\n", 1025)
    pipeline(server, b"put 1024 1000 60 0\r\n\r\n", count - 1025)
    with Wire(server) as wire:
        assert [wire.ask(f"kick {count}"), wire.ask("kick 9")] == [b"KICKED %d" % limit, b"KICKED 1"]
        assert wire.stat("stats-tube default", "current-jobs-urgent") == "1024"
        wire.ask(f"delete {wire.reserve()[0]}")
        wire.ask(f"delete {wire.reserve()[0]}")
        assert wire.stat("stats", "current-jobs-urgent") == "1023"
