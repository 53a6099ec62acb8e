/* SPDX-License-Identifier: MIT */
/* events.c - visits the herds of the last minute, and the events of the flight recorder in the order of their time. */
#include "../base/user_code.h"
#include "../scheduler/expirer.h"
#include "herds.h"
#include "sites.h"

#include <stdlib.h>
#include <string.h>

/* ---- herds */

int htw_scheduler_visit_herds(struct htw_scheduler *scheduler, htw_herd_visitor *visitor,
                              void *context) {
    int refusal = htw__visit_refusal(scheduler, visitor != NULL);
    if (refusal != 0)
        return refusal;
    struct htw__herd list[HTW_HERDS_MAX];
    uint32_t count = 0;
    int64_t now_ns = htw__now_ns(scheduler);
    for (uint32_t i = 0; i < scheduler->expirer_count; i++) {
        struct htw__herds *herds = htw__herds_present(&scheduler->expirers[i].herds);
        if (herds != NULL)
            htw__herds_list(herds, now_ns, list, &count);
    }
    struct htw__safe_copy copy;
    struct htw__callback_frame frame = { .scheduler = scheduler };
    htw__safe_copy_init(&copy);
    htw__callback_frame_push(&frame);
    for (uint32_t i = 0; i < count; i++) {
        struct htw__site_text text;
        struct htw__site_shown shown = htw__site_show(&copy, list[i].origin, &text);
        struct htw_herd herd = {
            .ago_ns = htw__late_ns(now_ns, list[i].at_ns),
            .timers = list[i].timers,
            .site = shown.site,
            .address = shown.address,
            .callback = shown.callback,
        };
        HTW__CALL_USER("a visitor", scheduler, visitor, visitor(context, &herd));
    }
    htw__callback_frame_pop(&frame);
    htw__safe_copy_fini(&copy);
    return 0;
}

/* ---- the events of all rings */

struct recording {
    const struct htw_scheduler *scheduler;
    struct htw__event *events;
    size_t count, room;
    uint64_t most; /* of those that were recorded last are visited */
    uint64_t lost;
};

static size_t room_for(const struct htw_scheduler *scheduler) {
    size_t room = 0;
    for (uint32_t n = 0; n < scheduler->observer_count; n++) {
        const struct htw__event_ring *ring = htw__observer_ring(&scheduler->observers[n]);
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

static void add_events(struct recording *recording, const struct htw__observer *observer,
                       uint32_t runner) {
    const struct htw__event_ring *ring = htw__observer_ring(observer);
    uint64_t lost;
    recording->lost += htw__counter_read(&observer->lost);
    if (ring == NULL)
        return;
    if (ring->size > recording->room - recording->count) { /* one was new */
        recording->lost += htw__counter_read(&ring->count);
        return;
    }
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

/* ---- the texts of their sites */

/* Most events are of few sites, and to copy the text of one takes several system calls. */
#define TEXTS 256u

struct texts {
    struct htw__safe_copy copy;
    struct text {
        htw__origin origin; /* 0: none */
        struct htw__site_shown shown;
        struct htw__site_text text;
    } texts[TEXTS];
};

static struct htw__site_shown show(struct texts *texts, htw__origin origin) {
    struct text *text = &texts->texts[htw__site_place(origin, 8)];
    if (text->origin != origin) {
        text->origin = origin;
        text->shown = htw__site_show(&texts->copy, origin, &text->text);
    }
    return text->shown;
}

static void visit_from(const struct recording *recording, size_t first, struct texts *texts,
                       htw_event_visitor *visitor, void *context) {
    struct htw__callback_frame frame = { .scheduler = recording->scheduler };
    htw__callback_frame_push(&frame);
    for (size_t i = first; i < recording->count; i++) {
        const struct htw__event *event = &recording->events[i];
        struct htw__site_shown shown = show(texts, event->origin);
        struct htw_event public = {
            .kind = event->kind,
            .runner = event->runner,
            .time_ns = event->time_ns,
            .deadline_ns = event->deadline_ns,
            .duration_ns = event->duration_ns,
            .handle = event->handle,
            .site = shown.site,
            .address = shown.address,
            .callback = shown.callback,
        };
        HTW__CALL_USER("a visitor", recording->scheduler, visitor, visitor(context, &public));
    }
    htw__callback_frame_pop(&frame);
}

/* What is found goes into `events` and `texts`, which have room. */
static void gather_and_visit(struct recording *recording, struct texts *texts,
                             htw_event_visitor *visitor, void *context) {
    const struct htw_scheduler *scheduler = recording->scheduler;
    for (uint32_t n = 0; n < scheduler->observer_count; n++)
        add_events(recording, &scheduler->observers[n], runner_of(scheduler, n));
    qsort(recording->events, recording->count, sizeof(*recording->events), by_time);
    size_t first =
        recording->count > recording->most ? recording->count - (size_t)recording->most : 0;
    recording->lost += first;
    memset(texts, 0, sizeof(*texts));
    htw__safe_copy_init(&texts->copy);
    visit_from(recording, first, texts, visitor, context);
    htw__safe_copy_fini(&texts->copy);
}

int htw_scheduler_visit_events(struct htw_scheduler *scheduler, uint64_t most,
                               htw_event_visitor *visitor, void *context, uint64_t *ret_lost) {
    int refusal = htw__visit_refusal(scheduler, visitor != NULL);
    if (refusal != 0)
        return refusal;
    const struct htw_allocator *allocator = &scheduler->allocator;
    struct recording recording = { .scheduler = scheduler,
                                   .room = room_for(scheduler),
                                   .most = most };
    size_t bytes = (recording.room + 1) * sizeof(*recording.events);
    struct texts *texts = htw__allocate(allocator, sizeof(*texts));
    recording.events = htw__allocate(allocator, bytes);
    int error = texts == NULL || recording.events == NULL ? -ENOMEM : 0;
    if (error == 0)
        gather_and_visit(&recording, texts, visitor, context);
    if (error == 0 && ret_lost != NULL)
        *ret_lost = recording.lost;
    htw__release(allocator, recording.events, bytes);
    htw__release(allocator, texts, sizeof(*texts));
    return error;
}
