# SPDX-License-Identifier: MIT
"""man_pages.py - writes what Sphinx makes the man pages of, and their list (man_pages.json).

Section 3 is made of the headers: a page for each header and one for each group of its functions; each name of a page is
found by `man` (add_names). Section 1 is made of the help of the commands and of the parts of docs/ that commands.py
names, htw(7) of README.md.
"""

import itertools
import json
import re

from markdown_it import MarkdownIt

import commands
import comment
import headers
import reference

# What a program is linked with.
LIBRARIES = {"bubble": "htw-bubble", "calendar": "htw-calendar", "journal": "htw-journal", "journal_inspect": "htw-journal",
             "journal_guest": "htw-journal", "monitor": "htw-monitor"}
# Of README.md, htw(7) has the text before its first heading, and these parts.
OVERVIEW = "which-layer-do-i-need|what-it-promises|when-not-to-use-it"


def row(head, cells):
    """A row of a table as an entry of a list; where there are several cells, each with its heading."""
    rest = cells[1:] if len(cells) == 2 else [f"{name}: {cell}" for name, cell in zip(head[1:], cells[1:]) if cell]
    return f"{cells[0]}\n: {'; '.join(rest)}\n\n"


def plain(text):
    """A document without what a terminal cannot show: pictures, links and tables."""
    def table(found):
        head, _, *rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in found[0].splitlines()]
        return "".join(row(head, cells) for cells in rows)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"\[([^\[\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"(?:^\|.*\n)+", table, text, flags=re.MULTILINE)


def parts_of(text, anchors):
    """What stands under the headings with these anchors, each with its heading."""
    lines = text.split("\n")
    tokens = MarkdownIt().parse(text)
    heads = [(token.map[0], token.tag, words.content) for token, words in itertools.pairwise(tokens)
             if token.type == "heading_open"]
    for anchor in anchors.split("|"):
        for at, (start, level, title) in enumerate(heads):
            if re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") == anchor:
                end = next((line for line, other, _ in heads[at + 1:] if other <= level), len(lines))
                yield f"## {title}\n\n" + plain("\n".join(lines[start + 1:end]) + "\n")
                break
        else:
            raise SystemExit(f"no heading #{anchor}")


def help_of(command):
    """The help of a command: its tables stay as they are, between paragraphs."""
    usage = re.match(r"(?:(?:Usage:|  or:) .*\n)+", command.help).group()
    text = command.help[len(usage):]
    out = []
    for is_table, lines in itertools.groupby(text.split("\n"), lambda line: line.startswith("  ")):
        lines = list(lines)
        out += ["```text", *lines, "```"] if is_table else map(comment.inline, lines)
    return usage.strip(), "\n".join(out)


class Pages:
    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        self.pages = []  # as man_pages of conf.py
        self.names = {}  # of each page, what else it describes
        self.used = set()

    def read(self, name):
        self.used.add(self.root / name)
        return (self.root / name).read_text()

    def write(self, name, section, summary, parts, also=()):
        text = "\n\n".join(["---\norphan: true\n---", f"# {name}", *filter(None, parts)])
        (self.folder / f"{name}.{section}.md").write_text(text + "\n")
        self.pages.append((f"{name}.{section}", name, summary, [], section))
        self.names[f"{name}.{section}"] = [name, *also]

    # ---- section 3

    @staticmethod
    def name_of(header, group):
        """That of a group is its first function that does more than to fill in a struct."""
        functions = [item.name for item in group.items if item.kind == "function"]
        return next(name for name in functions if not re.search("_(init|invalid)$", name)) if group.title else f"htw_{header.name}"

    def header(self, header):
        if header.groups[0].title:
            header.groups.insert(0, headers.Group(""))
        names = [self.name_of(header, group) for group in header.groups]

        def above(text):
            """The top of the header is the first page."""
            return re.sub(r"\bat the\s+top\b", f"in {names[0]}(3)", text)
        for name, group in zip(names, header.groups):
            is_first = group is header.groups[0]
            link = f"Compile and link with `pkg-config --cflags --libs {LIBRARIES.get(header.name, 'htw')}`."
            others = [f"**{other}**(3)" for other in names if other != name] + ["**htw**(7)"]
            described = [item.name for item in group.items if item.kind != "macro" and item.name not in names]
            self.write(name, 3, header.summary.rstrip(".") if is_first else f"{group.title} ({header.file})",
                       ["## Synopsis", f"```text\n#include <{header.file}>\n```", link, "## Description",
                        comment.head(header.comment) if is_first else "", *map(above, reference.contents(group)),
                        "## See also", ", ".join(others)], described)

    # ---- sections 1 and 7

    def command(self, command, others):
        usage, text = help_of(command)
        document, _, anchors = command.document.partition("#")
        parts = list(parts_of(self.read(document), anchors)) if command.name else []
        see = [f"**{other.program}**(1)" for other in others if other is not command] + ["**htw**(7)"]
        self.write(command.program, 1, command.summary, ["## Synopsis", f"```text\n{usage}\n```", "## Description", text,
                                                          *parts, "## See also", ", ".join(see)])

    def overview(self, found):
        text = self.read("README.md")
        intro = re.split(r"\n(?=<|!\[|```|## )", text.partition("\n")[2])[0]  # no picture, nor what is said of it
        see = [f"**{command.program}**(1)" for command in found] + [f"**{name}**(3)" for _, name, _, _, section in self.pages if section == 3]
        self.write("htw", 7, "hierarchical timing wheels", ["## Description", plain(intro), *parts_of(text, OVERVIEW),
                                                            "## See also", ", ".join(see)])

    def build(self, htw, without):
        self.folder.mkdir(parents=True)
        for header in headers.read_all(self.root):
            if header.name not in without:
                self.used.add(self.root / "include" / header.file)
                self.header(header)
        found = commands.read_all(self.root, htw)
        for command in found:
            self.command(command, found)
        self.overview(found)
        (self.folder / "man_pages.json").write_text(json.dumps(self.pages))
        (self.folder / "index.md").write_text("# htw\n")

    def add_names(self, made, folder):
        """Puts the pages into the folders of their sections, and says of each what it describes: in its NAME, by which
        apropos finds it, and by a page for each name that leads to it."""
        for page, (name, *also) in self.names.items():
            place = folder / f"man{page[-1]}"
            place.mkdir(parents=True, exist_ok=True)
            text = (made / page).read_text()
            (place / page).write_text(text.replace(f".SH NAME\n{name} ", f".SH NAME\n{', '.join([name, *also])} ", 1))
            for other in also:
                (place / f"{other}.{page[-1]}").write_text(f".so {place.name}/{page}\n")
