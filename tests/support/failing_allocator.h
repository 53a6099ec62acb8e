/* SPDX-License-Identifier: MIT */
/*
 * failing_allocator.h - an allocator for tests: counts what is live, holds the
 * library to the size and alignment that it asked for, fills fresh memory with
 * rubbish, and refuses the n-th request on demand. For any threads; its numbers are read while none is in a call.
 */
#ifndef TESTS_FAILING_ALLOCATOR_H
#define TESTS_FAILING_ALLOCATOR_H

#include <htw/base.h>

#include <stdatomic.h>
#include <stdbool.h>

struct failing_block;

struct failing_allocator {
    struct htw_allocator allocator; /* what to hand to the library */
    atomic_flag is_locked;
    struct failing_block *blocks; /* what is live */
    size_t live_bytes, live_blocks;
    size_t calls;      /* requests so far, refused ones included */
    size_t refusals;   /* requests that were refused */
    size_t fail_at;    /* the value of `calls` that is refused; 0: none is */
    bool fail_forever; /* all later ones are, too */
    const char *error; /* the first misuse by the library; NULL: none */
};

/** Sets up an allocator that never fails. It must not move afterwards. */
void failing_allocator_init(struct failing_allocator *self);

/** Forgets all blocks, freeing those that leaked. */
void failing_allocator_fini(struct failing_allocator *self);

/** The same. The test fails if some leaked, or were released wrongly. */
#define assert_all_released(memory)                 \
    do {                                            \
        if ((memory)->error != NULL)                \
            fail_msg("%s", (memory)->error);        \
        assert_int_equal((memory)->live_blocks, 0); \
        failing_allocator_fini(memory);             \
    } while (0)

/** Refuses the n-th request from now (1 is the next); with `forever` also all later ones. */
void failing_allocator_fail(struct failing_allocator *self, size_t nth, bool forever);

/** Refuses nothing any more. */
void failing_allocator_relent(struct failing_allocator *self);

#endif /* TESTS_FAILING_ALLOCATOR_H */
