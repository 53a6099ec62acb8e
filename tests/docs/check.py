#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether the manual is right: each exported function has its page and its sentence, man pages are clean, links lead
somewhere, nothing comes from a network, code works (blocks.py), and figures are those of the recorded results.

usage: check.py ROOT BUILD

BUILD is where Meson has built with -Ddocs=true.
"""

import html.parser
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
sys.path += [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[2] / "tools/manual")]
import blocks  # noqa: E402
import headers  # noqa: E402


def symbols(root, man, html_folder):
    """Each function of the version maps has a page with a sentence, in both manuals."""
    errors = []
    reference = "".join(path.read_text() for path in sorted((html_folder / "reference").glob("*.html")))
    comments = {item.name: item.comment for header in headers.read_all(root) for item in header.items()}
    exported = headers.exported(root)
    for name in exported:
        page = page_of(man, name)
        if not comments.get(name, "").strip():
            errors.append(f"{name}: no comment in its header")
            continue
        if f'id="c.{name}"' not in reference:
            errors.append(f"{name}: not in the reference")
        if not page.is_file():
            errors.append(f"{name}: no man page")
        elif not re.search(rf"^\.SH NAME\n(?:\w+, )*{name}(?:, \w+)* \\- \w.{{5,}}", page.read_text(), re.MULTILINE):
            errors.append(f"{name}: its man page does not name it")
        elif f" {name}(" not in re.sub(r"\\f.", "", page.read_text()).replace("*", " "):
            errors.append(f"{name}: its man page does not declare it")
    return errors if exported else ["no exported functions were found"]


def page_of(man, name):
    """The page that `man 3 NAME` shows: a page for a name leads to that of its group."""
    page = man / f"man3/{name}.3"
    link = page.is_file() and re.fullmatch(r"\.so (\S+)\n", page.read_text())
    return man / link[1] if link else page


def man_pages(man):
    pages = sorted(man.rglob("*.[137]"))
    if not pages:
        return [f"no man pages in {man}"]
    run = subprocess.run(["groff", "-ww", "-man", "-t", "-Kutf8", "-Tutf8", "-z", *pages], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False, cwd=man)
    errors = run.stdout.splitlines()
    # Each page that another one names.
    names = {path.name for path in pages}
    for path in pages:
        errors += [f"{path.name}: nothing in {title}" for title in re.findall(r"^\.SH (.*)\n+(?=\.SH )", path.read_text(), re.MULTILINE)]
        for name, section in re.findall(r"\\fB(htw[\w\\-]*)\\fP\((\d)\)", path.read_text()):
            if f"{name.replace(chr(92), '')}.{section}" not in names:
                errors.append(f"{path.name}: no such page: {name}({section})")
    return errors


class Page(html.parser.HTMLParser):
    """What a page of HTML links to, loads and can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], {""}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.anchors.add(attributes.get("id"))
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        loaded = attributes.get("href") if tag == "link" else attributes.get("src") or attributes.get("srcset")
        if loaded:
            self.loads.append(loaded)


def html_pages(folder):
    """Links and anchors hold, and nothing is loaded from elsewhere. Light and dark."""
    pages = {path: Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    errors = []
    for path, page in pages.items():
        name = path.relative_to(folder)
        for link in page.links + page.loads:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    errors.append(f"{name}: loads {link}")
                continue
            target = pathlib.Path(os.path.normpath(path.parent / urllib.parse.unquote(parts.path))) if parts.path else path
            if not target.exists():
                errors.append(f"{name}: no such file: {link}")
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                errors.append(f"{name}: no such anchor: {link}")
    dark = re.search(r"prefers-color-scheme: dark\)(.*?)</style>", (folder / "index.html").read_text(), re.DOTALL)
    if not dark or "--color-background-primary" not in dark.group(1):
        errors.append("index.html: has no dark colours")
    for path in folder.rglob("*.css"):
        errors += [f"{path.name}: loads {url}" for url in re.findall(r"url\([\"']?((?:https?:)?//[^)]*)", path.read_text())]
    return errors if pages else [f"no pages in {folder}"]


NUMBER = re.compile(r"(?<![\w.])\d+(?: \d{3})*(?:\.\d+)?(?![\w.]*\d)(?!\w)")


def figures(root, name, text):
    """<!-- figures: FILE... --> says that each number in the paragraph or table that follows is in one of the files, or
    one that is there rounded. Names such as 1e6 or uint32_t do not count, nor does what stands as code."""
    errors = []
    for found in re.finditer(r"<!-- figures: (.+) -->\n+((?:.+\n)+)", text):
        sources, block = found.groups()
        where = f"{name}:{text[:found.start()].count(chr(10)) + 1}"
        recorded = []
        for source in sources.split():
            path = pathlib.Path(os.path.normpath(root / os.path.dirname(name) / source))
            if not path.is_file():
                errors.append(f"{where}: no such file: {source}")
                continue
            recorded += [float(number.replace(" ", "")) for number in NUMBER.findall(path.read_text())]
        prose = re.sub(r"`[^`]*`|\]\([^)]*\)", " ", block)
        numbers = NUMBER.findall(prose)
        for number in numbers:
            digits = len(number.partition(".")[2])
            value = float(number.replace(" ", ""))
            if not any(abs(value - other) <= 0.5 * 10 ** -digits + 1e-9 for other in recorded):
                errors.append(f"{where}: {number} is not in {sources}")
        if not numbers:
            errors.append(f"{where}: no figures")
    return errors


def install(build, folder):
    """Installs what is built, and returns its prefix. It can be moved."""
    subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", folder], check=True)
    return next(folder.rglob("htw/base.h")).parents[2]


def main():
    root, build = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    man, pages = build / "man", build / "html"
    errors = symbols(root, man, pages) + man_pages(man) + html_pages(pages)
    documents = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    with tempfile.TemporaryDirectory() as work:
        prefix = install(build, pathlib.Path(work))

        def document(path):
            name = path.relative_to(root).as_posix()
            place = blocks.Place(root, prefix)
            try:
                return blocks.check(place, name, path.read_text()) + figures(root, name, path.read_text())
            finally:
                place.close()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for found in pool.map(document, documents):
                errors += found
    print("\n".join(errors) or f"{len(documents)} documents, {len(list(pages.rglob('*.html')))} pages of HTML, "
          f"{len(list(man.rglob('*.[137]')))} man pages: all right")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
