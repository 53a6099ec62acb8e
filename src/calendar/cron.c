/* SPDX-License-Identifier: MIT */
/* cron.c - reads cron expressions. */
#include "fields.h"

#include <errno.h>
#include <string.h>

/* A field of an expression. Its values have bits from 0 on. */
struct field {
    unsigned lowest, highest;
    unsigned flag;     /* of htw_calendar, if it begins with `*`; 0: none */
    const char *names; /* three letters each, from the lowest value on; NULL: none */
};

enum { SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELDS };

static const struct field fields[FIELDS] = {
    [SECOND] = { 0, 59, 0, NULL },
    [MINUTE] = { 0, 59, 0, NULL },
    [HOUR] = { 0, 23, HTW__ANY_HOUR, NULL },
    [DAY] = { 1, 31, HTW__ANY_DAY, NULL },
    [MONTH] = { 1, 12, 0, "janfebmaraprmayjunjulaugsepoctnovdec" },
    [WEEKDAY] = { 0, 7, HTW__ANY_WEEKDAY, "sunmontuewedthufrisat" },
};

static const struct {
    const char *name, *expression;
} macros[] = {
    { "@yearly", "0 0 1 1 *" }, { "@annually", "0 0 1 1 *" }, { "@monthly", "0 0 1 * *" },
    { "@weekly", "0 0 * * 0" }, { "@daily", "0 0 * * *" },    { "@midnight", "0 0 * * *" },
    { "@hourly", "0 * * * *" },
};

/* `at` is where the reader is. Each function below moves it behind what it has read, or says false
   and leaves it at what is wrong. */
struct reader {
    const char *at;
};

static bool is_space(char c) {
    return c == ' ' || c == '\t';
}

static bool is_digit(char c) {
    return '0' <= c && c <= '9';
}

/* Letters as small ones, in any language. */
static char small(char c) {
    return (char)('A' <= c && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool skip(struct reader *reader, char c) {
    if (small(*reader->at) != c)
        return false;
    reader->at++;
    return true;
}

static bool read_number(struct reader *reader, unsigned lowest, unsigned highest, unsigned *ret) {
    const char *at = reader->at;
    unsigned number = 0;
    for (; is_digit(*at) && number <= highest; at++)
        number = number * 10 + (unsigned)(*at - '0');
    if (at == reader->at || number < lowest || number > highest)
        return false;
    reader->at = at;
    *ret = number;
    return true;
}

/* A number or a name. 7 is a Sunday, too: its bits are those of 0. */
static bool read_value(struct reader *reader, const struct field *field, unsigned *ret) {
    unsigned count = field->names == NULL ? 0 : (unsigned)strlen(field->names) / 3;
    for (unsigned i = 0; i < count; i++) {
        const char *name = field->names + (size_t)3 * i, *at = reader->at;
        if (small(at[0]) == name[0] && small(at[1]) == name[1] && small(at[2]) == name[2]) {
            reader->at += 3;
            *ret = field->lowest + i;
            return true;
        }
    }
    return read_number(reader, field->lowest, field->highest, ret);
}

/* What only the days have: L, LW, 5L, 5#2. */
static bool read_special(struct reader *reader, const struct field *field, unsigned value,
                         uint64_t *bits) {
    unsigned number;
    if (field != &fields[WEEKDAY])
        return false;
    if (skip(reader, 'l')) {
        *bits |= htw__weekday_bits(value % 7, HTW__WEEKDAY_LAST);
        return true;
    }
    reader->at++; /* a number sign */
    if (!read_number(reader, 1, 5, &number))
        return false;
    *bits |= htw__weekday_bits(value % 7, UINT64_C(1) << (number - 1));
    return true;
}

/* Adds what an item of a list says to `bits`. */
static bool read_item(struct reader *reader, const struct field *field, unsigned *flags,
                      uint64_t *bits) {
    bool is_weekday = field == &fields[WEEKDAY];
    unsigned first = field->lowest, last = field->highest, step = 1;
    if (field == &fields[DAY] && skip(reader, 'l')) {
        *bits |= skip(reader, 'w') ? HTW__DAY_LAST_WORKING : HTW__DAY_LAST;
        return true;
    }
    if (skip(reader, '*')) {
        *flags |= field->flag;
    } else {
        const char *begin = reader->at;
        if (!read_value(reader, field, &first))
            return false;
        char next = small(*reader->at);
        if (next == '#' || next == 'l')
            return read_special(reader, field, first, bits);
        if (skip(reader, '-')) {
            if (!read_value(reader, field, &last))
                return false;
            if (is_weekday && last == 0 && first > 0) /* friday to sunday */
                last = 7;
            if (first > last) {
                reader->at = begin;
                return false;
            }
        } else if (next != '/') {
            last = first;
        }
    }
    if (skip(reader, '/') && !read_number(reader, 1, field->highest - field->lowest + 1, &step))
        return false;
    for (unsigned value = first; value <= last; value += step)
        *bits |=
            is_weekday ? htw__weekday_bits(value % 7, HTW__WEEKDAY_EVERY) : UINT64_C(1) << value;
    return true;
}

static bool read_field(struct reader *reader, const struct field *field, unsigned *flags,
                       uint64_t *bits) {
    do {
        if (!read_item(reader, field, flags, bits))
            return false;
    } while (skip(reader, ','));
    return is_space(*reader->at) || *reader->at == '\0';
}

static void skip_spaces(struct reader *reader) {
    while (is_space(*reader->at))
        reader->at++;
}

static unsigned count_fields(struct reader reader) {
    unsigned count = 0;
    for (skip_spaces(&reader); *reader.at != '\0'; skip_spaces(&reader), count++)
        while (*reader.at != '\0' && !is_space(*reader.at))
            reader.at++;
    return count;
}

static bool read_fields(struct reader *reader, struct htw_calendar *calendar) {
    bool has_seconds = count_fields(*reader) == FIELDS;
    uint64_t bits[FIELDS] = { [SECOND] = has_seconds ? 0 : 1 };
    unsigned flags = 0;
    for (unsigned i = has_seconds ? SECOND : MINUTE; i < FIELDS; i++) {
        skip_spaces(reader);
        if (!read_field(reader, &fields[i], &flags, &bits[i]))
            return false;
    }
    skip_spaces(reader);
    if (*reader->at != '\0')
        return false;
    *calendar = (struct htw_calendar) {
        ._seconds = bits[SECOND],
        ._minutes = bits[MINUTE],
        ._days = bits[DAY],
        ._weekdays = bits[WEEKDAY],
        ._hours = (uint32_t)bits[HOUR],
        ._months = (uint32_t)bits[MONTH],
        ._flags = flags,
    };
    return true;
}

/* The expression of a macro, which begins with "@"; NULL: there is no such one. */
static const char *find_macro(const char *name) {
    size_t length = 1;
    while (name[length] != '\0' && !is_space(name[length]))
        length++;
    if (name[length + strspn(name + length, " \t")] != '\0')
        return NULL;
    for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++)
        if (strlen(macros[i].name) == length && memcmp(macros[i].name, name, length) == 0)
            return macros[i].expression;
    return NULL;
}

int htw_calendar_cron(struct htw_calendar *ret_calendar, const char *expression,
                      size_t *ret_position) {
    if (ret_calendar == NULL || expression == NULL)
        return -EINVAL;
    struct reader reader = { expression };
    skip_spaces(&reader);
    if (*reader.at == '@') {
        const char *meaning = find_macro(reader.at);
        if (meaning != NULL)
            reader.at = meaning;
    }
    if (read_fields(&reader, ret_calendar))
        return 0;
    if (ret_position != NULL)
        *ret_position = (size_t)(reader.at - expression);
    return -EINVAL;
}
