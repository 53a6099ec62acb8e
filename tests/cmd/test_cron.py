# SPDX-License-Identifier: MIT
"""End-to-end tests of `htw cron`: test_cron.py PROGRAM [NAME...]. As test_delay.py.

What it does at which time is tested in manual time: tests/unit/cmd/test_cron_jobs.c.
"""
import os
import resource
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the source tree stays clean

from harness import PROGRAM, command, content_of, equal, file_with, has, main, stop, test, wait_for  # noqa: E402


def table_with(directory, *lines):
    return file_with(directory, "table", "".join(line + "\n" for line in lines).encode())


def start(*words):
    return subprocess.Popen([PROGRAM, "cron", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def start_due(table, *words):
    """Starts the program such that each job of a minute has been missed once, and is run at once."""
    return start("--verbose", "--after", str(int(time.time()) - 90), *words, table)


def wait_for_line(process, wanted):
    while wanted not in (line := process.stderr.readline()):
        assert line, f"{wanted!r} is not said"


def is_there(path):
    return lambda: os.path.exists(path)


def signal_is_pending(process, number):
    if process.poll() is not None:
        return False
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        masks = [int(line.split()[1], 16) for line in status if line.startswith("ShdPnd")]
    return masks[0] >> (number - 1) & 1


@test
def next_times_are_printed_in_the_zone_of_each_line(directory):
    table = table_with(directory, "TZ=Europe/Berlin", "30 2 * * * night", "  # comment", "",
                       "CRON_TZ=\"UTC\"", "@monthly month  end ", "0 12 * * fri\tlunch\r")
    got = command("cron", "--next", "3", "--after", "2024-03-30T00:00:00Z", table)
    equal((got.status, got.err), (0, ""))
    equal(got.out.decode().splitlines(), [
        "2024-03-30T02:30:00+01:00 night",
        "2024-03-31T03:00:00+02:00 night",
        "2024-04-01T02:30:00+02:00 night",
        "2024-04-01T00:00:00+00:00 month  end",
        "2024-05-01T00:00:00+00:00 month  end",
        "2024-06-01T00:00:00+00:00 month  end",
        "2024-04-05T12:00:00+00:00 lunch",
        "2024-04-12T12:00:00+00:00 lunch",
        "2024-04-19T12:00:00+00:00 lunch"])


@test
def next_times_without_a_zone_are_those_of_the_machine(directory):
    table = table_with(directory, "0 3 * * * x")
    got = command("cron", "-n1", "-a", "@0.5", table, env={**os.environ, "TZ": "Asia/Kolkata"})
    equal(got.out, b"1970-01-02T03:00:00+05:30 x\n")


@test
def a_local_zone_that_is_none_is_not_utc(directory):
    table = table_with(directory, "0 3 * * * x", "TZ=UTC", "0 3 * * * y")
    for zone in ["No/Such", "UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "Europe//Berlin", "../../etc/passwd"]:
        for words in [["-n1"], ["--check"], []]:
            got = command("cron", *words, table, env={**os.environ, "TZ": zone})
            equal((got.status, got.out), (1, b""))
            equal(got.err, f"htw cron: {table}:1: time zone of the environment, TZ={zone}: there is none of this name\n")


@test
def next_times_end_where_time_ends(directory):
    got = command("cron", "-n9", "-a", "2262-04-10T00:00:00Z", table_with(directory, "TZ=UTC", "@daily x"))
    equal(got.lines, [b"2262-04-11T00:00:00+00:00 x"])


@test
def check_names_each_wrong_line(directory):
    table = table_with(directory, "* * * *", "1 2 3 4 5", "foo", "0 0 30 2 * x", "TZ=No/where",
                       "61 * * * * x", "* * * * * * x", "@reboot x", "TZ=" + 300 * "x", "0 0\0 * * * x",
                       "0 4 * * * right", "  1 2,x 3 4 5 y", "T X=UTC", "=UTC", "TZ='UTC\"", "TZ='")
    got = command("cron", "--check", table)
    equal((got.status, got.out), (1, b""))
    equal([line.replace(f"htw cron: {table}:", "") for line in got.err.splitlines()], [
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
        "16: time zone ': there is none of this name"])


@test
def check_of_what_is_right_says_nothing(directory):
    got = command("cron", "-c", table_with(directory, "0 3 * * mon-fri backup"))
    equal((got.status, got.out, got.err), (0, b"", ""))
    got = command("cron", "--check", file_with(directory, "without_newline", b"@daily x"))
    equal((got.status, got.err), (0, ""))


@test
def check_warns_of_what_means_something_else_in_a_crontab(directory):
    user = "root: there is no column for one, and this runs it as a command".replace("root", "root is a user")
    percent = "% is as any other character: it ends no command, and needs no backslash"
    mail = "MAILTO: no mail is sent; the output is that of this program"
    for lines, wanted in (
            (["17 * * * * root tidy"], [f"1: warning: {user}"]), (["@daily\troot \t tidy"], [f"1: warning: {user}"]),
            (["0 0 * * * root"], []), (["0 0 * * * root --help"], []), (["0 0 * * * nobody-of-this-name x"], []),
            (["0 0 * * * date +\\%F"], [f"1: warning: {percent}"]),
            (["MAILTO=a", "MAILTO=b", "0 0 * * * x", "0 1 * * * x"], [f"3: warning: {mail}"]),
            (["HOME=/", "0 0 * * * x"], ["2: warning: HOME: commands start in the folder of this program"]),
            (["SHELL=/bin/bash", "PATH=/bin", "MAILTO_=", "XHOME=", "0 0 * * * x"], []), (["MAILTO=a", "TZ=UTC"], None)):
        table = table_with(directory, *lines)
        got = command("cron", "--check", table)
        if wanted is not None:
            equal((got.status, got.err.splitlines()), (0, [f"htw cron: {table}:{line}" for line in wanted]), str(lines))
        equal(command("cron", "--next", "1", table).err, "" if wanted is not None else got.err, "without --check")


@test
def variables_are_those_of_the_commands_that_follow(directory):
    out = os.path.join(directory, "out")
    shell = file_with(directory, "shell", f"#!/bin/sh\necho shell $* >>{out}\n".encode())
    os.chmod(shell, 0o700)
    table = table_with(directory, "A=1", "B = ' x=2 '", "A=3", "TZ=Europe/Berlin", "CRON_TZ=UTC", f"PATH={directory}:/bin:/usr/bin",
                       f"* * * * * echo \"$A|$B|$TZ|${{PATH%%:*}}\" >>{out}", f"SHELL={shell}", "* * * * * second")
    process = start_due(table)
    wait_for(lambda: os.path.exists(out) and len(content_of(out).splitlines()) == 2, "both runs")
    equal(sorted(content_of(out).decode().splitlines()), [f"3| x=2 |Europe/Berlin|{directory}", "shell -c -- second"])
    equal(stop(process, signal.SIGTERM).status, 0)
    table = table_with(directory, *(f"V{i}={'x' * 80}" for i in range(100)), "0 0 * * * x")
    got = command("cron", "--check", table)
    equal(got.status, 1)
    has(got.err, f"{table}:97: the variables take more than 8192 bytes")


@test
def check_of_a_file_that_cannot_be_read_fails(directory):
    got = command("cron", "--check", os.path.join(directory, "none"))
    equal((got.status, got.err), (1, f"htw cron: {directory}/none: No such file or directory\n"))
    got = command("cron", directory)
    equal((got.status, got.err), (1, f"htw cron: {directory}: Is a directory\n"))


@test
def file_without_a_job_is_refused(directory):
    for content in (b"", b"# a comment\n\nTZ=UTC\n", b"\n"):
        path = file_with(directory, "none", content)
        for words in (["-c", path], [path]):
            got = command("cron", *words)
            equal((got.status, got.out, got.err), (1, b"", f"htw cron: {path}: there is no job in it\n"))
    for content in (b"\0" * 5000, b"  \0\n"):
        path = file_with(directory, "zeros", content)
        got = command("cron", path)
        equal((got.status, got.out, got.err), (1, b"", f"htw cron: {path}:1: there is a zero byte\n"))


@test
def file_of_many_wrong_lines_prints_few_errors(directory):
    path = file_with(directory, "binary", b"\x9b\n" * 12345)
    got = command("cron", "-c", path)
    equal((got.status, len(got.err.splitlines())), (1, 20 + 3 + 1))
    has(got.err, f"htw cron: {path}: 12345 errors, not all of which were printed\n")


@test
def file_without_an_end_is_refused():
    got = command("cron", "/dev/zero")
    equal((got.status, got.err), (1, "htw cron: /dev/zero: larger than 64 MiB\n"))


@test
def errors_and_times_show_nothing_that_changes_the_terminal(directory):
    table = table_with(directory, "61\033[2J * * * * x", "TZ=\x9b", "\033]0;x\a=1")
    got = command("cron", "--check", table)
    equal(got.status, 1)
    assert not any(byte in got.err for byte in "\033\a\x9b"), got.err
    has(got.err, r"table:1: not a time, at column 1: 61\x1b[2J * * * *")
    got = command("cron", "-n1", "-a", "@0.5", table_with(directory, "TZ=UTC", "@daily echo \033[2J\t\x9b"))
    equal(got.out, rb"1970-01-02T00:00:00+00:00 echo \x1b[2J\x09\xc2\x9b" + b"\n")


@test
def file_may_be_standard_input(directory):
    got = command("cron", "-n1", "-a", "@0.5", "-", input=b"TZ=UTC\n@daily x\n")
    equal((got.status, got.out, got.err), (0, b"1970-01-02T00:00:00+00:00 x\n", ""))
    got = command("cron", "-c", "-", input=b"x\n")
    equal((got.status, got.err), (1, "htw cron: -:1: neither `minute hour day month weekday command` nor `NAME=VALUE`\n"))
    begun = os.path.join(directory, "begun")
    process = subprocess.Popen([PROGRAM, "cron", "--after", str(int(time.time()) - 90), "-"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(f"* * * * * touch {begun}\n".encode())
    process.stdin.close()
    wait_for(is_there(begun), "the run")
    process.send_signal(signal.SIGHUP)
    wait_for_line(process, b"-: not a regular file, and so not read again")
    process.stdin = None
    equal(stop(process, signal.SIGTERM).status, 0)


@test
def pipe_that_gives_nothing_is_given_up_for_a_signal(directory):
    fifo = os.path.join(directory, "fifo")
    os.mkfifo(fifo)
    for number in (signal.SIGTERM, signal.SIGINT):
        process = start(fifo)
        writer = os.open(fifo, os.O_WRONLY)  # returns when the program has opened it
        process.send_signal(signal.SIGHUP)  # says nothing about a file that is being read
        got = stop(process, number)
        os.close(writer)
        equal((got.status, got.out, got.err), (0, b"", ""))


@test
def pipe_is_read_to_its_end_and_not_again(directory):
    fifo, begun, table = (os.path.join(directory, name) for name in ("fifo", "begun", "table"))
    os.mkfifo(fifo)
    process = start_due(fifo)
    with open(fifo, "wb") as writer:
        writer.write(b"* * * * * touch ")
        writer.flush()
        writer.write(begun.encode() + b"\n")
    wait_for(is_there(begun), "the run")
    process.send_signal(signal.SIGHUP)
    wait_for_line(process, b"fifo: not a regular file, and so not read again")
    equal(stop(process, signal.SIGTERM).status, 0)
    # A file that a pipe has replaced is not read either: that could wait.
    os.unlink(begun)
    process = start_due(table_with(directory, f"* * * * * touch {begun}"))
    wait_for(is_there(begun), "the run")
    os.rename(fifo, table)
    process.send_signal(signal.SIGHUP)
    wait_for_line(process, b"table: not a regular file, and so not read again")
    equal(stop(process, signal.SIGTERM).status, 0)


@test
def command_line_that_is_wrong_is_refused():
    for words, why in [([], "FILE expected"), (["a", "b"], "one FILE expected, not more: b"),
                       (["-n", "0", "a"], "--next: not a number"), (["-n", "x", "a"], "--next: not a number"),
                       (["-n", "-1", "a"], "--next: not a number"), (["-n", "1x", "a"], "--next: not a number"),
                       (["-n", "9" * 30, "a"], "--next: not a number"), (["-n", "1000001", "a"], "--next"),
                       (["-a", "1969-12-31T00:00:00Z", "a"], "--after"), (["-a", "@1e10", "a"], "--after"),
                       (["-m", "1001", "a"], "--catch-up: not a number from 0 to 1000: 1001"),
                       (["-a", "soon", "a"], "--after: not an instant"), (["--what", "a"], "--what")]:
        got = command("cron", *words)
        equal((got.status, got.out), (2, b""))
        has(got.err, why)
        has(got.err, "Usage: htw cron [OPTION]... FILE\nTry 'htw cron --help' for more information.\n")


@test
def help_and_version_are_printed():
    for words in (["cron", "--help"], ["help", "cron"]):
        got = command(*words)
        equal((got.status, got.err), (0, ""))
        has(got.out, b"Usage: htw cron [OPTION]... FILE\n")
        assert all(len(line) <= 95 for line in got.lines), "a line of the help is too long"
    has(command("cron", "--version").out, b"htw cron 0.")


@test
def output_that_fails_is_reported(directory):
    table = table_with(directory, "@daily x")
    for words in (["--next", "5000", table], ["--help"], ["--version"]):
        with open("/dev/full", "wb") as full:
            got = subprocess.run([PROGRAM, "cron", *words], stdout=full, stderr=subprocess.PIPE)
        equal((got.returncode, got.stderr), (1, b"htw cron: standard output: No space left on device\n"))


@test
def descriptors_that_are_missing_are_reported(directory):
    table = table_with(directory, "@daily x")
    got = subprocess.run(["sh", "-c", 'ulimit -n 4; exec "$@"', "sh", PROGRAM, "cron", table], capture_output=True,
                         env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})  # that needs descriptors
    equal((got.returncode, got.stderr), (1, f"htw cron: {table}: the process has too many open files\n".encode()))


@test
def program_that_is_missing_is_named(directory):
    alone = os.path.join(directory, "htw")
    # Not shutil.copy(): a process that another thread starts would hold the copy open for writing for a while, and what
    # is open for writing cannot be executed.
    subprocess.run(["cp", PROGRAM, alone], check=True)
    got = subprocess.run([alone, "cron", "x"], capture_output=True, env={"PATH": directory})
    equal((got.returncode, got.stderr), (2, b"htw cron: the program htw-cron is not installed\n"))


@test
def run_that_was_missed_is_made_up_for_and_waited_for(directory):
    begun, done = os.path.join(directory, "begun"), os.path.join(directory, "done")
    process = start_due(table_with(directory, f"* * * * * echo out; touch {begun}; sleep 1; touch {done}"))
    wait_for(is_there(begun), "the run")
    got = stop(process, signal.SIGTERM)
    assert os.path.exists(done), "it did not wait"
    equal((got.status, got.out), (0, b"out\n"))
    has(got.err, "table:1: started, process ")
    has(got.err, "table:1: ended, process ")


@test
def reader_of_standard_error_that_has_gone_ends_nothing(directory):
    done = os.path.join(directory, "done")
    process = start_due(table_with(directory, f"* * * * * sleep 0.5; touch {done}"))
    process.stderr.close()
    wait_for(is_there(done), "the run")
    process.send_signal(signal.SIGTERM)
    equal((process.wait(timeout=30), process.stdout.read()), (0, b""))
    process.stdout.close()


# As a sandbox does when everything is open.
@test
def limits_that_are_lowered_end_nothing(directory):
    for limit, value in ((resource.RLIMIT_NOFILE, 0), (resource.RLIMIT_NOFILE, 1), (resource.RLIMIT_NPROC, 0),
                         (resource.RLIMIT_FSIZE, 0)):
        begun = os.path.join(directory, "begun")
        table = table_with(directory, f"* * * * * touch {begun}; exec sleep 1000")
        said = file_with(directory, "said", b"")
        with open(said, "ab") as stream:
            process = subprocess.Popen([PROGRAM, "cron", "--after", str(int(time.time()) - 90), table],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stream,
                                       env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})  # that needs descriptors
        wait_for(is_there(begun), "the run")
        resource.prlimit(process.pid, limit, (value, resource.prlimit(process.pid, limit)[1]))
        os.unlink(table)
        process.send_signal(signal.SIGHUP)  # it complains, if it can
        if limit == resource.RLIMIT_FSIZE:
            wait_for(lambda: not signal_is_pending(process, signal.SIGHUP), "the signal to be taken")
        else:
            wait_for(lambda: os.path.getsize(said) > 0, "the complaint")
        process.send_signal(signal.SIGTERM)
        wait_for(lambda: not signal_is_pending(process, signal.SIGTERM), "the signal to be taken")
        equal(stop(process, signal.SIGTERM).status, 0, f"limit {limit}: {value}")
        os.unlink(begun)


@test
def second_signal_ends_what_runs_and_a_third_kills_it(directory):
    begun = os.path.join(directory, "begun")
    for extra in (0, 1):
        trap = "trap '' TERM; " if extra else ""
        process = start_due(table_with(directory, f"* * * * * {trap}touch {begun}; sleep 1000; sleep 1000"))
        wait_for(is_there(begun), "the run")
        os.unlink(begun)
        for said in [b"waiting for 1 that", b"SIGTERM for 1 that"][:1 + extra]:
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGHUP)  # is of no interest any more
            wait_for_line(process, said)  # of two that come at once one would be lost
        got = stop(process, signal.SIGTERM)
        equal(got.status, 0)
        has(got.err, f"table:1: ended by signal {9 if extra else 15} ")


@test
def hangup_reads_the_file_again(directory):
    one = os.path.join(directory, "one")
    table = table_with(directory, f"* * * * * touch {one}")
    process = start_due(table)
    wait_for(is_there(one), "the run")
    table_with(directory, "wrong")
    process.send_signal(signal.SIGHUP)
    wait_for_line(process, b"neither")
    assert process.poll() is None, "it has ended"
    equal(stop(process, signal.SIGTERM).status, 0)


@test
def command_that_begins_with_a_hyphen_is_no_option_of_the_shell(directory):
    """`-n` would make the shell read the command and run nothing."""
    table = table_with(directory, "* * * * * -n")
    process = start_due(table)
    wait_for_line(process, b"ended with status 127: -n")
    equal(stop(process, signal.SIGTERM).status, 0)


@test
def commands_have_no_input_and_no_signal_that_is_blocked_or_ignored(directory):
    out = os.path.join(directory, "out")
    table = table_with(directory, f"* * * * * cat > {out}; grep -E 'Sig(Blk|Ign)' /proc/self/status >> {out}; "
                                  f"yes | head -n 1 >> {out}; mv {out} {out}.done")

    def inherit():
        """What systemd, nohup and a careless parent hand on."""
        for number in (signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGRTMIN, signal.SIGRTMAX):
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGRTMAX])

    process = subprocess.Popen([PROGRAM, "cron", "-v", "--after", str(int(time.time()) - 90), table],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=inherit)
    wait_for(is_there(out + ".done"), "the run")
    equal(content_of(out + ".done"), b"SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\ny\n")
    equal(stop(process, signal.SIGTERM).status, 0)


if __name__ == "__main__":
    sys.exit(main())
