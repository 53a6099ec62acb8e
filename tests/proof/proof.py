#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""proof.py - ./dev proof: small programs and models of which model checkers try every execution.

  proof.py [--long]         all that the tools at hand can do; spin must be there
  proof.py --names          whether the functions exist that the models name

GENMC and DARTAGNAN name a program, and the folder of Dat3M. What is not done for lack of one is said at the end.

Each check has mistakes: of a model, a macro; of a harness, a change of a copy of src/. The tool must find each of
them. README.md says what all of this proves, and what it does not.
"""

import os
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


# ---- harnesses

RELAXED = "memory_order_relaxed"


def weaker(file, text, order):
    """A weaker order in the one place where the text is."""
    return (file, text, text.replace(order, RELAXED))


# For each harness: programs (macros), whether Dartagnan takes it, and the mistakes, each with a program that finds it.
HARNESSES = {
    "lock": (
        [""],
        True,
        [
            ("", weaker("base/lock.h", "1u, memory_order_acquire) != 0", "memory_order_acquire")),
            ("", weaker("base/lock.h", "0u, memory_order_release)", "memory_order_release")),
            ("", weaker("base/lock.c", "1u, memory_order_acquire) == 0", "memory_order_acquire")),
        ],
    ),
    # The order of `cells` matters where a page is removed and added again, which this harness does not do.
    "slab": (
        [""],
        False,
        [
            ("", weaker("base/slab.c", "->fresh, fresh, memory_order_release", "memory_order_release")),
            ("", weaker("base/slab.c", "views, memory_order_release", "memory_order_release")),
            ("", weaker("base/slab.h", "&view->fresh, memory_order_acquire", "memory_order_acquire")),
            ("", weaker("base/slab.h", "~HTW__STATUS_STATE),\n                          memory_order_release",
                        "memory_order_release")),
        ],
    ),
    "claim": (
        [""],
        False,
        [
            ("", weaker("scheduler/shard.c", "memory_order_release, memory_order_relaxed));",
                        "memory_order_release")),
            ("", weaker("scheduler/shard.c", "NO_INDEX, memory_order_acquire);", "memory_order_acquire")),
            ("", ("scheduler/shard.c", "last->next_stale = (uint32_t)top;", "last->next_stale = NO_INDEX;")),
            ("", ("scheduler/cancel.c", "HTW__CLAIMED, 0));", "HTW__PENDING, 0));")),
        ],
    ),
    "owner": (
        ["-DFIRST=tell -DSECOND=check", "-DFIRST=tell -DSECOND=cancel", "-DFIRST=cancel -DSECOND=expire"],
        False,
        [
            ("-DFIRST=tell -DSECOND=check", ("purgatory/owner.h", "to, false, __ATOMIC_ACQ_REL", "to, false, __ATOMIC_RELAXED")),
            ("-DFIRST=tell -DSECOND=check", ("purgatory/owner.h", "to, false, __ATOMIC_ACQ_REL", "to, false, __ATOMIC_ACQUIRE")),
            ("-DFIRST=tell -DSECOND=check", ("purgatory/owner.c", "HTW__REQUEST_SELF : HTW__REQUEST_AGAIN;", "0 : 0;")),
        ],
    ),
}


def planted(mistake, folder):
    """A copy of src/ with the mistake."""
    file, old, new = mistake
    source = Path(folder) / "src"
    shutil.copytree(ROOT / "src", source)
    text = (source / file).read_text()
    if text.count(old) != 1:
        sys.exit(f"proof: src/{file} has {old!r} {text.count(old)} times, not once: change the mistake")
    (source / file).write_text(text.replace(old, new))
    return source


def compile_for_genmc(harness, macros, source, folder):
    """What it interprets is one file, with no function that is not called, and few copies of structures."""
    code, reduced = f"{folder}/{harness}.bc", f"{folder}/{harness}-reduced.bc"
    subprocess.run(
        ["clang-14", "-w", "-g", "-O1", "-Xclang", "-disable-llvm-passes", "-fno-builtin", "-std=gnu11", "-D_GNU_SOURCE",
         "-DPROOF_GENMC", *macros.split(), "-include", HERE / "seam.h", f"-I{source}", f"-I{ROOT}/include",
         "-emit-llvm", "-c", "-o", code, HERE / f"{harness}.c"], check=True)  # fmt: skip
    subprocess.run(
        ["opt-14", "-enable-new-pm=0", "-internalize", "-internalize-public-api-list=main", "-globaldce", "-sroa",
         code, "-o", reduced], check=True)  # fmt: skip
    return reduced


def run_genmc(tool, model, harness, macros, source):
    with tempfile.TemporaryDirectory() as folder:
        code = compile_for_genmc(harness, macros, source, folder)
        result = subprocess.run(
            [tool, "--disable-estimation", "--disable-ipr", "--disable-sr", f"--{model}", "--input-from-bitcode-file", code],
            capture_output=True, text=True)  # fmt: skip
    output = result.stdout + result.stderr
    if "No errors were detected" in output:
        return True, int(re.search(r"complete executions explored: (\d+)", output).group(1))
    if "Verification unsuccessful" not in output:
        sys.exit(f"proof: GenMC cannot run {harness} {macros}:\n{output[-3000:]}")
    return False, 0


def check_genmc(tool):
    failed = []
    for harness, (programs, _, mistakes) in HARNESSES.items():
        for macros in programs:
            for model in ("rc11", "imm"):
                begin = time.monotonic()
                passed, executions = run_genmc(tool, model, harness, macros, ROOT / "src")
                what = f"GenMC, {model}: {harness} {macros}".strip()
                said = f"{executions} executions" if passed else "FAILED"
                print(f"{what}: {said}, {time.monotonic() - begin:.1f} s", flush=True)
                failed += [] if passed else [what]
        for macros, mistake in mistakes:
            with tempfile.TemporaryDirectory() as folder:
                passed, _ = run_genmc(tool, "rc11", harness, macros, planted(mistake, folder))
            what = f"GenMC: {harness}, mistake in {mistake[0]}: {' '.join(mistake[2].split())}"
            print(f"{what}: {'NOT found' if passed else 'found'}", flush=True)
            failed += [what] if passed else []
    return failed


# ---- Dartagnan: the memory models of processors

PROCESSORS = {"c11": "rc11.cat", "arm8": "aarch64.cat", "power": "power.cat", "riscv": "riscv.cat", "tso": "tso.cat"}


def run_dartagnan(folder, processor, harness, source):
    environment = {
        **os.environ,
        "DAT3M_HOME": folder,
        "CFLAGS": f"-std=gnu11 -D_GNU_SOURCE -w -include {HERE}/seam.h -I{source} -I{ROOT}/include",
    }
    with tempfile.TemporaryDirectory() as output:
        result = subprocess.run(
            ["java", "-jar", f"{folder}/dartagnan/target/dartagnan.jar", f"{folder}/cat/{PROCESSORS[processor]}",
             f"--target={processor}", "--bound=2", "--property=program_spec", HERE / f"{harness}.c"],
            env={**environment, "DAT3M_OUTPUT": output}, capture_output=True, text=True)  # fmt: skip
    said = re.search(r"^(?:Verification finished with result )?(PASS|FAIL|UNKNOWN)", result.stdout, re.M)
    if said is None:
        sys.exit(f"proof: Dartagnan cannot run {harness}:\n{(result.stdout + result.stderr)[-3000:]}")
    return said.group(1)


def check_dartagnan(folder):
    failed = []
    for harness, (_, is_for_it, mistakes) in HARNESSES.items():
        if not is_for_it:
            continue
        for processor in PROCESSORS:
            begin = time.monotonic()
            said = run_dartagnan(folder, processor, harness, ROOT / "src")
            what = f"Dartagnan, {processor}: {harness}"
            print(f"{what}: {said}, {time.monotonic() - begin:.1f} s", flush=True)
            failed += [] if said == "PASS" else [what]
        for _, mistake in mistakes:
            with tempfile.TemporaryDirectory() as place:
                said = run_dartagnan(folder, "arm8", harness, planted(mistake, place))
            what = f"Dartagnan, arm8: {harness}, mistake in {mistake[0]}: {' '.join(mistake[2].split())}"
            print(f"{what}: {'found' if said == 'FAIL' else 'NOT found'}", flush=True)
            failed += [] if said == "FAIL" else [what]
    return failed


# ---- all


def main():
    arguments = sys.argv[1:]
    unknown = set(arguments) - {"--long", "--names"}
    if unknown:
        sys.exit(f"proof: no such option: {' '.join(unknown)}")
    failed = check_names()
    left_out = []
    if "--names" not in arguments:
        failed += check_models(arguments)
        for variable, check in (("GENMC", check_genmc), ("DARTAGNAN", check_dartagnan)):
            if os.environ.get(variable):
                failed += check(os.environ[variable])
            else:
                left_out.append(f"NOT done: the harnesses by {variable}, which names no tool (tests/proof/README.md)")
    print("\n".join(left_out + [f"FAILED: {what}" for what in failed]))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
