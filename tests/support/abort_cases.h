/* SPDX-License-Identifier: MIT */
/* abort_cases.h - a table of what ends a process: each row runs in a child. */
#ifndef TESTS_ABORT_CASES_H
#define TESTS_ABORT_CASES_H

#include "../unit/unit.h"
#include "child.h"

#include <htw/base.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct abort_case {
    const char *name;
    void (*run)(void);
    const char *message; /* it aborts with this; NULL: it returns */
};

static inline void abort_case_run(void *arg) {
    ((const struct abort_case *)arg)->run();
}

static inline void assert_abort_cases(const struct abort_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char text[500];
        int end = child_run(abort_case_run, (void *)(uintptr_t)&cases[i], text, sizeof(text));
        if (cases[i].message == NULL ? end != 0
                                     : end != -SIGABRT || strstr(text, cases[i].message) == NULL)
            fail_msg("%s: ended by %d, not with \"%s\", message: %s", cases[i].name, end,
                     cases[i].message, text);
    }
}

static inline void *abort_case_allocate(void *context, size_t size, size_t alignment) {
    void *memory;
    (void)context;
    return posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}

static inline void abort_case_keep(void *context, void *memory, size_t size, size_t alignment) {
    (void)context, (void)memory, (void)size, (void)alignment;
}

/* Releases nothing: what uses an object after its end reads what that has left, with any checker of memory. */
__attribute__((unused)) static const struct htw_allocator abort_case_memory = { abort_case_allocate,
                                                                                abort_case_keep,
                                                                                NULL };

#endif /* TESTS_ABORT_CASES_H */
