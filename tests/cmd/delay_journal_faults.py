# SPDX-License-Identifier: MIT
"""`htw delay --journal` when it is killed, when the disk is full, and when its file is none."""
import os
import random
import signal
import sqlite3
import subprocess
import threading
import time

from harness import (PATIENCE, PROGRAM, Run, command, content_of, equal, file_with, finish, has, run, start,
                     start_with, stop, test)

SEED = int(os.environ.get("SEED", time.time_ns() % 1000000))
ROUNDS = 30


class Seen:
    """What all runs on one journal have written, judged line by line."""

    def __init__(self):
        self.ids, self.messages = {}, {}
        self.doubles = 0

    def read(self, stream):
        """Until the end. Of a run that was killed, all lines are whole: they fit into PIPE_BUF."""
        for line in stream:
            now_ns = time.time_ns()
            number, message = line.rstrip(b"\n").split(b" ", 1)
            assert line.endswith(b"\n"), f"cut: {line!r}"
            due_ns = int(message.split()[1])
            assert now_ns >= due_ns, f"early by {due_ns - now_ns} ns: {line!r}"
            self.doubles += number in self.ids
            equal(self.ids.setdefault(number, message), message, f"the message of {number}")
            equal(self.messages.setdefault(message, number), number, f"the id of {message}")


def reading(seen, process):
    """A thread that reads what the run writes; what went wrong is in its list."""
    failures = []

    def read():
        try:
            seen.read(process.stdout)
        except AssertionError as failure:
            failures.append(failure)
    thread = threading.Thread(target=read)
    thread.start()
    return thread, failures


def end_reading(thread, failures):
    thread.join(PATIENCE)
    assert not failures and not thread.is_alive(), failures


def line_of(number, rng):
    due_ns = time.time_ns() + rng.randrange(0, 400) * 10**6
    message = b"%d %d" % (number, due_ns)
    return b"@%d.%09d %s\n" % (due_ns // 10**9, due_ns % 10**9, message), message


def drain(fd):
    got = b""
    while True:
        piece = os.read(fd, 65536)
        if not piece:
            return got
        got += piece


@test
def delay_journal_killed_releases_each_acknowledged_line(directory):
    """And none early; of what is written twice each time has the same id."""
    rng = random.Random(SEED)
    journal = os.path.join(directory, "journal")
    seen, accepted, sent = Seen(), set(), set()
    for turn in range(ROUNDS):
        ours, theirs = os.pipe()
        process = start("-i", "-j", journal, "-a", str(theirs), pass_fds=[theirs], bufsize=0)
        os.close(theirs)
        thread, failures = reading(seen, process)
        messages = []
        killer = threading.Timer(rng.random() ** 2 * 0.4, process.kill)
        killer.start()
        try:
            while process.poll() is None:
                lines = [line_of(turn * 10**6 + len(messages) + n, rng) for n in range(rng.randrange(1, 60))]
                messages += [message for _, message in lines]
                process.stdin.write(b"".join(line for line, _ in lines))
                time.sleep(rng.random() * 0.01)
        except BrokenPipeError:
            pass
        killer.join()
        equal(process.wait(PATIENCE), -signal.SIGKILL, f"status, seed {SEED}")
        counts = [int(line) for line in drain(ours).split()]
        os.close(ours)
        end_reading(thread, failures)
        assert counts == sorted(set(counts)), f"not monotone: {counts}, seed {SEED}"
        accepted.update(messages[:counts[-1] if counts else 0])
        sent.update(messages)
    process = start("-i", "-j", journal)
    thread, failures = reading(seen, process)
    process.stdin.close()
    equal(process.wait(PATIENCE), 0)
    end_reading(thread, failures)
    lost = accepted - seen.messages.keys()
    assert not lost, f"{len(lost)} of {len(accepted)} are lost, seed {SEED}: {sorted(lost)[:5]}"
    assert not seen.messages.keys() - sent, f"never sent, seed {SEED}"
    assert accepted, "no line was ever accepted"
    equal(command("journal", "check", journal).status, 0)


@test
def delay_journal_killed_reads_each_line_of_a_file_once(directory):
    """Lines of a file become jobs exactly once, also when the file grows between the runs."""
    rng = random.Random(SEED + 1)
    journal, path = os.path.join(directory, "journal"), os.path.join(directory, "in")
    seen, wanted = Seen(), set()
    for turn in range(ROUNDS // 2 + 1):
        with open(path, "ab") as stream:
            for number in range(4000):
                line, message = line_of(turn * 10**6 + number, rng)
                stream.write(line)
                wanted.add(message)
        process = start("-i", "-j", journal, path)
        thread, failures = reading(seen, process)
        if turn < ROUNDS // 2:
            time.sleep(rng.random() * 0.15)
            process.kill()
        else:
            equal(process.wait(PATIENCE), 0)
        process.wait(PATIENCE)
        end_reading(thread, failures)
        finish(process)
    # That a message has one id alone is what Seen looks at.
    equal(len(wanted - seen.messages.keys()), 0, f"lost lines, seed {SEED}")
    equal(len(seen.messages.keys() - wanted), 0, f"lines from nowhere, seed {SEED}")


def in_tiny_file_system(directory, script):
    """Runs a shell script in a file system of 1 MiB of its own; None: that is not allowed here."""
    mount = ["unshare", "-m", *([] if os.getuid() == 0 else ["-r"]), "sh", "-c",
             f'mount -t tmpfs -o size=1m none {directory} || exit 99; {script}', PROGRAM]
    try:
        got = subprocess.run(mount, capture_output=True, timeout=PATIENCE)
    except FileNotFoundError:
        return None
    if got.returncode == 99 or b"unshare" in got.stderr:
        return None
    return Run(got.returncode, got.stdout, got.stderr.decode(errors="replace"))


@test
def delay_journal_on_a_full_disk_stops_reading_and_releases_what_it_accepted(directory):
    lines = file_with("/tmp", f"htw-lines-{os.getpid()}", b"".join(
        b"0.5 %d %s\n" % (number, b"x" * 100) for number in range(20000)))
    try:
        got = in_tiny_file_system(directory, f'''
            "$0" delay -j {directory}/journal -a 3 {lines} 3>{lines}.ack
            echo "status $?"''')
    finally:
        os.unlink(lines)
    if got is None:
        return
    try:
        count = int(content_of(lines + ".ack").split()[-1])
    finally:
        os.unlink(lines + ".ack")
    equal(got.lines[-1], b"status 1")
    has(got.err, "database or disk is full")
    released = {int(line.split()[0]) for line in got.lines[:-1]}
    assert 0 < count < 20000, count
    equal(released >= set(range(count)), True, "acknowledged lines are released")


@test
def delay_journal_whose_writes_fail_goes_on_in_the_next_run(directory):
    journal = os.path.join(directory, "journal")
    lines = file_with(directory, "in", b"".join(
        b"0.5 %d %s\n" % (number, b"x" * 100) for number in range(20000)))
    first = run("-j", journal, lines, shell="ulimit -f 1200")
    equal(first.status, 1)
    has(first.err, "database or disk is full")
    released = [int(line.split()[0]) for line in first.lines]
    equal(released, list(range(len(released))), "in the order of the input")
    assert 0 < len(released) < 20000, len(released)
    equal(command("journal", "check", journal).status, 0)
    second = run("-j", journal, lines)
    equal((second.status, second.err), (0, ""))
    equal({int(line.split()[0]) for line in second.lines} | set(released), set(range(20000)))


@test
def delay_journal_is_open_in_one_process(directory):
    journal = os.path.join(directory, "journal")
    process = start_with(b"0 x\n", "-j", journal)
    got = run("-j", journal)
    equal(got.status, 1)
    equal(got.err, f"htw delay: {journal}: the journal is open in process {process.pid}\n")
    equal(stop(process, signal.SIGTERM).status, 143)
    equal(run("-j", journal).status, 0)


@test
def delay_journal_file_that_is_none_is_refused_and_left_alone(directory):
    journal = os.path.join(directory, "journal")
    run("-j", journal)
    for change, wanted in (
            ("PRAGMA user_version = 99", "format 99"),
            ("PRAGMA user_version = 2; PRAGMA application_id = 1", "not a journal"),
            ("PRAGMA application_id = 1752463210; UPDATE meta SET mark = 'mine'",
             "the journal of another program"),
    ):
        with sqlite3.connect(journal) as connection:
            connection.executescript(change)
        connection.close()
        before = content_of(journal)
        got = run("-j", journal, data=b"0 x\n")
        equal((got.status, got.out), (1, b""))
        has(got.err, wanted)
        if "mark" not in change:  # what is a journal may be written to when it is opened
            equal(content_of(journal) == before, True, "left alone")
    equal(command("journal", "show", journal).lines[-1], b"mark     mine")
    text = file_with(directory, "text", b"no journal\n" * 100)
    got = run("-j", text)
    equal(got.status, 1)
    has(got.err, "file is not a database")
    equal(content_of(text), b"no journal\n" * 100)
    got = run("-j", directory)
    equal((got.status, got.err), (1, f"htw delay: {directory}: Is a directory\n"))
    got = run("-j", os.path.join(directory, "none", "journal"))
    has(got.err, "No such file or directory")


@test
def delay_journal_with_another_mark_is_refused(directory):
    """It says how far files were read: lines could be read twice, or never."""
    journal = os.path.join(directory, "journal")
    process = start_with(b"0 x\n1h a\n", "-j", journal)
    equal(stop(process, signal.SIGTERM).status, 143)
    head, entry = b"htw-delay 1\n", b"1 1 0123456789abcdef 0123456789abcdef\n"
    for mark in (b"", b"htw-delay 2\n", head + b"x\n", head + b"1 1 ff\n", head + entry + b"1\n",
                 head + 49 * entry, head + (4096 - len(head)) * b"\n"):
        connection = sqlite3.connect(journal)
        connection.execute("UPDATE meta SET mark = ?", (mark,))
        connection.commit()
        connection.close()
        got = run("-j", journal, data=b"0 y\n")
        equal((got.status, got.out, got.err),
              (1, b"", f"htw delay: {journal}: the journal of another program\n"), mark[:50])


@test
def delay_journal_that_cannot_be_written_is_refused(directory):
    journal = os.path.join(directory, "journal")
    run("-j", journal)
    os.chmod(journal, 0o444)
    os.chmod(directory, 0o755)
    other = {"user": 65534} if os.getuid() == 0 else {}
    if other and subprocess.run(["test", "-x", PROGRAM], user=65534).returncode != 0:
        return  # the build is in a folder that others cannot read
    got = run("-j", journal, **other)
    equal((got.status, got.err), (1, f"htw delay: {journal}: Permission denied\n"))


@test
def delay_journal_must_not_be_input_or_output(directory):
    journal = os.path.join(directory, "journal")
    run("-j", journal)
    got = run("-j", journal, journal)
    has(got.err, "is to be read, and so cannot be the --journal file")
    with open(journal, "rb") as stream:
        has(run("-j", journal, stdin=stream).err, "is to be read")
    with open(journal, "ab") as stream:
        has(run("-j", journal, stdout=stream).err, "is standard output")
    equal(command("journal", "check", journal).status, 0)
