/* SPDX-License-Identifier: MIT */
/* abort_cases.h - a table of what ends a process: each row is a list of steps, which run in a child. */
#ifndef TESTS_ABORT_CASES_H
#define TESTS_ABORT_CASES_H

#include "../unit/unit.h"
#include "child.h"

#include <htw/base.h>

#include <signal.h>

#ifndef HTW_CHECK_LEVEL
#define HTW_CHECK_LEVEL 0
#endif

#define BROKEN "was freed, overwritten or initialised while pending"
#define ENDED "is used after it was destroyed"

struct abort_step {
    const char *name; /* NULL ends a table */
    void (*run)(void *arg);
    void *arg;
};

/** Defines the function of a step, which may need no `arg`. The body follows. */
#define ABORT_STEP(name) static void name(__attribute__((unused)) void *arg)

struct abort_case {
    const char *steps;   /* their names, with ", " between them */
    const char *message; /* the last one aborts with this; NULL: it returns */
};

struct abort_run {
    const char *steps;
    const struct abort_step *known;
};

static inline void abort_case_run(void *arg) {
    const struct abort_run *run = arg;
    for (const char *name = run->steps; *name != '\0';) {
        size_t length = strcspn(name, ",");
        const struct abort_step *step = run->known;
        while (step->name != NULL &&
               (strlen(step->name) != length || memcmp(step->name, name, length) != 0))
            step++;
        EXPECT(step->name != NULL);
        step->run(step->arg);
        name += length;
        name += strspn(name, ", ");
    }
}

/** `known`: what the steps are. */
static inline void assert_abort_cases(const struct abort_case *cases, size_t count,
                                      const struct abort_step *known) {
    for (size_t i = 0; i < count; i++) {
        struct abort_run run = { cases[i].steps, known };
        char text[500];
        int end = child_run(abort_case_run, &run, text, sizeof(text));
        if (cases[i].message == NULL ? end != 0
                                     : end != -SIGABRT || strstr(text, cases[i].message) == NULL)
            fail_msg("%s: ended by %d, not with \"%s\", message: %s", cases[i].steps, end,
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
