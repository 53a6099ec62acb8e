/* SPDX-License-Identifier: MIT */
/*
 * events.c - writes what the flight recorders have, a line of JSON for each event.
 *
 * A site has a line of its own before its first event, and a number from there on. An answer is bounded: of more
 * than EVENTS_MOST events the oldest count as lost.
 */
#include "../base/random.h"
#include "origin.h"
#include "sample.h"
#include "writers.h"

#include <inttypes.h>
#include <string.h>

#define EVENTS_MOST 100000u /* of all schedulers: with their sites they fit HTW__TEXT_MAX */
#define SLOTS ((size_t)2 * HTW_SITES_MAX)

struct recording {
    struct htw__answer_text *text;
    uint64_t most;      /* events of each scheduler */
    uint32_t scheduler; /* its number in the first line */
    uint64_t recorded;  /* events of this scheduler, those that are lost included */
    uint64_t written, lost;
    int site_count;
    struct {
        uintptr_t address; /* of the site, or the callback; 0: none */
        int number;
    } sites[SLOTS];
};

/* ---- the first line */

static void take_level(void *context, const union htw_visited *visited) {
    *(struct htw_scheduler_level *)context = visited->level;
}

static void write_scheduler(void *context, const struct htw__sample *sample) {
    struct recording *self = context;
    struct htw_scheduler *scheduler = sample->source->of.scheduler;
    struct htw_scheduler_level level = { .buckets = 0 };
    (void)htw_scheduler_visit(scheduler, HTW_VISIT_LEVELS, 1, take_level, &level);
    htw__text_separate(self->text);
    htw__text_add(self->text,
                  "{\"name\":\"%s\",\"tick_ns\":%" PRId64 ",\"wheel_size\":%" PRIu32
                  ",\"observed\":",
                  sample->source->name, level.bucket_ns, level.buckets);
    htw__observed_write(htw_scheduler_observed(scheduler), self->text);
    htw__text_add(self->text, "}");
}

/* ---- events */

static void write_site(struct recording *self, const struct htw_event *event) {
    struct htw__origin origin;
    htw__origin_take(&origin, &event->origin);
    htw__text_add(self->text, "{\"site\":%d,", self->site_count);
    htw__origin_write(&origin, self->text);
    htw__text_add(self->text, "}\n");
}

/* The number of the site, which has its line from now on; -1: none is known, or there are too many. */
static int number_of(struct recording *self, const struct htw_event *event) {
    uintptr_t address = event->origin.address != NULL ? (uintptr_t)event->origin.address
                                                      : (uintptr_t)event->origin.callback;
    size_t i = (size_t)htw__random_mix(address) & (SLOTS - 1);
    while (self->sites[i].address != 0 && self->sites[i].address != address)
        i = (i + 1) & (SLOTS - 1);
    if (address == 0 || (self->sites[i].address == 0 && self->site_count == HTW_SITES_MAX))
        return -1;
    if (self->sites[i].address == 0) {
        write_site(self, event);
        self->sites[i].address = address;
        self->sites[i].number = self->site_count++;
    }
    return self->sites[i].number;
}

static void write_value(struct recording *self, const struct htw_event *event) {
    int64_t late_ns = event->time_ns > event->deadline_ns ? event->time_ns - event->deadline_ns : 0;
    bool has_lateness = event->kind == HTW_EVENT_STARTED || event->kind == HTW_EVENT_WOKEN;
    int64_t value = has_lateness                     ? late_ns
                    : event->kind == HTW_EVENT_ENDED ? event->duration_ns
                                                     : event->deadline_ns;
    if (event->kind == HTW_EVENT_CANCELLED)
        return;
    if (value == HTW_NEVER_NS)
        htw__text_add(self->text, ",null");
    else
        htw__text_add(self->text, ",%" PRId64, value);
}

static void write_event(void *context, const union htw_visited *visited) {
    const struct htw_event *event = &visited->event;
    static const char *const kinds[] = {
        [HTW_EVENT_ARMED] = "armed", [HTW_EVENT_CANCELLED] = "cancelled",
        [HTW_EVENT_MOVED] = "moved", [HTW_EVENT_STARTED] = "started",
        [HTW_EVENT_ENDED] = "ended", [HTW_EVENT_WOKEN] = "woken",
    };
    struct recording *self = context;
    int site = number_of(self, event);
    htw__text_add(self->text, "[%" PRId64 ",\"%s\",%" PRIu32 ",%d,\"%" PRIx64 "\"", event->time_ns,
                  kinds[event->kind], self->scheduler, site, (uint64_t)event->handle);
    write_value(self, event);
    htw__text_add(self->text, "]\n");
    self->recorded = event->number + 1;
    self->written++;
}

static void write_events(void *context, const struct htw__sample *sample) {
    struct recording *self = context;
    struct htw_scheduler *scheduler = sample->source->of.scheduler;
    uint64_t before = self->written;
    self->recorded = 0;
    self->text->has_failed |=
        htw_scheduler_visit(scheduler, HTW_VISIT_EVENTS, self->most, write_event, self) != 0;
    self->lost += self->recorded - (self->written - before);
    self->scheduler++;
}

void htw__events_write(struct htw_monitor *monitor, struct htw__answer_text *text) {
    struct recording *self = htw__allocate(&monitor->allocator, sizeof(*self));
    text->has_failed |= self == NULL;
    if (self == NULL)
        return;
    memset(self, 0, sizeof(*self));
    self->text = text;
    self->most = EVENTS_MOST / (monitor->source_count > 0 ? monitor->source_count : 1);
    htw__json_write_head(monitor, text);
    htw__text_add(text, ",\"kind\":\"events\",\"schedulers\":[");
    htw__sources_visit(monitor, HTW__SOURCE_SCHEDULER, write_scheduler, self);
    htw__text_add(text, "]}\n");
    htw__sources_visit(monitor, HTW__SOURCE_SCHEDULER, write_events, self);
    htw__text_add(text, "{\"events\":%" PRIu64 ",\"lost\":%" PRIu64 "}\n", self->written,
                  self->lost);
    htw__release(&monitor->allocator, self, sizeof(*self));
}
