/* SPDX-License-Identifier: MIT */
/* version.c - the version, and the options of the build, which meson.build passes as macros. */
#include "version.h"

#include "status.h"

#include <htw/base.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#ifdef __clang__
#define COMPILER __VERSION__ /* which begins with its name */
#else
#define COMPILER "gcc " __VERSION__
#endif

#ifndef HTW_BUILD_FEATURES /* another build than that of meson.build, or a tool that looks at this file */
#define HTW_BUILD_FEATURES "unknown"
#define HTW_BUILD_ALLOCATOR "unknown"
#define HTW_BUILD_HARDENING "unknown"
#define HTW_BUILD_ASSERTIONS "unknown"
#endif

/* It is in effect only where the compiler optimises; those who build packages define it by themselves. */
#if defined(_FORTIFY_SOURCE) && _FORTIFY_SOURCE > 0 && defined(__OPTIMIZE__)
#define FORTIFIED ""
#else
#define FORTIFIED ", without _FORTIFY_SOURCE"
#endif

static const char hardening[] = HTW_BUILD_HARDENING;

int htw__version_print(const char *program) {
    if (printf("%s %s\n"
               "compiler: %s\n"
               "features: " HTW_BUILD_FEATURES "\n"
               "allocator: " HTW_BUILD_ALLOCATOR "\n"
               "hardening: %s\n"
               "assertions: " HTW_BUILD_ASSERTIONS "\n",
               program, htw_version(), COMPILER,
               strcmp(hardening, "yes") == 0 ? "yes" FORTIFIED : hardening) >= 0 &&
        fflush(stdout) == 0)
        return 0;
    fprintf(stderr, "%s: standard output: %s\n", program, strerror(errno));
    return HTW__EXIT_FAILED;
}
