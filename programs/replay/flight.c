/* SPDX-License-Identifier: MIT */
/* flight.c - what is made of a flight record: its order, the runs of callbacks, and the counts of each site. */
#include "flight.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void htw__flight_init(struct htw__flight *flight) {
    *flight = (struct htw__flight) { .pid = 0 };
}

void htw__flight_fini(struct htw__flight *flight) {
    free(flight->sites);
    free(flight->events);
    free(flight->marks);
    htw__flight_init(flight);
}

void *htw__flight_grow(void *array, size_t count, size_t size) {
    bool is_full = (count & (count - 1)) == 0; /* it doubles at powers of two */
    return is_full ? realloc(array, (count == 0 ? 1 : 2 * count) * size) : array;
}

struct htw__flight_site *htw__flight_add_site(struct htw__flight *flight) {
    struct htw__flight_site *sites =
        htw__flight_grow(flight->sites, flight->site_count, sizeof(struct htw__flight_site));
    if (sites == NULL)
        return NULL;
    flight->sites = sites;
    sites[flight->site_count] =
        (struct htw__flight_site) { .number = (uint32_t)flight->site_count };
    return &sites[flight->site_count++];
}

/* ---- order */

static int compare(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int by_time(const void *one, const void *two) {
    const struct htw__flight_event *a = one, *b = two;
    int order = compare((uint64_t)a->time_ns, (uint64_t)b->time_ns);
    return order != 0 ? order : compare(a->order, b->order);
}

static int by_timer(const void *one, const void *two) {
    const struct htw__flight_event *a = *(const struct htw__flight_event *const *)one;
    const struct htw__flight_event *b = *(const struct htw__flight_event *const *)two;
    int order = compare(a->scheduler, b->scheduler);
    if (order == 0)
        order = compare(a->handle, b->handle);
    return order != 0 ? order : compare((uintptr_t)a, (uintptr_t)b); /* they are sorted by time */
}

static int marks_by_time(const void *one, const void *two) {
    const struct htw__flight_mark *a = one, *b = two;
    return compare((uint64_t)a->time_ns, (uint64_t)b->time_ns);
}

static bool is_same_timer(const struct htw__flight_event *a, const struct htw__flight_event *b) {
    return a->scheduler == b->scheduler && a->handle == b->handle;
}

/* A site for events that name none. */
static int name_site(struct htw__flight *flight, uint32_t *site, const char *name,
                     const char *place) {
    if (*site != UINT32_MAX)
        return 0;
    struct htw__flight_site *added = htw__flight_add_site(flight);
    if (added == NULL)
        return -ENOMEM;
    snprintf(added->name, sizeof(added->name), "%s", name);
    snprintf(added->place, sizeof(added->place), "%s", place);
    *site = (uint32_t)flight->site_count - 1;
    return 0;
}

static int name_unknown(struct htw__flight *flight) {
    uint32_t nothing = UINT32_MAX, unknown = UINT32_MAX;
    int error = 0;
    for (size_t i = 0; i < flight->event_count && error == 0; i++) {
        struct htw__flight_event *event = &flight->events[i];
        if (event->site != UINT32_MAX)
            continue;
        bool is_empty = event->kind == HTW__FLIGHT_WOKEN && event->handle == 0;
        error = is_empty ? name_site(flight, &nothing, "nothing due",
                                     "the timer had been cancelled or moved")
                         : name_site(flight, &unknown, "no site", "");
        event->site = is_empty ? nothing : unknown;
    }
    return error;
}

/* ---- runs and wake-ups */

static void add_mark(struct htw__flight *flight, struct htw__flight_mark mark) {
    struct htw__flight_site *site = &flight->sites[mark.site];
    flight->marks[flight->mark_count++] = mark;
    site->wakeups += mark.is_wakeup;
    site->expired += !mark.is_wakeup;
    if (!mark.is_wakeup && mark.duration_ns > 0)
        site->callback_ns += (uint64_t)mark.duration_ns;
}

/* A run that began before the record does, or whose beginning is lost. */
static void add_end(struct htw__flight *flight, const struct htw__flight_event *end) {
    int64_t took_ns = end->value < 0 ? 0 : end->value;
    bool is_inside = took_ns < end->time_ns - flight->begin_ns;
    add_mark(flight, (struct htw__flight_mark) { .time_ns = is_inside ? end->time_ns - took_ns
                                                                      : flight->begin_ns,
                                                 .late_ns = HTW__FLIGHT_NONE,
                                                 .duration_ns = end->value,
                                                 .site = end->site });
}

static void add_start(struct htw__flight *flight, const struct htw__flight_event *start,
                      const struct htw__flight_event *end) {
    add_mark(flight, (struct htw__flight_mark) {
                         .time_ns = start->time_ns,
                         .late_ns = start->value,
                         .duration_ns = end == NULL ? HTW__FLIGHT_NONE : end->value,
                         .site = start->site,
                     });
    flight->sites[start->site].late += start->value > HTW__FLIGHT_LATE_NS;
}

static void add_wakeup(struct htw__flight *flight, const struct htw__flight_event *event) {
    add_mark(flight, (struct htw__flight_mark) { .time_ns = event->time_ns,
                                                 .late_ns = event->value,
                                                 .duration_ns = HTW__FLIGHT_NONE,
                                                 .site = event->site,
                                                 .is_wakeup = true });
}

static void count_change(struct htw__flight *flight, const struct htw__flight_event *event) {
    struct htw__flight_site *site = &flight->sites[event->site];
    site->armed += event->kind == HTW__FLIGHT_ARMED;
    site->moved += event->kind == HTW__FLIGHT_MOVED;
    site->cancelled += event->kind == HTW__FLIGHT_CANCELLED;
}

/* All events of one timer, in order of time; those without a handle are of any. */
static void take_timer(struct htw__flight *flight, struct htw__flight_event *const *events,
                       size_t count) {
    const struct htw__flight_event *start = NULL;
    const struct htw__flight_event *first = NULL; /* of what happened to the timer itself */
    for (size_t i = 0; i < count; i++) {
        const struct htw__flight_event *event = events[i];
        if (event->kind == HTW__FLIGHT_WOKEN) {
            add_wakeup(flight, event);
            continue;
        }
        first = first == NULL ? event : first;
        bool ends = event->kind == HTW__FLIGHT_ENDED;
        if (!ends && event->kind != HTW__FLIGHT_STARTED) {
            count_change(flight, event);
            continue;
        }
        if (start != NULL)
            add_start(flight, start, ends ? event : NULL);
        else if (ends)
            add_end(flight, event);
        start = ends ? NULL : event;
    }
    if (start != NULL)
        add_start(flight, start, NULL);
    flight->earlier += first != NULL && first->handle != 0 && first->kind != HTW__FLIGHT_ARMED;
}

static void take_events(struct htw__flight *flight, struct htw__flight_event **events) {
    size_t count = flight->event_count, first = 0;
    qsort(flight->events, count, sizeof(struct htw__flight_event), by_time);
    flight->begin_ns = flight->events[0].time_ns;
    flight->end_ns = flight->events[count - 1].time_ns;
    for (size_t i = 0; i < count; i++)
        events[i] = &flight->events[i];
    qsort(events, count, sizeof(struct htw__flight_event *), by_timer);
    for (size_t i = 1; i <= count; i++)
        if (i == count || !is_same_timer(events[i], events[first])) {
            take_timer(flight, events + first, i - first);
            first = i;
        }
    qsort(flight->marks, flight->mark_count, sizeof(struct htw__flight_mark), marks_by_time);
}

static int by_wakeups(const void *one, const void *two) {
    const struct htw__flight_site *a = one, *b = two;
    int order = compare(b->wakeups, a->wakeups);
    if (order == 0)
        order = compare(b->expired, a->expired);
    if (order == 0)
        order = compare(b->armed, a->armed);
    return order != 0 ? order : compare(a->number, b->number);
}

static int rank_sites(struct htw__flight *flight) {
    uint32_t *ranks = malloc(flight->site_count * sizeof(*ranks));
    if (ranks == NULL)
        return -ENOMEM;
    qsort(flight->sites, flight->site_count, sizeof(struct htw__flight_site), by_wakeups);
    for (uint32_t i = 0; i < flight->site_count; i++)
        ranks[flight->sites[i].number] = i;
    for (size_t i = 0; i < flight->mark_count; i++)
        flight->marks[i].site = ranks[flight->marks[i].site];
    free(ranks);
    return 0;
}

int htw__flight_finish(struct htw__flight *flight) {
    size_t count = flight->event_count;
    struct htw__flight_event **events = malloc((count + 1) * sizeof(struct htw__flight_event *));
    flight->marks = malloc((count + 1) * sizeof(struct htw__flight_mark));
    bool has_memory = events != NULL && flight->marks != NULL;
    int error = has_memory ? name_unknown(flight) : -ENOMEM;
    if (error == 0 && count > 0) {
        take_events(flight, events);
        error = rank_sites(flight);
    }
    free(events);
    return error;
}
