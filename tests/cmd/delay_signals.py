# SPDX-License-Identifier: MIT
"""Signals stop the program without losing anything."""
import contextlib
import fcntl
import os
import pty
import random
import re
import signal
import struct
import termios
import threading
import time

from harness import (PATIENCE, TICK, content_of, equal, file_with, finish, has, messages_of,
                     read_until, run, start, start_with, stop, test, wait_for)


def unread(fd):
    return struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4))[0]


def wait_until_full(process):
    # It holds 16 pages, of which each write leaves a part of the last one free.
    wait_for(lambda: unread(process.stdout.fileno()) > 40000, "that the output pipe is full")


def interrupt(directory, number, status):
    """Stops a run in the middle, goes on with what it saved, and joins the two outputs."""
    count = 20000
    rng = random.Random(number)
    rest = os.path.join(directory, "rest")
    delays = [rng.randrange(0, 20000) for _ in range(count)]
    data = b"".join(b"%dms %d\n" % (delay, n) for n, delay in enumerate(delays))
    source = file_with(directory, "in", data)
    process = start("-u", rest, "--stats", source)
    head = read_until(process.stdout.fileno(), b"\n")
    timer = threading.Timer(0.4, process.send_signal, [number])
    timer.start()
    got = finish(process)
    timer.join()
    equal(got.status, status, "status")
    unreleased = int(re.search(r"(\d+) not released, written to ", got.err)[1])
    has(got.err, f"unreleased {unreleased:,}")
    equal(os.listdir(directory).count("rest"), 1)
    equal(len(os.listdir(directory)), 2, "files")
    left = content_of(rest).splitlines()
    equal(len(left), unreleased, "records in the file")
    times = [float(line.split()[0]) for line in left]
    for earlier, later in zip(times, times[1:]):  # within a tick: as they arrived
        assert later > earlier - TICK, f"order of the file: {earlier}, {later}"
    second = run("--simulate", rest)
    equal((second.status, second.err), (0, ""))
    first = (head + got.out).splitlines()
    assert 0 < len(first) < count and second.lines, "not in the middle"
    equal(sorted(map(int, first + second.lines)), list(range(count)), "messages")


@test
# holds: delay-2
def delay_stopped_by_sigterm_leaves_the_rest(directory):
    interrupt(directory, signal.SIGTERM, 143)


@test
def delay_stopped_leaves_the_input_it_has_read(directory):
    """With a limit, read lines wait in the buffer: they are handed over as they came."""
    for options, wanted in (([], [b"5m m", b"bad", b"@8999999999 t"]),
                            (["--from-start"], [b"m", b"bad", b"t"])):
        rest = os.path.join(directory, "rest")
        process = start_with(b"0 x\n1h first\n5m m\nbad\n@8999999999 t\n1h frag",
                             "-u", rest, "-m", "1", *options)
        time.sleep(0.2)
        got = stop(process, signal.SIGTERM)
        equal(got.status, 143)
        has(got.err, "4 not released, written to")
        has(got.err, "htw delay: -:6: read in part only, and left out\n")
        lines = content_of(rest).splitlines()
        equal(lines[0].split()[1], b"first")
        assert 3500 < float(lines[0].split()[0]) <= 3600, lines[0]
        if options:
            assert 290 < float(lines[1].split()[0]) <= 300, lines[1]
            lines = [line.split(b" ", 1)[1] if i in (0, 2) else line
                     for i, line in enumerate(lines[1:])]
            equal(lines, wanted)
        else:
            equal(lines[1:], wanted)


@test
def delay_stopped_with_a_blocked_reader_ends_at_once(directory):
    """The reader takes nothing: the signal must still work, and nothing may be lost."""
    count = 60000
    rest = os.path.join(directory, "rest")
    source = file_with(directory, "in", b"".join(b"0 %020d\n" % n for n in range(count)))
    process = start("-u", rest, source)
    wait_until_full(process)
    time.sleep(1.5)  # the rest is read meanwhile
    process.send_signal(signal.SIGTERM)
    equal(process.wait(PATIENCE), 143)
    first = process.stdout.read()
    got = finish(process)
    has(got.err, "not released, written to")
    assert len(first) >= 4096 and first.endswith(b"\n"), "torn"
    equal([int(n) for n in first.split() + messages_of(rest)], list(range(count)), "messages")


@test
def delay_stopped_with_a_full_terminal_ends_at_once(directory):
    """Nothing reads the terminal, and it may have room for a byte and no more."""
    for size in (1, 10, 61):
        own, its = pty.openpty()
        rest = os.path.join(directory, f"rest{size}")
        source = file_with(directory, "in", b"0 %s\n" % (b"x" * size) * 20000)
        process = start("-u", rest, source, stdout=its)
        time.sleep(0.5)
        equal(stop(process, signal.SIGTERM).status, 143)
        assert content_of(rest), "nothing was left"
        os.close(own)
        os.close(its)


@test
def delay_stopped_inside_a_long_message_keeps_it_whole(directory):
    long = b"y" * 1000000
    rest = os.path.join(directory, "rest")
    process = start("-u", rest, bufsize=0)
    process.stdin.write(b"0 a\n0 ")
    writer = threading.Thread(target=process.stdin.write, args=(long + b"\n",))
    writer.start()
    writer.join(PATIENCE)
    wait_until_full(process)
    process.send_signal(signal.SIGTERM)
    equal(process.wait(PATIENCE), 143)
    out = process.stdout.read()
    got = finish(process)
    has(got.err, "bytes were written already")
    equal(content_of(rest), b"0.000000000 " + long + b"\n")
    assert out.startswith(b"a\nyyyy") and not out.endswith(b"\n"), out[:100]


@test
def delay_stopped_with_null_leaves_null_records(directory):
    rest = os.path.join(directory, "rest")
    process = start_with(b"0 x\0" + b"60.6 a\nb\0" + b"60.5 \0", "--null", "-u", rest, until=b"x\0")
    equal(stop(process, signal.SIGINT).status, 130)
    assert re.fullmatch(rb"\d+\.\d{9} \x00\d+\.\d{9} a\nb\0", content_of(rest)), content_of(rest)
    equal(run("--null", "--simulate", rest).out, b"\0a\nb\0")


@test
def delay_that_ends_well_leaves_the_file_alone(directory):
    rest = file_with(directory, "rest", b"1h old\n")
    equal(run("-u", rest, data=b"0 x\n").status, 0)
    equal(run("-u", rest, os.path.join(directory, "typo")).status, 1)
    equal(content_of(rest), b"1h old\n")


@test
def delay_started_with_sigint_ignored_ignores_it():
    process = start_with(b"0 x\n0.5 y\n", shell='trap "" INT')
    process.send_signal(signal.SIGINT)
    got = finish(process)
    equal((got.status, got.out, got.err), (0, b"y\n", ""))


@test
def delay_stopped_with_a_blocked_stderr_still_saves_the_rest(directory):
    """Standard error is a pipe that is full, and nothing reads it."""
    rest = os.path.join(directory, "rest")
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b"x" * 4096)
    os.set_blocking(writer, True)
    process = start_with(b"1h good\n0 x\n", "-u", rest, stderr=writer)
    os.close(writer)
    process.stdin.write(b"bad\n")
    wait_for(lambda: unread(process.stdin.fileno()) == 0, "that it reads the bad line")
    process.send_signal(signal.SIGTERM)
    wait_for(lambda: os.path.exists(rest), "the file")
    assert content_of(rest).splitlines()[0].endswith(b" good"), "not saved"

    def is_ended_by_another():
        # One that comes before the program has done with the first is still that one's.
        process.send_signal(signal.SIGTERM)
        return process.poll() is not None

    wait_for(is_ended_by_another, "the end")
    equal(process.returncode in (143, -signal.SIGTERM), True, "ended")
    os.close(reader)
    finish(process)


@test
def delay_beyond_the_limit_of_file_sizes_saves_the_rest(directory):
    rest = os.path.join(directory, "rest")
    source = file_with(directory, "in", b"0 %099d\n" % 0 * 400 + b"1h later\n")
    with open(os.path.join(directory, "out"), "wb") as out:
        got = run("-u", rest, source, shell="ulimit -f 64", stdout=out)
    equal(got.status, 1)
    has(got.err, "standard output: File too large")
    assert content_of(rest).endswith(b" later\n"), "not saved"
