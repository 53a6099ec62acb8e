# SPDX-License-Identifier: MIT
"""Messages come at their time, in order, and nothing happens in between."""
import os
import random
import re
import threading
import time

from harness import (PATIENCE, TICK, content_of, equal, file_with, finish, has, parse_time,
                     run, start, test)


@test
# holds: delay-1
def delay_of_200000_lines_through_pipes_is_kept():
    """None early (by our clock and by its own), none lost, none twice, the order right."""
    rng = random.Random(4711)
    count = 200000
    delays = [rng.randrange(0, 3000000) for _ in range(count)]  # us
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
    equal(process.wait(PATIENCE), 0, "status")
    process.stdout.close()
    process.stderr.close()

    equal(early, [], "early messages")
    equal(sorted(r[3] for r in received), list(range(count)), "messages")
    last = {}
    latest = 0
    for planned, real, late, number in received:
        planned_ns, real_ns = parse_time(planned), parse_time(real)
        assert planned_ns <= real_ns, f"early by its own clock: {planned} {real}"
        assert late.startswith(b"+"), f"early by its own clock: {late}"
        assert planned_ns > latest - TICK * 1e9 - 2000, f"out of order: {number}"
        latest = max(latest, planned_ns)
        last.setdefault(planned_ns, []).append(number)
    has(err, "read 200,000, bad 0, released 200,000, unreleased 0")
    has(err, "early 0")


@test
# holds: delay-1
def delay_equal_keeps_the_order_of_input():
    got = run(data=b"".join(b"%s %d\n" % ([b"0", b"200ms"][n % 2], n) for n in range(20000)))
    equal([int(n) for n in got.lines if int(n) % 2 == 0], list(range(0, 20000, 2)), "zeros")
    equal([int(n) for n in got.lines if int(n) % 2 == 1], list(range(1, 20000, 2)), "others")


@test
def delay_over_in_a_file_is_released_between_reads(directory):
    lines = b"".join(b"20ms %d\n" % n for n in range(300000))
    path = file_with(directory, "many", lines)
    got = run("--max-pending", "1000", "--tick", "10us", path)
    equal(got.lines, [b"%d" % n for n in range(300000)], "messages")


@test
def delay_to_an_instant_is_kept():
    wall = time.time()
    at = b"%.3f" % (wall + 5.0)
    date = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(wall + 6)).encode()
    east = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(wall + 6 + 5400)).encode()
    got = run("--timestamps", data=b"@%s a\n@%sZ b\n@%s.25+01:30 c\n@0 p\n@1999-12-31T23:59:60Z q\n"
              % (at, date, east))
    equal([line.split()[3] for line in got.lines], [b"p", b"q", b"a", b"b", b"c"])
    equal(got.lines[3].split()[0], date + b".000000Z", "planned")
    equal(got.lines[4].split()[0], date + b".250000Z", "planned")
    assert time.time() >= int(wall) + 6.25, "released early"


@test
def delay_alone_makes_the_program_sleep():
    """A far deadline costs nothing: no wake-ups and no processor time while it waits."""
    process = start(bufsize=0)
    process.stdin.write(b"0 now\n1h later\n")
    equal(os.read(process.stdout.fileno(), 100), b"now\n")

    def switches():
        text = content_of(f"/proc/{process.pid}/status").decode()
        return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M)[1])

    time.sleep(0.3)
    before, ticks = switches(), content_of(f"/proc/{process.pid}/stat").split()[13:15]
    time.sleep(1.0)
    assert switches() - before <= 2, f"{switches() - before} wake-ups"
    equal(content_of(f"/proc/{process.pid}/stat").split()[13:15], ticks, "processor time")
    process.kill()
    finish(process)
