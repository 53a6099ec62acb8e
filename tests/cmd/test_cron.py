# SPDX-License-Identifier: MIT
"""test_cron.py - `htw cron`. What it does at which time is tested in manual time: tests/unit/cmd/test_cron_jobs.c."""
import os
import resource
import signal
import subprocess
import time

import pytest
from programs import PROGRAM, command, content_of, file_with, needs, stop, wait_for

pytestmark = needs("cron")


def table_with(directory, *lines):
    return file_with(directory, "table", "".join(line + "\n" for line in lines).encode())


def start(*words, **kwargs):
    return subprocess.Popen([PROGRAM, "cron", *words], **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                                                          "stderr": subprocess.PIPE, **kwargs})


def start_due(table, **kwargs):
    """Starts the program such that each job of a minute has been missed once, and is run at once."""
    return start("--verbose", "--after", str(int(time.time()) - 90), table, **kwargs)


def wait_for_line(process, wanted):
    while wanted not in (line := process.stderr.readline()):
        assert line, f"{wanted!r} is not said"


def wait_until_there(path):
    wait_for(lambda: os.path.exists(path), "the run")


def end(process):
    got = stop(process, signal.SIGTERM)
    assert got.status == 0, got.err
    return got


def refused(*words, **kwargs):
    """What is said of a table that is refused."""
    got = command("cron", *words, **kwargs)
    assert (got.status, got.out) == (1, b""), words
    return got.err


def test_cron_next_times_are_printed_in_the_zone_of_each_line(directory):
    table = table_with(directory, "TZ=Europe/Berlin", "30 2 * * * night", "  # comment", "",
                       "CRON_TZ=\"UTC\"", "@monthly month  end ", "0 12 * * fri\tlunch\r")
    got = command("cron", "--next", "3", "--after", "2024-03-30T00:00:00Z", table)
    assert (got.status, got.err) == (0, "")
    assert got.out.decode().splitlines() == [
        "2024-03-30T02:30:00+01:00 night",
        "2024-03-31T03:00:00+02:00 night",
        "2024-04-01T02:30:00+02:00 night",
        "2024-04-01T00:00:00+00:00 month  end",
        "2024-05-01T00:00:00+00:00 month  end",
        "2024-06-01T00:00:00+00:00 month  end",
        "2024-04-05T12:00:00+00:00 lunch",
        "2024-04-12T12:00:00+00:00 lunch",
        "2024-04-19T12:00:00+00:00 lunch"]


def test_cron_next_times_without_a_zone_are_those_of_the_machine(directory):
    table = table_with(directory, "0 3 * * * x")
    got = command("cron", "-n1", "-a", "@0.5", table, env={**os.environ, "TZ": "Asia/Kolkata"})
    assert got.out == b"1970-01-02T03:00:00+05:30 x\n"


def test_cron_a_local_zone_that_is_none_is_not_utc(directory):
    table = table_with(directory, "0 3 * * * x", "TZ=UTC", "0 3 * * * y")
    for zone in ["No/Such", "UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "Europe//Berlin", "../../etc/passwd"]:
        for words in [["-n1"], ["--check"], []]:
            assert refused(*words, table, env={**os.environ, "TZ": zone}) == \
                f"htw cron: {table}:1: time zone of the environment, TZ={zone}: there is none of this name\n"


def test_cron_next_times_end_where_time_ends(directory):
    got = command("cron", "-n9", "-a", "2262-04-10T00:00:00Z", table_with(directory, "TZ=UTC", "@daily x"))
    assert got.lines == [b"2262-04-11T00:00:00+00:00 x"]


def test_cron_check_names_each_wrong_line(directory):
    table = table_with(directory, "* * * *", "1 2 3 4 5", "foo", "0 0 30 2 * x", "TZ=No/where",
                       "61 * * * * x", "* * * * * * x", "@reboot x", "TZ=" + 300 * "x", "0 0\0 * * * x",
                       "0 4 * * * right", "  1 2,x 3 4 5 y", "T X=UTC", "=UTC", "TZ='UTC\"", "TZ='")
    assert [line.replace(f"htw cron: {table}:", "") for line in refused("--check", table).splitlines()] == [
        "1: five fields and a command expected",
        "2: five fields and a command expected",
        "3: neither `minute hour day month weekday command` nor `NAME=VALUE`",
        "4: this never comes: 0 0 30 2 *",
        "5: time zone No/where: there is none of this name",
        "6: not a time, at column 1: 61 * * * *",
        "7: five fields and a command expected, and not six fields",
        "8: @reboot is no time: run its command before this program starts",
        f"9: time zone {300 * 'x'}: there is none of this name",
        "10: there is a zero byte",
        "12: not a time, at column 7: 1 2,x 3 4 5",
        "13: neither `minute hour day month weekday command` nor `NAME=VALUE`",
        "14: neither `minute hour day month weekday command` nor `NAME=VALUE`",
        "15: time zone 'UTC\": there is none of this name",
        "16: time zone ': there is none of this name"]


def test_cron_check_of_what_is_right_says_nothing(directory):
    for content in (b"0 3 * * mon-fri backup\n", b"@daily x"):
        got = command("cron", "--check", file_with(directory, "table", content))
        assert (got.status, got.out, got.err) == (0, b"", "")


def test_cron_file_that_is_no_table_is_refused(directory):
    for name, content, why in (("empty", b"", "there is no job in it"), ("comment", b"# a comment\n\nTZ=UTC\n", "there is no job in it"),
                               ("zeros", b"\0" * 5000, "there is a zero byte"), ("zero", b"  \0\n", "there is a zero byte"),
                               ("/dev/zero", None, "larger than 64 MiB"), (str(directory), None, "Is a directory"),
                               ("missing", None, "No such file or directory")):
        path = file_with(directory, name, content) if content is not None else os.path.join(directory, name)
        for words in ((path,), ("-c", path)):
            assert refused(*words) == f"htw cron: {path}{':1' if 'zero byte' in why else ''}: {why}\n"


def test_cron_variables_are_those_of_the_commands_that_follow(directory):
    out = os.path.join(directory, "out")
    shell = file_with(directory, "shell", f"#!/bin/sh\necho shell $* >>{out}\n".encode())
    os.chmod(shell, 0o700)
    table = table_with(directory, "A=1", "B = ' x=2 '", "A=3", "TZ=Europe/Berlin", "CRON_TZ=UTC", f"PATH={directory}:/bin:/usr/bin",
                       f"* * * * * echo \"$A|$B|$TZ|${{PATH%%:*}}\" >>{out}", f"SHELL={shell}", "* * * * * second")
    process = start_due(table)
    wait_for(lambda: os.path.exists(out) and len(content_of(out).splitlines()) == 2, "both runs")
    assert sorted(content_of(out).decode().splitlines()) == [f"3| x=2 |Europe/Berlin|{directory}", "shell -c -- second"]
    end(process)
    table = table_with(directory, *(f"V{i}={'x' * 80}" for i in range(100)), "0 0 * * * x")
    assert f"{table}:97: the variables take more than 8192 bytes" in refused("--check", table)


def test_cron_file_may_be_standard_input(directory):
    got = command("cron", "-n1", "-a", "@0.5", "-", input=b"TZ=UTC\n@daily x\n")
    assert (got.status, got.out, got.err) == (0, b"1970-01-02T00:00:00+00:00 x\n", "")
    begun = os.path.join(directory, "begun")
    process = start_due("-", stdin=subprocess.PIPE)
    process.stdin.write(f"* * * * * touch {begun}\n".encode())
    process.stdin.close()
    wait_until_there(begun)
    process.send_signal(signal.SIGHUP)
    wait_for_line(process, b"-: not a regular file, and so not read again")
    process.stdin = None
    end(process)


def test_cron_pipe_that_gives_nothing_is_given_up_for_a_signal(directory):
    fifo = os.path.join(directory, "fifo")
    os.mkfifo(fifo)
    for number in (signal.SIGTERM, signal.SIGINT):
        process = start(fifo)
        writer = os.open(fifo, os.O_WRONLY)  # returns when the program has opened it
        process.send_signal(signal.SIGHUP)  # says nothing about a file that is being read
        got = stop(process, number)
        os.close(writer)
        assert (got.status, got.out, got.err) == (-number, b"", "")


def test_cron_pipe_is_read_to_its_end_and_not_again(directory):
    fifo, begun, table = (os.path.join(directory, name) for name in ("fifo", "begun", "table"))
    os.mkfifo(fifo)
    process = start_due(fifo)
    with open(fifo, "wb") as writer:
        writer.write(b"* * * * * touch ")
        writer.flush()
        writer.write(begun.encode() + b"\n")
    wait_until_there(begun)
    process.send_signal(signal.SIGHUP)
    wait_for_line(process, b"fifo: not a regular file, and so not read again")
    end(process)
    # A file that a pipe has replaced is not read either: that could wait.
    os.unlink(begun)
    process = start_due(table_with(directory, f"* * * * * touch {begun}"))
    wait_until_there(begun)
    os.rename(fifo, table)
    process.send_signal(signal.SIGHUP)
    wait_for_line(process, b"table: not a regular file, and so not read again")
    end(process)


def test_cron_descriptors_that_are_missing_are_reported(directory):
    table = table_with(directory, "@daily x")
    got = subprocess.run(["sh", "-c", 'ulimit -n 4; exec "$@"', "sh", PROGRAM, "cron", table], capture_output=True,
                         env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})  # that needs descriptors
    assert (got.returncode, got.stderr) == (1, f"htw cron: {table}: the process has too many open files\n".encode())


def test_cron_run_that_was_missed_is_made_up_for_and_waited_for(directory):
    begun, done = os.path.join(directory, "begun"), os.path.join(directory, "done")
    process = start_due(table_with(directory, f"* * * * * echo out; touch {begun}; sleep 1; touch {done}"))
    wait_until_there(begun)
    got = stop(process, signal.SIGTERM)
    assert os.path.exists(done), "it did not wait"
    assert (got.status, got.out) == (0, b"out\n")
    assert "table:1: started, process " in got.err
    assert "table:1: ended, process " in got.err


def test_cron_overlap_starts_a_job_that_still_runs(directory):
    """Each run lasts until there is another one, and two at least were missed."""
    runs = file_with(directory, "runs", b"")
    job = f"* * * * * echo >> {runs}; until [ $(wc -l < {runs}) -gt 1 ]; do sleep 0.01; done"
    process = start("--overlap", "--catch-up", "2", "--after", str(int(time.time()) - 150), table_with(directory, job))
    wait_for(lambda: len(content_of(runs)) > 1, "the second run")
    end(process)


def test_cron_reader_of_standard_error_that_has_gone_ends_nothing(directory):
    done = os.path.join(directory, "done")
    process = start_due(table_with(directory, f"* * * * * sleep 0.5; touch {done}"))
    process.stderr.close()
    wait_until_there(done)
    process.send_signal(signal.SIGTERM)
    assert (process.wait(timeout=30), process.stdout.read()) == (0, b"")
    process.stdout.close()


# As a sandbox does when everything is open.
@pytest.mark.parametrize("limit, value", [(resource.RLIMIT_NOFILE, 0), (resource.RLIMIT_NOFILE, 1), (resource.RLIMIT_NPROC, 0),
                                          (resource.RLIMIT_FSIZE, 0)])
def test_cron_limits_that_are_lowered_end_nothing(directory, limit, value):
    begun, said = os.path.join(directory, "begun"), file_with(directory, "said", b"")
    table = table_with(directory, f"* * * * * touch {begun}; exec sleep 1000")
    with open(said, "ab") as stream:
        process = start_due(table, stderr=stream, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})  # that needs descriptors
    wait_until_there(begun)
    wait_for(lambda: b"started" in content_of(said), "what it says of the run")
    resource.prlimit(process.pid, limit, (value, resource.prlimit(process.pid, limit)[1]))
    os.unlink(table)
    size = os.path.getsize(said)
    process.send_signal(signal.SIGHUP)  # it complains, if it can
    if limit != resource.RLIMIT_FSIZE:
        wait_for(lambda: os.path.getsize(said) > size, "the complaint")
    for _ in range(2):  # the second ends the run
        process.send_signal(signal.SIGTERM)
        wait_for(lambda: process.poll() is not None or not is_pending(process, signal.SIGTERM), "the signal to be taken")
    end_status = process.wait(30)
    process.stdout.close()
    assert end_status == 0


def is_pending(process, number):
    masks = [int(line.split()[1], 16) for line in content_of(f"/proc/{process.pid}/status").splitlines() if line.startswith(b"ShdPnd")]
    return masks[0] >> (number - 1) & 1


@pytest.mark.parametrize("trap, said, last", [("", [b"waiting for 1 that"], 15),
                                              ("trap '' TERM; ", [b"waiting for 1 that", b"SIGTERM for 1 that"], 9)], ids=["second", "third"])
def test_cron_second_signal_ends_what_runs_and_a_third_kills_it(directory, trap, said, last):
    begun = os.path.join(directory, "begun")
    process = start_due(table_with(directory, f"* * * * * {trap}touch {begun}; sleep 1000; sleep 1000"))
    wait_until_there(begun)
    for line in said:
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGHUP)  # is of no interest any more
        wait_for_line(process, line)  # of two that come at once one would be lost
    assert f"table:1: ended by signal {last} " in end(process).err


def test_cron_hangup_reads_the_file_again(directory):
    one = os.path.join(directory, "one")
    table = table_with(directory, f"* * * * * touch {one}")
    process = start_due(table)
    wait_until_there(one)
    table_with(directory, "wrong")
    process.send_signal(signal.SIGHUP)
    wait_for_line(process, b"neither")
    assert process.poll() is None, "it has ended"
    end(process)


def test_cron_command_that_begins_with_a_hyphen_is_no_option_of_the_shell(directory):
    """`-n` would make the shell read the command and run nothing."""
    table = table_with(directory, "* * * * * -n")
    process = start_due(table)
    wait_for_line(process, b"ended with status 127: -n")
    end(process)


def test_cron_commands_have_no_input_and_no_signal_that_is_blocked_or_ignored(directory):
    out = os.path.join(directory, "out")
    table = table_with(directory, f"* * * * * cat > {out}; grep -E 'Sig(Blk|Ign)' /proc/self/status >> {out}; "
                                  f"yes | head -n 1 >> {out}; mv {out} {out}.done")

    def inherit():
        """What systemd, nohup and a careless parent hand on."""
        for number in (signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGRTMIN, signal.SIGRTMAX):
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGRTMAX])

    process = start_due(table, preexec_fn=inherit)
    wait_until_there(out + ".done")
    assert content_of(out + ".done") == b"SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\ny\n"
    end(process)
