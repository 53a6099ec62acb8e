# SPDX-License-Identifier: MIT
"""roff.py - turns Markdown into the language of man pages (man(7)). markdown-it reads the Markdown."""

import re

from markdown_it import MarkdownIt

PARSER = MarkdownIt("commonmark").enable("table")
WIDTH = 78


def escape(text):
    """Text in which nothing means anything to roff."""
    return text.replace("\\", "\\e")


def escape_code(text):
    """Text that is to be copied: its characters stay what they are."""
    for one, other in (("\\", "\\e"), ("-", "\\-"), ("'", "\\(aq"), ("`", "\\(ga"), ("^", "\\(ha"), ("~", "\\(ti")):
        text = text.replace(one, other)
    return text


def guard(line):
    """A line that roff does not take for a request, nor for the end of a paragraph."""
    return "\\&" + line if line.startswith((".", "'")) or not line else line


def wrapped(text):
    """Lines of a paragraph: each sentence begins a line, and none is long."""
    lines = []
    for sentence in re.split(r"(?<=[a-z`)\]0-9RBI\"][.:?!]) +(?=[A-Z\\])", " ".join(text.split())):
        line = ""
        for word in sentence.split(" "):
            if line and len(line) + 1 + len(word) > WIDTH:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        lines.append(line)
    return "\n".join(guard(line) for line in lines if line)


class Writer:
    """Writes the tokens of a text. `arguments` are the names that are set in italics; `pages` maps a name to the
    section in which it has a page."""

    def __init__(self, pages=(), arguments=()):
        self.pages, self.arguments = pages, arguments

    def code(self, text):
        found = re.fullmatch(r"(\w+)\(\)", text)
        if found and found.group(1) in self.pages:
            return f"\\fB{found.group(1)}\\fR({self.pages[found.group(1)]})"
        font = "I" if text in self.arguments else "B"
        return f"\\f{font}{escape_code(text)}\\fR"

    def inline(self, tokens):
        out = []
        for token in tokens:
            if token.type == "text":
                out.append(escape(token.content))
            elif token.type == "code_inline":
                out.append(self.code(token.content))
            elif token.type in ("strong_open", "em_open"):
                out.append("\\fB" if token.type == "strong_open" else "\\fI")
            elif token.type in ("strong_close", "em_close"):
                out.append("\\fR")
            elif token.type in ("softbreak", "hardbreak"):
                out.append(" ")
            elif token.type == "image":
                out.append(escape(token.content))
            # Of a link the words remain.
        return "".join(out)

    def text(self, markdown):
        """One paragraph, without what begins it."""
        tokens = PARSER.parse(markdown)
        return "\n.IP\n".join(wrapped(self.inline(token.children)) for token in tokens if token.type == "inline")

    def blocks(self, markdown, heading=".SS"):
        """A whole text. Headings get the request `heading`."""
        markdown = re.sub(r"^`(-E\w+)`\n: ", r"- `\1`: ", markdown, flags=re.MULTILINE)
        markdown = re.sub(r"(?m)(^- `-E.*)\n\n(?=- `-E)", r"\1\n", markdown)
        tokens = PARSER.parse(markdown)
        out, at, lists, row, header, cells = [], 0, [], 0, [], []
        starts_item = False
        while at < len(tokens):
            token = tokens[at]
            if token.type == "heading_open":
                title = self.inline(tokens[at + 1].children)
                out.append(f"{heading} {title}")
                at += 2
            elif token.type == "paragraph_open":
                if not starts_item:
                    out.append(".IP" if lists else ".PP")
                starts_item = False
                out.append(wrapped(self.inline(tokens[at + 1].children)))
                at += 2
            elif token.type in ("bullet_list_open", "ordered_list_open"):
                if lists:
                    out.append(".RS")
                lists.append(None if token.type == "bullet_list_open" else int(token.attrs.get("start", 1)))
            elif token.type in ("bullet_list_close", "ordered_list_close"):
                lists.pop()
                if lists:
                    out.append(".RE")
            elif token.type == "list_item_open":
                out.append(".IP \\(bu 2" if lists[-1] is None else f".IP {lists[-1]}. 4")
                lists[-1] = None if lists[-1] is None else lists[-1] + 1
                starts_item = True
            elif token.type in ("fence", "code_block"):
                starts_item = False
                out.append(".RS 4" if lists else ".PP\n.RS 4")
                out.append(".EX\n" + "\n".join(guard(escape_code(line)) for line in token.content.rstrip("\n").split("\n")) + "\n.EE\n.RE")
            elif token.type == "tr_open":
                cells = []
            elif token.type in ("th_open", "td_open"):
                cells.append(self.inline(tokens[at + 1].children))
                at += 1
            elif token.type == "tr_close" and tokens[at + 1].type in ("thead_close",):
                header = cells
            elif token.type == "tr_close":
                out.append(f".TP\n{guard(cells[0])}\n" + self.row(header, cells))
            at += 1
        return "\n".join(out)

    @staticmethod
    def row(header, cells):
        """The cells after the first, each with what it is where there are several."""
        if len(cells) == 2:
            return wrapped(cells[1])
        return wrapped("; ".join(f"{name}: {cell}" for name, cell in zip(header[1:], cells[1:]) if cell) + ".")
