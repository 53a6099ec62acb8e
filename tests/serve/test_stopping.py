# SPDX-License-Identifier: MIT
"""test_stopping.py - SIGTERM: each client that waits gets TIMED_OUT, and the program ends with status 0 and all on the disk."""
import contextlib
import os
import re
import signal

import pytest
from harness import note, settings
from programs import PATIENCE, wait_for
from servers import HtwServe
from wire import Wire

SECONDS = 2


def stop(server, number=signal.SIGTERM):
    took = server.stop(number)
    assert took < SECONDS * settings.slowness + 1, f"it took {took:.1f} s to end"
    return took


# holds: serve-11
def test_serve_clients_that_wait_are_answered_when_it_ends(server):
    wires = [Wire(server) for _ in range(1000)]
    for number, wire in enumerate(wires):
        wire.send(b"watch a\r\n" + (b"reserve\r\n", b"reserve-with-timeout 60\r\n")[number % 2])
    server.wait_until_waiting(len(wires))
    note(server, f"ended within {stop(server):.2f} s")
    for wire in wires:
        assert wire.until_closed() == b"WATCHING 2\r\nTIMED_OUT\r\n", "answers at the end"
        wire.close()


# holds: serve-11
def test_serve_what_is_to_be_done_later_does_not_hold_it_up(server):
    with Wire(server) as wire, Wire(server) as other:
        wire.put(b"x", delay=4294967295, ttr=4294967295)
        wire.put(b"x", ttr=4294967295)
        assert wire.reserve()
        wire.send(b"put 0 0 60 100\r\nabc")  # an incomplete command
        other.ask("pause-tube default 4294967295")
        stop(server)
        assert wire.until_closed() == b""


@pytest.mark.options("--max-output", "64M")
# holds: serve-11
def test_serve_a_client_that_does_not_read_does_not_hold_it_up(server):
    with Wire(server, receive_buffer=4096) as wire, Wire(server) as other:
        job = other.put(b"v" * 60000)
        wire.send(b"peek %d\r\n" % job * 400)
        other.ask("list-tube-used")
        note(server, f"ended after {stop(server):.2f} s")


# holds: serve-9
def test_serve_answers_are_in_order_when_it_ends_under_load(server):
    """Up to some command. The last one may be cut off: if a client continues to send, the kernel discards
    unsent bytes when the server closes."""
    count = 300
    wires = [Wire(server) for _ in range(40)]
    for wire in wires:
        wire.socket.setblocking(False)
        wire.socket.send(b"".join(b"use %d\r\nput 0 0 60 1\r\nx\r\n" % number for number in range(count)))
        wire.socket.settimeout(PATIENCE)
    wait_for(lambda: int(server.stat("total-jobs")) > 100, "that it has begun")
    took, answered = stop(server), 0
    for wire in wires:
        with wire:
            with contextlib.suppress(ConnectionResetError):
                wire.until_closed()
            for number, answer in enumerate(iter(wire.take, None)):
                assert re.fullmatch(rb"INSERTED \d+" if number % 2 else b"USING %d" % (number // 2), answer), answer
                answered += 1
    note(server, f"{answered} of {2 * count * len(wires)} commands were answered before it ended within {took:.2f} s")


# holds: serve-1, serve-11
def test_serve_what_it_keeps_is_there_when_it_starts_again(directory):
    """States, priorities, delays and counts; a reserved job is ready again."""
    file = os.path.join(directory, "jobs")
    with HtwServe(file=file) as server, Wire(server) as wire:
        wire.ask("use a")
        ready, delayed, reserved, buried = jobs = [wire.put(b"body-%d" % number, priority=number, delay=delay, ttr=100 + number)
                                                   for number, delay in [(1, 0), (2, 1000), (3, 0), (4, 0)]]
        assert wire.ask(f"reserve-job {buried}").startswith(b"RESERVED")
        assert wire.ask(f"bury {buried} 9") == b"BURIED"
        assert wire.ask(f"reserve-job {reserved}").startswith(b"RESERVED")
    with HtwServe(file=file) as server, Wire(server) as wire:
        wire.ask("use a")
        told = [tuple(wire.stat(f"stats-job {job}", field) for field in ("tube", "state", "pri", "ttr", "delay")) for job in jobs]
        assert told == [("a", "ready", "1", "101", "0"), ("a", "delayed", "2", "102", "1000"), ("a", "ready", "3", "103", "0"),
                        ("a", "buried", "9", "104", "0")]
        for number, job in enumerate(jobs, 1):
            assert wire.ask(f"peek {job}") == b"FOUND %d 6\r\nbody-%d" % (job, number)
        assert int(wire.stat(f"stats-job {delayed}", "time-left")) > 900 - PATIENCE
