/* SPDX-License-Identifier: MIT */
/* draw.c - draws the answers of a monitor: its sources, in their order. */
#include "draw.h"

#include <htw/monitor.h>

#include <inttypes.h>
#include <string.h>

#define OBSERVED_MAX 4 /* words */

/* ---- sources */

/* A part of what is shown of a source: a figure, which `kind` says how to show, with its label; or one of these. */
struct part {
    int kind; /* enum htw__how */
    const char *label, *member;
};
enum {
    LINE = HTW__HOWS, /* begins with the label */
    TROUBLE,          /* a count that is shown where it is not 0 */
    OF_SHARDS,        /* a count of all shards */
    AGE,              /* where it is not short */
    DURATIONS,        /* a line */
    WAITS             /* likewise, of bars alone */
};

static const struct part of_scheduler[] = {
    { LINE, "  ", "" },
    { HTW__COUNT, "pending", "pending" },
    { HTW__COUNT, "running", "running" },
    { OF_SHARDS, "groups", "groups" },
    { HTW__BYTES, "memory", "memory_bytes" },
    { TROUBLE, "late", "late" },
    { TROUBLE, "missed periods", "missed" },
    { TROUBLE, "refused", "refused" },
    { LINE, "  per second: ", "" },
    { HTW__RATE, "scheduled", "scheduled" },
    { HTW__RATE, "fired", "fired" },
    { HTW__RATE, "cancelled", "cancelled" },
    { HTW__RATE, "moved", "moved" },
    { HTW__RATE, "demoted", "demoted" },
    { LINE, "              ", "" },
    { HTW__RATE, "runs", "runs" },
    { HTW__RATE, "wake-ups", "wakeups" },
    { HTW__RATE, "of these with nothing due", "empty_wakeups" },
    { DURATIONS, "lateness", "lateness" },
    { DURATIONS, "callback", "callback" },
    { LINE, NULL, "" },
};

/* The scheduler counts the timers as its own, and a group for each purgatory. */
static const struct part of_purgatory[] = {
    { LINE, "  ", "" },
    { HTW__COUNT, "pending", "pending" },
    { HTW__COUNT, "keys", "keys" },
    { HTW__COUNT, "watches", "watched" },
    { HTW__COUNT, "with a timeout", "delayed" },
    { HTW__BYTES, "memory", "memory_bytes" },
    { LINE, "  in its scheduler: one group, ", "" },
    { HTW__COUNT, "timers", "alarms" },
    { LINE, "  per second: ", "" },
    { HTW__RATE, "submitted", "submitted" },
    { HTW__RATE, "completed", "completed" },
    { HTW__RATE, "expired", "expired" },
    { HTW__RATE, "cancelled", "cancelled" },
    { WAITS, "waits", "waits" },
    { LINE, NULL, "" },
};

static const struct part of_journal[] = {
    { LINE, "  ", "" },
    { HTW__COUNT, "delayed", "delayed" },
    { HTW__COUNT, "ready", "ready" },
    { HTW__COUNT, "leased", "leased" },
    { HTW__COUNT, "buried", "buried" },
    { TROUBLE, "stopped", "stopped" },
    { TROUBLE, "refused", "refused" },
    { TROUBLE, "failed", "failed" },
    { LINE, "  ", "" },
    { HTW__DURATION, "oldest in memory", "oldest_ns" },
    { HTW__COUNT, "requests", "requests" },
    { HTW__COUNT, "queues", "queues" },
    { HTW__BYTES, "log", "log_bytes" },
    { HTW__BYTES, "memory", "memory_bytes" },
    { LINE, "  per second: ", "" },
    { HTW__RATE, "commits", "commits" },
    { HTW__RATE, "put", "put" },
    { HTW__RATE, "done", "done" },
    { HTW__RATE, "cancelled", "cancelled" },
    { HTW__RATE, "replaced", "replaced" },
    { HTW__RATE, "delivered", "delivered" },
    { DURATIONS, "commit", "commit" },
    { DURATIONS, "durable", "durable" },
    { DURATIONS, "lateness", "lateness" },
    { LINE, NULL, "" },
};

static const struct part of_wheel[] = {
    { LINE, "  ", "" },
    { HTW__COUNT, "pending", "pending" },
    { HTW__BYTES, "memory", "memory_bytes" },
    { AGE, "ago", "age_ns" },
    { LINE, "  per second: ", "" },
    { HTW__RATE, "scheduled", "scheduled" },
    { HTW__RATE, "expired", "expired" },
    { HTW__RATE, "cancelled", "cancelled" },
    { HTW__RATE, "moved", "moved" },
    { HTW__RATE, "demoted", "demoted" },
    { LINE, NULL, "" },
};

static const struct kind {
    const char *name, *member;
    const struct part *parts;
} kinds[] = {
    { "scheduler", "schedulers", of_scheduler },
    { "purgatory", "purgatories", of_purgatory },
    { "journal", "journals", of_journal },
    { "wheel", "wheels", of_wheel },
};
enum { SCHEDULER, PURGATORY, JOURNAL, WHEEL, KINDS };

static void end_line(struct htw__page *page) {
    if (page->column > 0)
        htw__page_end_line(page);
}

static void draw_durations(const struct htw__drawing *self, const struct htw__item *source,
                           const struct part *part) {
    const json_t *now = json_object_get(source->now, part->member);
    const json_t *before = json_object_get(source->before, part->member);
    struct htw__durations durations = {
        part->label, now,  json_object_get(before, "histogram"), json_object_get(now, "histogram"),
        1000,        "1us"
    };
    if (part->kind == WAITS)
        durations = (struct htw__durations) { part->label, NULL, before, now, 1000000, "1ms" };
    else if (durations.bars == NULL && htw__answer_number(now, "count") == 0)
        return;
    end_line(self->page);
    htw__chart_durations(self, &durations);
}

static void draw_figure(const struct htw__drawing *self, const struct htw__item *source,
                        const struct part *part) {
    char text[HTW__FIGURE_SIZE];
    htw__page_flow(self->page, HTW__LABEL "%s " HTW__PLAIN "%s  ", part->label,
                   htw__item_figure(self, source, (enum htw__how)part->kind, part->member, text));
}

/* What there is besides figures as they are. */
static void draw_special(const struct htw__drawing *self, const struct htw__item *source,
                         const struct part *part) {
    const json_t *shards = json_object_get(source->now, "shards");
    uint64_t number = htw__answer_number(source->now, part->member);
    char text[HTW__FIGURE_SIZE];
    for (size_t i = 0; i < json_array_size(shards) && part->kind == OF_SHARDS; i++)
        number += htw__answer_number(json_array_get(shards, i), part->member);
    if (part->kind == OF_SHARDS)
        htw__page_flow(self->page, HTW__LABEL "%s " HTW__PLAIN "%s  ", part->label,
                       htw__figure_count(number, text));
    else if (part->kind == TROUBLE && number > 0)
        htw__page_flow(self->page, HTW__WARNING "%s %s  " HTW__PLAIN, part->label,
                       htw__figure_count(number, text));
    else if (part->kind == AGE && number > 2000000000) /* its owner has not slept since */
        htw__page_flow(self->page, HTW__LABEL "as of " HTW__PLAIN "%s " HTW__LABEL "%s" HTW__PLAIN,
                       htw__figure_duration(number, text), part->label);
}

static void draw_parts(const struct htw__drawing *self, const struct htw__item *source,
                       const struct part *parts) {
    for (const struct part *part = parts; part->label != NULL; part++) {
        if (part->kind < HTW__HOWS)
            draw_figure(self, source, part);
        else if (part->kind == DURATIONS || part->kind == WAITS)
            draw_durations(self, source, part);
        else if (part->kind != LINE)
            draw_special(self, source, part);
        else {
            end_line(self->page);
            htw__page_add(self->page, HTW__LABEL "%s", part->label);
        }
    }
    end_line(self->page);
    htw__chart_levels(self, json_object_get(source->now, "levels"));
}

/* ---- the page */

/* A page of one kind of source: all that is known of it, or a list. */
static const struct {
    int kind;
    enum htw__list list;
    const char *nothing;
} pages[HTW__PAGE_COUNT] = {
    [HTW__PAGE_OVERVIEW] = { KINDS, HTW__LIST_NONE, "the program shows nothing yet" },
    [HTW__PAGE_SITES] = { SCHEDULER, HTW__LIST_SITES, "no scheduler is shown" },
    [HTW__PAGE_WAKEUPS] = { SCHEDULER, HTW__LIST_WAKEUPS, "no scheduler is shown" },
    [HTW__PAGE_HERDS] = { SCHEDULER, HTW__LIST_HERDS, "no scheduler is shown" },
    [HTW__PAGE_GROUPS] = { SCHEDULER, HTW__LIST_GROUPS, "no scheduler is shown" },
    [HTW__PAGE_QUEUES] = { JOURNAL, HTW__LIST_QUEUES, "no journal is shown" },
};

static void draw_observed(const struct htw__drawing *self, const json_t *words) {
    char text[HTW__ANSWER_TEXT_SIZE];
    if (json_array_size(words) > 0)
        htw__page_flow(self->page, HTW__LABEL "observed " HTW__PLAIN);
    for (size_t i = 0; i < json_array_size(words) && i < OBSERVED_MAX; i++) {
        const char *word = json_string_value(json_array_get(words, i));
        snprintf(text, sizeof(text), "%s", word == NULL ? "" : word);
        htw__answer_clean(text);
        htw__page_flow_text(self->page, HTW__PLAIN, text);
    }
}

static void draw_source(const struct htw__drawing *self, const struct kind *kind,
                        const struct htw__item *source) {
    enum htw__list list = pages[self->view->page].list;
    char text[HTW__ANSWER_TEXT_SIZE];
    htw__page_end_line(self->page);
    htw__page_add(self->page, HTW__TITLE "%s " HTW__PLAIN, kind->name);
    htw__page_flow_text(self->page, HTW__TITLE, htw__answer_text(source->now, "name", text));
    draw_observed(self, json_object_get(source->now, "observed"));
    htw__page_flow_text(self->page, HTW__WARNING, htw__answer_text(source->now, "error", text));
    htw__page_end_line(self->page);
    if (*text != '\0')
        return;
    if (list == HTW__LIST_NONE)
        draw_parts(self, source, kind->parts);
    else
        htw__list_draw(self, source, list);
}

static const json_t *source_before(const json_t *sources, const char *name) {
    for (size_t i = 0; i < json_array_size(sources) && i < HTW_MONITOR_SOURCES_MAX; i++)
        if (strcmp(htw__answer_string(json_array_get(sources, i), "name"), name) == 0)
            return json_array_get(sources, i);
    return NULL;
}

/* Returns how many there are. */
static size_t draw_kind(const struct htw__drawing *self, const json_t *now,
                        const struct kind *kind) {
    const json_t *sources = json_object_get(now, kind->member);
    const json_t *before = json_object_get(self->before, kind->member);
    size_t size = json_array_size(sources);
    size_t count = size < HTW_MONITOR_SOURCES_MAX ? size : HTW_MONITOR_SOURCES_MAX;
    for (size_t i = 0; i < count; i++) {
        const json_t *source = json_array_get(sources, i);
        struct htw__item item = { source,
                                  source_before(before, htw__answer_string(source, "name")) };
        draw_source(self, kind, &item);
    }
    return count;
}

static void draw_program(struct htw__page *page, const json_t *now, int64_t clock_ns) {
    char text[HTW__ANSWER_TEXT_SIZE], age[HTW__FIGURE_SIZE];
    int64_t opened_ns = (int64_t)htw__answer_number(now, "opened_ns");
    htw__page_flow(page, HTW__TITLE "%.48s " HTW__PLAIN, htw__answer_text(now, "program", text));
    htw__page_flow(page, "(process %" PRIu64 ", htw %.31s), ", htw__answer_number(now, "pid"),
                   htw__answer_text(now, "htw", text));
    htw__figure_duration(clock_ns > opened_ns ? (uint64_t)(clock_ns - opened_ns) : 0, age);
    htw__page_flow(page, "open for %s", age);
    htw__page_end_line(page);
}

void htw__draw(const struct htw__view *view, const json_t *before, const json_t *now,
               struct htw__page *page) {
    struct htw__drawing self = { .view = view, .before = before, .page = page };
    int64_t clock_ns = (int64_t)htw__answer_number(now, "clock_ns");
    int64_t clock_before_ns = (int64_t)htw__answer_number(before, "clock_ns");
    size_t shown = 0;
    if (clock_before_ns > 0 && clock_ns > clock_before_ns)
        self.seconds = (double)(clock_ns - clock_before_ns) / 1e9;
    draw_program(page, now, clock_ns);
    for (int kind = 0; kind < KINDS; kind++)
        if (pages[view->page].kind == KINDS || pages[view->page].kind == kind)
            shown += draw_kind(&self, now, &kinds[kind]);
    if (shown == 0) {
        htw__page_add(page, "%s", pages[view->page].nothing);
        htw__page_end_line(page);
    }
}
