#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each call that the tables of the documents show, with its arguments, fits its declaration: a compiler reads
them all. Left out are those that only name a function, as `htw_cancel()`, and those with an ellipsis.

usage: calls.py ROOT COMPILER...
"""

import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
compiler = sys.argv[2:]
# What the tables call their objects. Functions of any kind are of type void *.
NAMES = """
#include <htw/htw.h>
struct node { struct htw_timer timer; };
struct session { struct htw_timer t, timer; };
struct fetch { struct htw_request request; };
extern struct htw_wheel *w, *wheel;
extern struct htw_scheduler *s, *scheduler;
extern struct htw_purgatory *p;
extern struct htw_group *g;
extern htw_handle h;
extern const struct htw_expiration *expiration;
extern struct htw_timer t, *timer;
extern struct node *node, *value;
extern struct session *session;
extern struct fetch *fetch;
extern struct htw_key *keys;
extern uint64_t now, deadline, horizon, d, id;
extern int64_t d_ns, delay_ns, deadline_ns, period_ns, timeout_ns;
extern size_t count, size, budget;
extern void *arg, *bytes, *context, *options, *f, *run, *cb, *callback, *visitor;
"""


def calls(text):
    """The calls in code spans, from the name to the parenthesis that closes it."""
    for span in re.findall(r"`([^`\n]+)`", text):
        for start in re.finditer(r"\b(?:htw_\w+|HTW_CONTAINER_OF)\(", span):
            depth = 0
            for end in range(start.end() - 1, len(span)):
                depth += {"(": 1, ")": -1}.get(span[end], 0)
                if depth == 0:
                    call = span[start.start():end + 1]
                    if not call.endswith("()") and "…" not in call and ".." not in call:
                        yield call
                    break


lines = NAMES.splitlines()
where = {}
for name in ["guide", "scheduler", "loops", "coming-from"]:
    lines.append(f"void in_{name.replace('-', '_')}(void) {{")
    for call in calls((root / f"docs/{name}.md").read_text()):
        # The options of which kind: that of the function.
        lines.append(f"    (void)({call.replace('&options', 'options')});")
        where[len(lines)] = f"docs/{name}.md: {call}"
    lines.append("}")
if len(where) < 40:
    sys.exit(f"only {len(where)} calls found: has the form of the tables changed?")
result = subprocess.run([*compiler, "-std=gnu11", "-fsyntax-only", "-Wno-unused-result", "-Werror=int-conversion", "-Werror=incompatible-pointer-types",
                         "-Werror=implicit-function-declaration", f"-I{root / 'include'}", "-xc", "-"],
                        input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
wrong = sorted({int(number) for number in re.findall(r"^<stdin>:(\d+):", result.stderr, re.MULTILINE)})
for number in wrong:
    print(where.get(number, lines[number - 1]))
if result.returncode != 0:
    print(result.stderr)
print(f"{len(where)} calls, {len(wrong)} wrong")
sys.exit(result.returncode)
