#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""proof.py - ./dev proof: small models of which spin tries every execution.

  proof.py [--long]         --long: with larger bounds
  proof.py --names          whether the functions exist that the models name

Each model has mistakes, which are macros. spin must find each of them.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# ---- models

# Bounds of the searches, and of those of --long; those of the goals and mistakes that the first search does not reach.
MODELS = {
    "relay.pml": {
        "searches": [
            {"RECORDS": 1, "KILLS": 0, "REBALANCES": 1, "ERRORS": 0},
            {"RECORDS": 1, "KILLS": 1, "REBALANCES": 0, "ERRORS": 0},
        ],
        "long": [
            {"RECORDS": 2, "KILLS": 1, "REBALANCES": 0, "ERRORS": 0},
            {"RECORDS": 1, "KILLS": 0, "REBALANCES": 1, "ERRORS": 1},
            {"RECORDS": 1, "KILLS": 1, "REBALANCES": 1, "ERRORS": 0},
            {"RECORDS": 2, "KILLS": 0, "REBALANCES": 1, "ERRORS": 0},
        ],
        "bounds": {
            "NO_FENCE": {"RECORDS": 1, "KILLS": 1, "REBALANCES": 0, "ERRORS": 0},
            "NAMES_LATER": {"RECORDS": 1, "KILLS": 1, "REBALANCES": 0, "ERRORS": 0},
            "TAKES_UNFENCED": {"RECORDS": 1, "KILLS": 1, "REBALANCES": 1, "ERRORS": 0},
            "ENDED": {"RECORDS": 1, "KILLS": 1, "REBALANCES": 0, "ERRORS": 0},
        },
    },
}


def names_of(model, what):
    """The names of its mistakes or goals, and what they say."""
    text = (HERE / model).read_text().split(f"#define {what} 0", 1)[1].split("\n\n", 1)[0]
    return re.findall(r"#define ([A-Z_]+) \d+ +/\* (.*) \*/", text)


def search(model, bounds, what=None, name=None):
    """Returns whether spin has found nothing, and how many states there are. `what`: MISTAKE or GOAL."""
    macros = [f"-D{bound}={value}" for bound, value in bounds.items()]
    if what is not None:
        macros.append(f"-D{what}={name}")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(HERE / model, folder)
        run = {"cwd": folder, "check": True, "capture_output": True, "text": True}
        subprocess.run(["spin", *macros, "-a", model], **run)
        # Each step is atomic and changes what others see, so a reduction only costs. Breadth first, a mistake is found by the
        # shortest way.
        way = ["-DBFS"] if what == "MISTAKE" else []
        subprocess.run(
            ["gcc", "-O1", "-w", "-DSAFETY", "-DNOREDUCE", "-DCOLLAPSE", *way, "-o", "pan", "pan.c"], **run
        )
        output = subprocess.run(["./pan", "-m1000000"], **run).stdout
    errors = re.search(r"errors: (\d+)", output)
    if errors is None or "max search depth too small" in output:
        sys.exit(f"proof: {model} {' '.join(macros)}: the search is not complete:\n{output}")
    states = int(re.search(r"(\d+) states, stored", output).group(1))
    return errors.group(1) == "0", states


def check_models(arguments):
    failed = []
    for model, plan in MODELS.items():
        for bounds in plan["searches"] + (plan["long"] if "--long" in arguments else []):
            begin = time.monotonic()
            passed, states = search(model, bounds)
            # A model whose steps are never possible has no error either.
            passed = passed and not search(model, bounds, "GOAL", "DELIVERED")[0]
            what = " ".join([model, *(f"{name}={value}" for name, value in bounds.items())])
            print(f"{what}: {states} states, {time.monotonic() - begin:.1f} s{'' if passed else ': FAILED'}", flush=True)
            failed += [] if passed else [what]
        for what in ("GOAL", "MISTAKE"):
            for name, text in names_of(model, what):
                begin = time.monotonic()
                passed, states = search(model, plan.get("bounds", {}).get(name, plan["searches"][0]), what, name)
                found = "NOT found" if passed else "found"
                print(f"{model}, {what.lower()}: {text}: {found}, {time.monotonic() - begin:.1f} s", flush=True)
                failed += [f"{model}, {what.lower()} {name}"] if passed else []
    return failed


# ---- names

COMMENT = re.compile(r"((?:src|programs)/[a-z_/]+)\.([ch]): ((?:\w+\(\)(?:, )?)+)")


def check_names():
    """Whether each function that a model names is defined in that file."""
    missing, count = [], 0
    for model in MODELS:
        text = re.sub(r"\s+(?:\* )?", " ", (HERE / model).read_text())
        for path, kind, names in COMMENT.findall(text):
            file = ROOT / f"{path}.{kind}"
            code = file.read_text() if file.exists() else ""
            for name in re.findall(r"\w+", names):
                count += 1
                if not re.search(rf"^(?:[\w*]+[ *]+)+\*?{name}\([^;]*?\) \{{$", code, re.M):
                    missing.append(f"{model}: there is no {name}() in {path}.{kind}")
    if count == 0:
        missing.append("the models name no function")
    return missing


# ---- all


def main():
    arguments = sys.argv[1:]
    unknown = set(arguments) - {"--long", "--names"}
    if unknown:
        sys.exit(f"proof: no such option: {' '.join(unknown)}")
    failed = check_names()
    if "--names" not in arguments:
        failed += check_models(arguments)
    print("\n".join(f"FAILED: {what}" for what in failed))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
