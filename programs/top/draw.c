/* SPDX-License-Identifier: MIT */
/* draw.c - draws the answers of a monitor: its sources, in their order. */
#include "draw.h"

#include <htw/monitor.h>

#include <inttypes.h>
#include <string.h>

#define OBSERVED_MAX 4 /* words */
#define NUMBERS_MAX 64 /* of a source */

/* ---- the numbers of a source, by the names that the monitor gives them */

#define LABEL_SIZE 32

/* What is shown in red, and only where it is not 0. */
static bool is_trouble(const char *member) {
    static const char *const troubles[] = { "late", "missed", "refused", "failed", "stopped" };
    for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++)
        if (strcmp(member, troubles[i]) == 0)
            return true;
    return false;
}

/* A name without the unit at its end, which the figure has. Returns `label`. */
static const char *label_of(const char *member, enum htw__how how, char label[LABEL_SIZE]) {
    const char *unit = how == HTW__BYTES || how == HTW__DURATION ? strrchr(member, '_') : NULL;
    size_t length = unit != NULL ? (size_t)(unit - member) : strlen(member);
    snprintf(label, LABEL_SIZE, "%.*s", (int)(length < LABEL_SIZE ? length : LABEL_SIZE), member);
    for (char *c = label; *c != '\0'; c++)
        if (*c == '_')
            *c = ' ';
    htw__answer_clean(label);
    return label;
}

static enum htw__how how_to_show(const char *member, bool is_counter) {
    size_t length = strlen(member);
    return is_counter                                                 ? HTW__RATE
           : length > 6 && strcmp(member + length - 6, "_bytes") == 0 ? HTW__BYTES
           : length > 3 && strcmp(member + length - 3, "_ns") == 0    ? HTW__DURATION
                                                                      : HTW__COUNT;
}

static void draw_number(const struct htw__drawing *self, const struct htw__item *source,
                        const char *member, bool is_counter) {
    enum htw__how how = how_to_show(member, is_counter);
    char label[LABEL_SIZE], text[HTW__FIGURE_SIZE];
    htw__page_flow(self->page, HTW__LABEL "%s " HTW__PLAIN "%s  ", label_of(member, how, label),
                   htw__item_figure(self, source, how, member, text));
}

static void draw_trouble(const struct htw__drawing *self, const struct htw__item *source,
                         const char *member) {
    char text[HTW__FIGURE_SIZE];
    if (htw__answer_number(source->now, member) > 0)
        htw__page_flow(self->page, HTW__WARNING "%s %s  " HTW__PLAIN, member,
                       htw__item_figure(self, source, HTW__COUNT, member, text));
}

/* A line of what is now, and one of what is counted. */
static void draw_numbers(const struct htw__drawing *self, const struct htw__item *source) {
    for (int are_counters = 0; are_counters < 2; are_counters++) {
        const char *member;
        json_t *value, *object = (json_t *)(uintptr_t)source->now;
        size_t shown = 0;
        htw__page_add(self->page, HTW__LABEL "%s", are_counters ? "  per second: " : "  ");
        json_object_foreach(object, member, value) {
            if (!json_is_integer(value) || ++shown > NUMBERS_MAX)
                continue;
            if (!is_trouble(member) && htw__answer_has(self->counters, member) == are_counters)
                draw_number(self, source, member, are_counters);
            else if (is_trouble(member) && !are_counters)
                draw_trouble(self, source, member);
        }
        htw__page_end_line(self->page);
    }
}

/* A line for each distribution, and for the waits of a purgatory, of which only the bars are known. */
static void draw_durations(const struct htw__drawing *self, const struct htw__item *source) {
    const char *member;
    json_t *now, *object = (json_t *)(uintptr_t)source->now;
    size_t shown = 0;
    json_object_foreach(object, member, now) {
        const json_t *before = json_object_get(source->before, member);
        const json_t *bars = json_object_get(now, "histogram");
        bool are_waits = json_is_array(now) && strcmp(member, "waits") == 0;
        char label[LABEL_SIZE];
        struct htw__durations durations = { label_of(member, HTW__COUNT, label),
                                            now,
                                            json_object_get(before, "histogram"),
                                            bars,
                                            1000,
                                            "1us" };
        if (are_waits)
            durations = (struct htw__durations) { label, NULL, before, now, 1000000, "1ms" };
        else if (!json_is_object(now) || (bars == NULL && htw__answer_number(now, "count") == 0))
            continue;
        if (++shown <= NUMBERS_MAX)
            htw__chart_durations(self, &durations);
    }
}

static const struct kind {
    const char *name, *member;
} kinds[] = {
    { "scheduler", "schedulers" },
    { "purgatory", "purgatories" },
    { "journal", "journals" },
    { "wheel", "wheels" },
};
enum { SCHEDULER, PURGATORY, JOURNAL, WHEEL, KINDS };

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
    if (list != HTW__LIST_NONE) {
        htw__list_draw(self, source, list);
        return;
    }
    draw_numbers(self, source);
    draw_durations(self, source);
    htw__chart_levels(self, json_object_get(source->now, "levels"));
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
    struct htw__drawing self = { view, before, json_object_get(now, "counters"), page, 0 };
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
