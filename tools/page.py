#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts a page together, and writes it as a C file with the parts between its placeholders (programs/kit/page_parts.h).

usage: page.py PAGE.html STYLE.css... SCRIPT.js... OUTPUT.c

In the page, @STYLE@ and @SCRIPT@ are the other files, in this order, @STYLE_HASH@ and @SCRIPT_HASH@ what the security policy of the
page says of them, @RECORD@ what the program puts there, if it occurs.
"""

import base64
import hashlib
import pathlib
import sys

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
before, _, behind = page.partition("@RECORD@")
output = '#include "page_parts.h"\n\n'
output += f"const char htw__page_before[] =\n{literal(before)};\nconst char htw__page_behind[] =\n{literal(behind)};\n"
pathlib.Path(sys.argv[-1]).write_text(output)
