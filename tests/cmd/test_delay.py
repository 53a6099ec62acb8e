# SPDX-License-Identifier: MIT
"""test_delay.py - `htw delay`: messages come at their time and in order, whatever the lines and the files are.

Machines are shared: a test asserts that nothing comes early, and that what should come does come within a time that only a
fault exceeds.
"""
import os
import random
import re
import resource
import subprocess
import threading
import time

import pytest
from programs import (PATIENCE, PROGRAM, TICK, content_of, file_with, finish, has_sanitizer, parse_time, read_until, run, start,
                      start_with, wait_for)


# holds: delay-1
def test_delay_of_50000_lines_through_pipes_is_kept():
    """None early (by our clock and by its own), none lost, none twice, the order right."""
    rng = random.Random(4711)
    count = 50000
    delays = [rng.randrange(0, 1000000) for _ in range(count)]  # us
    sent = [0.0] * count
    process = start("--timestamps", "--stats", bufsize=0)
    stream = os.fdopen(os.dup(process.stdin.fileno()), "wb")
    process.stdin.close()
    received = []
    early = []

    def read():
        rest = b""
        while True:
            piece = os.read(process.stdout.fileno(), 1 << 20)
            now = time.monotonic()
            if not piece:
                return
            lines = (rest + piece).split(b"\n")
            rest = lines.pop()
            for line in lines:
                planned, real, late, number = line.split(b" ")
                number = int(number)
                received.append((planned, real, late, number))
                if now < sent[number] + delays[number] * 1e-6:
                    early.append(number)

    reader = threading.Thread(target=read)
    reader.start()
    for first in range(0, count, 1000):
        now = time.monotonic()
        numbers = range(first, first + 1000)
        for number in numbers:
            sent[number] = now
        stream.write(b"".join(b"%dus %d\n" % (delays[n], n) for n in numbers))
    stream.close()
    reader.join(PATIENCE)
    assert not reader.is_alive(), "the program hangs"
    err = process.stderr.read().decode()
    assert process.wait(PATIENCE) == 0, "status"
    process.stdout.close()
    process.stderr.close()

    assert early == [], "early messages"
    assert sorted(r[3] for r in received) == list(range(count)), "messages"
    latest = 0
    for planned, real, late, number in received:
        planned_ns = parse_time(planned)
        assert planned_ns <= parse_time(real) and late.startswith(b"+"), f"early by its own clock: {planned} {real} {late}"
        assert planned_ns > latest - TICK * 1e9 - 2000, f"out of order: {number}"
        latest = max(latest, planned_ns)
    assert "read 50000, bad 0, released 50000, unreleased 0" in err and "early 0" in err


def test_delay_to_an_instant_is_kept():
    wall = time.time()
    at = b"%.3f" % (wall + 1.0)
    date, east = (time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(wall + 2 + ahead)).encode() for ahead in (0, 5400))
    got = run("--timestamps", data=b"@%s a\n@%sZ b\n@%s.25+01:30 c\n@0 p\n@1999-12-31T23:59:60Z q\n"
              % (at, date, east))
    assert [line.split()[3] for line in got.lines] == [b"p", b"q", b"a", b"b", b"c"]
    assert got.lines[3].split()[0] == date + b".000000Z", "planned"
    assert got.lines[4].split()[0] == date + b".250000Z", "planned"
    assert time.time() >= int(wall) + 2.25, "released early"


def test_delay_alone_makes_the_program_sleep():
    """A far deadline costs nothing: no wake-ups and no processor time while it waits."""
    process = start(bufsize=0)
    process.stdin.write(b"0 now\n1h later\n")
    assert os.read(process.stdout.fileno(), 100) == b"now\n"

    def switches():
        text = content_of(f"/proc/{process.pid}/status").decode()
        return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M)[1])

    time.sleep(0.3)
    before, ticks = switches(), content_of(f"/proc/{process.pid}/stat").split()[13:15]
    time.sleep(1.0)
    assert switches() - before <= 2, f"{switches() - before} wake-ups"
    assert content_of(f"/proc/{process.pid}/stat").split()[13:15] == ticks, "processor time"
    process.kill()
    finish(process)


# holds: delay-1
def test_delay_simulated_has_the_order_of_the_real_run(directory):
    rng = random.Random(99)
    delays = [rng.randrange(0, 1500) for _ in range(5000)]
    data = b"".join(b"%dms %d\n" % (delay, n) for n, delay in enumerate(delays))
    path = file_with(directory, "in", data)
    simulated = run("--simulate", "--timestamps", path)
    wanted = sorted(range(5000), key=lambda n: (delays[n], n))
    order = [int(line.split()[3]) for line in simulated.lines]
    assert order == wanted, "simulated order"
    first = parse_time(simulated.lines[0].split()[0])
    for line in simulated.lines:
        planned, real, late, number = line.split()
        shift = (delays[int(number)] - delays[order[0]]) * 10**6
        assert abs(parse_time(planned) - first - shift) <= 1000, f"planned: {line}"
        assert (real, late) == (planned, b"+0.000000")
    real = run("--from-start", path)
    head = sum(1 for delay in delays if delay < 750)  # these may be late at the start
    assert list(map(int, real.lines))[head:] == wanted[head:], "real order"
    assert run("--simulate", data=b"30d b\n20d a\n").out == b"a\nb\n"


def test_delay_simulated_with_few_pending_or_coarse_ticks():
    # b leaves at 1, c at 2; then d comes at 3, in the tick of a, but was armed later.
    assert run("--simulate", "-m2", data=b"3 a\n1 b\n1 c\n1 d\n").lines == [b"b", b"c", b"a", b"d"]
    got = run("--simulate", "-T", "--tick", "500ms", data=b"0.001 a\n0.5 b\n0.501 c\n0 d\n")
    assert [b" ".join(line.split()[2:]) for line in got.lines] == [b"+0.000000 d", b"+0.499000 a", b"+0.000000 b", b"+0.499000 c"]
    # The tick of c begins after the end of time.
    assert run("--simulate", "--tick", "1d", data=b"106751d23h c\n106751d b\n9223372036.854775807 a\n").out == b"b\nc\n"


def test_delay_goes_on_when_limits_are_lowered():
    for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_MEMLOCK):
        process = start_with(b"0 up\n", until=b"up\n")
        hard = resource.prlimit(process.pid, limit)[1]
        resource.prlimit(process.pid, limit, (8 if limit == resource.RLIMIT_NOFILE else 0, hard))
        got = finish(process, b"100ms b\n0 a\n")
        assert (got.status, got.out) == (0, b"a\nb\n"), f"limit {limit}: {got.err}"


def test_delay_with_null_keeps_binary_messages():
    rng = random.Random(1)
    messages = [bytes(rng.randrange(1, 256) for _ in range(rng.randrange(300)))
                for _ in range(2000)] + [b"", b"\n", b"a\nb"]
    got = run("--null", "--tick", "1s", data=b"".join(b"0 " + m + b"\0" for m in messages))
    assert (got.status, got.err) == (0, "")
    assert got.out == b"".join(m + b"\0" for m in messages), "messages differ"


# holds: delay-9
def test_delay_of_a_line_without_an_end_takes_no_memory():
    """It is named while it still comes, and what follows it is read."""
    process = start("--max-line", "100000", "--stats", bufsize=0)
    stream = os.fdopen(os.dup(process.stdin.fileno()), "wb")
    stream.write(b"0 " + b"x" * (64 << 20))
    stream.flush()
    read_until(process.stderr.fileno(), b"htw delay: -:1: line longer than --max-line: 0\n")
    if not has_sanitizer():
        most = re.search(r"^VmHWM:\s+(\d+)", content_of(f"/proc/{process.pid}/status").decode(), re.M)[1]
        assert int(most) < 32 << 10, "the line was kept"
    stream.write(b"\n0 y\n")
    stream.close()
    got = finish(process)
    assert (got.status, got.out) == (1, b"y\n")
    assert "read 2, bad 1, released 1" in got.err


def test_delay_to_a_slow_reader_loses_nothing_and_reads_no_further():
    count = 400000
    process = start(bufsize=0)
    sent = [0]

    def write():
        with os.fdopen(os.dup(process.stdin.fileno()), "wb") as stream:
            process.stdin.close()
            for number in range(0, count, 100):
                stream.write(b"".join(b"0 %0100d\n" % (number + i) for i in range(100)))
                sent[0] = number + 100

    writer = threading.Thread(target=write)
    writer.start()
    wait_for(lambda: sent[0] > 0, "that anything is read")
    last = -1
    while last != sent[0]:  # until the writer is stuck
        last = sent[0]
        time.sleep(1.0)
    assert last < count / 2, "the reader is behind, and still everything was read"
    got = process.stdout.read()
    writer.join(PATIENCE)
    assert got == b"".join(b"%0100d\n" % n for n in range(count)), "messages differ"
    process.stdin = None
    assert finish(process).status == 0


def test_delay_with_closed_descriptors_fails():
    for redirection in (">&-", "<&-"):
        got = subprocess.run(["sh", "-c", f'echo 0 x | "$0" delay {redirection}', PROGRAM], capture_output=True, timeout=PATIENCE)
        assert got.returncode == 1, redirection


@pytest.mark.skipif(has_sanitizer(), reason="it needs more memory for itself")
def test_delay_without_memory_releases_what_it_has(directory):
    many = file_with(directory, "many", b"".join(b"5s %d\n" % i for i in range(1000000)))
    got = run(many, shell="ulimit -v 65536")
    assert got.status == 1 and "no more is read: Cannot allocate memory" in got.err
    released = [int(line) for line in got.lines]
    assert len(released) > 10000, "too few were accepted"
    assert released == list(range(len(released)))
