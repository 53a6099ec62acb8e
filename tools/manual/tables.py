# SPDX-License-Identifier: MIT
"""Pages of the manual that repeat the source, and are made from it: what each file is, why each atomic operation has its
order, which tests hold a promise."""

import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2] / "tests/barriers"))
import operations  # noqa: E402

HEAD = re.compile(r"\s*(?:(?:/\*|//) SPDX[^\n]*\n)?\s*(?:/\*+|//)[\s*]*(\S+) - (.*?)(?:\*/|\n \*\n|\n//\n)", re.S)
SENTENCE = re.compile(r"(.*?[^.]\.)(?:\s+[A-Z`]|$)", re.S)
SOURCES = ("*.h", "*.c", "*.cc", "*.hpp")


def sources(root):
    return sorted(path for top in ("src", "programs", "include/htw") for pattern in SOURCES for path in (root / top).rglob(pattern)
                  if "tests" not in path.relative_to(root).parts)


def sentence_of(path):
    """The first sentence of the comment at the head of a file; None: there is none, or it names another file."""
    found = HEAD.match(path.read_text())
    if not found or not path.as_posix().endswith(found.group(1)):
        return None
    text = re.sub(r"\s+", " ", re.sub(r"\n \* ?", "\n", found.group(2))).strip()
    first = SENTENCE.match(text)
    return first.group(1) if first else text


def files_without_sentence(root):
    return [path.relative_to(root).as_posix() for path in sources(root) if sentence_of(path) is None]


def table(heading, rows):
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(["| " + " | ".join(heading) + " |", "|" + "---|" * len(heading), *lines])


def files(root):
    """A table for each folder. A header and its source are one row, with the sentence of the header."""
    folders = {}
    for path in sources(root):
        stems = folders.setdefault(path.parent.relative_to(root).as_posix(), {})
        stems.setdefault(path.stem, []).append(path)
    out = ["# What each file is", "Made from the comments at the heads of the files."]
    for folder, stems in folders.items():
        rows = []
        for paths in stems.values():
            paths.sort(key=lambda path: path.suffix != ".h")
            rows.append((", ".join(f"`{path.name}`" for path in paths), sentence_of(paths[0])))
        out += [f"## `{folder}`", table(("file", "what it is"), rows)]
    return "\n\n".join(out) + "\n"


def barriers(root):
    out = ["# Why each order is enough", "Made from the comments at the atomic operations; [barriers.md](barriers.md) explains them."]
    files = {}
    for top, operation in ((top, operation) for top in ("src", "programs") for operation in operations.all_operations(root / top)):
        found = "; ".join(f"{weaker}: {finder}" for weaker, finder in operation.comment.found.items() if list(operation.weakenings()))
        files.setdefault(f"{top}/{operation.file}", []).append(
            (f"`{operation.function}`", f"`{operation.name} {operation.word}`", " / ".join(operation.orders), operation.comment.reason, found))
    for file, rows in files.items():
        out += [f"## `{file}`", table(("function", "operation", "order", "why", "found if weaker"), rows)]
    return "\n\n".join(out) + "\n"


PROMISE = re.compile(r"^- \*\*([a-z]+-\d+[a-z]?)\*\* ", re.M)
HOLDS = re.compile(r"(?:/\*|#) holds: ((?:[a-z]+-\d+[a-z]?[,\s#]*)+)")
TEST = re.compile(r"\s*(?:\*/)?\s*(?:static void (\w+)\(|[A-Z]+_TEST\w*\((?:\w+, )*([a-z]\w+)[,)]|def (\w+)\()")


def promises_of(root):
    return PROMISE.findall((root / "docs/guarantees.md").read_text())


def tests_of_promises(root):
    """{identifier: the tests that hold it}: the function after the comment, or all of its file."""
    tests = {}
    for path in sorted(path for ending in ("c", "h", "py", "pml") for top in ("tests", "programs")
                       for path in (root / top).rglob(f"*.{ending}")):
        text = path.read_text()
        for comment in HOLDS.finditer(text):
            test = TEST.match(text, comment.end())
            name = path.relative_to(root).as_posix() + (f": {next(filter(None, test.groups()))}" if test else "")
            for promise in re.findall(r"[a-z]+-\d+[a-z]?", comment.group(1)):
                tests.setdefault(promise, []).append(name)
    return tests


def promises(root):
    tests = tests_of_promises(root)
    out = ["# Which tests hold a promise", "Made from the comments `holds:` at the tests; [guarantees.md](guarantees.md) has the promises."]
    rows = [(promise, "<br>".join(f"`{test}`" for test in tests[promise])) for promise in promises_of(root)]
    return "\n\n".join([*out, table(("promise", "tests"), rows)]) + "\n"
