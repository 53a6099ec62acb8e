#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts a page together, and writes it as a C file with the parts between its placeholders (programs/kit/page_parts.h).

usage: page.py PAGE.html STYLE.css... SCRIPT.js... OUTPUT.c

In the page, @STYLE@ and @SCRIPT@ are the other files, in this order, @STYLE_HASH@ and @SCRIPT_HASH@ what the security policy of the
page says of them, @TITLE@ and @RECORD@ what the program puts there, if they occur.
"""

import base64
import hashlib
import pathlib
import re
import sys

MARKS = {"@TITLE@": "'T'", "@RECORD@": "'R'"}


def sha256(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def literal(text):
    """As strings of C, one for each line."""
    lines = []
    for line in text.splitlines(keepends=True):
        escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append('    "' + "".join(
            c if " " <= c <= "~" and c != "?" else "".join(f"\\{byte:03o}" for byte in c.encode())
            for c in escaped) + '"')
    return "\n".join(lines) or '""'


def texts_of(ending):
    return "".join(pathlib.Path(path).read_text() for path in sys.argv[1:-1] if path.endswith(ending))


page, style, script = map(texts_of, (".html", ".css", ".js"))
assert "</script" not in script and "</style" not in style
page = page.replace("@STYLE_HASH@", sha256(style)).replace("@SCRIPT_HASH@", sha256(script))
page = page.replace("@STYLE@", style).replace("@SCRIPT@", script)
pieces = re.split("(@TITLE@|@RECORD@)", page) + [""]
texts, marks = pieces[0::2], [MARKS.get(mark, "'\\0'") for mark in pieces[1::2]]
output = '#include "page_parts.h"\n\n'
for i, text in enumerate(texts):
    output += f"static const char part{i}[] =\n{literal(text)};\n"
output += "\nconst struct htw__page_part htw__page_parts[] = {\n"
output += "".join(f"    {{ part{i}, {mark} }},\n" for i, mark in enumerate(marks)) + "};\n"
pathlib.Path(sys.argv[-1]).write_text(output)
