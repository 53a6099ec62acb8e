/* SPDX-License-Identifier: MIT */
/* inert.h - the scheduler of its parent, as a child must find it: each call answers at once, and does nothing. */
#ifndef TESTS_INERT_H
#define TESTS_INERT_H

#include <htw/scope.h>

/** What a child finds: objects of its parent. */
struct inert {
    struct htw_scheduler *scheduler;
    struct htw_group *group;
    htw_handle handle;
    struct htw_scope *scope;
    struct htw_task *task; /* NULL: none */
};

/** Makes each call, in a child, which ends if one does anything but what it should. */
void inert_expect(const struct inert *objects);

#endif /* TESTS_INERT_H */
