/* SPDX-License-Identifier: MIT */
/* events.c - visits the herds of the last minute, and the events of the flight recorder in the order of their time. */
#include "herds.h"
#include "observation.h"
#include "sites.h"
#include "visit.h"

#include <stdlib.h>
#include <string.h>

/* ---- herds */

int htw__visit_herds(struct htw__visit *visit) {
    struct htw__herd list[HTW_HERDS_MAX];
    uint32_t count = 0;
    bool more = true;
    const struct htw_scheduler *scheduler = visit->scheduler;
    int64_t now_ns = htw__now_ns(scheduler);
    for (uint32_t i = 0; i < scheduler->expirer_count; i++)
        htw__herds_list(htw__observer_of_expirer(scheduler, i), now_ns, list, &count);
    for (uint32_t i = 0; i < count && more; i++) {
        struct htw__site_text text;
        struct htw_origin shown = htw__site_show(&visit->copy, list[i].origin, &text);
        union htw_visited visited = {
            .herd = {
                .ago_ns = htw__late_ns(now_ns, list[i].at_ns),
                .timers = list[i].timers,
                .origin = shown,
            },
        };
        more = htw__visit_show(visit, &visited);
    }
    return 0;
}

/* ---- the events of all rings */

struct recording {
    struct htw__event *events;
    size_t count, room;
    uint64_t lost;
};

static const struct htw__event_ring *ring_of(const struct htw__observation *observation,
                                             uint32_t n) {
    return htw__observer_table(&observation->observers[n], HTW__TABLE_EVENTS);
}

static size_t room_for(const struct htw__observation *observation) {
    size_t room = 0;
    for (uint32_t n = 0; n < observation->observer_count; n++) {
        const struct htw__event_ring *ring = ring_of(observation, n);
        room += ring == NULL ? 0 : (size_t)ring->size;
    }
    return room;
}

/* The number of an observer among those of its kind. */
static uint32_t runner_of(const struct htw_scheduler *scheduler, uint32_t n) {
    if (n < scheduler->shard_count)
        return n;
    n -= scheduler->shard_count;
    return n < scheduler->expirer_count ? n : n - scheduler->expirer_count;
}

static void add_events(struct recording *recording, const struct htw__event_ring *ring,
                       uint32_t runner) {
    uint64_t lost;
    if (ring == NULL || ring->size > recording->room - recording->count) /* it is new */
        return;
    struct htw__event *events = recording->events + recording->count;
    size_t count = htw__event_ring_copy(ring, events, &lost);
    for (size_t i = 0; i < count; i++) {
        events[i].runner = runner;
        events[i].order = (uint32_t)(recording->count + i);
    }
    recording->count += count;
    recording->lost += lost;
}

static int by_time(const void *left, const void *right) {
    const struct htw__event *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* In the order of their time. What is found goes into `events`, which has `room`. */
static void gather(struct recording *recording, const struct htw_scheduler *scheduler) {
    const struct htw__observation *observation = scheduler->observation;
    for (uint32_t n = 0; n < observation->observer_count; n++)
        add_events(recording, ring_of(observation, n), runner_of(scheduler, n));
    qsort(recording->events, recording->count, sizeof(*recording->events), by_time);
}

/* ---- the texts of their sites */

/* Most events are of few sites, and to copy the text of one takes several system calls. */
#define TEXTS 256u

struct text {
    htw__origin origin; /* 0: none */
    struct htw_origin shown;
    struct htw__site_text text;
};

static struct htw_origin show(const struct htw__visit *visit, struct text *texts,
                              htw__origin origin) {
    struct text *text = &texts[htw__site_place(origin, 8)];
    if (text->origin != origin) {
        text->origin = origin;
        text->shown = htw__site_show(&visit->copy, origin, &text->text);
    }
    return text->shown;
}

/* Visits the last ones. */
static void visit_last(struct htw__visit *visit, const struct recording *recording,
                       struct text *texts) {
    size_t first = recording->count > visit->most ? recording->count - (size_t)visit->most : 0;
    for (size_t i = first; i < recording->count; i++) {
        const struct htw__event *event = &recording->events[i];
        struct htw_origin shown = show(visit, texts, event->origin);
        union htw_visited visited = {
            .event = {
                .number = recording->lost + i,
                .kind = event->kind,
                .runner = event->runner,
                .time_ns = event->time_ns,
                .deadline_ns = event->deadline_ns,
                .duration_ns = event->duration_ns,
                .handle = event->handle,
                .origin = shown,
            },
        };
        htw__visit_show(visit, &visited);
    }
}

int htw__visit_events(struct htw__visit *visit) {
    const struct htw_scheduler *scheduler = visit->scheduler;
    const struct htw_allocator *allocator = &scheduler->allocator;
    struct recording recording = { .room = room_for(scheduler->observation) };
    size_t bytes = (recording.room + 1) * sizeof(*recording.events);
    struct text *texts = htw__allocate(allocator, TEXTS * sizeof(*texts));
    recording.events = htw__allocate(allocator, bytes);
    int error = texts == NULL || recording.events == NULL ? -ENOMEM : 0;
    if (error == 0) {
        memset(texts, 0, TEXTS * sizeof(*texts));
        gather(&recording, scheduler);
        visit_last(visit, &recording, texts);
    }
    htw__release(allocator, recording.events, bytes);
    htw__release(allocator, texts, TEXTS * sizeof(*texts));
    return error;
}
