/* SPDX-License-Identifier: MIT */
/* cache.c - the private caches of up to 64 CPUs: who has which line, and which lines change hands. */
#include "cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines are in a hash table with open addressing; twice as many places as a run touches lines. */
#define PLACES ((size_t)1 << 20)

/* `holders`: one bit for each CPU that has the line. A line that is changed has one holder. */
struct line {
    uintptr_t number; /* the address, divided; 0: the place is free */
    uint64_t holders;
};

static struct line *lines;
static size_t line_count;
static struct cache_event *events;
static size_t event_count, event_room;
static bool is_logging;

static void fail(const char *what) {
    fprintf(stderr, "coherence: %s\n", what);
    exit(2);
}

void cache_reset(void) {
    free(lines);
    lines = calloc(PLACES, sizeof(*lines));
    if (lines == NULL)
        fail("out of memory");
    line_count = 0;
    cache_log(false);
}

static struct line *find(uintptr_t number) {
    size_t place = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 44) & (PLACES - 1);
    while (lines[place].number != number && lines[place].number != 0)
        place = (place + 1) & (PLACES - 1);
    if (lines[place].number == 0) {
        if (++line_count > PLACES / 4 * 3)
            fail("a run touches too many cache lines");
        lines[place].number = number;
    }
    return &lines[place];
}

static void log_event(bool is_write, const void *code) {
    if (event_count == event_room) {
        event_room = event_room == 0 ? 4096 : 2 * event_room;
        events = realloc(events, event_room * sizeof(*events));
        if (events == NULL)
            fail("out of memory");
    }
    events[event_count++] = (struct cache_event) { (uintptr_t)code, is_write };
}

/* Whether the line changes hands. */
static bool access_line(struct line *line, uint64_t cpu, bool is_write) {
    uint64_t holders = line->holders;
    bool is_hit = is_write ? holders == cpu : (holders & cpu) != 0;
    line->holders = is_write ? cpu : holders | cpu;
    return !is_hit && holders != 0;
}

unsigned cache_access(unsigned cpu, const volatile void *memory, size_t size, bool is_write,
                      const void *code) {
    uintptr_t first = (uintptr_t)memory, last = first + (size == 0 ? 0 : size - 1);
    unsigned moved = 0;
    for (uintptr_t number = first / CACHE_LINE; number <= last / CACHE_LINE; number++) {
        if (!access_line(find(number), UINT64_C(1) << cpu, is_write))
            continue;
        moved++;
        if (is_logging)
            log_event(is_write, code);
    }
    return moved;
}

void cache_log(bool on) {
    is_logging = on;
    if (on)
        event_count = 0;
}

const struct cache_event *cache_events(size_t *ret_count) {
    *ret_count = event_count;
    return events;
}
