/* SPDX-License-Identifier: MIT */
/*
 * flight_read.c - reads the lines of a flight record, which are JSON.
 *
 * Each line is parsed by itself and is short, so a hostile one takes little memory. Members and elements that are
 * not known are left out: a later version may have more of them.
 */
#include "flight.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT 1
#define TIME_MAX_NS (INT64_MAX / 4) /* sums of them do not overflow */

static const char no_memory[] = "no memory";

static int64_t clamp(json_int_t value) {
    return value < 0 ? 0 : value > TIME_MAX_NS ? TIME_MAX_NS : (int64_t)value;
}

/* Negative ones count as 0. */
static int64_t number(const json_t *object, const char *name) {
    return clamp(json_integer_value(json_object_get(object, name)));
}

/* NULL: it is missing, empty, or no string. */
static const char *text(const json_t *object, const char *name) {
    const char *value = json_string_value(json_object_get(object, name));
    return value == NULL || *value == '\0' ? NULL : value;
}

static void copy(char *into, size_t size, const char *value, const char *otherwise) {
    snprintf(into, size, "%s", value != NULL ? value : otherwise);
}

static const char *take_head(struct htw__flight *flight, const json_t *object) {
    const char *kind = text(object, "kind");
    if (kind == NULL || strcmp(kind, "events") != 0)
        return "not a flight record";
    if (flight->has_head)
        return "another flight record begins";
    if (number(object, "format") != FORMAT)
        return "the flight record is of a newer version than htw replay";
    flight->has_head = true;
    copy(flight->program, sizeof(flight->program), text(object, "program"), "?");
    flight->pid = number(object, "pid");
    flight->clock_ns = number(object, "clock_ns");
    flight->wall_ns = number(object, "wall_ns");
    flight->scheduler_count = json_array_size(json_object_get(object, "schedulers"));
    return flight->scheduler_count > HTW__FLIGHT_SCHEDULERS_MAX
               ? "more schedulers than any program has"
               : NULL;
}

/* "accept_one() server.c:88", or what of it is known. */
static void put_place(char *into, size_t size, const char *function, const char *file,
                      int64_t line) {
    size_t length = 0;
    *into = '\0';
    if (function != NULL)
        length = (size_t)snprintf(into, size, "%s()", function);
    if (file != NULL && length < size)
        snprintf(into + length, size - length, "%s%s:%" PRId64, length > 0 ? " " : "", file, line);
}

static const char *take_site(struct htw__flight *flight, const json_t *object) {
    const char *name = text(object, "name"), *file = text(object, "file");
    const char *function = text(object, "function"), *symbol = text(object, "symbol");
    const char *address = text(object, "address");
    const char *callback = symbol != NULL ? symbol : address != NULL ? address : "not known";
    if (json_integer_value(json_object_get(object, "site")) != (json_int_t)flight->site_count)
        return "the number of the site is not the next one";
    if (flight->site_count == HTW__FLIGHT_SITES_MAX)
        return "more sites than any program tells apart";
    struct htw__flight_site *site = htw__flight_add_site(flight);
    if (site == NULL)
        return no_memory;
    copy(site->name, sizeof(site->name), name, function != NULL ? function : callback);
    put_place(site->place, sizeof(site->place), function, file, number(object, "line"));
    if (name != NULL && function == NULL && file == NULL)
        snprintf(site->place, sizeof(site->place), "callback %s", callback);
    return NULL;
}

static const char *take_end(struct htw__flight *flight, const json_t *object) {
    flight->lost = (uint64_t)number(object, "lost");
    if ((uint64_t)number(object, "events") != flight->event_count + flight->skipped)
        return "the last line counts other events than there are";
    flight->is_whole = true;
    return NULL;
}

static const char *take_object(struct htw__flight *flight, const json_t *object) {
    if (json_object_get(object, "htw") != NULL)
        return take_head(flight, object);
    if (!flight->has_head)
        return "not a flight record";
    if (json_object_get(object, "site") != NULL)
        return take_site(flight, object);
    return json_object_get(object, "events") != NULL ? take_end(flight, object) : NULL;
}

/* ---- events */

static bool find_kind(const char *word, enum htw__flight_kind *ret_kind) {
    static const char *const words[HTW__FLIGHT_KINDS] = { "armed",   "moved", "cancelled",
                                                          "started", "ended", "woken" };
    for (int kind = 0; kind < HTW__FLIGHT_KINDS; kind++) {
        *ret_kind = (enum htw__flight_kind)kind;
        if (strcmp(word, words[kind]) == 0)
            return true;
    }
    return false;
}

/* A string of hexadecimal digits, or 0. */
static bool find_handle(const json_t *value, uint64_t *ret_handle) {
    const char *digits = json_string_value(value);
    *ret_handle = 0;
    if (digits == NULL)
        return json_is_integer(value) && json_integer_value(value) == 0;
    size_t length = strlen(digits);
    if (length == 0 || length > 16 || strspn(digits, "0123456789abcdef") != length)
        return false;
    *ret_handle = strtoull(digits, NULL, 16);
    return true;
}

/* A time, or a duration; what is null or missing is HTW__FLIGHT_NONE. */
static bool find_ns(const json_t *value, int64_t *ret_ns) {
    *ret_ns = HTW__FLIGHT_NONE;
    if (value == NULL || json_is_null(value))
        return true;
    if (!json_is_integer(value))
        return false;
    *ret_ns = clamp(json_integer_value(value));
    return true;
}

static bool find_index(const json_t *value, size_t count, bool may_be_none, uint32_t *ret_index) {
    json_int_t index = json_integer_value(value);
    *ret_index = UINT32_MAX;
    if (!json_is_integer(value) || (index == -1 && may_be_none))
        return json_is_integer(value);
    *ret_index = (uint32_t)index;
    return index >= 0 && index < (json_int_t)count;
}

static const char *take_event(struct htw__flight *flight, const json_t *array) {
    struct htw__flight_event event = { .order = (uint32_t)flight->event_count };
    uint32_t scheduler;
    const char *word = json_string_value(json_array_get(array, 1));
    if (!flight->has_head)
        return "not a flight record";
    if (word != NULL && !find_kind(word, &event.kind)) {
        flight->skipped++;
        return NULL;
    }
    if (word == NULL || !json_is_integer(json_array_get(array, 0)) ||
        !find_ns(json_array_get(array, 0), &event.time_ns) ||
        !find_index(json_array_get(array, 2), flight->scheduler_count, false, &scheduler) ||
        !find_index(json_array_get(array, 3), flight->site_count, true, &event.site) ||
        !find_handle(json_array_get(array, 4), &event.handle) ||
        !find_ns(json_array_get(array, 5), &event.value))
        return "not an event";
    if (flight->event_count == HTW__FLIGHT_EVENTS_MAX)
        return "more events than htw replay can show";
    struct htw__flight_event *events =
        htw__flight_grow(flight->events, flight->event_count, sizeof(struct htw__flight_event));
    if (events == NULL)
        return no_memory;
    flight->events = events;
    event.scheduler = (uint16_t)scheduler;
    flight->events[flight->event_count++] = event;
    return NULL;
}

const char *htw__flight_take(struct htw__flight *flight, const char *line, size_t size) {
    if (flight->is_whole)
        return "a line after the last one";
    if (size > HTW__FLIGHT_LINE_MAX)
        return "line too long";
    json_t *root = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
    const char *why = json_is_object(root)  ? take_object(flight, root)
                      : json_is_array(root) ? take_event(flight, root)
                                            : "not a line of a flight record";
    json_decref(root);
    return why;
}
