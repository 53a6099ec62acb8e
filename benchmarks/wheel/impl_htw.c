/* SPDX-License-Identifier: MIT */
/*
 * impl_htw.c - htw's wheel in three settings. It has neither callbacks nor arguments: the caller
 * of poll gets the timer, and knows the object in which it is embedded.
 */
#include "implementations.h"

#include <htw/htw.h>

#include <stdlib.h>

#define BATCH 64

struct self {
    struct htw_wheel *wheel;
    struct bench_tally *tally;
};

static void *create_wheel(const struct htw_wheel_options *options, struct bench_tally *tally) {
    struct self *self = malloc(sizeof(*self));
    if (self == NULL)
        return NULL;
    self->tally = tally;
    if (htw_wheel_create(&self->wheel, options) != 0) {
        free(self);
        return NULL;
    }
    return self;
}

static void *create(size_t capacity, struct bench_tally *tally) {
    (void)capacity;
    return create_wheel(NULL, tally);
}

static void *create_strict(size_t capacity, struct bench_tally *tally) {
    (void)capacity;
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.strict_fifo = true;
    return create_wheel(&options, tally);
}

static void *create_kafka(size_t capacity, struct bench_tally *tally) {
    (void)capacity;
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.size = 32; /* Kafka has 20; the nearest power of two */
    options.strict_fifo = true;
    return create_wheel(&options, tally);
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

static uint64_t schedule_within(void *self_, void *timer, uint64_t earliest, uint64_t latest) {
    struct self *self = self_;
    int error =
        htw_wheel_schedule_within(self->wheel, timer, earliest, latest); /* only without memory */
    (void)error;
    return htw_timer_deadline(timer);
}

static void advance(void *self_, uint64_t now) {
    struct self *self = self_;
    struct htw_timer *timers[BATCH];
    size_t count;
    int progress;
    do {
        progress = htw_wheel_poll_batch(self->wheel, now, timers, BATCH, 0, &count);
        for (size_t i = 0; i < count; i++)
            bench_fired(self->tally, timers[i]);
    } while (progress == HTW_MORE);
}

static uint64_t next(void *self_) {
    struct self *self = self_;
    return htw_wheel_next(self->wheel);
}

static size_t count(void *self_) {
    struct self *self = self_;
    return htw_wheel_count(self->wheel);
}

/* The members that are the same in all three. Arming a pending timer moves it. */
#define HTW_MEMBERS                                                                               \
    .timer_size = sizeof(struct htw_timer), .init = init, .schedule = schedule, .cancel = cancel, \
    .move = schedule, .schedule_within = schedule_within, .advance = advance, .next = next,       \
    .count = count

const struct bench_implementation bench_htw = {
    .name = "htw",
    .about = "htw " HTW_VERSION ", default options",
    .create = create,
    HTW_MEMBERS,
};

const struct bench_implementation bench_htw_strict = {
    .name = "htw-strict",
    .about = "htw " HTW_VERSION ", strict_fifo",
    .create = create_strict,
    HTW_MEMBERS,
};

const struct bench_implementation bench_htw_kafka = {
    .name = "htw-kafka",
    .about = "htw " HTW_VERSION ", size 32 and strict_fifo: Kafka's layout, one list a bucket",
    .create = create_kafka,
    HTW_MEMBERS,
};
