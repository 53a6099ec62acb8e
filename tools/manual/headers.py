# SPDX-License-Identifier: MIT
"""headers.py - reads the public headers: what they declare, and what their comments say of it.

The comments have one form: a head comment; `/** ... */` before what it describes, or
`/**< ... */` after a member; @param and @return, with one value on each line; lists; programs, which are
indented. A line `/* ------ words */` begins a group. What is named htw__ or begins with an underscore is private.
"""

import pathlib
import re
from dataclasses import dataclass, field

# The order of the manual: what programs need first. Others follow.
ORDER = ["scheduler", "scheduler_options", "timer", "group", "scope", "executor", "loop", "observe", "purgatory", "purgatory_inspect", "threshold",
         "wheel", "wheel_inspect", "base", "backoff", "calendar", "journal", "journal_inspect", "journal_guest", "monitor", "bubble"]


@dataclass
class Member:
    """A member of a struct, or an enumerator."""
    name: str
    declaration: str
    comment: str


@dataclass
class Item:
    """What is declared under one comment."""
    kind: str  # function, struct, enum, typedef, macro
    name: str
    declaration: str  # without its comments, attributes and semicolon
    comment: str
    members: list = field(default_factory=list)
    is_opaque: bool = False  # a struct without members, or with private ones only
    macros: list = field(default_factory=list)  # (name, value) of all in this comment


@dataclass
class Group:
    """Items under a common heading."""
    title: str  # empty before the first heading
    comment: str = ""
    items: list = field(default_factory=list)


@dataclass
class Header:
    name: str  # scheduler
    file: str  # htw/scheduler.h
    summary: str  # what stands after "htw/scheduler.h - "
    comment: str  # the rest of the head comment
    groups: list = field(default_factory=list)

    def items(self):
        return [item for group in self.groups for item in group.items]


def text_of(comment):
    """Without the stars and the delimiters."""
    comment = re.sub(r"^/\*\*?<?|\*/$", "", comment.strip())
    lines = [re.sub(r"^\s*\* ?", "", line) if re.match(r"\s*\*", line) else line.strip()
             for line in comment.split("\n")]
    lines[0] = lines[0].strip()
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def sentence(comment):
    """The first sentence of a comment."""
    text = " ".join(comment.split("\n\n")[0].split("\n@")[0].split())
    found = re.match(r"(.+?[.:])(?= [A-Z`(]|$)", text)
    return found.group(1) if found else text


def is_private(name):
    return name.startswith("_") or "htw__" in name or "HTW__" in name


def squeeze(code):
    code = re.sub(r"/\*.*?\*/", " ", code, flags=re.DOTALL)
    code = re.sub(r"\bHTW_(?:API|WARN_UNUSED)\b", " ", code)
    code = re.sub(r"\s+", " ", code).strip()
    return re.sub(r"(?<=[(*]) ", "", code).replace(" )", ")")


def declared_name(declaration):
    """The name in `int (*name)(int)`, `void name(int)` or `int name[3]`."""
    found = re.search(r"\(\*(?:const )?(\w+)\)", declaration) or re.search(r"(\w+)\s*\(", declaration) \
        or re.search(r"(\w+)(?:\[\w*\])*$", declaration)
    return found.group(1)


def end_of(code, start, stop):
    """Where `stop` is, from `start` on, outside of brackets and comments."""
    depth, at = 0, start
    while at < len(code):
        if code.startswith("/*", at):
            at = code.index("*/", at) + 2
            continue
        if code[at] in stop and depth == 0:
            return at
        depth += (code[at] in "({[") - (code[at] in ")}]")
        at += 1
    return at


def members_of(body, separator):
    """Those of a struct (separator `;`) or of an enum (`,`)."""
    members, at, before = [], 0, ""
    while at < len(body):
        space = re.compile(r"\s+").match(body, at)
        if space:
            at = space.end()
        elif body.startswith("/*", at):
            end = body.index("*/", at) + 2
            if body.startswith("/**", at):
                before = text_of(body[at:end])
            at = end
        else:
            end = end_of(body, at, separator)
            declaration = squeeze(body[at:end])
            at = end + 1
            after = re.compile(r"\s*/\*\*<.*?\*/", re.DOTALL).match(body, at)
            # Of the last enumerator the comment comes with it.
            inside = re.search(r"/\*\*<.*?\*/", body[:end][-300:], re.DOTALL) if end == len(body) else None
            if after:
                before = text_of(after.group())
                at = after.end()
            elif inside and not before:
                before = text_of(inside.group())
            if declaration:
                names = re.split(r", ", re.sub(r" = .*", "", declaration)) if "(" not in declaration else [declaration]
                name = ", ".join(declared_name(each) for each in names)
                members.append(Member(name, declaration, before))
                before = ""
    return members


def read_item(code, at, comment):
    """The item that is declared at a place, and where it ends; None if there is none to be shown."""
    if code.startswith("#define", at):
        # All that follow one another belong to the comment.
        block = re.compile(r"(?:#define (?:[^\n]*\\\n)*[^\n]*\n(?:/\* NOLINT.*\n)?)+").match(code, at)
        macros = []
        for define in re.finditer(r"#define (\w+)(\([^)]*\))?((?:[^\n]*\\\n)*[^\n]*)\n", block.group()):
            value = re.sub(r"/\*.*?\*/", "", define.group(3).replace("\\\n", " "))
            macros.append((define.group(1) + (define.group(2) or ""), " ".join(value.split())))
        macros = [(name, value) for name, value in macros
                  if not is_private(name) and name not in ("HTW_API", "HTW_WARN_UNUSED") and not name.endswith("_H")]
        if not macros:
            return None, block.end()
        return Item("macro", macros[0][0].split("(")[0], "", comment, macros=macros), block.end()
    end = end_of(code, at, ";")
    inline = re.compile(r"(?:HTW_WARN_UNUSED )?static inline ([^{]*)\{.*?\n\}", re.DOTALL).match(code, at)
    if inline:
        declaration = squeeze(inline.group(1))
        return Item("function", declared_name(declaration), declaration, comment), inline.end()
    declaration = code[at:end]
    record = re.match(r"(struct|union|enum) (\w+)\s*(\{.*\})?$", declaration, re.DOTALL)
    if record:
        kind, name, body = record.groups()
        if not body and not comment:  # it is described elsewhere
            return None, end + 1
        item = Item(kind, name, f"{kind} {name}", comment)
        if body:
            item.members = [member for member in members_of(body[1:-1], "," if kind == "enum" else ";")
                            if not is_private(member.name)]
        item.is_opaque = not item.members
        return (None if is_private(name) else item), end + 1
    declaration = squeeze(declaration)
    if declaration.startswith("typedef "):
        declaration = declaration[len("typedef "):]
        return Item("typedef", declared_name(declaration), declaration, comment), end + 1
    name = declared_name(declaration)
    return (None if is_private(name) else Item("function", name, declaration, comment)), end + 1


def read(path):
    """The Header of a file."""
    code = path.read_text()
    head = re.search(r"/\*\n \* htw/(\w+)\.h - (.*?)\*/", code, re.DOTALL)
    comment = text_of("/*\n * " + head.group(2) + "*/")
    summary, _, comment = comment.partition("\n\n")
    header = Header(head.group(1), f"htw/{head.group(1)}.h", " ".join(summary.split()), comment, [Group("")])
    at = head.end()
    code = re.sub(r"^#(?!define)(?:[^\n]*\\\n)*[^\n]*$", "", code, flags=re.MULTILINE)
    code = re.sub(r'extern "C\+\+" \{.*?^\}$|extern "C" \{', "", code, flags=re.DOTALL | re.MULTILINE)
    at = code.index("*/", code.index(f"htw/{header.name}.h - ")) + 2
    following = re.compile(r"\s*(?:/\*(?P<comment>.*?)\*/|(?P<code>#define|[a-zA-Z])|\})", re.DOTALL)
    before = ""
    while True:
        found = following.match(code, at)
        if not found:
            break
        if found.group("code"):
            item, at = read_item(code, found.start("code"), before)
            # A macro for C may follow the same one for C++.
            if item and item.name not in [other.name for other in header.items()]:
                header.groups[-1].items.append(item)
            before = ""
        else:
            at = found.end()
            if found.group("comment") is None:
                continue
            whole = found.group().strip()
            heading = re.match(r"/\* -{8,} (.*) \*/$", whole)
            if heading:
                header.groups.append(Group(heading.group(1)))
            elif whole.startswith("/**"):
                before = text_of(whole)
            elif whole.startswith("/*\n") and not header.groups[-1].items:
                header.groups[-1].comment = text_of(whole)
    header.groups = [group for group in header.groups if group.items]
    return header


def read_all(root):
    """All headers of C but htw/htw.h, which only includes others."""
    paths = [path for path in (pathlib.Path(root) / "include/htw").glob("*.h") if path.stem != "htw"]
    return [read(path) for path in sorted(paths, key=lambda path: (
        ORDER.index(path.stem) if path.stem in ORDER else len(ORDER), path.stem))]


def exported(root):
    """The functions that the version maps list: {name: library}."""
    return {name: path.stem for path in sorted(pathlib.Path(root).glob("src/*.map"))
            for name in re.findall(r"^    (htw_\w+);$", path.read_text(), re.MULTILINE)}
