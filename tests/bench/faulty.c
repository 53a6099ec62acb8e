/* SPDX-License-Identifier: MIT */
/*
 * A plugin for htw-bench that is wrong on purpose, in the way that the environment variable
 * FAULT names: a harness that does not notice has validated nothing.
 */
#include <bench.h>

#include <htw/htw.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct self {
    struct htw_wheel *wheel;
    struct bench_tally *tally;
    const char *fault;
    bool is_first; /* the next timer that fires is the first: the fault's victim */
};

static bool has(const struct self *self, const char *fault) {
    return self->fault != NULL && strcmp(self->fault, fault) == 0;
}

static void *create(size_t capacity, struct bench_tally *tally) {
    (void)capacity;
    struct self *self = malloc(sizeof(*self));
    if (self == NULL || htw_wheel_create(&self->wheel, NULL) != 0) {
        free(self);
        return NULL;
    }
    self->tally = tally;
    self->fault = getenv("FAULT");
    self->is_first = true;
    return self;
}

static void init(void *self, void *timer) {
    (void)self;
    htw_timer_init(timer);
}

static void schedule(void *self_, void *timer, uint64_t deadline) {
    struct self *self = self_;
    int error = htw_wheel_schedule(self->wheel, timer, deadline); /* only without memory */
    (void)error;
}

static void cancel(void *self_, void *timer) {
    struct self *self = self_;
    htw_wheel_cancel(self->wheel, timer);
}

static void advance(void *self_, uint64_t now) {
    struct self *self = self_;
    if (has(self, "crash"))
        abort();
    while (has(self, "hang"))
        pause();
    uint64_t polled = now + has(self, "early") - has(self, "late");
    struct htw_timer *timer;
    while ((timer = htw_wheel_poll(self->wheel, polled)) != NULL) {
        if (!self->is_first || !has(self, "lose"))
            bench_fired(self->tally, timer);
        if (self->is_first && has(self, "double"))
            bench_fired(self->tally, timer);
        self->is_first = false;
    }
}

static size_t count(void *self_) {
    struct self *self = self_;
    return htw_wheel_count(self->wheel) + has(self, "miscount");
}

static const struct bench_implementation faulty = {
    .name = "faulty",
    .about = "wrong on purpose",
    .timer_size = sizeof(struct htw_timer),
    .create = create,
    .init = init,
    .schedule = schedule,
    .cancel = cancel,
    .advance = advance,
    .count = count,
};

const struct bench_implementation *const bench_plugins[] = { &faulty, NULL };
