# SPDX-License-Identifier: MIT
"""Bad lines, wrong command lines, and outputs that fail."""
import os
import re
import signal
import subprocess

from harness import (PATIENCE, PROGRAM, close_output, content_of, equal, file_with, finish, has,
                     messages_of, run, start, start_with, test)


@test
def delay_that_is_bad_cannot_change_the_terminal(directory):
    name = os.path.join(os.fsencode(directory), b"\x1b]0;x\x07\xc2\x9b2J")
    with open(name, "wb") as stream:
        stream.write(b"\x01\x7f y\n\xc2\x9b31m y\n\xe2\x82\xac\xff y\n" + b"x" * 38 + b"\xe2\x82\xac y\n")
    got = run(os.fsdecode(name))
    shown = [line.rsplit(": ", 1)[1] for line in got.err.splitlines()]
    equal(shown, [r"\x01\x7f", r"\xc2\x9b31m", "\u20ac" + r"\xff", "x" * 38 + "..."])
    has(got.err, r"/\x1b]0;x\x07\xc2\x9b2J:1: ")
    assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f]", got.err), ascii(got.err)


@test
def delay_of_a_binary_file_prints_few_errors(directory):
    many = file_with(directory, "many", b"bad\n" * 300000 + b"0 good\n" + b"bad\n")
    few = file_with(directory, "few", b"bad\n" * 20)
    got = run(many, few)
    equal((got.status, got.out), (1, b"good\n"))
    lines = got.err.splitlines()
    equal(len(lines), 20 + 4 + 1 + 20, "errors")
    for number, line in enumerate([*range(1, 21), 100, 1000, 10000, 100000]):
        has(lines[number], f"{many}:{line}: number expected: bad")
    equal(lines[24], f"htw delay: {many}: 300001 errors, not all of which were printed")
    has(lines[44], f"{few}:20: ")


@test
def delay_that_is_bad_and_long_is_named_in_short():
    for word in (b"x" * 39, b"x" * 40, b"x" * 41, b"x" * 100000):
        got = run(data=word + b" y\n")
        shown = word.decode() if len(word) <= 40 else "x" * 40 + "..."
        equal(got.err, f"htw delay: -:1: number expected: {shown}\n")


@test
def delay_help_and_version_are_printed():
    for option in ("--help", "-h"):
        got = run(option)
        equal((got.status, got.err), (0, ""))
        text = got.out.decode()
        for name in ("--tick", "--wheel-size", "--max-pending", "--max-line", "--from-start", "--simulate",
                     "--timestamps", "--null", "--strict", "--stats",
                     "--unreleased", "--help", "--version", "PLANNED REAL LATENESS",
                     "Exit status:", "\n  3  ", "\n  141  "):
            has(text, name)
        assert max(map(len, text.splitlines())) <= 90, "too wide"
    for option in ("--version", "-V"):
        assert re.fullmatch(r"htw delay \d+\.\d+\.\d+(~dev)?\ncompiler: \S.*\nfeatures: [+-]calendar [+-]journal "
                            r"[+-]monitor [+-]relay [+-]top\nallocator: (system|jemalloc)\nhardening: (yes|no)\b.*\nassertions: [012]\n",
                            run(option).out.decode()), "version"
    for program in ("relay", "top"):
        is_built = os.path.exists(f"{PROGRAM}-{program}")
        assert (f"+{program}".encode() in run("--version").out.split()) == is_built, program
    with open("/dev/full", "wb") as full:
        equal(run("--help", stdout=full).status, 1)


@test
def delay_program_without_a_command_prints_the_usage():
    def status(*arguments):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=PATIENCE)
        return done.returncode, bool(done.stdout), bool(done.stderr)
    equal(status(), (2, False, True))
    equal(status("bogus"), (2, False, True))
    for option in ("--help", "-h", "--version", "-V"):
        equal(status(option), (0, True, False), option)


@test
def delay_program_names_the_version_with_each_command():
    def output(*arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=PATIENCE)
    version = output("--version").stdout.removeprefix("htw ")
    for command in re.findall(r"^  ([a-z]+)  ", output("--help").stdout, re.MULTILINE):
        for option in ("--version", "-V"):
            done = output(command, option)
            if command == "help":
                equal(done.returncode, 2, command)
            elif done.returncode == 2 and command not in ("delay", "draw", "replay"):
                assert re.search("is not installed|was built without", done.stderr), (command, done.stderr)
            else:
                name = f"htw {command}"
                equal((done.returncode, done.stdout), (0, f"{name} {version}"), command)


@test
def delay_help_is_given_by_name():
    def output(*arguments):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=PATIENCE)
        return done.returncode, done.stdout
    general, own = output("--help"), output("delay", "--help")
    assert general[0] == 0 and own[0] == 0 and general[1] != own[1]
    equal(output("help"), general)
    equal(output("help", "help"), general)
    equal(output("help", "delay"), own)
    equal(output("help", "bogus"), (2, b""))
    equal(output("help", "delay", "help"), (2, b""))


def run_without_a_reader(*options, data, **kwargs):
    process = start(*options, **kwargs)
    close_output(process)
    return finish(process, data)


@test
# holds: delay-7
def delay_to_a_closed_reader_saves_the_rest(directory):
    path = os.path.join(directory, "rest")
    process = start_with(b"1h a\n1h b\n0 x\n", "-u", path)
    close_output(process)
    equal(process.wait(PATIENCE), 128 + signal.SIGPIPE)  # while more input may come
    got = finish(process)
    equal(got.err, f"htw delay: stopped after -:3: 2 not released, written to {path}\n")
    equal(messages_of(path), [b"a", b"b"])


@test
def delay_to_a_closed_reader_with_nothing_left_leaves_the_file_alone(directory):
    path = file_with(directory, "rest", b"old\n")
    process = start_with(b"0 x\n", "-u", path)
    close_output(process)
    equal(process.wait(PATIENCE), 128 + signal.SIGPIPE)
    equal((finish(process).err, content_of(path)), ("", b"old\n"))


@test
def delay_with_closed_descriptors_fails():
    def status(redirection):
        return subprocess.run(["sh", "-c", f"echo 0 x | \"$0\" delay {redirection}", PROGRAM],
                              capture_output=True, timeout=PATIENCE).returncode
    equal(status(">&-"), 1)
    equal(status("<&-"), 1)


def run_with_little_memory(*options):
    return run(*options, shell="ulimit -v 65536")


@test
def delay_without_memory_releases_what_it_has(directory):
    if any(name in content_of(PROGRAM) for name in (b"__asan_init", b"__tsan_init")):
        return  # the sanitizer needs more for itself
    many = file_with(directory, "many", b"".join(b"5s %d\n" % i for i in range(1000000)))
    got = run_with_little_memory(many)
    equal(got.status, 1)
    has(got.err, "no more is read: Cannot allocate memory")
    released = [int(line) for line in got.lines]
    assert len(released) > 10000, "too few were accepted"
    equal(released, list(range(len(released))))
