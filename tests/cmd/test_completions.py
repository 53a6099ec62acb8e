#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shells complete each command, and each option that its help has. What they say is compared with the options
that getopt accepts: it refuses one that is unknown, also before --help.

usage: test_completions.py HTW
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

HTW = os.path.abspath(sys.argv[1])
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "packaging/completions"
ENVIRONMENT = {**os.environ, "PATH": f"{os.path.dirname(HTW)}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
BASH = """source "$1/htw.bash"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _htw; printf '%s\\n' "${COMPREPLY[@]}" """
# zsh without its completion system: what that would be given is printed.
ZSH = """folder=$1; shift; words=("$@"); CURRENT=$#
_describe() { print -rl -- ${${(P)2}%%:*} }; compadd() { print -l -- "$@" }; _files() { }
source $folder/_htw"""


def output(*words):
    run = subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT, timeout=60, check=False,
                         stdin=subprocess.DEVNULL)
    assert run.stderr == "", (words, run.stderr)
    return set(run.stdout.split("\n")) - {""}


def bash(*words):
    return output("bash", "--norc", "-c", BASH, "bash", FOLDER, *words)


def zsh(*words):
    found = output("zsh", "-f", "-c", ZSH, "zsh", FOLDER, *words)
    return {word for word in found if word.startswith(words[-1])} # as the completion system takes them


def fish(*words):
    found = output("fish", "--no-config", "-c", f"source {FOLDER}/htw.fish; complete -C '{' '.join(words)}'")
    return {line.partition("\t")[0] for line in found}


def help_of(*words):
    return subprocess.run([HTW, *words, "--help"], capture_output=True, text=True, check=False, env=ENVIRONMENT).stdout


def main():
    errors = []
    commands = set(re.findall(r"^  ([a-z]+)  ", help_of(), re.MULTILINE))
    assert {"delay", "help", "top"} <= commands, commands
    checked = 0
    for shell in (bash, zsh, fish):
        if shutil.which(shell.__name__) is None:
            print(f"NOT TESTED, for it is not installed: {shell.__name__}")
            continue
        if (found := shell("htw", "")) != commands | {"--help", "--version"} and found != commands:
            errors.append(f"{shell.__name__}: the commands are {sorted(found)}")
        for command in sorted(commands - {"help"}):
            text = help_of(command)
            if not text:
                continue # a program that was not built
            wanted = set(re.findall(r"^ +(?:-., )?(--[a-z-]+)", text, re.MULTILINE))
            for words in [("htw", command)] + ([(f"htw-{command}",)] if command in ("cron", "relay", "top") else []):
                found = shell(*words, "--")
                checked += 1
                if not wanted or found != wanted:
                    errors.append(f"{shell.__name__}: {' '.join(words)} --: lacks {sorted(wanted - found)}, "
                                  f"has {sorted(found - wanted)}")
        actions = set(re.findall(r"^  ([a-z]+) [A-Z]", help_of("journal").partition("\nActions:\n")[2], re.MULTILINE))
        assert not help_of("journal") or {"list", "check", "compact"} <= actions, actions
        for words, wanted in ((["journal", ""], actions), (["journal", "-J", "c"], {a for a in actions if a[0] == "c"}),
                              (["journal", "list", ""], set()), (["delay", ""], set())):
            checked += 1
            found = shell("htw", *words) & actions # fish names files, too
            if found != wanted:
                errors.append(f"{shell.__name__}: htw {' '.join(words)}: {sorted(found)}, not {sorted(wanted)}")
    # Each is one that the program takes: the names of its own table, and no other.
    for command in sorted(commands - {"help"}):
        for option in re.findall(r"^ +(?:-., )?(--[a-z-]+)", help_of(command), re.MULTILINE):
            run = subprocess.run([HTW, command, option + "-unknown"], capture_output=True, text=True, check=False,
                                 env=ENVIRONMENT, stdin=subprocess.DEVNULL)
            if run.returncode != 2:
                errors.append(f"htw {command} takes {option}-unknown")
    print("\n".join(errors) or f"{checked} lists of options are those of the help")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
