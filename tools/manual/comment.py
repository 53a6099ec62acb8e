# SPDX-License-Identifier: MIT
"""comment.py - turns the comments of the headers into Markdown.

A comment consists of paragraphs, lists (`- `, `1. `), tables of results (`-EINVAL  what it means`), programs
(indented by four), @param and @return. What is a name of htw is marked as code, so that both kinds of pages
can make it a link.
"""

import re
from dataclasses import dataclass, field

NAME = re.compile(r"""(?<![\w`.\"])(?:(?:struct|enum)\ )?   # struct htw_spec, enum htw_clock
                      (?:htw_\w+|HTW_[A-Z][A-Z0-9_]*\w|_[a-z_]+(?=\(\)))(?:\(\))?(?![\w`*/])""", re.VERBOSE)
ERROR = re.compile(r"(?<![\w`-])-E[A-Z0-9]+\b")
ERROR_ROW = re.compile(r" {3,4}(-E[A-Z0-9]+)  +(\S.*)")
LIST = re.compile(r" {0,3}(- |\d+\. )")


@dataclass
class Parts:
    """A comment of a function, in Markdown."""
    text: str = ""  # what stands before @param and @return
    notes: str = ""  # what stands after them
    params: list = field(default_factory=list)  # (name, text)
    returns: list = field(default_factory=list)  # (value or "", text)


def inline(text):
    """Escapes what Markdown would take for markup, and marks names as code."""
    pieces = re.split(r"(`[^`]*`)", text)
    for at in range(0, len(pieces), 2):
        plain = NAME.sub(lambda found: "`" + found.group() + "`", pieces[at])
        plain = ERROR.sub(lambda found: "`" + found.group() + "`", plain)
        inner = re.split(r"(`[^`]*`)", plain)
        for index in range(0, len(inner), 2):
            inner[index] = re.sub(r"([\\*_<>\[\]#|])", r"\\\1", inner[index])
        pieces[at] = "".join(inner)
    return "".join(pieces)


def flowing(lines):
    return inline(" ".join(line.strip() for line in lines if line.strip()))


def kind_of(line):
    if LIST.match(line):
        return "list"
    if line.startswith("    ") or ERROR_ROW.match(line):
        return "code"
    return "text"


def definitions(lines):
    """[(error, text)] of a table of errors; None: it is none."""
    entries = []
    for line in lines:
        found = ERROR_ROW.match(line)
        if found:
            entries.append([found.group(1), [found.group(2)]])
        elif entries and line.startswith("     "):
            entries[-1][1].append(line)
        else:
            return None
    return [(term, flowing(text)) for term, text in entries]


def blocks(text):
    """Markdown of text without @param and @return."""
    out, lines = [], text.split("\n")
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        kind = kind_of(lines[at])
        end = at + 1
        if kind == "list":
            entries = []
            while at < len(lines) and (lines[at].strip() or (at + 1 < len(lines) and LIST.match(lines[at + 1]))):
                found = LIST.match(lines[at])
                if found:
                    entries.append([found.group(1), [lines[at][found.end():]]])
                elif lines[at].strip():
                    if not lines[at].startswith("  "):
                        break
                    entries[-1][1].append(lines[at])
                at += 1
            out.append("\n".join(mark + flowing(words) for mark, words in entries))
            continue
        if kind == "code":
            while end < len(lines) and (lines[end].startswith("    ") or (
                    not lines[end].strip() and end + 1 < len(lines) and lines[end + 1].startswith("    "))):
                end += 1
            # A table of errors.
            table = definitions(lines[at:end])
            if table:
                out.append("\n\n".join(f"`{term}`\n: {text}" for term, text in table))
            else:
                program = "\n".join(line[4:] for line in lines[at:end])
                language = "c" if ";" in program else "text"
                out.append(f"```{language}\n{program}\n```")
        else:
            while end < len(lines) and lines[end].strip() and kind_of(lines[end]) == "text":
                end += 1
            out.append(flowing(lines[at:end]))
        at = end
    return "\n\n".join(out)


def returns_of(lines):
    """One entry for each value: `0: success;`, and so on."""
    entries = []
    for line in lines:
        if not entries or entries[-1][-1].rstrip().endswith(";"):
            entries.append([line])
        else:
            entries[-1].append(line)
    out = []
    for entry in entries:
        whole = " ".join(line.strip() for line in entry)
        found = re.match(r"((?:-E\w+|HTW_\w+|-?\d+(?: or more| to \w+)?|true|false|NULL|INT64_MIN|more than 0)"
                         r"(?:, (?:-E\w+|HTW_\w+))*)(?:: |(?=[;.]$)| (?=also ))", whole)
        if found:
            out.append((found.group(1), inline(whole[found.end():].rstrip(";."))))
        else:
            out.append(("", inline(whole.rstrip(";"))))
    return out


def head(text):
    """The head comment of a header: words that begin a paragraph (`Threads.`) are set off."""
    return re.sub(r"(?m)^((?:[A-Z][a-z]+)(?: [\w`]+){0,3})\. (?=[A-Z`])", r"**\1.** ", blocks(text))


def parts(comment):
    """The Parts of a comment."""
    result, before, after, at = Parts(), [], [], 0
    lines = comment.split("\n")
    while at < len(lines):
        tag = re.match(r"@(param|return)\s+(.*)", lines[at])
        if not tag:
            (after if result.params or result.returns else before).append(lines[at])
            at += 1
            continue
        body = [tag.group(2)]
        at += 1
        while at < len(lines) and lines[at].startswith(" "):
            body.append(lines[at])
            at += 1
        if tag.group(1) == "param":
            name, _, first = body[0].partition(" ")
            result.params.append((name, flowing([first] + body[1:])))
        else:
            result.returns = returns_of(body)
    result.text, result.notes = blocks("\n".join(before)), blocks("\n".join(after))
    return result
