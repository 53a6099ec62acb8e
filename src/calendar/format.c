/* SPDX-License-Identifier: MIT */
/* format.c - writes calendars as cron expressions. */
#include "fields.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct writer {
    char *text;
    size_t size;
    int length; /* of the whole text, also of what was cut off */
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *writer, const char *format,
                                                      ...) {
    size_t used = (size_t)writer->length < writer->size ? (size_t)writer->length : writer->size;
    va_list values;
    va_start(values, format);
    writer->length += vsnprintf(used < writer->size ? writer->text + used : NULL,
                                writer->size - used, format, values);
    va_end(values);
}

/* Ranges of the values from `lowest` to `highest` that have bits. `*separator` comes before the first
   one, and is then a comma. */
static void put_ranges(struct writer *writer, uint64_t bits, unsigned lowest, unsigned highest,
                       const char **separator) {
    for (unsigned first = lowest; first <= highest; first++) {
        if (!(bits >> first & 1))
            continue;
        unsigned last = first;
        while (last < highest && bits >> (last + 1) & 1)
            last++;
        put(writer, last == first ? "%s%u" : "%s%u-%u", *separator, first, last);
        *separator = ",";
        first = last;
    }
}

/* The values of `*` with a step. */
static uint64_t stepped(unsigned lowest, unsigned highest, unsigned step) {
    uint64_t bits = 0;
    for (unsigned value = lowest; value <= highest; value += step)
        bits |= UINT64_C(1) << value;
    return bits;
}

/* The step of `*` that makes these values; `highest - lowest + 1`: only the lowest; 0: there is none. */
static unsigned find_step(uint64_t bits, unsigned lowest, unsigned highest) {
    for (unsigned step = 1; step <= highest - lowest + 1; step++)
        if (stepped(lowest, highest, step) == bits)
            return step;
    return 0;
}

/*
 * A field. `flagged` says whether it must begin with `*`: if no step makes its values, its lowest is
 * `*` with the greatest step. Where `*` has no meaning of its own (`is_plain`), it is used if it is
 * short.
 */
static void put_field(struct writer *writer, uint64_t bits, unsigned lowest, unsigned highest,
                      bool is_plain, bool flagged, const char *space) {
    unsigned count = highest - lowest + 1, step = find_step(bits, lowest, highest);
    if (flagged || (is_plain && step > 0 && step <= count / 2)) {
        step = step == 0 ? count : step;
        put(writer, "%s*", space);
        if (step > 1)
            put(writer, "/%u", step);
        bits &= ~stepped(lowest, highest, step);
        space = ",";
    }
    put_ranges(writer, bits, lowest, highest, &space);
}

static void put_days(struct writer *writer, const struct htw_calendar *calendar) {
    const char *space = " ";
    if (calendar->_flags & HTW__ANY_DAY || (calendar->_days & HTW__ALL_BITS(1, 31)) != 0) {
        put_field(writer, calendar->_days & HTW__ALL_BITS(1, 31), 1, 31, false,
                  calendar->_flags & HTW__ANY_DAY, space);
        space = ",";
    }
    if (calendar->_days & HTW__DAY_LAST) {
        put(writer, "%sL", space);
        space = ",";
    }
    if (calendar->_days & HTW__DAY_LAST_WORKING)
        put(writer, "%sLW", space);
}

static void put_weekdays(struct writer *writer, const struct htw_calendar *calendar) {
    const char *space = " ";
    uint64_t every = 0;
    for (unsigned weekday = 0; weekday < 7; weekday++)
        if ((~calendar->_weekdays & htw__weekday_bits(weekday, HTW__WEEKDAY_EVERY)) == 0)
            every |= UINT64_C(1) << weekday;
    if (calendar->_flags & HTW__ANY_WEEKDAY || every != 0) {
        put_field(writer, every, 0, 6, false, calendar->_flags & HTW__ANY_WEEKDAY, space);
        space = ",";
    }
    for (unsigned weekday = 0; weekday < 7; weekday++) {
        uint64_t bits = calendar->_weekdays >> weekday * HTW__WEEKDAY_BITS;
        for (unsigned number = 1; number <= 5; number++)
            if (!(every >> weekday & 1) && bits >> (number - 1) & 1) {
                put(writer, "%s%u#%u", space, weekday, number);
                space = ",";
            }
        if (bits & HTW__WEEKDAY_LAST) {
            put(writer, "%s%uL", space, weekday);
            space = ",";
        }
    }
}

int htw_calendar_format(const struct htw_calendar *calendar, char *text, size_t size) {
    if (calendar == NULL || (text == NULL && size > 0) || htw__calendar_is_empty(calendar))
        return -EINVAL;
    struct writer writer = { text, size, 0 };
    const char *space = "";
    if (calendar->_seconds != 1) {
        put_field(&writer, calendar->_seconds, 0, 59, true, false, space);
        space = " ";
    }
    put_field(&writer, calendar->_minutes, 0, 59, true, false, space);
    put_field(&writer, calendar->_hours, 0, 23, false, calendar->_flags & HTW__ANY_HOUR, " ");
    put_days(&writer, calendar);
    put_field(&writer, calendar->_months, 1, 12, true, false, " ");
    put_weekdays(&writer, calendar);
    return writer.length;
}
