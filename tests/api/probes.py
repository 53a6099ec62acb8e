#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The probes of the libraries and programs are those of docs/debugging.md, with the same arguments.

usage: probes.py ROOT POINTER_BYTES NAME=FILE...

NAME is what the document calls the file. A program also has probes of the libraries that it is linked to.
"""

import collections
import pathlib
import re
import subprocess
import sys

ROW = re.compile(r"^\| `(\w+)` \| `([\w-]+)` \| (.*?) \| .* \|$", re.MULTILINE)
NOTE = re.compile(r"Provider: htw\n\s+Name: (\w+)\n\s+Location: .*\n\s+Arguments: (.*)")


def sizes(pointer_bytes):
    """What readelf prints before each @."""
    return {"pointer": pointer_bytes, "u64": "8", "i64": "-8", "u32": "4", "i32": "-4", "u8": "1"}


def documented(text, size_of):
    """The arguments of each probe by file and name."""
    return {(file, name): [size_of[kind] for kind in re.findall(r"`\w+` (\w+)", arguments)]
            for name, file, arguments in ROW.findall(text)}


def compiled(file):
    """The forms of the arguments of each probe by its name: each place has its own note."""
    notes = subprocess.run(["readelf", "-n", file], check=True, capture_output=True, text=True).stdout
    forms = collections.defaultdict(set)
    for name, arguments in NOTE.findall(notes):
        forms[name].add(tuple(re.findall(r"(?:^| )(-?\d)@", arguments)))
    return forms


def main():
    root, pointer_bytes, *files = sys.argv[1:]
    text = (pathlib.Path(root) / "docs/debugging.md").read_text()
    text = text.split("\n## Probes\n")[1].split("\n## ")[0]
    said = documented(text, sizes(pointer_bytes))
    if not said:
        sys.exit("docs/debugging.md lists no probes")
    errors = []
    for name, file in (argument.split("=") for argument in files):
        forms = compiled(file)
        expected = {probe: arguments for (where, probe), arguments in said.items() if where == name}
        if not name.startswith("lib"):
            expected |= {probe: said[where, probe] for where, probe in said if probe in forms}
        errors += [f"{name} has the probe {probe}, which is not documented there"
                   for probe in forms.keys() - expected.keys()]
        errors += [f"{name} has no probe {probe}" for probe in expected.keys() - forms.keys()]
        errors += [f"{name}: {probe} has arguments {' '.join(form)}, documented {' '.join(expected[probe])}"
                   for probe in forms.keys() & expected.keys() for form in forms[probe] if list(form) != expected[probe]]
        print(f"{name}: {len(forms)} probes")
    sys.exit("\n".join(errors) or 0)


if __name__ == "__main__":
    main()
