/* SPDX-License-Identifier: MIT */
/*
 * A plugin for htw-bench that is wrong on purpose, in the way that the environment variable
 * FAULT names: a harness that does not notice has validated nothing. Otherwise it is htw.
 */
#include <impl_htw.c>

#include <string.h>
#include <unistd.h>

static bool is_first; /* the next timer that fires is the first: the fault's victim */

static bool has(const char *fault) {
    return getenv("FAULT") != NULL && strcmp(getenv("FAULT"), fault) == 0;
}

static void *create_faulty(size_t capacity, struct bench_tally *tally) {
    is_first = true;
    return create(capacity, tally);
}

static void advance_wrongly(void *self_, uint64_t now) {
    struct self *self = self_;
    if (has("crash"))
        abort();
    while (has("hang"))
        pause();
    uint64_t polled = now + has("early") - has("late");
    struct htw_timer *timer;
    while ((timer = htw_wheel_poll(self->wheel, polled)) != NULL) {
        if (!is_first || !has("lose"))
            bench_fired(self->tally, timer);
        if (is_first && has("double"))
            bench_fired(self->tally, timer);
        is_first = false;
    }
}

static size_t miscount(void *self) {
    return count(self) + has("miscount");
}

static const struct bench_implementation faulty = {
    .name = "faulty",
    .about = "wrong on purpose",
    .timer_size = sizeof(struct htw_timer),
    .create = create_faulty,
    .init = init,
    .schedule = schedule,
    .cancel = cancel,
    .advance = advance_wrongly,
    .count = miscount,
};

const struct bench_implementation *const bench_plugins[] = { &faulty, NULL };
