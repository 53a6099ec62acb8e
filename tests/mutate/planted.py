# SPDX-License-Identifier: MIT
"""Reads planted.txt, and tables of its format."""


def read(path):
    """Yields each mistake as a dictionary of strings."""
    row = {}
    for block in path.read_text().split("\n\n"):
        lines = [line.split(None, 1) for line in block.splitlines() if line and not line.startswith("#")]
        if lines:
            row = {"NEW": ";"} | {name: row[name] for name in ("FILES", "TEST") if name in row} | dict(lines)
            yield row
