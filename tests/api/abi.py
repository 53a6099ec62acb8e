#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the binary interface of the libraries with the accepted one, as docs/abi.md says: each function and type of the
public headers, the sizes of structs, where their members are, and the values of enumerators and macros, which programs hold.
A compiler computes them for this machine.

usage: abi.py ROOT COMPILER...              what differs from tests/api/interface.abi
       abi.py ROOT COMPILER... --accept     takes the interface as it is
"""

import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(root / "tools/manual"))
import headers  # noqa: E402


def lines_of(header):
    """What a header declares: texts, each with the expressions of C whose values follow it."""
    for item in header.items():
        if item.kind == "function":
            yield item.declaration, []
        elif item.kind == "typedef":
            yield f"typedef {item.declaration}", []
        elif item.kind in ("struct", "union") and item.members:
            yield f"{item.declaration}: size, alignment", [f"sizeof({item.declaration})", f"_Alignof({item.declaration})"]
            for member in item.members:
                for name in member.name.split(", "):
                    value = f"(({item.declaration} *)0)->{name}"
                    yield f"{item.declaration}: {member.declaration}: {name} at, size", [f"offsetof({item.declaration}, {name})", f"sizeof({value})"]
        elif item.kind == "enum":
            for member in item.members:
                yield f"{item.declaration}: {member.name}", [member.name]
        for name, value in item.macros:
            if not name.startswith("HTW"):
                continue  # ESHUTDOWN, which only Windows needs
            if re.match(r"[-(\d]|HTW_(?!_)|U?INT\d", value) and "(" not in name:
                yield name, [name]
            else:
                yield f"#define {name} {value}", []


def interface(compiler):
    """The lines, sorted."""
    program = ["#include <stddef.h>", "#include <stdio.h>"]
    prints = []
    for header in headers.read_all(root):
        program.append(f"#include <{header.file}>")
        for text, values in lines_of(header):
            escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
            prints.append(f'printf("{escaped}{" %lld" * len(values)}\\n"' + "".join(f", (long long)({value})" for value in values) + ");")
    with tempfile.TemporaryDirectory() as folder:
        built = pathlib.Path(folder) / "interface"
        subprocess.run([*compiler, "-std=c11", "-w", f"-I{root / 'include'}", "-xc", "-", "-o", built], check=True, text=True,
                       input="\n".join([*program, "int main(void) {", *prints, "}\n"]))
        printed = subprocess.run([built], check=True, text=True, capture_output=True).stdout
    return "".join(sorted(line for line in printed.splitlines(keepends=True) if not line.startswith(("HTW_VERSION", "#define HTW_VERSION"))))


def main():
    accept = sys.argv[-1] == "--accept"
    compiler = sys.argv[2:-1] if accept else sys.argv[2:]
    accepted = root / "tests/api/interface.abi"
    now = interface(compiler)
    differs = subprocess.run(["diff", "-U0", accepted, "-"], input=now, text=True, check=False).returncode != 0
    if not accept:
        print("The binary interface has changed. If that is meant, and docs/abi.md allows it: "
              "./dev abi --accept" if differs else f"the interface is as accepted: {now.count(chr(10))} lines")
        return 1 if differs else 0
    version = re.search(r'#define HTW_VERSION "(.*)"', (root / "include/htw/base.h").read_text())[1]
    if differs and not version.endswith(".0~dev"):
        sys.exit(f"abi: {version} has the interface of the release before it. Begin another minor "
                 "version first: ./dev version NEW")
    accepted.write_text(now)
    return 0


sys.exit(main())
