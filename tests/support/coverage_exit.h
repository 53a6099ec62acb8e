/* SPDX-License-Identifier: MIT */
/*
 * coverage_exit.h - counts what a process did that ends with _exit(), as the children of tests do.
 *
 * `./dev coverage` includes this before each source file. Without it, what only a child runs would
 * count as never run.
 */
#ifndef TESTS_COVERAGE_EXIT_H
#define TESTS_COVERAGE_EXIT_H

/* Not from <unistd.h>: a source file may use other names of that header for things of its own. */
_Noreturn void _exit(int status);
int __llvm_profile_write_file(void);

static inline _Noreturn void coverage_exit(int status) {
    __llvm_profile_write_file();
    _exit(status);
}

#define _exit coverage_exit

#endif /* TESTS_COVERAGE_EXIT_H */
