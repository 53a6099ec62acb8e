#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the man pages: section 1 from the help of the commands and the parts of docs/ that commands.py names, htw(7)
from README.md, section 3 from the headers, a page for each function and type and one for each header.

usage: man_pages.py ROOT FOLDER [--htw PROGRAM] [--without NAME]... [--depfile FILE]

NAME is a header that was not built.
"""

import argparse
import pathlib
import re
import shutil
import textwrap

import commands
import comment
import headers
import roff

# What a program is linked with.
LIBRARIES = {"calendar": "htw-calendar", "journal": "htw-journal", "monitor": "htw-monitor"}
# Of README.md, htw(7) has the text before its first heading, and these parts.
OVERVIEW = ("Which layer do I need?", "What it promises", "When not to use it")


def words(text):
    """A sentence as the NAME of a page has it: no capital, no full stop, no markup."""
    text = re.sub(r"[`\\]", "", text).rstrip(".:")
    return text if re.match(r"[A-Z]{2}|HTW", text) else text[:1].lower() + text[1:]


def slug(title):
    """The anchor of a heading, as forges make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")


def part_of(text, anchor):
    """What stands under the heading with an anchor, that included."""
    lines = text.split("\n")
    in_code, start, level = False, None, 0
    for at, line in enumerate(lines):
        in_code ^= line.lstrip().startswith("```")
        found = None if in_code else re.match(r"(#+) (.*)", line)
        if not found:
            continue
        if start is None and slug(found.group(2)) == anchor:
            start, level = at, len(found.group(1))
        elif start is not None and len(found.group(1)) <= level:
            return "\n".join(lines[start:at])
    if start is None:
        raise SystemExit(f"no heading #{anchor}")
    return "\n".join(lines[start:])


class Manual:
    def __init__(self, root, folder, version, date):
        self.root, self.folder, self.version, self.date = root, folder, version, date
        self.headers = headers.read_all(root)
        self.pages = {}  # name: section
        self.used = []

    def write(self, name, section, body):
        path = self.folder / f"man{section}" / f"{name}.{section}"
        path.parent.mkdir(parents=True, exist_ok=True)
        title = "htw manual" if section != 3 else "htw library functions"
        # No empty paragraph after a heading.
        body = re.sub(r"(?m)^(\.S[HS] .*)\n(?:\.[PI]P\n)+", r"\1\n", re.sub(r"\n{2,}", "\n", body))
        path.write_text(f'.\\" Made by tools/manual; do not change it.\n'
                        f'.TH {name} {section} {self.date} "htw {self.version}" "{title}"\n{body.rstrip()}\n')

    def read(self, name):
        path = self.root / name
        self.used.append(path)
        return path.read_text()

    @staticmethod
    def see(names):
        return ".SH SEE ALSO\n" + " ,\n".join(f".BR {name} ({section})" for name, section in names)

    # ---- section 3

    def overview_name(self, header):
        return f"htw_{header.name}"

    def list_pages(self, all_headers):
        for header in all_headers:
            self.pages[self.overview_name(header)] = 3
            for item in header.items():
                if item.kind != "macro":
                    self.pages[item.name] = 3

    @staticmethod
    def prototype(declaration):
        """In lines of 78 columns, as it is in the header."""
        lines = textwrap.wrap(declaration + ";", 74, subsequent_indent="    ", break_long_words=False)
        return "\n".join(roff.guard("\\fB" + roff.escape_code(line) + "\\fR") for line in lines)

    def struct(self, item):
        lines = [f"{item.declaration} {{"]
        for each in item.members:
            lines.append(f"    {each.declaration}" + ("," if item.kind == "enum" else ";"))
        return "\n".join("\\fB" + roff.escape_code(line) + "\\fR" for line in lines + ["};"])

    def synopsis(self, header, code):
        library = LIBRARIES.get(header.name, "htw")
        return (f".SH SYNOPSIS\n.nf\n\\fB#include <{header.file}>\\fR\n.PP\n{code}\n.fi\n.PP\n"
                f"Compile and link with\n.IR \"pkg\\-config \\-\\-cflags \\-\\-libs {roff.escape_code(library)}\" .")

    def described(self, header, item):
        """DESCRIPTION, parameters and results of a comment."""
        # The top of the header is the page of the header.
        top = f"{self.overview_name(header)}(3)"
        parts = comment.parts(re.sub(r"\bat the\s+top\b", f"in {top}", item.comment))
        writer = roff.Writer(self.pages, [name for name, _ in parts.params])
        out = [".SH DESCRIPTION", writer.blocks(parts.text)]
        for name, text in parts.params:
            out.append(f".TP\n.I {name}\n{writer.text(text)}")
        if parts.returns:
            out.append(".SH RETURN VALUE")
        for value, text in parts.returns:
            if value:
                elsewhere = f'see "Errors" in {top}' if re.search(r"(?m)^Errors\.", header.comment) else "\\&"
                out.append(f".TP\n\\fB{roff.escape_code(value)}\\fR\n{writer.text(text) or elsewhere}")
            else:
                out.append(f".PP\n{writer.text(text)}")
        if parts.notes:
            out.append(".SH NOTES\n" + writer.blocks(parts.notes))
        return "\n".join(out)

    def members(self, item):
        writer = roff.Writer(self.pages)
        out = []
        for each in item.members:
            parts = comment.parts(each.comment)
            out.append(f".TP\n\\fB{roff.escape_code(each.name)}\\fR")
            out.append(writer.blocks(parts.text).removeprefix(".PP\n").replace("\n.PP\n", "\n.IP\n") or "\\&")
            for name, text in parts.params:
                out.append(f".RS\n.TP\n.I {name}\n{writer.text(text)}\n.RE")
            for value, text in parts.returns:
                out.append(f".IP\nReturns {roff.escape_code(value)} {writer.text(text)}")
        return "\n".join(out)

    def related(self, header, group, item):
        """The overview, the others of the group, and what the text names."""
        names = [self.overview_name(header)]
        names += [name for name in re.findall(r"\bhtw_\w+", item.comment + " " + item.declaration)]
        if group.title:
            names += [other.name for other in group.items if other.kind == "function"]
        names = [name for name in dict.fromkeys(names) if name in self.pages and name != item.name]
        return self.see([(name, 3) for name in names[:1] + sorted(names[1:])] + [("htw", 7)])

    def item(self, header, group, item):
        name = f".SH NAME\n{item.name} \\- {roff.escape(words(headers.sentence(item.comment)))}"
        if item.kind in ("struct", "enum") and not item.is_opaque:
            body = [self.synopsis(header, self.struct(item)), self.described(header, item),
                    f".SH {'MEMBERS' if item.kind == 'struct' else 'VALUES'}", self.members(item)]
            for macro in [other for other in group.items if other.name == item.name.upper() + "_INIT"]:
                body.append(f".TP\n\\fB{macro.name}\\fR\n" + (
                    roff.Writer(self.pages).text(comment.parts(macro.comment).text) or "The initial value."))
        else:
            body = [self.synopsis(header, self.prototype(
                item.declaration if item.kind != "typedef" else f"typedef {item.declaration}")), self.described(header, item)]
        self.write(item.name, 3, "\n".join([name, *body, self.related(header, group, item)]))

    def overview(self, header):
        """The page of a header: its head comment, its constants, and a list of what it has."""
        name = self.overview_name(header)
        writer = roff.Writer(self.pages)
        out = [f".SH NAME\n{name} \\- {roff.escape(words(headers.sentence(header.summary)))}",
               f".SH SYNOPSIS\n.nf\n\\fB#include <{header.file}>\\fR\n.fi", ".SH DESCRIPTION",
               writer.blocks(comment.inline(header.summary[0].upper() + header.summary[1:])),
               writer.blocks(comment.head(header.comment))]
        for group in header.groups:
            out.append(f".SH {(group.title or 'types and constants').upper()}")
            if group.comment:
                out.append(writer.blocks(comment.blocks(group.comment)))
            for item in group.items:
                text = comment.parts(item.comment).text
                if item.kind == "macro":
                    names = ", ".join(f"\\fB{roff.escape_code(each)}\\fR" for each, _ in item.macros)
                    out.append(f".TP\n{names}\n{writer.text(text) or 'The initial value.'}")
                elif item.name == name: # such as struct htw_calendar
                    out.append(f".TP\n\\fB{item.declaration}\\fR\n{writer.text(text)}")
                else:
                    short = comment.inline(headers.sentence(item.comment))
                    out.append(f".TP\n.BR {item.name} (3)\n{writer.text(short)}")
        out.append(self.see([(self.overview_name(other), 3) for other in self.headers if other is not header] + [("htw", 7)]))
        self.write(name, 3, "\n".join(out))

    def section_3(self, without):
        shown = [header for header in self.headers if header.name not in without]
        self.list_pages(shown)
        for header in shown:
            self.used.append(self.root / "include" / header.file)
            self.overview(header)
            for group in header.groups:
                for item in group.items:
                    if item.kind != "macro" and item.name != self.overview_name(header):
                        self.item(header, group, item)

    # ---- section 1

    def help_blocks(self, text):
        """The paragraphs of a help text: prose stays prose, a table of options becomes a list."""
        out, sections = [], {}
        body = text.split("\n")
        at = 0
        heading = "DESCRIPTION"
        while at < len(body):
            line = body[at]
            if line == "Exit status:":
                heading = "EXIT STATUS"
                at += 1
                continue
            out = sections.setdefault(heading, [])
            if not line.strip():
                at += 1
            elif line.startswith("  "):
                rows = []
                while at < len(body) and body[at].startswith("  "):
                    rows.append(body[at])
                    at += 1
                is_options = any(re.match(r"  ( {4}|-\w, )--", row) for row in rows)
                target = sections.setdefault("OPTIONS", []) if is_options else out
                target.append(self.rows(rows))
            else:
                lines = []
                while at < len(body) and body[at].strip() and not body[at].startswith("  "):
                    lines.append(body[at])
                    at += 1
                out.append(".PP\n" + roff.wrapped(self.prose(" ".join(lines))))
        return sections

    @staticmethod
    def prose(text):
        pieces = re.split(r"`([^`]*)`", text)
        text = "".join(f"\\fB{roff.escape_code(piece)}\\fR" if at % 2 else roff.escape(piece)
                       for at, piece in enumerate(pieces))
        return re.sub(r"(?<![\w\\-])--(?=[a-z])", r"\\-\\-", text)

    def rows(self, rows):
        """`  -t, --tick DURATION      the precision`, with the lines that go on."""
        if any(len(re.split(r"  +", row.strip())) > 2 for row in rows):  # examples in columns
            return ".PP\n.RS 2\n.EX\n" + "\n".join(roff.guard(roff.escape_code(row[2:])) for row in rows) + "\n.EE\n.RE"
        entries = []
        for row in rows:
            found = re.match(r"( {2,6}\S.*?)(?:  +(\S.*))?$", row)
            indent = len(row) - len(row.lstrip())
            if indent > 6 and entries:
                entries[-1][1].append(row.strip())
                continue
            term = found.group(1).strip()
            entries.append([term, [found.group(2)] if found.group(2) else []])
            # One blank only, where the option is long.
            long = re.match(r"(-\w, --[\w-]+ [A-Z]+) ([a-z].*)", term)
            if long and not found.group(2):
                entries[-1] = [long.group(1), [long.group(2)]]
        return "\n".join(f".TP\n\\fB{roff.escape_code(term)}\\fR\n{roff.wrapped(self.prose(' '.join(text))) or chr(92) + '&'}"
                         for term, text in entries)

    @staticmethod
    def beside_help(text, help_text):
        """A part of a document without what the help says as well: its table of actions, and the exit status."""
        out = []
        for paragraph in text.split("\n\n"):
            rows = [row.split("|")[1].strip() for row in paragraph.partition("\n|---")[2].splitlines()[1:]]
            in_help = all(row[0] == row[-1] == "`" and row[1:-1] in help_text for row in rows if row)
            if not (rows and in_help or paragraph.startswith("Exit status:")):
                out.append(paragraph)
        return "\n\n".join(out)

    def command(self, command, others):
        first = re.match(r"(?:(?:Usage:|  or: ) .*\n)+", command.help).group(0)
        usages = [line[7:].strip() for line in first.splitlines()]
        sections = self.help_blocks(command.help[len(first):])
        out = [f".SH NAME\n{command.program} \\- {roff.escape(words(command.summary))}",
               ".SH SYNOPSIS\n" + "\n.br\n".join(f"\\fB{roff.escape_code(usage)}\\fR" for usage in usages)]
        for heading in ("DESCRIPTION", "OPTIONS", "EXIT STATUS"):
            if heading in sections:
                out.append(f".SH {heading}")
                out += sections[heading]
        document, _, anchors = command.document.partition("#")
        writer = roff.Writer(self.pages)
        if command.name and not anchors:
            out.append(".SH NOTES\n" + writer.blocks(self.read(document).partition("\n")[2]))
        elif command.name:
            for anchor in anchors.split("|"):
                title, _, text = part_of(self.read(document), anchor).partition("\n")
                title = re.sub(r"[#`]", "", title).strip().upper()
                out.append(f".SH {'NOTES' if title.startswith('THE COMMAND') else title}")
                out.append(writer.blocks(self.beside_help(text, command.help)))
        out.append(self.see([(other.program, 1) for other in others if other is not command] + [("htw", 7)]))
        self.write(command.program, 1, "\n".join(out))

    def section_1(self, htw):
        found = commands.read_all(self.root, htw)
        for command in found:
            self.pages[command.program] = 1
        for command in found:
            self.command(command, found)
        return found

    # ---- section 7

    def section_7(self, found):
        text = self.read("README.md")
        # Without pictures and what is said of them.
        intro = re.split(r"\n(?=<|!\[|```|## )", text.partition("\n")[2])[0]
        writer = roff.Writer(self.pages)
        out = [".SH NAME\nhtw \\- hierarchical timing wheels", ".SH DESCRIPTION", writer.blocks(intro)]
        for title in OVERVIEW:
            out.append(f".SH {title.upper()}")
            out.append(writer.blocks(part_of(text, slug(title)).partition("\n")[2]))
        names = [(self.overview_name(header), 3) for header in self.headers if self.overview_name(header) in self.pages]
        out.append(self.see([(command.program, 1) for command in found] + names))
        self.write("htw", 7, "\n".join(out))


def date_of(root, version):
    """The date of a release; between releases that of the package. Not today: two builds make the same."""
    released = re.search(rf"^## {re.escape(version)} \((\d{{4}}-\d\d-\d\d)\)$", (root / "CHANGELOG.md").read_text(),
                         re.MULTILINE)
    if released:
        return released.group(1)
    day, month, year = re.search(r"^ -- .*>  \w+, (\d+) (\w+) (\d+)", (root / "debian/changelog").read_text(),
                                 re.MULTILINE).groups()
    months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
    return f"{year}-{months.index(month) + 1:02}-{day}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--htw")
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--depfile", type=pathlib.Path)
    arguments = parser.parse_args()
    shutil.rmtree(arguments.folder, ignore_errors=True)
    root = arguments.root.resolve()
    version = re.search(r"version: '([^']+)'", (root / "meson.build").read_text()).group(1)
    manual = Manual(root, arguments.folder, version, date_of(root, version))
    manual.section_3(arguments.without)
    found = manual.section_1(arguments.htw)
    manual.section_7(found)
    if arguments.depfile:
        used = {*manual.used, root / "meson.build", root / "debian/changelog", root / "CHANGELOG.md",
                *pathlib.Path(__file__).resolve().parent.glob("*.py")}
        words = [str(path).replace(" ", "\\ ") for path in sorted(used)]
        arguments.depfile.write_text(f"{arguments.folder.name}: {' '.join(words)}\n")


if __name__ == "__main__":
    main()
