/* SPDX-License-Identifier: MIT */
/* background.c - a job in a thread of its own. */
#include "background.h"

#include "../../../src/base/assert.h"
#include "../../../src/port/system.h"

#include <stdint.h>
#include <unistd.h>

static void *run(void *context) {
    static const uint64_t one = 1;
    struct htw__background *self = context;
    self->result = self->job(self->context);
    /* order: Who sees that the job is done sees its result. [relaxed: not played, and kept] */
    atomic_store_explicit(&self->is_done, true, memory_order_release);
    (void)!write(self->event_fd, &one, sizeof(one));
    return NULL;
}

void htw__background_begin(struct htw__background *self) {
    HTW_ASSERT(!self->is_in_flight);
    self->is_in_flight = true;
    /* order: No other thread has it now. */
    atomic_store_explicit(&self->is_done, false, memory_order_relaxed);
    self->has_thread = htw__thread_start(&self->thread, "htw", self->name, 0, run, self) == 0;
    if (!self->has_thread)
        run(self);
}

bool htw__background_take(struct htw__background *self, bool wait, int *ret_result) {
    /* order: As the store of run(). [relaxed: not played, and kept] */
    if (!self->is_in_flight ||
        (!wait && !atomic_load_explicit(&self->is_done, memory_order_acquire)))
        return false;
    if (self->has_thread)
        pthread_join(self->thread, NULL);
    self->is_in_flight = false;
    *ret_result = self->result;
    return true;
}
