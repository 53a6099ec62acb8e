#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the man pages or the HTML manual, by Sphinx. A warning is an error.

usage: manual.py man|html ROOT FOLDER SOURCE_FOLDER [--htw PROGRAM] [--without HEADER]... [--depfile FILE]

FOLDER receives the pages, SOURCE_FOLDER what Sphinx reads. HEADER is one that was not built.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

import html_manual
import man_pages


def run_sphinx(kind, root, pages, doctrees, made):
    # The hash seed: two builds make the same.
    run = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", kind, "-c", pathlib.Path(__file__).parent,
         "-d", doctrees, pages, made], check=False,
        env=dict(os.environ, HTW_ROOT=str(root), HTW_PAGES=str(pages), PYTHONHASHSEED="0",
                 PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8"))
    if run.returncode != 0:
        shutil.rmtree(made, ignore_errors=True)
        raise SystemExit("the manual has errors")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("man", "html"))
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--htw")
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--depfile", type=pathlib.Path)
    arguments = parser.parse_args()
    root, folder, source = (path.resolve() for path in (arguments.root, arguments.folder, arguments.source))
    for old in (folder, source):
        shutil.rmtree(old, ignore_errors=True)
    pages = source / "pages"
    if arguments.kind == "html":
        manual = html_manual.Site(root, pages)
        manual.build(arguments.htw)
        run_sphinx("html", root, pages, source / "doctrees", folder)
        (folder / ".buildinfo").unlink()
    else:
        manual = man_pages.Pages(root, pages)
        manual.build(arguments.htw, arguments.without)
        run_sphinx("man", root, pages, source / "doctrees", source / "made")
        manual.add_names(source / "made", folder)
    if arguments.depfile:
        used = [*sorted(manual.used), *sorted(pathlib.Path(__file__).resolve().parent.glob("*.*")), root / "meson.build"]
        words = [str(path).replace(" ", "\\ ") for path in used]
        arguments.depfile.write_text(f"{arguments.folder.name}: {' '.join(words)}\n")


if __name__ == "__main__":
    main()
