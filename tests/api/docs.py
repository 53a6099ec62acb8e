#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the documents say of the tree is so: the page of the examples lists each program, and calls that it makes, links lead
somewhere, files and what the documents call by name exist, macros of cron, own verbs of the server and clocks are named
wherever they belong, all of tests/api and all examples are built, each binding, a unit test or model, and the test of forks
call each function, each promise of docs/guarantees.md has a test, sizes are those that the source asserts,
htw_strerror() knows each error that the library names, and the plots of docs/pictures show the recorded figures. That
their programs work, tests/docs/blocks.py tells.

usage: docs.py ROOT
"""

import fnmatch
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
errors = []

examples = {path.name: path.read_text() for path in (root / "examples").glob("[!.]*.c*")}
listed = (root / "examples/README.md").read_text()
errors += [f"examples/README.md does not list {name}" for name in examples if f"({name})" not in listed]
# The last column of a row of a program: calls that it makes.
errors += [f"examples/README.md: {name} does not call {call}" for name, calls in re.findall(r"^\| \[`(\w+\.c)`\].*\|([^|]*) \|$", listed, re.M)
           for call in re.findall(r"`(htw_\w+)`", calls) if call not in examples[name]]
loops = (root / "docs/loops.md").read_text()
errors += [f"docs/loops.md does not list {path.name}, or how it is built" for path in (root / "examples/loops").glob("*.c")
           if f"(../examples/loops/{path.name})" not in loops or f"cc -std=c11 {path.name} " not in loops]
packages = re.findall(r"[\w.-]+-dev", (root / "tools/dev/common.sh").read_text().partition("loop_packages='")[2].partition("'")[0])
errors += [f"examples/README.md does not name {package}" for package in packages if f"`{package}`" not in listed]
build = (root / "examples/meson.build").read_text()
errors += [f"examples/meson.build does not name {path.name}" for path in (root / "examples").rglob("[!.]*.c*") if f"'{path.stem}'" not in build]

headers = "".join(path.read_text() for path in [*(root / "include/htw").glob("*.h"), *(root / "bindings/cpp").rglob("*.hpp")])
# These also speak of what is inside the library, of metrics, of variables of units, and of macros for those who build it.
inside = {"abi.md", "architecture.md", "barriers.md", "decisions.md", "debugging.md", "install.md", "monitor.md", "relay.md", "serve.md"}
sources = (root / "CMakeLists.txt").read_text() + "".join(path.read_text() for top in ["src", "programs", "tools", "packaging"] for path in (root / top).rglob("*")
                  if path.suffix in (".c", ".h", ".map", ".py", ".cc", ".in", ".sh"))

def is_declared(name, text):
    return (re.search(rf"\b{name}\b", text) or
            f'METRIC("{name.removeprefix("htw_relay_")}"' in text) # whose prefix a macro adds

of_users = [root / "README.md", root / "examples/README.md", *(root / "docs").glob("*.md"), *(root / "benchmarks").rglob("*.md")]
names = {(document, name) for document in of_users for name in re.findall(r"\b(?:htw|HTW)_\w+", document.read_text())}
errors += [f"{document}: not in the headers: {name}" for document, name in sorted(names)
           if not is_declared(name, headers + (sources if document.name in inside else ""))]

documents = of_users + [root / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING", "PACKAGING", "SECURITY")]
errors += [f"{document}: no such file: {target}" for document in documents
           for target in re.findall(r"\]\(([^):#]+)\)", document.read_text()) if not (document.parent / target).exists()]

present = {f"/{path.relative_to(root)}{'/' * path.is_dir()}" for top in root.iterdir() if top.name not in (".git", "build") for path in [top, *top.rglob("*")]}
errors += [f"{name}: no such file: {one}" for name in ("CONTRIBUTING.md", "docs/architecture.md")
           for one in re.findall(r"`([\w./*-]+(?:\.(?:c|h|hpp|install|json|map|md|py|rs|sh|txt)|/))`", (root / name).read_text())
           if not fnmatch.filter(present, "*/" + re.sub("NAME|LAYER|THING", "*", one))]

# Macros of cron expressions are the same in the source, the document, the header and the help.
macros = set(re.findall(r'{ "@(\w+)"', (root / "src/calendar/cron.c").read_text()))
for name, where in [("docs/calendar.md", r"\| macros \|(.*)"), ("include/htw/calendar.h", r"small letters: (yearly[^.]*)"), ("programs/cron/main.c", r"@(\w+)"),
                    ("tests/unit/calendar/test_cron.c", f'"@({"|".join(macros)})"')]:
    said = set(re.findall(r"\w+", " ".join(re.findall(where, (root / name).read_text()))))
    errors += [f"{name}: not a macro of cron.c: {macro}" for macro in sorted(said - macros)]
    errors += [f"{name} lacks the macro {macro} of cron.c" for macro in sorted(macros - said)]

# Verbs of the server that beanstalkd lacks are described and tested; each clock is in the bindings.
OF_BEANSTALKD = {"put", "peek", "peek-ready", "peek-delayed", "peek-buried", "reserve", "reserve-with-timeout", "delete", "release", "use",
                 "watch", "ignore", "bury", "kick", "touch", "stats", "stats-job", "stats-tube", "list-tubes", "list-tube-used",
                 "list-tubes-watched", "pause-tube", "reserve-job", "kick-job", "quit"}
verbs = set(re.findall(r'VERB\(\w+, "([\w-]+) ?"', (root / "programs/serve/line.h").read_text()))
for name, before in [("docs/serve.md", "`"), ("tests/serve/test_protocol.py", "['\"]")]:
    errors += [f"{name} lacks {verb}" for verb in sorted(verbs - OF_BEANSTALKD)
               if not re.search(rf"{before}{verb}(?![\w-])", (root / name).read_text())]
clocks = set(re.findall(r"^    HTW_CLOCK_(\w+)", (root / "include/htw/scheduler_options.h").read_text(), re.M)) - {"DEFAULT"}
for name, pattern in [("bindings/cpp/htw/cpp/time.hpp", r"value = clock::(\w+)"), ("docs/cpp.md", r"^\| `(\w+)`[^|]*\| `[\w:]+_clock`"),
                      ("bindings/python/htw/_scheduler.py", r"= lib.HTW_CLOCK_(\w+)"), ("bindings/rust/htw/src/time.rs", r"[\[,] ?Clock::(\w+)")]:
    said = {one.upper() for one in re.findall(pattern, (root / name).read_text(), re.M)}
    errors += [f"{name} lacks {clock}" for clock in sorted(clocks - said)]

# What is in tests/api runs as a test, or, abi.py, by a verb.
build = (root / "tests/meson.build").read_text()
errors += [f"tests/meson.build does not name {path}" for path in (root / "tests/api").glob("*.[cps]*")
           if f"api/{path.name}" not in build and path.stem != "abi"]

# Functions that a binding does not call; and those of which a child has no question, or that inert.c calls by another name.
UNBOUND = (r"htw_(bubble_\w+|monitor_\w+|set_log|wheel_(count_in|dump|for_each|\w+_buckets)|journal_(check|\w+_later|open_to_read|process)|purgatory_prometheus|"
           r"request_is_pending|schedule(_at)?|scheduler_(get_histograms|visit)")
PURGATORY = r"|purgatory_\w+|request_\w+|threshold_\w+|task_run|journal_(cancel|done|put)"
BINDINGS = [
    ("cpp/**/*.hpp", r"|\w+_init|calendar_arg|journal_prometheus|scheduler_(keep_site|observed|prometheus)|version|wheel_check)"),
    ("python/[hn]*/*.[cp]*", PURGATORY + r"|journal_(lease|update)|scope_(cancel|why)|wheel_\w+)"),
    ("rust/htw/src/*.rs", PURGATORY + r"|backoff_\w+|calendar_arg|find_key|invalid_member|journal_(prometheus|put_in)|"
     r"scheduler_(clock|keep_site|next|now|prometheus)|version)")]
NOT_INERT = {"htw_schedule_calendar", "htw_scheduler_clock", "htw_scheduler_timer_info"}
bindings = {files: "".join(path.read_text() for path in (root / "bindings").glob(files)) for files, _ in BINDINGS}
tested = "".join(path.read_text() for layer in ("bubble", "model", "unit") for path in (root / "tests" / layer).rglob("*.[ch]*"))
inert = (root / "tests/support/inert.c").read_text()
for name, first in re.findall(r"^HTW_API [^;{]*?\b(htw_\w+)\(([^;,]*)", headers, re.M):
    errors += [f"bindings/{files} do not call {name}(): wrap it, or name it in BINDINGS of tests/api/docs.py"
               for files, unbound in BINDINGS if not re.fullmatch(UNBOUND + unbound, name) and not re.search(rf"\b{name}\b", bindings[files])]
    if not re.search(rf"\b{name}\b", tested):
        errors.append(f"no test of tests/unit or tests/model calls {name}()")
    if re.match(r"(const )?struct htw_(scheduler|group) \*\w", first) and name not in NOT_INERT and f"{name}(" not in inert:
        errors.append(f"tests/support/inert.c does not call {name}()")

# The list of files in the manual is made from their head comments.
sys.dont_write_bytecode = True
sys.path += [str(root.resolve() / "tools"), str(root.resolve() / "tools/manual")]
import tables  # noqa: E402

errors += [f"{path}: its head comment is not `name - what it is.`" for path in tables.files_without_sentence(root)]

# Each promise has a test with the comment `holds: IDENTIFIER`.
promises, tests = tables.promises_of(root), tables.tests_of_promises(root)
errors += [f"docs/guarantees.md: no test holds {name}" for name in promises if name not in tests]
errors += [f"{test}: docs/guarantees.md has no promise {name}" for name in tests if name not in promises for test in tests[name]]
errors += [f"docs/guarantees.md: twice: {name}" for name in set(promises) if promises.count(name) > 1]

# Where the size of a struct is said, and how.
sizes = dict(re.findall(r"sizeof\(struct (\w+)\) == (\d+)", "".join((root / "src" / name).read_text() for name in ("purgatory/state.h", "scheduler/scope.c", "threshold/threshold.c"))))
for name, sentence, what in [
        ("include/htw/purgatory.h", r"or touched\. (\d+) bytes with 64-bit pointers", "htw_request"),
        ("docs/purgatory.md", r"six keys takes (\d+) bytes in your struct", "htw_request"),
        ("docs/architecture.md", r"request of the purgatory is (\d+) bytes", "htw_request"),
        ("include/htw/purgatory.h", r"0 means 4096\. Each takes (\d+) bytes", "htw__purgatory_shard"),
        ("docs/decisions.md", r"Hence 4096 shards of (\d+) bytes", "htw__purgatory_shard"),
        ("include/htw/scope.h", r"moved or freed\. (\d+) bytes with 64-bit pointers", "htw_scope"),
        ("include/htw/threshold.h", r"Memory: (\d+) bytes\. Requests that wait need none", "htw_threshold"),
        ("docs/purgatory.md", r"A threshold takes (\d+) bytes", "htw_threshold")]:
    if re.findall(sentence, re.sub(r"\s+(\* )?", " ", (root / name).read_text())) != [sizes[what]]:
        errors.append(f"{name}: a {what} is {sizes[what]} bytes, and that is not said: {sentence}")

named = set(re.findall(r"-(E[A-Z]+)\b", headers + "".join(path.read_text() for path in (root / "src").rglob("*.[ch]"))))
known = re.findall(r"case -(E[A-Z]+):", (root / "src/base/base.c").read_text())
errors += [f"htw_strerror() does not know {name}" for name in sorted(named - set(known))]
if not (names and macros and verbs and clocks and promises and named):
    errors.append("a pattern finds nothing")

# The tables of tests/fuzz/README.md have a row for each fuzzer.
fuzzers = sorted(path.stem for path in (root / "tests/fuzz").glob("fuzz_*.c"))
for table in re.split(r"^\|---.*$", (root / "tests/fuzz/README.md").read_text(), flags=re.MULTILINE)[1:]:
    rows = re.findall(r"^\| `(fuzz_\w+)` \|", table.partition("\n\n")[0], re.MULTILINE)
    errors += [f"tests/fuzz/README.md: a table has no row, or two, for {name}" for name in fuzzers if rows.count(name) != 1]

# The plots show what is recorded: their descriptions have the figures. On a phone, 360 pixels wide, they can be read.
import pictures  # noqa: E402
import plot  # noqa: E402, which pictures finds

results = list(pictures.recorded())
for workload, metric, _ in plot.PICTURES:
    lines = plot.read_lines(results, workload, metric)
    picture = (root / f"docs/pictures/{workload}.svg").read_text()
    shown = re.findall(r"<desc>(.*?)</desc>", picture, re.DOTALL)
    if not {"htw", "Agrona", "ratas"} <= set(lines) or shown != [plot.describe(lines)]:
        errors.append(f"docs/pictures/{workload}.svg: not the figures of benchmarks/wheel/README.md: run ./dev pictures")
    width = float(re.search(r'viewBox="0 0 (\d+) ', picture).group(1))
    smallest = min(float(size) for size in re.findall(r'font-size="([\d.]+)"', picture)) * min(1, 360 / width)
    if smallest < 12 or len(lines) > 7:
        errors.append(f"docs/pictures/{workload}.svg: on a phone {len(lines)} lines, and text of {smallest:.0f} pixels")

print("\n".join(errors) or f"{len(documents)} documents, {len(promises)} promises and {len(names)} names: all there")
sys.exit(1 if errors else 0)
