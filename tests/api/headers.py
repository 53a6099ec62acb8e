#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each public header compiles alone, and twice, in each standard of C and C++ that users have, with each compiler that is
there, without a warning; so do the macros, where they are used; and a result that must not be ignored is warned of.

usage: headers.py INCLUDE_FOLDER
"""

import pathlib
import re
import shutil
import subprocess
import sys

include = pathlib.Path(sys.argv[1])
# -I, not -isystem: the warnings of the headers count.
WARNINGS = "-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wcast-align -pedantic -Werror".split()
STANDARDS = {"c": ["c99", "c11", "gnu11"], "c++": ["c++11", "c++17"]}
MORE = {"c": ["-Wstrict-prototypes", "-Wmissing-prototypes"], "c++": ["-Wold-style-cast"]}
ALL = "".join(f"#include <htw/{name}.h>\n" for name in ("bubble", "calendar", "htw", "journal_guest", "journal_inspect", "monitor"))
USES = ALL + """
struct job {
    int number;
    struct htw_timer timer;
};

int job_number(struct htw_timer *timer);
int job_number(struct htw_timer *timer)
{
    return HTW_CONTAINER_OF(timer, struct job, timer)->number;
}

int const_job_number(const struct htw_timer *timer);
int const_job_number(const struct htw_timer *timer)
{
    return HTW_CONTAINER_OF(timer, const struct job, timer)->number;
}

void never_run(void *arg, const struct htw_expiration *expiration);
const struct htw_site *site_of(int which);
const struct htw_site *site_of(int which)
{
    return which ? HTW_HERE(never_run, "named") : HTW_HERE(never_run, NULL);
}

/* The caller owns nothing that the result is about. */
void cancel(struct htw_scheduler *scheduler);
void cancel(struct htw_scheduler *scheduler)
{
    htw_cancel(scheduler, 1);
    htw_cancel_wait(scheduler, 1);
    htw_cancel_key(scheduler, NULL, "", 0, NULL);
}

int main(void)
{
    double sum = 0;
"""


def compilers(language):
    return [name for name in (["gcc", "clang"] if language == "c" else ["g++", "clang++"]) if shutil.which(name)]


def compile_in_all(what, text):
    for language, standards in STANDARDS.items():
        for compiler in compilers(language):
            for standard in standards:
                done = subprocess.run([compiler, "-x", language, f"-std={standard}", *WARNINGS, *MORE[language], "-I", include,
                                       "-fsyntax-only", "-"], input=text, text=True, check=False)
                if done.returncode != 0:
                    sys.exit(f"{compiler} -std={standard} does not accept {what}")
    print(f"ok {what}")


def macros(texts):
    """Every one with a value, and those that initialise."""
    lines = []
    for name in re.findall(r"^#define (HTW_[A-Z][A-Z_]*_INIT)\b", texts, re.M):
        lines.append(f"{{ struct {name.lower().removesuffix('_init')} value = {name}; sum += (value.struct_size == 0); }}")
    for name in re.findall(r"^#define (HTW_[A-Z_]*) [A-Z0-9(-].*$", texts, re.M):
        if not re.search(r"_INIT|_H$|^HTW_API|^HTW_WARN", name):
            lines.append(f"sum += ({name} > 0);")
    missing = [name for name in ("HTW_SPEC_INIT", "HTW_WHEEL_OPTIONS_INIT", "HTW_DAY", "HTW_NEVER_NS", "HTW_WHEEL_SIZE_MAX")
               if not any(name in line for line in lines)]
    if missing:
        sys.exit(f"the macros are not found: {missing}")
    return "\n".join(lines)


def check_ignored(texts):
    """A call of each function whose result must be used."""
    calls = [ALL]
    for name, parameters in re.findall(r"^HTW_API HTW_WARN_UNUSED [^;(]*?\b(htw_\w+)\(([^;]*)\)[^;]*;", texts, re.M):
        arguments = ", ".join(re.findall(r"\b(?!void$)(\w+)(?:\[\])?(?=,|$)", " ".join(parameters.split())))
        calls.append(f"void ignore_{name}({parameters});\nvoid ignore_{name}({parameters}) {{ {name}({arguments}); }}")
    if len(calls) - 1 != texts.count("\nHTW_API HTW_WARN_UNUSED") or len(calls) < 40:
        sys.exit("not each function that is marked was found")
    for compiler in compilers("c"):
        done = subprocess.run([compiler, "-x", "c", "-std=c11", "-I", include, "-c", "-o", "/dev/null", "-"], input="\n".join(calls), text=True,
                              capture_output=True, check=False)
        warned = done.stderr.count("warning: ignoring return value")
        if done.returncode != 0 or warned != len(calls) - 1:
            sys.exit(f"{done.stderr}\n{compiler} warns of {warned} ignored results of {len(calls) - 1}")
    print("ok ignored results")


for header in sorted(include.glob("htw/*.h")):
    compile_in_all(f"htw/{header.name}", f"#include <htw/{header.name}>\n" * 2 + "int main(void) { return 0; }\n")
declared = "\n".join(header.read_text() for header in sorted(include.glob("htw/*.h")))
compile_in_all('headers within extern "C"', f"#ifdef __cplusplus\nextern \"C\" {{\n{ALL}}}\n#else\n{ALL}#endif\nint main(void) {{ return 0; }}\n")
compile_in_all("macros", USES + macros(declared) + "\nreturn sum > 0;\n}\n")
check_ignored(declared)
