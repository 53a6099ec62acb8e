# SPDX-License-Identifier: MIT
# holds: commands-1
"""test_terminal.py - what a program repeats of its input changes no terminal.

Each program and verb is given text with characters that control a terminal, or that reverse or hide what it shows, wherever it
may repeat what it was given. The options and verbs are those of the help.
"""
import json
import os
import re
import unicodedata

import pytest
from programs import command, file_with, is_built

# Controls of C0 and C1, a bell, directions, no width; and a byte that is no character.
HOSTILE = "x\x1b[31m\x07\x7f\u009b\u202e\u2066\u200b\ufeff\U000e0041".encode() + b"\x9by"
SHOWN = r"x\x1b[31m\x07\x7f\xc2\x9b\xe2\x80\xae"
UNKNOWN = b"--" + HOSTILE
SECRET = {("relay", "property")}  # its value is not repeated
WHEN = "2100-01-01T00:00:00Z"


def check(got, repeats=True):
    """Of a run: standard output and error are text without such characters, and the input was repeated."""
    text = got.out.decode() + got.err
    found = [char for char in text if char != "\n" and (unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") or char == "\ufffd")]
    assert not found, f"{found[0]!r} in {text!r}"
    assert SHOWN in text or not repeats, f"not repeated: {text!r}"


def check_runs(rows, directory, **kwargs):
    for repeats, words in rows:
        try:
            check(command(*words, cwd=directory, **kwargs), repeats)
        except Exception as fault:
            raise AssertionError(f"{words}: {fault}") from fault


def names_in(text):
    return re.findall(r"^  ([a-z]+) ", text, re.M)


BUILT = [name for name in names_in(command("help").out.decode()) if name != "help" and is_built(name)]


def test_nothing_of_a_command_line_changes_the_terminal(directory):
    rows = [(True, [HOSTILE]), (True, [UNKNOWN]), (True, ["help", HOSTILE]), (True, ["help", "help", HOSTILE]),
            (True, ["delay", UNKNOWN + b"=" + HOSTILE]), (False, ["delay", b"--help=" + HOSTILE]),
            *((False, ["delay", b"-" + letter]) for letter in (b"\x1b", b"\x9b", "\u202e".encode(), b"\x07"))]
    for name in BUILT:
        rows += [(True, [name, UNKNOWN]), (True, [name, HOSTILE, UNKNOWN]), (True, [name, "none", "none", "none", HOSTILE, UNKNOWN])]
        options = re.findall(r"^ +(?:-\w, )?--([a-z-]+)((?: |\[=)[A-Z\[])?", command("help", name).out.decode(), re.M)
        assert len(options) > 2, (name, options)
        for option, takes in options:
            if takes:
                rows += [((name, option) not in SECRET, [name, f"--{option}=".encode() + HOSTILE, UNKNOWN])]
    check_runs(rows, directory)


def test_nothing_of_a_name_of_a_file_changes_the_terminal(directory):
    place = b"none/" + HOSTILE
    journal_verbs = set(names_in(command("help", "journal").out.decode()))
    assert len(journal_verbs) > 12, journal_verbs
    more = {"put": [WHEN, "x"], "move": ["1", WHEN], "kick": ["1"],
            **{verb: ["1"] for verb in ("cancel", "delete", "release", "bury")}}
    rows = [["delay", place], ["delay", "--unreleased", place], ["draw", place],
            ["replay", place],
            ["replay", "--monitor=" + os.fsdecode(place)], ["cron", "--check", place], ["top", "--once", place],
            ["serve", "--listen", "unix:none/x", place], ["serve", "--memory", "--listen", b"unix:" + place],
            *(["journal", verb, place, *more.get(verb, [])] for verb in sorted(journal_verbs))]
    check_runs([(True, words) for words in rows if words[0] in BUILT], directory)


def test_nothing_of_a_line_of_input_changes_the_terminal(directory):
    lines = {"delay": b"1s x\n%s y\n", "draw": b"1s x\n%s y\ncancel %s\n",
             "cron": b"%s * * * * x\n* * * * *\n@%s x\n"}
    options = {"delay": ["--strict"], "cron": ["--check"]}
    for name, line in lines.items():
        path = file_with(directory, name, line.replace(b"%s", HOSTILE))
        check_runs([(True, [name, *options.get(name, []), path])] if name in BUILT else [], directory)
    if "cron" in BUILT:
        path = file_with(directory, "table", b"0 0 * * * echo " + HOSTILE)
        check_runs([(True, ["cron", "--next", "2", path])], directory)
        check_runs([(True, ["cron", "--next", "2", path])], directory, env={**os.environ, "TZ": os.fsdecode(HOSTILE)})


@pytest.mark.skipif("journal" not in BUILT, reason="built without SQLite")
def test_nothing_in_a_journal_changes_the_terminal(directory):
    verbs = set(names_in(command("help", "journal").out.decode()))
    name = os.path.join(directory, os.fsdecode(HOSTILE))
    assert command("journal", "put", "--key", HOSTILE, "--queue", HOSTILE, name, WHEN, HOSTILE).status == 0
    number = command("journal", "list", "--json", name).out
    number = json.loads(number.splitlines()[0])["id"]
    rows = [(True, ["journal", verb, name]) for verb in ("list", "stats", "check", "compact")]
    rows += [(True, ["journal", "show", name, number])]
    rows += [(True, ["journal", verb, name, HOSTILE + b"z"]) for verb in sorted(verbs - {"put"})]
    rows += [(True, ["journal", "put", name, HOSTILE, "x"]), (True, ["journal", "move", name, number, HOSTILE])]
    check_runs(rows, directory)
    for verb in ("list", "stats", "check"):
        got = command("journal", verb, "--json", name)
        assert got.status == 0, verb
        check(got, False)
