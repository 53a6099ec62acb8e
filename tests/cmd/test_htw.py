# SPDX-License-Identifier: MIT
"""test_htw.py - what is the same of each command of `htw`: help, version, wrong command lines, output that fails, few errors
for a binary file, completions of shells; and which program a command is.
"""
import functools
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from programs import PATIENCE, PROGRAM, ROOT, command, file_with, is_built

NAMES = [name for name in re.findall(r"^  ([a-z]+)  ", command("--help").out.decode(), re.M) if name != "help"]
BUILT = [name for name in NAMES if is_built(name)]
OPTION = re.compile(r"^(?:  (-\w), |      )(--[a-z-]+)", re.M)


@functools.lru_cache
def options_of(name):
    return [long for _, long in OPTION.findall(command("help", name).out.decode())]


def test_htw_without_a_command_prints_the_usage():
    for words in ([], ["bogus"]):
        got = command(*words)
        assert (got.status, got.out) == (2, b"") and got.err
    for words in (["--help"], ["-h"], ["--version"], ["-V"], ["help"], ["help", "help"]):
        got = command(*words)
        assert (got.status, bool(got.out), got.err) == (0, True, ""), words
    assert command("help").out == command("--help").out == command("help", "help").out
    for words in (["help", "bogus"], ["help", "delay", "help"]):
        assert (command(*words).status, command(*words).out) == (2, b"")


def test_htw_version_says_what_was_built():
    version = command("--version").out.decode().removeprefix("htw ")
    assert re.fullmatch(r"\d+\.\d+\.\d+(~dev)?\ncompiler: \S.*\nfeatures: [+-]calendar [+-]journal [+-]monitor [+-]relay [+-]top\n"
                        r"allocator: (system|jemalloc)\nhardening: (yes|no)\b.*\nassertions: [012]\n", version), version
    for program in ("relay", "top"):
        assert (f"+{program}" in version.split()) == os.path.exists(f"{PROGRAM}-{program}"), program
    assert {"delay", "draw", "replay"} <= set(BUILT)
    for name in NAMES:
        got = command(name, "--version")
        if name in BUILT:
            assert got.out.decode() == command(name, "-V").out.decode() == f"htw {name} {version}"
        else:
            assert re.search("is not installed|was built without", got.err), (name, got.err)


@pytest.mark.parametrize("name", BUILT)
def test_htw_help_is_given_by_name_and_is_not_wide(name):
    own, by_name = command(name, "--help"), command("help", name)
    assert own.status == by_name.status == 0 and own.out == by_name.out and own.err == ""
    text = own.out.decode()
    assert text.startswith(f"Usage: htw {name} ") and max(map(len, text.splitlines())) <= 105
    assert {"--help", "--version"} < set(options_of(name))
    spellings = [spelling for both in OPTION.findall(text) for spelling in both if spelling]
    assert len(set(spellings)) == len(spellings)


@pytest.mark.parametrize("name", BUILT)
def test_htw_options_are_each_used_by_a_test(name):
    """A letter counts in tests of this command alone: others have the same."""
    words = set(re.findall(r"(?<![\w-])-\w", " ".join(REFUSED.get(name, {}))))
    for folder in ("tests/cmd", "tests/serve", "programs/relay/tests"):
        for path in (ROOT / folder).rglob("*.[cp]*"):
            is_own = name in f"{folder}/{path.stem}"
            words.update(re.findall(r"(?<![\w-])(?:--[a-z-]+|-\w)" if is_own else r"(?<![\w-])--[a-z-]+", path.read_text(errors="replace")))
    options = OPTION.findall(command("help", name).out.decode())
    assert options and [both for both in options if not {*both} & words] == []


REFUSED = {
    "cron": {"": "FILE expected", "a b": "one FILE expected, not more: b", "-n 0 a": "--next: not a number", "-n x a": "--next: not a number",
             "-n -1 a": "--next: not a number", "-n 1x a": "--next: not a number", "-n 1000001 a": "--next",
             f"-n {'9' * 30} a": "--next: not a number", "-a 1969-12-31T00:00:00Z a": "--after", "-a @1e10 a": "--after",
             "-m 1001 a": "--catch-up: not a number from 0 to 1000: 1001", "-a soon a": "--after: number expected: soon", "--what a": "--what"},
    "delay": {"--tick=0": "--tick: not from 1ns to 1d: 0", "--tick=1d1ns": "--tick: not from", "--tick=-1": "--tick: negative delay: -1",
              "-w3": "--wheel-size: not a power of two from 2 to 4096: 3", "-w8192": "--wheel-size", "-w8x": "--wheel-size",
              "-m0": "--max-pending: not a number of at least 1: 0", "-m-1": "--max-pending", "-l18446744073709551616": "--max-line",
              "-u-": "--unreleased: not the name of a file: '-'", "--unreleased=": "--unreleased", "-x": "invalid option: -x",
              "--nosuch": "invalid option: --nosuch", "--strict=1": "invalid option: --strict=1", "-w": "an argument is missing: -w",
              "--max": "invalid option: --max", "--tick": "an argument is missing: --tick"},
    "draw": {"--at soon": "--at", "--tick 0": "--tick", "-w 3": "--wheel-size", "--begin x": "--begin", "--unknown": "--unknown"},
    "replay": {"--unknown": "--unknown", "a b": "", "--monitor 1 a": "one FILE, or --monitor"},
    "top": {"a b": "", "--sort x": "--sort", "--delay 99ms": "--delay", "--delay 3601s": "--delay", "--delay x": "--delay",
            "--nonsense": "--nonsense", "--once " + "x" * 200: ""},
    "journal": {
        "": "ACTION expected", "bogus f": "unknown action: bogus", "list": "FILE expected after list", "list f 1": "not expected: 1",
        "cancel f": "ID expected after f", "cancel f -1": "invalid option", "show f 1x": "not an id: 1x", "-n x list f": "--limit: not a number",
        "-n 1 show f": "--limit: not with this action", "-p list f": "--payload: not", "-p -J show f": "--payload: not with --json",
        "-q a cancel f 1": "--queue: not", "--state gone list f": "--state: not one of delayed, ready, leased, buried: gone",
        "put f": "WHEN expected after f", "put f soon a": "WHEN: number expected: soon", "move f 1 +99999999999d": "WHEN: delay too long",
        "put f +106000d": "WHEN: later than 2262", "put f +1s a b": "not expected: b", "move f 1": "WHEN expected after 1",
        "move f 1 2 3": "not expected: 3",
        "kick f": "ID or --limit expected after f", "kick -n 1 f 1": "not with an ID", "kick -n 65537 f": "--limit: at most 65536 with kick",
        "--exec true list f": "--exec: not with this action", "lease f 1": "not expected: 1", "show f 99999999999999999999": "not an id"},
}


@pytest.mark.parametrize("name", sorted(set(REFUSED) & set(BUILT)))
def test_htw_command_line_that_is_wrong_is_refused(name):
    for line, wanted in REFUSED[name].items():
        got = command(name, *line.split())
        assert (got.status, got.out) == (2, b""), line
        assert wanted in got.err and (f"Try 'htw {name} --help'" in got.err or "x" * 200 in line), (line, got.err)


@pytest.mark.parametrize("name", ["delay", "draw", "cron"])
def test_htw_of_a_binary_file_prints_few_errors(directory, name):
    if name not in BUILT:
        pytest.skip("not built")
    path, few = file_with(directory, "many", b"bad\n" * 12345), file_with(directory, "few", b"bad\n" * 20)
    got = command(name, path, *([few] if name != "cron" else []))
    lines = got.err.splitlines()
    assert got.status == 1 and len(lines) == 20 + 3 + 1 + (20 if name != "cron" else 0)
    for number, line in enumerate([*range(1, 21), 100, 1000, 10000]):
        assert lines[number].startswith(f"htw {name}: {path}:{line}: "), lines[number]
    assert lines[23] == f"htw {name}: {path}: 12345 errors, not all of which were printed"


@pytest.mark.parametrize("words", [["help"], ["delay", "--help"], ["draw", "/dev/null"], ["cron", "--next", "5000", "table"],
                                   ["cron", "--version"], ["journal", "list", "jobs"]], ids=" ".join)
def test_htw_output_that_cannot_be_printed_fails(directory, words):
    if words[0] not in [*BUILT, "help"]:
        pytest.skip("not built")
    file_with(directory, "table", b"@daily x\n")
    if words[0] == "journal":
        command("journal", "put", os.path.join(directory, "jobs"), "+1h", "a")
    with open("/dev/full", "wb") as full:
        got = command(*words, stdout=full, cwd=directory)
    name = f" {words[0]}" if words[0] != "help" else ""
    assert (got.status, got.err) == (1, f"htw{name}: standard output: No space left on device\n")


def test_htw_command_of_another_package_is_found_beside_it_or_by_the_shell(directory):
    """The programs of top and cron need not be installed."""
    def script(path, says):
        path.write_text(f'#!/bin/sh\necho {says} "$@"\n')
        path.chmod(0o755)

    def result_of(*words):
        got = subprocess.run([here / "htw", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE,
                             env={**os.environ, "PATH": str(there)}, check=False)
        return got.returncode, got.stdout, got.stderr
    here, there = directory / "here", directory / "there"
    here.mkdir()
    there.mkdir()
    shutil.copy(PROGRAM, here)
    assert result_of("top", "-n", "1") == (2, "", "htw top: the program htw-top is not installed\n")
    script(there / "htw-top", "in PATH")
    assert result_of("top", "-n", "1") == (0, "in PATH -n 1\n", "")
    script(here / "htw-top", "beside it")
    assert result_of("top", "-n", "1") == (0, "beside it -n 1\n", "")
    assert result_of("help", "top") == (0, "beside it --help\n", "")
    script(there / "htw-cron", "in PATH")
    (there / "htw-cron").chmod(0o644)
    assert result_of("cron") == (2, "", "htw cron: Permission denied\n")


# ---- completions

FOLDER = ROOT / "packaging/completions"
BASH = """source "$1/htw.bash"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _htw; printf '%s\\n' "${COMPREPLY[@]}" """
# zsh without its completion system: what that would be given is printed.
ZSH = """folder=$1; shift; words=("$@"); CURRENT=$#
_describe() { print -rl -- ${${(P)2}%%:*} }; compadd() { print -l -- "$@" }; _files() { }
source $folder/_htw"""
SHELLS = {
    "bash": lambda words: ["bash", "--norc", "-c", BASH, "bash", FOLDER, *words],
    "zsh": lambda words: ["zsh", "-f", "-c", ZSH, "zsh", FOLDER, *words],
    "fish": lambda words: ["fish", "--no-config", "-c", f"source {FOLDER}/htw.fish; complete -C '{' '.join(words)}'"],
}


@pytest.mark.parametrize("shell", SHELLS)
def test_htw_completions_are_the_commands_and_options_of_the_help(shell):
    if shutil.which(shell) is None:
        pytest.skip("not installed")

    def complete(*words):
        got = subprocess.run(SHELLS[shell](words), capture_output=True, text=True, timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL,
                             env={**os.environ, "PATH": f"{pathlib.Path(PROGRAM).parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"})
        assert got.stderr == "", (words, got.stderr)
        found = {line.partition("\t")[0] for line in got.stdout.splitlines()} - {""}
        return {word for word in found if word.startswith(words[-1])}  # as the completion system of zsh takes them
    assert complete("htw", "") - {"--help", "--version"} == {*NAMES, "help"}
    for name in BUILT:
        for words in [("htw", name)] + ([(f"htw-{name}",)] if name in ("cron", "relay", "top") else []):
            assert complete(*words, "--") == set(options_of(name)), words
    actions = set(re.findall(r"^  ([a-z]+) [A-Z]", command("help", "journal").out.decode(), re.M))
    for words, wanted in ((["journal", ""], actions), (["journal", "-J", "c"], {each for each in actions if each[0] == "c"}),
                          (["journal", "list", ""], set()), (["delay", ""], set())):
        assert complete("htw", *words) & actions == wanted, words  # fish names files, too
