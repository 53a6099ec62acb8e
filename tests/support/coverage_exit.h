/* SPDX-License-Identifier: MIT */
/*
 * coverage_exit.h - counts what a process did that ends with _exit() or kills itself, as the children
 * of tests do.
 *
 * `./dev coverage` includes this before each source file. Without it, what only a child runs would
 * count as never run.
 */
#ifndef TESTS_COVERAGE_EXIT_H
#define TESTS_COVERAGE_EXIT_H

/* Not from the headers: a source file may use other names of these for things of its own. */
_Noreturn void _exit(int status);
int kill(int process, int number);
int __llvm_profile_write_file(void);
void __llvm_profile_reset_counters(void);

static inline _Noreturn void coverage_exit(int status) {
    __llvm_profile_write_file();
    _exit(status);
}

/* Writing adds what is in the file to the counters of the process. One that lives on, since it kills
 * another, would write that again, and twice as much each time. */
static inline int coverage_kill(int process, int number) {
    __llvm_profile_write_file();
    __llvm_profile_reset_counters();
    return kill(process, number);
}

#define _exit(status) coverage_exit(status)
#define kill(process, number) coverage_kill(process, number)

#endif /* TESTS_COVERAGE_EXIT_H */
