#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A soak finds planted leaks in a short run, and passes without one: test_leaks.py BUILD

The three runs are beside each other, so that the machine is as busy for each.
"""
import pathlib
import random
import subprocess
import sys

sys.dont_write_bytecode = True  # the source tree stays clean
from judge import judge, slope  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MINUTES, THREADS, MEMORY_KIB = "0.4", "800", "1000"


def judge_follows_no_peak_and_finds_a_slope():
    numbers = random.Random(1)
    level = [(second, 1000 + numbers.uniform(-5, 5) + (500 if second in (40, 90) else 0)) for second in range(100)]
    assert judge(level, 0, 10).is_flat, judge(level, 0, 10)
    rising = [(second, value + second / 2) for second, value in level]
    assert abs(slope(rising) - 0.5) < 0.1, slope(rising)
    assert not judge(rising, 0, 10).is_flat
    steps = [(second, 7 + second // 30) for second in range(100)]  # a descriptor now and then
    assert not judge(steps, 0, 1).is_flat


def start(build, *leak):
    return subprocess.Popen([sys.executable, HERE / "soak.py", build, "--only", "program", "--minutes", MINUTES, "--threads",
                             THREADS, "--memory", MEMORY_KIB, *leak], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def end(run):
    text, _ = run.communicate()
    print(text)
    return run.returncode, text


def main(build):
    judge_follows_no_peak_and_finds_a_slope()
    runs = [start(build), start(build, "--leak", "memory"), start(build, "--leak", "descriptor")]
    (level, _), (memory, of_memory), (descriptor, of_descriptor) = [end(run) for run in runs]
    # Memory that is used for the first time looks like a leak in a run as short; a leak is there in each.
    for _ in range(2):
        if level != 0:
            level, _ = end(start(build))
    assert level == 0, "a run without a leak is not level"
    assert memory == 1 and "program: rss grows" in of_memory and "descriptors grows" not in of_memory
    assert descriptor == 1 and "program: descriptors grows" in of_descriptor
    print("ok")


main(sys.argv[1])
