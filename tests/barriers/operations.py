# SPDX-License-Identifier: MIT
"""operations.py - the atomic operations of src/: of each the function, what it does to which word, its memory orders, and
the comment that says why these are enough."""

import re
from dataclasses import dataclass
from pathlib import Path

CALL = re.compile(r"\b(?:__)?atomic_(?!init\b)(\w+)\(")
ORDER = re.compile(r"(?:memory_order_|__ATOMIC_)([A-Za-z_]+)$")
# The line on which a function begins: no blank before it, and no semicolon at its end.
FUNCTION = re.compile(r"^(?!#)[A-Za-z_][^;=]*?\b(\w+)\((?!\()[^;]*$")

# What takes the place of an order: one after the other, until what is left is relaxed.
WEAKER = {
    "load": {"seq_cst": ["acquire"], "acquire": ["relaxed"]},
    "store": {"seq_cst": ["release"], "release": ["relaxed"]},
    "change": {
        "seq_cst": ["acq_rel"],
        "acq_rel": ["acquire", "release"],
        "acquire": ["relaxed"],
        "release": ["relaxed"],
    },
}


COMMENT = re.compile(r"/\*\s*order: (.*?)(?:\[(.*?)\]\s*)?\*/", re.S)


@dataclass
class Comment:
    place: tuple  # file and line
    begin: int  # in the text of the file
    reason: str
    found: dict  # of each weaker order the scene that finds it


@dataclass
class Operation:
    file: str  # below src/
    function: str
    name: str  # load, store, exchange, fetch_add, …
    word: str
    orders: list  # of a compare-and-swap also that of a failure
    first_line: int
    last_line: int
    begin: int  # in the text of the file
    end: int
    comment: Comment  # the last one before it in its function; None: there is none

    def text(self):
        return f"{self.name} {self.word}, {' / '.join(self.orders)}"

    def weakenings(self):
        """What can be weaker: the order, the one in its place, and whether that of a failure is meant."""
        kind = self.name if self.name in ("load", "store") else "change"
        for i, order in enumerate(self.orders):
            for weaker in WEAKER["load" if i == 1 else kind].get(order, []):
                yield order, weaker, i


def arguments_from(text, at):
    """The arguments of a call, and where it ends; `at`: behind the bracket that opens."""
    arguments, depth, begin = [], 0, at
    while True:
        character = text[at]
        if character in ",)" and depth == 0:
            arguments.append(" ".join(text[begin:at].split()))
            begin = at + 1
        if character == ")" and depth == 0:
            return arguments, at + 1
        depth += (character in "([{") - (character in ")]}")
        at += 1


def without_comments(text):
    """The same length and lines."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda found: re.sub(r"[^\n]", " ", found.group()), text, flags=re.S)


def function_at(lines, line):
    """The name of a function, and the line on which it begins."""
    for at in range(line, -1, -1):
        found = FUNCTION.match(lines[at])
        if found:
            return found.group(1), at
    return "?", 0


def comments_of(text, file):
    for found in COMMENT.finditer(text):
        pairs = (part.partition(": ") for part in " ".join((found.group(2) or "").split()).split("; ") if part)
        yield Comment(
            place=(file, text.count("\n", 0, found.start()) + 1),
            begin=found.start(),
            reason=" ".join(found.group(1).split()),
            found={weaker: finder.strip("`") for weaker, _, finder in pairs},
        )


def operations_of(source, file):
    whole = (source / file).read_text()
    comments = list(comments_of(whole, file))
    text = without_comments(whole)
    lines = text.split("\n")
    for call in CALL.finditer(text):
        arguments, end = arguments_from(text, call.end())
        orders = [found.group(1).lower() for found in map(ORDER.search, arguments) if found]
        line = text.count("\n", 0, call.start())
        function, first = function_at(lines, line)
        before = [comment for comment in comments if comment.begin < call.start() and comment.place[1] > first]
        yield Operation(
            file=file,
            function=function,
            name=re.sub(r"_explicit$|_n$", "", call.group(1)),
            word=arguments[0].lstrip("&"),
            orders=orders or ["seq_cst"],
            first_line=line + 1,
            last_line=text.count("\n", 0, end) + 1,
            begin=call.start(),
            end=end,
            comment=before[-1] if before else None,
        )


def files_of(source):
    # Not those of the bubble, which no scene of the explorer runs.
    return sorted(str(path.relative_to(source)) for kind in "ch" for path in source.rglob(f"*.{kind}") if path.parent.name != "bubble")


def all_operations(source):
    source = Path(source)
    return [operation for file in files_of(source) for operation in operations_of(source, file)]


def all_comments(source):
    source = Path(source)
    return [comment.place for file in files_of(source) for comment in comments_of((source / file).read_text(), file)]
