# SPDX-License-Identifier: MIT
"""blocks.py - whether the code in a document works: programs are compiled and run, parts of programs compiled, commands
run, and data parsed, each in a folder of its own against an installed htw.

What stands before a block says what else is to be known:
    <!-- not run: why -->       commands that need what is not here; they are parsed all the same
    <!-- not compiled: why -->  a part of a program that cannot be compiled alone
A block without a language is no code: a drawing, or what a program prints.
"""

import configparser
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile

FENCE = re.compile(r"(?:^ *<!-- ([^\n]*) -->\n+)?^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


class Place:
    """A folder with what commands of the documents expect: the programs of examples/, and an installed htw."""

    def __init__(self, root, prefix):
        self.root = root
        self.prefix = prefix
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="htw-docs-"))
        library = next(prefix.rglob("htw.pc")).parent.parent
        self.environment = dict(
            {name: value for name, value in os.environ.items() if name not in ("CFLAGS", "CXXFLAGS", "LDFLAGS")},
            PATH=f"{prefix}/bin:{os.environ['PATH']}", PKG_CONFIG_PATH=str(library / "pkgconfig"),
            LD_LIBRARY_PATH=str(library), CMAKE_PREFIX_PATH=str(prefix), LC_ALL="C.UTF-8")
        for path in [*(root / "examples").glob("*.c*"), *(root / "examples/loops").glob("*.c")]:
            shutil.copy(path, self.folder)
        shutil.copy(root / "examples/hello.c", self.folder / "program.c")
        self.cpp_before = "" # classes and functions that the blocks of C++ have defined

    def close(self):
        shutil.rmtree(self.folder)

    def run(self, command, folder=None, seconds=60):
        """What is wrong; None: nothing."""
        # A session of its own: with the command end the programs that it has started.
        with subprocess.Popen(command, cwd=folder or self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as process:
            try:
                said = process.communicate(timeout=seconds)[0].decode(errors="replace")
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return f"has not ended after {seconds} s"
        return None if process.returncode == 0 else f"status {process.returncode}: {said[-2000:].rstrip()}"

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


def flags(text):
    library = next((name for name in ("bubble", "calendar", "journal", "monitor") if f"htw/{name}.h" in text), None)
    return f"$(pkg-config --cflags --libs {'htw-' + library if library else 'htw'})"


def c(place, text):
    if "int main(" in text:
        place.write("block.c", text)
        command = f"cc -std=c11 {' '.join(WARNINGS)} block.c -o block {flags(text)}"
        return place.run(["sh", "-c", command]) or place.run(["./block"])
    # A part: `...` is what is left out. Structs and functions come first.
    text = re.sub(r"^ *\.\.\.$", ";", text, flags=re.MULTILINE)
    functions, body = re.fullmatch(r"((?:(?:/\*[^\n]*\n)?(?:static|struct \w+ \{).*?^\};?\n\n?)*)(.*)", text, re.MULTILINE | re.DOTALL).groups()
    place.write("part.c", f'#include "{place.root}/tests/docs/context.h"\n{functions}int part(void);\n'
                          f"int part(void) {{\n#line 1\n{body}\nreturn 0;\n}}\n")
    return place.run(["sh", "-c", "cc -std=c11 -Wall -Werror -Wno-unused -fsyntax-only part.c $(pkg-config --cflags htw)"])


def cpp(place, text):
    body = ""
    if re.match(r"(class|struct|void|task) ", text):
        place.cpp_before += text
    else:
        body = text
    place.write("part.cpp", f'#include "{place.root}/tests/docs/context.hpp"\n{place.cpp_before}PART;\n'
                            f"PART {{ {{\n#line 1\n{body}}} }}\n")
    return place.run(["sh", "-c", "c++ -std=c++20 -Wall -Werror -Wno-unused -fsyntax-only part.cpp $(pkg-config --cflags htw)"])


def sh(place, text):
    return place.run(["bash", "-n", "-c", text]) or place.run(["bash", "-euo", "pipefail", "-c", text])


def parse_json(_, text):
    try:
        for line in text.strip().splitlines() if not text.lstrip().startswith("{\n") else [text]:
            json.loads(line)
    except ValueError as error:
        return str(error)
    return None


def ini(_, text):
    try:
        configparser.ConfigParser().read_string(text)
    except configparser.Error as error:
        return str(error)
    return None


def sql(place, text):
    with sqlite3.connect(":memory:", isolation_level=None) as database:
        try:
            database.executescript((place.root / "tests/docs/context.sql").read_text())
            for statement in re.sub(r"--.*", "", text).split(";"):
                database.execute(statement, {name: 1 for name in re.findall(r":(\w+)", statement)})
        except sqlite3.Error as error:
            return str(error)
    return None


def cmake(place, text):
    place.write("cmake/CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(block C)\n"
                                        f"add_executable(program ../program.c)\n{text}")
    return place.run(["cmake", "-G", "Ninja", f"-DFETCHCONTENT_SOURCE_DIR_HTW={place.root}", "-S", "cmake", "-B", "cmake/build"]) \
        or place.run(["ninja", "-C", "cmake/build"])


def meson(place, text):
    place.write("meson/meson.build", f"project('block', 'c')\n{text}executable('program', 'program.c', dependencies: htw)\n")
    shutil.copy(place.root / "examples/hello.c", place.folder / "meson/program.c")
    return place.run(["meson", "setup", "meson/build", "meson"]) or place.run(["ninja", "-C", "meson/build"])


def of_guide(place, text):
    """Programs that need a client library and a server."""
    run = (place.root / "docs/serve.md").read_text()
    return None if text in run else "tests/serve/test_guide.py runs only those of docs/serve.md"


CHECKS = {"c": c, "cpp": cpp, "sh": sh, "json": parse_json, "ini": ini, "sql": sql, "cmake": cmake, "meson": meson,
          "python": of_guide, "php": of_guide, "js": of_guide, "go": of_guide, "text": lambda _, text: None, "": lambda _, text: None}


def check(place, name, text):
    """The errors of the blocks of a document."""
    errors = []
    for found in FENCE.finditer(text):
        remark, indent, language, block = found.groups()
        remark = remark or ""
        where = f"{name}:{text[:found.start(3)].count(chr(10)) + 1}"
        block = re.sub(f"^{indent}", "", block, flags=re.MULTILINE)
        if language not in CHECKS:
            errors.append(f"{where}: how is {language} checked? tests/docs/blocks.py does not know")
            continue
        if language == "sh" and re.fullmatch(r"not run: .{4,}", remark):
            wrong = place.run(["bash", "-n", "-c", block])
        elif language in ("c", "cpp") and re.fullmatch(r"not compiled: .{4,}", remark):
            wrong = None
        else:
            wrong = CHECKS[language](place, block)
        if wrong:
            errors.append(f"{where}: {language}: {wrong}")
    return errors
