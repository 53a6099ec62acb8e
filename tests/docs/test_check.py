#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py finds what is broken on purpose, and finds nothing where nothing is.

usage: test_check.py ROOT BUILD
"""

import pathlib
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).parent))
import blocks  # noqa: E402
import check  # noqa: E402

PROGRAM = """```c
#include <htw/wheel.h>
int main(void) {
    return htw_timer_size() == sizeof(struct htw_timer) ? 0 : 1;
}
```
"""
PART = """```c
int error = htw_schedule(scheduler, HTW_SECOND, report, job, &handle);
...
htw_group_set_scale(idle, 0.5);
```
"""
IN_CPP = "```cpp\nhtw::scheduler scheduler;\n```\n"

# What a document holds, and a word of what is said of it; none where it is right.
BLOCKS = [
    ("a program", PROGRAM, None),
    ("a program that does not compile", PROGRAM.replace("htw_timer_size", "htw_timer_sizes"), "htw_timer_sizes"),
    ("a program that warns", PROGRAM.replace("return", "int unused;\n    return"), "unused"),
    ("a program that fails", PROGRAM.replace("== sizeof", "!= sizeof"), "status 1"),
    ("a part of a program", PART, None),
    ("a part that does not compile", PART.replace("HTW_SECOND", "HTW_SECONDS"), "HTW_SECONDS"),
    ("a part with a reason", "<!-- not compiled: it is of another library -->\n" + PART.replace("_S", "_T"), None),
    ("C++ of no test", IN_CPP.replace("scheduler;", "schedulers;"), "neither"),
    ("C++ that does not compile", "```cpp\n#include <htw/htw.hpp>\nint main() { htw::nothing x; }\n```\n", "nothing"),
    ("commands", "```sh\nprintf '0 now\\n' | htw delay | grep -x now >grepped\n```\n", None),
    ("commands that fail", "```sh\nhtw delay --nosuch\n```\n", "nosuch"),
    ("commands of which the first fails", "```sh\nfalse\ntrue\n```\n", "status 1"),
    ("commands that are no shell", "<!-- not run: it is an example -->\n```sh\nif true; then\n```\n", "syntax error"),
    ("commands with a reason", "<!-- not run: needs a Kafka -->\n```sh\nkafka-topics\n```\n", None),
    ("commands with no reason", "<!-- not run: -->\n```sh\nkafka-topics\n```\n", "kafka-topics"),
    ("commands in a list", "- so:\n\n  ```sh\n  false\n  ```\n", "status 1"),
    ("JSON", '```json\n{"a": 1}\n{"b": 2}\n```\n', None),
    ("JSON that is none", '```json\n{"a": 1,}\n```\n', "json"),
    ("settings that are none", "```ini\na = 1\n```\n", "ini"),
    ("SQL", "```sql\nUPDATE account SET balance = :price;\n```\n", None),
    ("SQL of no table", "```sql\nUPDATE accounts SET balance = 1;\n```\n", "accounts"),
    ("Meson that finds nothing", "```meson\nhtw = dependency('htw-nosuch')\n```\n", "nosuch"),
    ("CMake that finds nothing", "```cmake\nfind_package(nosuch REQUIRED)\n```\n", "nosuch"),
    ("another language", "```fortran\nEND\n```\n", "fortran"),
    ("a drawing", "```\n+--+\n```\n", None),
]

FIGURES = [
    ("figures as recorded", "<!-- figures: results.md -->\nIt takes 69 ns, or 7 ns; 13 812 in `uint64_t` of 1e6.\n", None),
    ("another figure", "<!-- figures: results.md -->\n| 69 | 70 |\n", "70 is not"),
    ("a figure rounded wrongly", "<!-- figures: results.md -->\nIt takes 6.9 ns.\n", "6.9 is not"),
    ("no figure", "<!-- figures: results.md -->\nIt is fast.\n", "no figures"),
    ("no results", "<!-- figures: nosuch.md -->\n1\n", "no such file"),
]


def judge(what, errors, expected):
    """One line if it is not as expected."""
    if expected is None:
        return [f"{what}: {error}" for error in errors]
    return [] if any(expected in error for error in errors) else [f"{what}: not found: {errors}"]


def broken_manual(root, build, work):
    """What is taken away from a manual, or added to it, is found."""
    wrong = []
    man, pages = work / "man", work / "html"

    def begin():
        for name in (man, pages):
            shutil.rmtree(name, ignore_errors=True)
            shutil.copytree(build / name.name, name)
    begin()
    wrong += judge("the manual as it is", check.symbols(root, man, pages) + check.man_pages(man) + check.html_pages(pages), None)
    (man / "man3/htw_cancel.3").unlink()
    wrong += judge("a function without a man page", check.symbols(root, man, pages), "htw_cancel: no man page")
    wrong += judge("a link to no man page", check.man_pages(man), "no such page: htw_cancel(3)")
    page = man / "man3/htw_schedule.3"
    page.write_text(page.read_text().replace(" \\- ", " \\- \n.TX ", 1))
    wrong += judge("a man page without a sentence", check.symbols(root, man, pages), "htw_schedule: its man page does not name it")
    wrong += judge("a man page with an unknown macro", check.man_pages(man), "TX")
    page = pages / "reference/wheel.html"
    page.write_text(page.read_text().replace('id="c.htw_wheel_poll"', 'id="c.nothing"'))
    wrong += judge("a function without a place in the reference", check.symbols(root, man, pages), "htw_wheel_poll: not in")
    wrong += judge("a link to an anchor that is not there", check.html_pages(pages), "#c.htw_wheel_poll")
    (pages / "docs/guarantees.html").unlink()
    wrong += judge("a link to a page that is not there", check.html_pages(pages), "no such file: docs/guarantees.html")
    begin()
    page = pages / "index.html"
    page.write_text(page.read_text().replace("</head>", '<script src="https://example.org/x.js"></script></head>'))
    wrong += judge("a script of another site", check.html_pages(pages), "loads https://example.org/x.js")
    return wrong


def broken_sources(root, work):
    """An exported function without a comment."""
    tree = work / "tree"
    shutil.copytree(root / "include", tree / "include")
    (tree / "src").mkdir()
    for path in (root / "src").glob("*.map"):
        shutil.copy(path, tree / "src")
    header = tree / "include/htw/wheel.h"
    header.write_text(header.read_text().replace("/** sizeof(struct htw_timer) in bytes, for languages that cannot include this header. */\n", ""))
    return judge("a function without a comment", check.symbols(tree, work / "man", work / "html"), "htw_timer_size: no comment")


def main():
    root, build = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        prefix = check.install(build, work / "installed")
        for what, text, expected in BLOCKS:
            place = blocks.Place(root, prefix)
            wrong += judge(what, blocks.check(place, "document", text), expected)
            place.close()
        (work / "results.md").write_text("| 69.4 | **6.6** | 13 812 |\n")
        for what, text, expected in FIGURES:
            wrong += judge(what, check.figures(work, "document.md", text), expected)
        wrong += broken_manual(root, build, work)
        wrong += broken_sources(root, work)
    count = len(BLOCKS) + len(FIGURES) + 10
    print("\n".join(wrong) or f"{count} passed, 0 failed")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
