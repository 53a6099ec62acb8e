/* SPDX-License-Identifier: MIT */
/*
 * flight_wheel.c - gives the timers of a flight record to a wheel.
 *
 * The wheel is not the one of the program, which has one for each shard: it is one with the same tick and size,
 * in virtual time. A timer expires in it at its deadline, however late its callback started; one that was armed
 * before the record begins, when its callback started.
 */
#include "flight_wheel.h"

#include <errno.h>
#include <string.h>

/* A page with more could not be played. */
#define STEPS_MAX 4000000

struct playing {
    const struct htw__flight *flight;
    uint32_t *timer_sites;
};

/* Timers are found by this. */
struct name {
    char bytes[sizeof(uint64_t) + sizeof(uint16_t)];
};

static struct name name_of(const struct htw__flight_event *event) {
    struct name name;
    memcpy(name.bytes, &event->handle, sizeof(event->handle));
    memcpy(name.bytes + sizeof(event->handle), &event->scheduler, sizeof(event->scheduler));
    return name;
}

static uint64_t deadline_of(const struct playing *playing, const struct htw__flight_event *event,
                            const struct htw__run *run) {
    int64_t after_ns = event->value - htw__flight_origin_ns(playing->flight);
    uint64_t now = htw_wheel_now(run->wheel);
    if (event->value == HTW__FLIGHT_NONE)
        return HTW_NEVER_TICK;
    uint64_t tick =
        after_ns <= 0 ? 0 : htw__time_tick_after(htw__time_of(0, after_ns), run->options->tick_ns);
    return tick < now ? now : tick;
}

static int play_event(struct playing *playing, const struct htw__flight_event *event,
                      struct htw__run *run) {
    struct name name = name_of(event);
    bool arms = event->kind == HTW__FLIGHT_ARMED || event->kind == HTW__FLIGHT_MOVED;
    bool runs = event->kind == HTW__FLIGHT_STARTED;
    if (event->handle == 0 || !(arms || runs || event->kind == HTW__FLIGHT_CANCELLED))
        return 0;
    struct htw__run_timer *timer = htw__run_find(run, name.bytes, sizeof(name.bytes));
    if (timer != NULL && arms)
        return htw_wheel_schedule(run->wheel, &timer->timer, deadline_of(playing, event, run));
    if (timer != NULL && runs) /* by another clock, or its group's */
        return htw_wheel_schedule(run->wheel, &timer->timer, htw_wheel_now(run->wheel));
    if (timer != NULL)
        htw_wheel_cancel(run->wheel, &timer->timer);
    if (!arms && !event->is_sudden)
        return 0;
    playing->timer_sites[run->timer_count] = event->site;
    return htw__run_arm(run, name.bytes, sizeof(name.bytes),
                        arms ? deadline_of(playing, event, run) : htw_wheel_now(run->wheel));
}

static int play(void *context, struct htw__run *run) {
    struct playing *playing = context;
    const struct htw__flight *flight = playing->flight;
    int64_t origin_ns = htw__flight_origin_ns(flight);
    int error = 0;
    for (size_t i = 0; i < flight->event_count && error == 0; i++) {
        htw__run_advance(run, htw__time_of(0, flight->events[i].time_ns - origin_ns));
        error = play_event(playing, &flight->events[i], run);
    }
    if (error == 0) /* what was made due by the last event expires */
        htw__run_advance(run, run->now);
    return error;
}

void htw__flight_wheel_options(const struct htw__flight *flight, struct htw__run_options *options) {
    const struct htw__flight_scheduler *scheduler = htw__flight_busiest(flight);
    htw__run_options_init(options);
    if (scheduler == NULL)
        return;
    options->tick_ns = scheduler->tick_ns;
    options->wheel_size = scheduler->wheel_size;
}

int htw__flight_wheel_record(const struct htw__flight *flight, struct htw__replay_record *record,
                             struct htw__run *run, const struct htw__run_options *options,
                             uint32_t *timer_sites) {
    struct playing playing = { flight, timer_sites };
    record->limit = STEPS_MAX;
    return htw__record_play(record, run, options, play, &playing);
}
