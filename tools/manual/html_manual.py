# SPDX-License-Identifier: MIT
"""html_manual.py - writes what Sphinx makes the HTML manual of: the documents of this project as they are, with the reference
from the headers and the help of the commands.

The pages lie as in the tree, so that links between them hold; README.md is the first page. A link to a header leads
to its page of the reference, one to another file to a page with the text of that file. docs/contents.txt has the
order.
"""

import os
import pathlib
import re
import shutil

import commands
import comment
import headers
import reference
import tables

# Folders of documents, besides the top.
FOLDERS = ("docs", "examples", "benchmarks", "bindings", "programs")
LANGUAGES = {".c": "c", ".h": "c", ".cpp": "cpp", ".cc": "cpp", ".hpp": "cpp", ".py": "python", ".sh": "sh",
             ".rs": "rust", ".build": "meson", ".json": "json"}
# A link or image of Markdown.
LINK = re.compile(r"(\]\()([^()\s:#]*)(#[^()\s]*)?(\))")


def documents(root):
    """The Markdown files of the project: {path: name of its page}, both relative."""
    paths = [*root.glob("*.md")] + [path for folder in FOLDERS for path in (root / folder).rglob("*.md")]
    pages = {}
    for path in sorted(paths):
        name = path.relative_to(root).as_posix()
        if "/build/" not in name and "/target/" not in name:
            pages[name] = "index.md" if name == "README.md" else name
    return pages


def outside_code(text, change):
    """Changes what stands outside of code blocks."""
    pieces = re.split(r"(^ *```.*?^ *```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(piece if at % 2 else change(piece) for at, piece in enumerate(pieces))


class Site:
    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        self.pages = documents(root)
        self.used = set()  # every file of which something comes
        for path in (root / "include/htw").glob("*.h"):
            if path.stem != "htw":
                self.pages[f"include/htw/{path.name}"] = f"reference/{path.stem}.md"

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def page_of(self, target):
        """The page for a file of the tree; None: there is none to be."""
        if target in self.pages:
            return self.pages[target]
        path = self.root / target
        if path.is_dir():
            return self.pages.get(f"{target}/README.md")
        if not path.is_file() or path.suffix in (".svg", ".png"):
            return None
        # The text of a file that is linked to.
        self.used.add(path)
        name = re.sub(r"(^|/)\.", r"\1", target) + ".md"  # no page is hidden
        self.pages[target] = name
        language = LANGUAGES.get(path.suffix, "text")
        fence = "`" * 4
        self.write(name, f"---\norphan: true\n---\n# {target}\n\n{fence}{language}\n{path.read_text()}{fence}\n")
        return name

    def link(self, source, page, target, anchor):
        """Where a link of a document leads in the manual; None: nowhere."""
        path = os.path.normpath(os.path.join(os.path.dirname(source), target)).replace(os.sep, "/")
        file = self.root / path
        if file.suffix in (".svg", ".png") and file.is_file():
            self.used.add(file)
            copy = self.folder / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
            found = path
        else:
            found = self.page_of(path)
            if found is None and not file.exists():
                raise SystemExit(f"{source}: no such file: {target}")
        if found is None:
            return None
        return os.path.relpath(found, os.path.dirname(page) or ".") + (anchor or "")

    def document(self, source):
        """Copies a document. Where its parts are headings of the first level, they get the second."""
        path, page = self.root / source, self.pages[source]
        self.used.add(path)
        text = path.read_text()

        def change(piece):
            def replace(found):
                if not found.group(2):
                    return found.group()
                to = self.link(source, page, found.group(2), found.group(3))
                return f"{found.group(1)}{to}{found.group(4)}" if to else f"{found.group(1)}#{found.group(4)}"

            piece = LINK.sub(replace, piece)
            # A link to a folder is words.
            return re.sub(r"\[((?:[^\[\]])*)\]\(#\)", r"\1", piece)
        text = outside_code(text, change)
        if len(re.findall(r"^# ", outside_code(text, lambda piece: piece), re.MULTILINE)) > 1:
            first, _, rest = text.partition("\n")
            text = first + "\n" + outside_code(rest, lambda piece: re.sub(r"^(#+ )", r"#\1", piece, flags=re.MULTILINE))
        return text

    def reference(self):
        for header in headers.read_all(self.root):
            path = f"include/{header.file}"
            self.used.add(self.root / path)
            page = reference.page(header)
            # Names of documents and headers lead there.
            page = outside_code(page, lambda piece: re.sub(
                r"(?<![\w/`(\[])(docs/[\w-]+\.md|htw/\w+\.h)\b(?!\`)", self.named, piece))
            page = page.replace(f"# [{header.file}]({header.name}.md)\n", f"# {header.file}\n", 1)
            self.write(f"reference/{header.name}.md", page)

    def named(self, found):
        target = found.group(1) if found.group(1).startswith("docs/") else "include/" + found.group(1)
        if target not in self.pages:
            return found.group()
        return f"[{found.group(1)}]({os.path.relpath(self.pages[target], 'reference')})"

    def tables(self):
        """What the source says of itself."""
        self.used.update(tables.sources(self.root))
        pages = {"docs/files": tables.files(self.root), "docs/orders": tables.barriers(self.root), "docs/held": tables.promises(self.root)}
        for name, text in pages.items():
            self.write(f"{name}.md", text)

    def commands(self, htw):
        for command in commands.read_all(self.root, htw):
            document, _, parts = command.document.partition("#")
            anchor = "#" + parts.split("|")[0] if parts else ""
            out = [f"# {command.program}", comment.inline(command.summary), f"```text\n{command.help}```",
                   f"More: [{document}](../{self.pages[document]}{anchor})."]
            self.write(f"commands/{command.program}.md", "\n\n".join(out) + "\n")

    def build(self, htw):
        self.used.add(self.root / "docs/contents.txt")
        contents = (self.root / "docs/contents.txt").read_text()
        for source, page in list(self.pages.items()):
            if source.endswith(".md"):
                text = self.document(source)
                if page[:-3] + "\n" not in contents and not source.startswith("docs/"):
                    text = "---\norphan: true\n---\n" + text
                self.write(page, text)
        self.reference()
        self.commands(htw)
        self.tables()
        for path in sorted((self.root / "bindings/cpp").rglob("*.hpp")):
            self.page_of(path.relative_to(self.root).as_posix())
        with open(self.folder / "index.md", "a") as index:
            index.write("\n" + (contents if htw else contents.replace("commands/*\n", "")))
