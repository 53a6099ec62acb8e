# SPDX-License-Identifier: MIT
"""SIGTERM: each client that waits gets TIMED_OUT, and the program ends with status 0 and all on the disk."""
import contextlib
import os
import re
import signal
import tempfile

from clients import Wire
from harness import PATIENCE, equal, note, own, settings, wait_for
from servers import htw_serve

SECONDS = 2


def stop(server, number=signal.SIGTERM):
    took = server.stop(number)
    assert took < SECONDS * settings.slowness + 1, f"it took {took:.1f} s to end"
    return took


@own()
# holds: serve-11
def clients_that_wait_are_answered_when_it_ends(server):
    wires = [Wire(server) for _ in range(1000)]
    for number, wire in enumerate(wires):
        wire.send(b"watch a\r\n" + (b"reserve\r\n", b"reserve-with-timeout 60\r\n")[number % 2])
    server.wait_until_waiting(len(wires))
    note(server, f"ended within {stop(server):.2f} s")
    for wire in wires:
        equal(wire.until_closed(), b"WATCHING 2\r\nTIMED_OUT\r\n", "answers at the end")
        wire.close()


@own()
def sigint_ends_it_as_well(server):
    with Wire(server) as wire:
        wire.send(b"reserve\r\n")
        server.wait_until_waiting(1)
        stop(server, signal.SIGINT)
        equal(wire.until_closed(), b"TIMED_OUT\r\n")


@own()
# holds: serve-11
def what_is_to_be_done_later_does_not_hold_it_up(server):
    with Wire(server) as wire, Wire(server) as other:
        wire.put(b"x", delay=4294967295, ttr=4294967295)
        wire.put(b"x", ttr=4294967295)
        assert wire.reserve()
        wire.send(b"put 0 0 60 100\r\nabc")  # an incomplete command
        other.ask("pause-tube default 4294967295")
        stop(server)
        equal(wire.until_closed(), b"")


@own("--max-output", "64M")
# holds: serve-11
def a_client_that_does_not_read_does_not_hold_it_up(server):
    with Wire(server, receive_buffer=4096) as wire, Wire(server) as other:
        job = other.put(b"v" * 60000)
        wire.send(b"peek %d\r\n" % job * 400)
        other.ask("list-tube-used")
        note(server, f"ended after {stop(server):.2f} s")


@own()
# holds: serve-9
def answers_are_in_order_when_it_ends_under_load(server):
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


@own()
# holds: serve-1, serve-11
def what_it_keeps_is_there_when_it_starts_again(_):
    """States, priorities, delays and counts; a reserved job is ready again."""
    with tempfile.TemporaryDirectory(prefix="htw-serve-") as folder:
        file = os.path.join(folder, "jobs")
        with htw_serve(file=file) as first, Wire(first) as wire:
            wire.ask("use a")
            ready, delayed, reserved, buried = (wire.put(b"body-%d" % number, priority=number, delay=delay, ttr=100 + number)
                                                for number, delay in [(1, 0), (2, 1000), (3, 0), (4, 0)])
            equal(wire.ask(f"reserve-job {buried}")[:8], b"RESERVED")
            equal(wire.ask(f"bury {buried} 9"), b"BURIED")
            equal(wire.ask(f"reserve-job {reserved}")[:8], b"RESERVED")
            first.finish()
        with htw_serve(file=file) as second, Wire(second) as wire:
            wire.ask("use a")
            told = [tuple(wire.stat(f"stats-job {job}", field) for field in ("tube", "state", "pri", "ttr", "delay"))
                    for job in (ready, delayed, reserved, buried)]
            equal(told, [("a", "ready", "1", "101", "0"), ("a", "delayed", "2", "102", "1000"), ("a", "ready", "3", "103", "0"),
                         ("a", "buried", "9", "104", "0")])
            for number, job in enumerate((ready, delayed, reserved, buried), 1):
                equal(wire.ask(f"peek {job}"), b"FOUND %d 6\r\nbody-%d" % (job, number))
            assert int(wire.stat(f"stats-job {delayed}", "time-left")) > 900 - PATIENCE
            second.finish()
