# SPDX-License-Identifier: MIT
"""`htw delay --journal`: what it accepts, keeps and releases."""
import os
import random
import signal
import time

from harness import (PATIENCE, close_output, command, content_of, equal, file_with, finish, has,
                     read_until, run, start, start_with, stop, test, wait_for)


def journal_in(directory):
    return os.path.join(directory, "journal")


@test
def delay_journal_releases_in_order_and_leaves_no_job(directory):
    journal = journal_in(directory)
    got = run("-j", journal, data=b"0.3 c\n0.1 a\n0.2 b\n0 first\n@1970-01-01T00:00:00Z second\n")
    equal((got.status, got.err), (0, ""))
    equal(got.lines, [b"first", b"second", b"a", b"b", b"c"])
    equal(command("journal", "list", journal).lines[1:], [])


@test
def delay_journal_stopped_keeps_what_was_read_for_the_next_run(directory):
    journal = journal_in(directory)
    process = start_with(b"0 x\n" + b"1h a\n2h b\n" * 2 + b"half", "-j", journal)
    got = stop(process, signal.SIGTERM)
    equal(got.status, 128 + signal.SIGTERM)
    equal(got.err, f"htw delay: stopped by a signal after -:5: 4 not released, kept in {journal}\n"
                   "htw delay: -:6: read in part only, and left out\n")
    equal(len(command("journal", "list", journal).lines), 5)
    process = start_with(b"0 y\n", "-j", journal, until=b"y\n")
    got = stop(process, signal.SIGINT)
    equal(got.status, 128 + signal.SIGINT)
    has(got.err, "4 not released")


@test
def delay_journal_overdue_messages_come_at_once_in_order(directory):
    journal = journal_in(directory)
    process = start_with(b"0 x\n2.4 b\n2.2 a\n2.6 c\n", "-j", journal)
    stop(process, signal.SIGTERM)
    time.sleep(2.7)
    got = run("-T", "-j", journal)
    equal((got.status, [line.split()[3] for line in got.lines]), (0, [b"a", b"b", b"c"]))
    assert all(line.split()[2].startswith(b"+") for line in got.lines), got.lines


@test
def delay_journal_gives_a_message_the_same_id_in_each_run(directory):
    journal = journal_in(directory)
    process = start_with(b"0 x\n4 a\n", "-ij", journal, until=b" x\n")
    listed = [line.split() for line in command("journal", "list", journal).lines]
    stop(process, signal.SIGKILL)
    got = run("-i", "-j", journal)
    equal(got.lines[-1].split(), [next(words[0] for words in listed if words[-1] == b"a"), b"a"])


@test
def delay_journal_keeps_any_bytes(directory):
    rng = random.Random(7)
    records = [b"", b"\n", b" x ", b"\xff\xfe", bytes(range(1, 256)), rng.randbytes(300000).replace(
        b"\0", b"")]
    records += [rng.randbytes(rng.randrange(100)).replace(b"\0", b"") for _ in range(100)]
    data = b"".join(b"0 " + record + b"\0" for record in records)
    got = run("-0", "-j", journal_in(directory), data=data)
    equal((got.status, got.out.split(b"\0")[:-1] == records), (0, True))


@test
def delay_journal_ids_come_before_timestamps(directory):
    got = run("-T", "--ids", "-j", journal_in(directory), data=b"0.01 a b\n")
    number, planned, real, late, message = got.lines[0].split(b" ", 4)
    assert int(number) > 0 and planned.endswith(b"Z") and real >= planned, got.lines
    assert late.startswith(b"+0."), late
    equal(message, b"a b")


@test
def delay_journal_acknowledges_lines_that_are_durable(directory):
    journal = journal_in(directory)
    ours, theirs = os.pipe()
    process = start("-j", journal, "-a", str(theirs), pass_fds=[theirs], bufsize=0)
    os.close(theirs)
    counts = read_until(ours, b"0\n")
    for number in (1, 2, 3):
        process.stdin.write(b"1h a\nbad\n")
        counts += read_until(ours, b"%d\n" % (2 * number))
        equal(len(command("journal", "list", journal).lines), number + 1)
    got = stop(process, signal.SIGTERM)
    equal(got.status, 143)
    numbers = [int(line) for line in counts.split()]
    assert numbers == sorted(set(numbers)) and numbers[-1] == 6, numbers
    equal(os.read(ours, 100), b"")
    os.close(ours)


@test
def delay_journal_whose_acknowledgements_nobody_reads_goes_on(directory):
    ours, theirs = os.pipe()
    os.close(ours)
    got = run("-j", journal_in(directory), "-a", str(theirs), data=b"0 a\n0 b\n", pass_fds=[theirs])
    os.close(theirs)
    equal((got.status, got.lines), (1, [b"a", b"b"]))
    equal(got.err, "htw delay: --acknowledge: Broken pipe\n")


@test
def delay_journal_reads_no_line_of_a_file_twice(directory):
    journal = journal_in(directory)
    path = file_with(directory, "in", b"0 a\n0 b\n")
    equal(run("-j", journal, path).lines, [b"a", b"b"])
    equal(run("-j", journal, path).lines, [])
    with open(path, "ab") as stream:
        stream.write(b"bad\n0 c\n")
    got = run("-j", journal, path)
    equal((got.lines, got.err), ([b"c"], f"htw delay: {path}:3: number expected: bad\n"))
    other = file_with(directory, "other", b"0 d\n0 e\n")
    equal(run("-j", journal, path, other).lines, [b"d", b"e"])
    with open(other, "ab") as stream:
        stream.write(b"0 f\n")
    with open(other, "rb") as stream:  # as standard input it is the same file
        equal(run("-j", journal, stdin=stream).lines, [b"f"])
    equal(run("-j", journal, "--reread", other).lines, [b"d", b"e", b"f"])
    equal(run("-j", journal, other, path).lines, [])


@test
def delay_journal_remembers_the_last_48_files(directory):
    journal = journal_in(directory)
    paths = [file_with(directory, f"in{number}", b"0 %d\n" % number) for number in range(60)]
    equal(len(run("-j", journal, *paths[:48]).lines), 48)
    equal(len(run("-j", journal, *paths[48:]).lines), 12)
    equal(run("-j", journal, *paths[12:]).lines, [])
    equal(run("-j", journal, *paths[:2]).lines, [b"0", b"1"])
    equal(run("-j", journal, *paths[14:]).lines, [])


@test
def delay_journal_refuses_a_file_that_has_changed(directory):
    journal = journal_in(directory)
    path = file_with(directory, "in", b"0 a\n0 b\n")
    run("-j", journal, path)
    for content in (b"0 x\n0 b\n0 c\n", b"0 a\n", b""):
        file_with(directory, "in", content)
        got = run("-j", journal, path)
        equal((got.status, got.out), (1, b""))
        has(got.err, f"{path}: is not the file any more of which the journal has read a part")
    file_with(directory, "in", b"0 a\n0 b\n0 c\n")
    equal(run("-j", journal, path).lines, [b"c"])


@test
def delay_journal_strict_comes_to_the_bad_line_again(directory):
    journal = journal_in(directory)
    path = file_with(directory, "in", b"0 a\nbad\n0 b\n")
    for wanted in ([b"a"], []):
        got = run("--strict", "-j", journal, path)
        equal((got.status, got.lines), (1, wanted))
        has(got.err, f"{path}:2: number expected: bad")
    file_with(directory, "in", b"0 a\n0 c\n0 b\n")
    equal(run("--strict", "-j", journal, path).lines, [b"c", b"b"])


@test
def delay_journal_skips_a_long_line_again_and_not_its_rest(directory):
    """Killed in the middle of it, a run must not take its end for a line."""
    journal = journal_in(directory)
    path = file_with(directory, "in", b"0 a\n" + b"0 " * 400000 + b"\n0 b\n")
    got = run("-l", "1000", "-j", journal, path)
    equal((got.status, got.lines), (1, [b"a", b"b"]))
    has(got.err, f"{path}:2: line longer than --max-line")
    equal(run("-l", "1000", "-j", journal, path).lines, [])


@test
def delay_journal_with_max_pending_reads_no_further(directory):
    journal = journal_in(directory)
    ours, theirs = os.pipe()
    process = start("-m2", "-a", str(theirs), "-j", journal, pass_fds=[theirs], bufsize=0)
    os.close(theirs)
    process.stdin.write(b"0.5 a\n1h b\n1h c\n1h d\n1h e\n")
    read_until(process.stdout.fileno(), b"a\n")
    read_until(ours, b"3\n")
    wait_for(lambda: len(command("journal", "list", journal).lines) == 3, "the end of the job of a")
    got = stop(process, signal.SIGTERM)  # what is in the buffer is kept, too
    os.close(ours)
    has(got.err, "4 not released")


@test
def delay_journal_ends_when_its_reader_has_gone(directory):
    journal = journal_in(directory)
    process = start_with(b"0 x\n1h a\n2h b\n", "-j", journal)
    close_output(process)
    process.wait(PATIENCE)
    got = finish(process)
    equal(got.status, 141)
    equal(len(command("journal", "list", journal).lines), 3)


@test
def delay_journal_ends_the_line_that_a_killed_run_has_cut(directory):
    journal = journal_in(directory)
    out = file_with(directory, "out", b"1 whole\n2 cu")
    with open(out, "ab") as stream:
        got = run("-j", journal, data=b"0 a\n", stdout=stream)
    equal((got.status, content_of(out)), (0, b"1 whole\n2 cu\na\n"))
    has(got.err, "ended its last line")
    with open(out, "ab") as stream:
        equal(run("-j", journal, data=b"0 b\n", stdout=stream).err, "")


@test
def delay_journal_refuses_instants_beyond_its_time(directory):
    got = run("-j", journal_in(directory), data=b"300y a\n@9999999999999 b\n110000d c\n0 d\n")
    equal((got.status, got.lines), (1, [b"d"]))
    has(got.err, "-:2: later than 2262, where the time of a journal ends")
    has(got.err, "-:3: later than 2262, where the time of a journal ends")


@test
def delay_journal_stats_are_those_of_the_journal(directory):
    got = run("-s", "-j", journal_in(directory), data=b"0 a\n0 b\n")
    has(got.err, "read 2, bad 0, released 2")
    has(got.err, "journal: found 0, put 2, done 2, now 0\n")


@test
def delay_journal_options_that_contradict_are_refused(directory):
    journal = journal_in(directory)
    for options, wanted in (
            (["--ids"], "--ids: needs --journal"),
            (["--reread"], "--reread: needs --journal"),
            (["-a", "2"], "--acknowledge: needs --journal"),
            (["-j", journal, "-a", "1"], "--acknowledge: 1: the messages go there"),
            (["-j", journal, "-a", "77"], "--acknowledge: 77: the descriptor is not open"),
            (["-j", journal, "-a", "0"], "--acknowledge: 0: the descriptor is not open"),
            (["-j", journal, "-a", "x"], "--acknowledge: not the number of a descriptor: x"),
            (["-j", journal, "-n"], "--simulate: cannot be used with --journal"),
            (["-j", journal, "-f"], "--from-start: cannot be used with --journal"),
            (["-j", journal, "-u", "r"], "--unreleased: cannot be used with --journal"),
            (["-j", ""], "--journal: not the name of a file: ''"),
    ):
        with open("/dev/null", "rb") as nothing:
            got = run(*options, stdin=nothing)
        equal(got.status, 2, options)
        has(got.err, wanted)
    for options, wanted in (
            (["-t", "1ns"], "with --journal, a --tick lasts from 1us to 1h"),
            (["-t", "2h"], "with --journal, a --tick lasts from 1us to 1h"),
            (["in"] * 49, "too many files"),
    ):
        got = run("-j", journal, *options)
        equal(got.status, 1)
        has(got.err, wanted)
    assert not os.path.exists(journal)


@test
def delay_journal_follows_no_pipe_of_acknowledgements_that_is_full(directory):
    """A producer that does not read them gets the last count later; nothing waits for it."""
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    filled = 0
    while True:
        try:
            filled += os.write(theirs, b"\n" * 65536)
        except BlockingIOError:
            break
    os.set_blocking(theirs, True)
    process = start("-j", journal_in(directory), "-a", str(theirs), pass_fds=[theirs], bufsize=0)
    os.close(theirs)
    process.stdin.write(b"0 a\n")
    read_until(process.stdout.fileno(), b"a\n")
    process.stdin.write(b"0 b\n")
    read_until(process.stdout.fileno(), b"b\n")
    got = b""
    while len(got) < filled:
        got += os.read(ours, 65536)
    read_until(ours, b"2\n")
    equal(finish(process).status, 0)
    os.close(ours)
    wait_for(lambda: process.poll() is not None, "the end")
