# SPDX-License-Identifier: MIT
"""test_delay_stopped.py - a signal, or output that fails, stops `htw delay` without losing anything: what --unreleased saves."""
import contextlib
import fcntl
import os
import pty
import random
import re
import signal
import stat
import struct
import termios
import threading
import time

import pytest
from programs import (PATIENCE, TICK, close_output, content_of, file_with, finish, messages_of, read_until, run, start, start_with, stop,
                      wait_for)

UNSAVED = 3


def unread(fd):
    return struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4))[0]


def wait_until_full(process):
    # It holds 16 pages, of which each write leaves a part of the last one free.
    wait_for(lambda: unread(process.stdout.fileno()) > 40000, "that the output pipe is full")


# holds: delay-2
def test_delay_stopped_by_sigterm_leaves_the_rest(directory):
    """Stopped in the middle, it goes on with what it saved; the two outputs are joined."""
    count = 20000
    rng = random.Random(15)
    rest = os.path.join(directory, "rest")
    delays = [rng.randrange(0, 20000) for _ in range(count)]
    data = b"".join(b"%dms %d\n" % (delay, n) for n, delay in enumerate(delays))
    source = file_with(directory, "in", data)
    process = start("-u", rest, "--stats", source)
    head = read_until(process.stdout.fileno(), b"\n")
    timer = threading.Timer(0.4, process.send_signal, [signal.SIGTERM])
    timer.start()
    got = finish(process)
    timer.join()
    assert got.status == 143
    unreleased = int(re.search(r"(\d+) not released, written to ", got.err)[1])
    assert f"unreleased {unreleased}" in got.err
    assert sorted(os.listdir(directory)) == ["in", "rest"]
    left = content_of(rest).splitlines()
    assert len(left) == unreleased, "records in the file"
    times = [float(line.split()[0]) for line in left]
    for earlier, later in zip(times, times[1:]):  # within a tick: as they arrived
        assert later > earlier - TICK, f"order of the file: {earlier}, {later}"
    second = run("--simulate", rest)
    assert (second.status, second.err) == (0, "")
    first = (head + got.out).splitlines()
    assert 0 < len(first) < count and second.lines, "not in the middle"
    assert sorted(map(int, first + second.lines)) == list(range(count)), "messages"


def run_and_stop(path, data=b"1h a\n1h b\n", **kwargs):
    """Stops a run that has read `data`, and has released nothing of it."""
    return stop(start_with(b"0 x\n" + data, "-u", path, **kwargs), signal.SIGTERM)


def test_delay_stopped_leaves_the_input_it_has_read(directory):
    """With a limit, read lines wait in the buffer: they are handed over as they came."""
    for options, wanted in (([], [b"5m m", b"bad", b"@8999999999 t"]),
                            (["--from-start"], [b"m", b"bad", b"t"])):
        rest = os.path.join(directory, "rest")
        process = start_with(b"0 x\n1h first\n5m m\nbad\n@8999999999 t\n1h frag",
                             "-u", rest, "-m", "1", *options)
        time.sleep(0.2)
        got = stop(process, signal.SIGTERM)
        assert got.status == 143
        assert "4 not released, written to" in got.err
        assert "htw delay: -:6: read in part only, and left out\n" in got.err
        lines = content_of(rest).splitlines()
        assert lines[0].split()[1] == b"first"
        assert 3500 < float(lines[0].split()[0]) <= 3600, lines[0]
        if options:
            assert 290 < float(lines[1].split()[0]) <= 300, lines[1]
            lines = [line.split(b" ", 1)[1] if i in (0, 2) else line
                     for i, line in enumerate(lines[1:])]
            assert lines == wanted
        else:
            assert lines[1:] == wanted


def test_delay_stopped_with_a_blocked_reader_ends_at_once(directory):
    """The reader takes nothing: the signal must still work, and nothing may be lost."""
    count = 60000
    rest = os.path.join(directory, "rest")
    source = file_with(directory, "in", b"".join(b"0 %020d\n" % n for n in range(count)))
    process = start("-u", rest, source)
    wait_until_full(process)
    time.sleep(1.5)  # the rest is read meanwhile
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 143
    first = process.stdout.read()
    got = finish(process)
    assert "not released, written to" in got.err
    assert len(first) >= 4096 and first.endswith(b"\n"), "torn"
    assert [int(n) for n in first.split() + messages_of(rest)] == list(range(count)), "messages"


def test_delay_stopped_with_a_full_terminal_ends_at_once(directory):
    """Nothing reads the terminal, and it may have room for a byte and no more."""
    for size in (1, 10, 61):
        own, its = pty.openpty()
        rest = os.path.join(directory, f"rest{size}")
        source = file_with(directory, "in", b"0 %s\n" % (b"x" * size) * 20000)
        process = start("-u", rest, source, stdout=its)
        time.sleep(0.5)
        assert stop(process, signal.SIGTERM).status == 143
        assert content_of(rest), "nothing was left"
        os.close(own)
        os.close(its)


def test_delay_stopped_inside_a_long_message_keeps_it_whole(directory):
    long = b"y" * 1000000
    rest = os.path.join(directory, "rest")
    process = start("-u", rest, bufsize=0)
    process.stdin.write(b"0 a\n0 ")
    writer = threading.Thread(target=process.stdin.write, args=(long + b"\n",))
    writer.start()
    writer.join(PATIENCE)
    wait_until_full(process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 143
    out = process.stdout.read()
    got = finish(process)
    assert "bytes were written already" in got.err
    assert content_of(rest) == b"0.000000000 " + long + b"\n"
    assert out.startswith(b"a\nyyyy") and not out.endswith(b"\n"), out[:100]


def test_delay_stopped_with_null_leaves_null_records(directory):
    rest = os.path.join(directory, "rest")
    process = start_with(b"0 x\0" + b"60.6 a\nb\0" + b"60.5 \0", "--null", "-u", rest, until=b"x\0")
    assert stop(process, signal.SIGINT).status == 130
    assert re.fullmatch(rb"\d+\.\d{9} \x00\d+\.\d{9} a\nb\0", content_of(rest)), content_of(rest)
    assert run("--null", "--simulate", rest).out == b"\0a\nb\0"


def test_delay_started_with_sigint_ignored_ignores_it():
    process = start_with(b"0 x\n0.5 y\n", shell='trap "" INT')
    process.send_signal(signal.SIGINT)
    got = finish(process)
    assert (got.status, got.out, got.err) == (0, b"y\n", "")


def test_delay_stopped_with_a_blocked_stderr_still_saves_the_rest(directory):
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
    assert (process.returncode in (143, -signal.SIGTERM)) == True, "ended"
    os.close(reader)
    finish(process)


def test_delay_beyond_the_limit_of_file_sizes_saves_the_rest(directory):
    rest = os.path.join(directory, "rest")
    source = file_with(directory, "in", b"0 %099d\n" % 0 * 400 + b"1h later\n")
    with open(os.path.join(directory, "out"), "wb") as out:
        got = run("-u", rest, source, shell="ulimit -f 64", stdout=out)
    assert got.status == 1
    assert "standard output: File too large" in got.err
    assert content_of(rest).endswith(b" later\n"), "not saved"


# holds: delay-7
def test_delay_to_a_closed_reader_saves_the_rest(directory):
    path = os.path.join(directory, "rest")
    process = start_with(b"1h a\n1h b\n0 x\n", "-u", path)
    close_output(process)
    assert process.wait(PATIENCE) == 128 + signal.SIGPIPE  # while more input may come
    got = finish(process)
    assert got.err == f"htw delay: stopped after -:3: 2 not released, written to {path}\n"
    assert messages_of(path) == [b"a", b"b"]


# holds: delay-9
def test_delay_stopped_before_a_line_that_is_too_long_saves_all_behind_it(directory):
    rest = os.path.join(directory, "rest")
    long = b"1h " + b"y" * 100
    process = start_with(b"0 x\n1h a\n" + long + b"\n1h b\n" + long,
                         "-u", rest, "-m", "1", "-l", "50")
    time.sleep(0.2)
    got = stop(process, signal.SIGTERM)
    assert "3 not released, written to" in got.err
    assert "htw delay: -:5: read in part only, and left out\n" in got.err
    assert content_of(rest).splitlines()[1:] == [long, b"1h b"]


# holds: delay-4
def test_delay_stopped_keeps_the_owner_and_drops_setuid(directory):
    """A program with set-uid would become another user's, and what is private must stay so."""
    rest = file_with(directory, "rest", b"old\n")
    if os.getuid() == 0:
        os.chown(rest, 12345, 23456)
    os.chmod(rest, 0o6750)
    run_and_stop(rest)
    status = os.stat(rest)
    assert oct(stat.S_IMODE(status.st_mode)) == oct(0o750)
    if os.getuid() == 0:
        assert (status.st_uid, status.st_gid) == (12345, 23456)
    assert messages_of(rest) == [b"a", b"b"]


# holds: delay-2
def test_delay_with_nothing_left_leaves_the_file_alone(directory):
    rest = file_with(directory, "rest", b"1h old\n")
    got = run_and_stop(rest, data=b"")
    assert (got.status, got.err) == (143, "htw delay: stopped by a signal after -:1: 0 not released\n")
    assert run("-u", rest, data=b"0 x\n").status == 0
    assert run("-u", rest, os.path.join(directory, "typo")).status == 1
    process = start_with(b"0 x\n", "-u", rest)
    close_output(process)
    assert process.wait(PATIENCE) == 128 + signal.SIGPIPE
    assert (finish(process).err, content_of(rest)) == ("", b"1h old\n")


# holds: delay-5
def test_delay_stopped_keeps_instants(directory):
    """They are those that were asked for, whatever time passes until the next run."""
    data = (b"@4000000000.123456789 a\n@2100-02-28T23:59:59.5+01:00 b\n"
            b"@8999999999 c\n")
    rest = os.path.join(directory, "rest")
    assert run_and_stop(rest, data).status == 143
    assert content_of(rest).splitlines() == [b"@4000000000.123456789 a", b"@4107538799.500000000 b",
           b"@8999999999.000000000 c"]
    again = os.path.join(directory, "again")
    with open(rest, "rb") as stream:
        run_and_stop(again, stream.read())
    assert content_of(again) == content_of(rest)


def elsewhere_of(err):
    return re.search(r"written to (\S+)$", err, re.M)[1]


@pytest.mark.parametrize("interfere, complaint", [
    (os.rmdir, "No such file or directory"), (lambda gone: os.mkdir(f"{gone}/rest"), "Is a directory"),
    (lambda gone: os.mkfifo(f"{gone}/rest"), "Operation not supported")], ids=["gone", "directory", "fifo"])
# holds: delay-3
def test_delay_that_cannot_save_beside_saves_elsewhere(directory, interfere, complaint):
    """The status and a message say so."""
    elsewhere, beside = os.path.join(directory, "elsewhere"), os.path.join(directory, "beside")
    os.mkdir(elsewhere)
    os.mkdir(beside)
    rest = os.path.join(beside, "rest")
    process = start_with(b"0 x\n1h a\n1h b\n", "-u", rest, env={**os.environ, "TMPDIR": elsewhere})
    interfere(beside)
    got = stop(process, signal.SIGTERM)
    assert got.status == UNSAVED and f"htw delay: {rest}: {complaint}\n" in got.err, got.err
    path = elsewhere_of(got.err)
    assert os.path.dirname(path) == elsewhere and messages_of(path) == [b"a", b"b"]
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert not os.path.exists(rest) or not os.path.isfile(rest), "it was replaced"
