# SPDX-License-Identifier: MIT
"""Lines of every shape, and files of every kind."""
import os
import random
import re
import signal
import subprocess
import threading
import time

from harness import (PATIENCE, PROGRAM, content_of, equal, file_with, finish, has, read_until,
                     run, start, start_with, stop, test, wait_for)


def memory_kib(process, name):
    text = content_of(f"/proc/{process.pid}/status").decode()
    return int(re.search(rf"^{name}:\s+(\d+)", text, re.M)[1])


@test
def delay_with_null_keeps_binary_messages():
    rng = random.Random(1)
    messages = [bytes(rng.randrange(1, 256) for _ in range(rng.randrange(300)))
                for _ in range(2000)] + [b"", b"\n", b"a\nb"]
    got = run("--null", "--tick", "1s", data=b"".join(b"0 " + m + b"\0" for m in messages))
    equal((got.status, got.err), (0, ""))
    assert got.out == b"".join(m + b"\0" for m in messages), "messages differ"


@test
def delay_of_a_long_line_is_kept():
    long = bytes(range(32, 127)) * (10 * 1024 * 1024 // 95)
    got = run("-s", data=b"10ms short\n0.2 " + long + b"\n0 x\n1ms " + long[:300000])
    equal(got.status, 0)
    equal(sorted(len(line) for line in got.lines), [1, 5, 300000, len(long)])
    assert long in got.lines, "the long line has changed"


@test
def delay_of_a_long_line_leaves_no_memory_behind():
    if b"__asan_init" in content_of(PROGRAM):
        return  # it keeps freed memory on purpose
    process = start("--max-line", "99999999", bufsize=0)
    stream = os.fdopen(os.dup(process.stdin.fileno()), "wb")
    stream.write(b"0 " + b"x" * (32 << 20) + b"\n")
    stream.flush()
    left = 32 << 20
    while left > 0:
        left -= len(os.read(process.stdout.fileno(), 1 << 20))
    for _ in range(3):
        stream.write(b"0 y\n")
        stream.flush()
        time.sleep(0.05)

    wait_for(lambda: memory_kib(process, "VmRSS") < 16 << 10, "memory given back")
    stream.close()
    equal(finish(process).status, 0)


@test
# holds: delay-9
def delay_longer_than_max_line_is_skipped_in_every_place(directory):
    """Of every length about the limit and the buffer; in the middle, and at the end of a file."""
    for size in (98, 99, 100, 262143, 262144, 262145, 1000000):
        long = b"0 " + b"x" * size
        one = file_with(directory, "one", b"0 a\n" + long + b"\n0 b\n" + long)
        two = file_with(directory, "two", b"0 c\n")
        got = run("--max-line", "100", one, two)
        if size == 98:
            equal((got.status, got.lines), (0, [b"a", long[2:], b"b", long[2:], b"c"]))
            continue
        equal((got.status, got.lines), (1, [b"a", b"b", b"c"]), size)
        equal(got.err, f"htw delay: {one}:2: line longer than --max-line: 0\n"
                       f"htw delay: {one}:4: line longer than --max-line: 0\n")
        equal(run("--strict", "-l100", one, two).lines, [b"a"])


@test
# holds: delay-9
def delay_of_a_line_without_an_end_takes_no_memory():
    """It is named while it still comes, and what follows it is read."""
    process = start("--max-line", "100000", "--stats", bufsize=0)
    stream = os.fdopen(os.dup(process.stdin.fileno()), "wb")
    stream.write(b"0 ")
    for _ in range(64):
        stream.write(b"x" * (1 << 20))
    stream.flush()
    read_until(process.stderr.fileno(), b"htw delay: -:1: line longer than --max-line: 0\n")
    if b"__asan_init" not in content_of(PROGRAM):
        assert memory_kib(process, "VmHWM") < 32 << 10, "the line was kept"
    stream.write(b"\n0 y\n")
    stream.close()
    got = finish(process)
    equal((got.status, got.out), (1, b"y\n"))
    has(got.err, "read 2, bad 1, released 1")


@test
# holds: delay-9
def delay_stopped_before_a_line_that_is_too_long_saves_all_behind_it(directory):
    rest = os.path.join(directory, "rest")
    long = b"1h " + b"y" * 100
    process = start_with(b"0 x\n1h a\n" + long + b"\n1h b\n" + long,
                         "-u", rest, "-m", "1", "-l", "50")
    time.sleep(0.2)
    got = stop(process, signal.SIGTERM)
    has(got.err, "3 not released, written to")
    has(got.err, "htw delay: -:5: read in part only, and left out\n")
    equal(content_of(rest).splitlines()[1:], [long, b"1h b"])


@test
def delay_of_a_fifo_releases_while_it_waits_for_a_writer(directory):
    path = os.path.join(directory, "fifo")
    os.mkfifo(path)
    first = file_with(directory, "first", b"0.1 a\n")
    process = start(first, path, stdin=subprocess.DEVNULL)
    read_until(process.stdout.fileno(), b"a\n")
    with open(path, "wb") as stream:
        stream.write(b"0 b\n")
    got = finish(process)
    equal((got.status, got.out), (0, b"b\n"))


@test
def delay_from_a_slow_writer_is_kept():
    process = start(bufsize=0)
    sent = {}
    for number in range(20):
        line = b"%dms %d\n" % (50 + number, number)
        sent[number] = time.monotonic() + 0.05 + number * 0.001
        for byte in (line[:3], line[3:]):
            process.stdin.write(byte)
            time.sleep(0.01)
    got = b""
    process.stdin.close()
    process.stdin = None
    while len(got.splitlines()) < 20:
        piece = os.read(process.stdout.fileno(), 65536)
        assert piece, "messages are missing"
        for number in piece.split():
            assert time.monotonic() >= sent[int(number)], f"{number} came early"
        got += piece
    equal(finish(process).status, 0)


@test
def delay_to_a_slow_reader_loses_nothing_and_reads_no_further():
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
    equal(finish(process).status, 0)
