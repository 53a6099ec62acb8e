/* SPDX-License-Identifier: MIT */
/* child.h - a part of a test that runs in a child process, where nothing can be asserted. */
#ifndef TESTS_CHILD_H
#define TESTS_CHILD_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

/** Ends the child with the status 1, and says why, unless the condition holds. */
#define EXPECT(condition)                                                     \
    do {                                                                      \
        if (!(condition)) {                                                   \
            dprintf(2, "%s:%d: child: %s\n", __FILE__, __LINE__, #condition); \
            _exit(1);                                                         \
        }                                                                     \
    } while (0)

/**
 * Runs a function in a child, which SIGALRM ends if it takes a minute. Returns how the child has ended: 0 if the
 * function returned; otherwise see child_end(). If `text` is not NULL, it is what the child wrote to standard error.
 * It may be called in a hook and in any thread.
 */
int child_run(void (*run)(void *arg), void *arg, char *text, size_t size);

/** Waits for a child. Returns its exit status, or the negative number of the signal that ended it; INT_MIN: there is no
    such child. */
int child_end(pid_t child);

#endif /* TESTS_CHILD_H */
