/* SPDX-License-Identifier: MIT */
/* refused_creation.h - a creation that is refused memory leaves nothing. */
#ifndef TESTS_REFUSED_CREATION_H
#define TESTS_REFUSED_CREATION_H

#include "../unit/unit.h"
#include "failing_allocator.h"

/** `create` makes an object with the allocator, and returns 0 or an error; then `destroy` ends it. Each allocation is refused
 *  in turn, once or with all that follow. */
static inline void
assert_refused_creation_leaves_nothing(int (*create)(const struct htw_allocator *allocator),
                                       void (*destroy)(void)) {
    for (unsigned forever = 0; forever < 2; forever++) {
        int error = -ENOMEM;
        for (size_t nth = 1; error != 0; nth++) {
            struct failing_allocator memory;
            failing_allocator_init(&memory);
            failing_allocator_fail(&memory, nth, forever != 0);
            error = create(&memory.allocator);
            assert_int_equal(error, memory.refusals > 0 ? -ENOMEM : 0);
            failing_allocator_relent(&memory);
            if (error == 0)
                destroy();
            assert_true(error != 0 || nth > 2); /* there are some */
            assert_all_released(&memory);
        }
    }
}

#endif /* TESTS_REFUSED_CREATION_H */
