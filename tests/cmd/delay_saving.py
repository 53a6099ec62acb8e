# SPDX-License-Identifier: MIT
"""What --unreleased saves when something is in the way."""
import os
import re
import signal
import stat
import time

from harness import (content_of, equal, file_with, finish, has, messages_of, run, start,
                     start_with, stop, test, wait_for)

UNSAVED = 3


def run_and_stop(path, data=b"1h a\n1h b\n", **kwargs):
    """Stops a run that has read `data`, and has released nothing of it."""
    return stop(start_with(b"0 x\n" + data, "-u", path, **kwargs), signal.SIGTERM)


@test
# holds: delay-4
def delay_stopped_keeps_the_owner_and_drops_setuid(directory):
    """A program with set-uid would become another user's, and what is private must stay so."""
    rest = file_with(directory, "rest", b"old\n")
    if os.getuid() == 0:
        os.chown(rest, 12345, 23456)
    os.chmod(rest, 0o6750)
    run_and_stop(rest)
    status = os.stat(rest)
    equal(oct(stat.S_IMODE(status.st_mode)), oct(0o750))
    if os.getuid() == 0:
        equal((status.st_uid, status.st_gid), (12345, 23456))
    equal(messages_of(rest), [b"a", b"b"])


@test
# holds: delay-2
def delay_stopped_with_nothing_left_leaves_the_file_alone(directory):
    rest = file_with(directory, "rest", b"1h old\n")
    got = run_and_stop(rest, data=b"")
    equal((got.status, got.err),
          (143, "htw delay: stopped by a signal after -:1: 0 not released\n"))
    equal(content_of(rest), b"1h old\n")


@test
# holds: delay-5
def delay_stopped_keeps_instants(directory):
    """They are those that were asked for, whatever time passes until the next run."""
    data = (b"@4000000000.123456789 a\n@2100-02-28T23:59:59.5+01:00 b\n"
            b"@8999999999 c\n")
    rest = os.path.join(directory, "rest")
    equal(run_and_stop(rest, data).status, 143)
    equal(content_of(rest).splitlines(),
          [b"@4000000000.123456789 a", b"@4107538799.500000000 b",
           b"@8999999999.000000000 c"])
    again = os.path.join(directory, "again")
    with open(rest, "rb") as stream:
        run_and_stop(again, stream.read())
    equal(content_of(again), content_of(rest))


@test
# holds: delay-5
def delay_stopped_keeps_instants_of_the_past(directory):
    """Due, but not written, as the disk is full."""
    line = b"@1700000000.000000001 %s\n" % (b"y" * 1000000)
    rest = os.path.join(directory, "rest")
    path = file_with(directory, "in", line + b"@1969-12-31T23:59:59Z z\n")
    with open("/dev/full", "wb") as full:
        got = run("-u", rest, path, stdout=full)
    equal(got.status, 1)
    equal(content_of(rest), line + b"@0.000000000 z\n")


def elsewhere_of(err):
    return re.search(r"written to (\S+)$", err, re.M)[1]


@test
# holds: delay-3
def delay_that_cannot_save_beside_saves_elsewhere(directory):
    """The directory has gone, or the name is taken by one: the status and a message say so."""
    elsewhere = os.path.join(directory, "elsewhere")
    os.makedirs(elsewhere)
    for interfere, complaint in ((os.rmdir, "No such file or directory"),
                                 (lambda gone: os.mkdir(f"{gone}/rest"), "Is a directory")):
        beside = os.path.join(directory, "beside")
        os.mkdir(beside)
        rest = os.path.join(beside, "rest")
        process = start_with(b"0 x\n1h a\n1h b\n", "-u", rest,
                             env={**os.environ, "TMPDIR": elsewhere})
        interfere(beside)
        got = stop(process, signal.SIGTERM)
        equal(got.status, UNSAVED)
        has(got.err, f"htw delay: {rest}: {complaint}\n")
        path = elsewhere_of(got.err)
        equal(os.path.dirname(path), elsewhere)
        equal(messages_of(path), [b"a", b"b"])
        equal(stat.S_IMODE(os.stat(path).st_mode), 0o600)


@test
# holds: delay-3
def delay_that_finds_a_fifo_without_a_reader_saves_elsewhere(directory):
    fifo = os.path.join(directory, "fifo")
    os.mkfifo(fifo)
    got = run_and_stop(fifo, env={**os.environ, "TMPDIR": directory})
    equal(got.status, UNSAVED)
    path = elsewhere_of(got.err)
    equal(os.path.dirname(path), directory)
    equal(messages_of(path), [b"a", b"b"])
    assert stat.S_ISFIFO(os.stat(fifo).st_mode), "the FIFO was replaced"


@test
# holds: delay-6
def delay_stopped_again_ends_a_save_that_waits(directory):
    """The FIFO has a reader that takes nothing."""
    fifo = os.path.join(directory, "fifo")
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    process = start_with(b"0 x\n" + b"1h %099d\n" % 7 * 2000 + b"0 y\n", "-u", fifo, until=b"y\n",
                         env={**os.environ, "TMPDIR": directory})
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)  # at once, so it is part of the first

    def has_given_up():
        """Sends no signal after it, since one that comes when all is saved kills the program."""
        time.sleep(0.1)
        if os.listdir(directory) == ["fifo"]:
            process.send_signal(signal.SIGTERM)
        return os.listdir(directory) != ["fifo"]

    wait_for(has_given_up, "the file elsewhere")
    got = finish(process)
    os.close(reader)
    equal(got.status, UNSAVED)
    has(got.err, f"htw delay: {fifo}: given up for a signal\n")
    equal(len(messages_of(elsewhere_of(got.err))), 2000)


@test
# holds: delay-3
def delay_without_a_free_descriptor_still_saves(directory):
    rest = os.path.join(directory, "rest")
    process = start("-u", rest, shell="ulimit -n 5", bufsize=0)
    process.stdin.write(b"0 x\n1h a\n")
    if not process.stdout.read(2):
        finish(process)  # the sanitizer needs descriptors for itself
        return
    equal(stop(process, signal.SIGTERM).status, 143)
    equal(messages_of(rest), [b"a"])
