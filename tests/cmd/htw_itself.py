# SPDX-License-Identifier: MIT
"""`htw` itself: which program a command is, and output that fails."""
import os
import shutil
import subprocess

from harness import PATIENCE, PROGRAM, equal, test


def result_of(*words, **kwargs):
    got = subprocess.run(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=PATIENCE, text=True,
                         **{"stdout": subprocess.PIPE, **kwargs})
    return got.returncode, got.stdout, got.stderr


def script(path, says):
    with open(path, "w") as stream:
        stream.write(f'#!/bin/sh\necho {says} "$@"\n')
    os.chmod(path, 0o755)


@test
def htw_command_of_another_package_is_found_beside_it_or_by_the_shell(directory):
    """The programs of top and cron need not be installed."""
    here, there = os.path.join(directory, "here"), os.path.join(directory, "there")
    os.mkdir(here)
    os.mkdir(there)
    htw = shutil.copy(PROGRAM, here)
    environment = {**os.environ, "PATH": there}
    equal(result_of(htw, "top", "-n", "1", env=environment),
          (2, "", "htw top: the program htw-top is not installed\n"))
    script(os.path.join(there, "htw-top"), "in PATH")
    equal(result_of(htw, "top", "-n", "1", env=environment), (0, "in PATH -n 1\n", ""))
    script(os.path.join(here, "htw-top"), "beside it")
    equal(result_of(htw, "top", "-n", "1", env=environment), (0, "beside it -n 1\n", ""))
    equal(result_of(htw, "help", "top", env=environment), (0, "beside it --help\n", ""))
    script(os.path.join(there, "htw-cron"), "in PATH")
    os.chmod(os.path.join(there, "htw-cron"), 0o644)
    equal(result_of(htw, "cron", env=environment), (2, "", "htw cron: Permission denied\n"))


@test
def htw_help_that_cannot_be_printed_fails():
    with open("/dev/full", "w") as full:
        equal(result_of(PROGRAM, "help", stdout=full), (1, None, "htw: standard output: No space left on device\n"))
