/* SPDX-License-Identifier: MIT */
/* line.c - the words of the protocol, and what follows each. */
#include "line.h"

#include <stdbool.h>
#include <string.h>

/* What follows a word: i the id of a job, p a priority, d a delay, t a time to run, s the size of a body, n the name of a
   tube, c a count, w a time to wait; $: the end of the line; empty: anything. As beanstalkd has it, what follows a
   count or a time to wait does not matter, and spaces before a number do not. */
static const struct {
    const char *word;
    size_t length;
    const char *arguments;
} words[HTW__VERBS] = {
#define WORD(name, word, arguments, ...) { word, sizeof(word) - 1, arguments },
    HTW__SERVE_VERBS(WORD)
#undef WORD
};

const char *htw__serve_word(enum htw__verb verb) {
    return words[verb].word;
}

struct cursor {
    const char *at, *end;
};

static void skip_spaces(struct cursor *cursor) {
    while (cursor->at < cursor->end && *cursor->at == ' ')
        cursor->at++;
}

static bool is_digit(const struct cursor *cursor) {
    return cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9';
}

/* False: there is no number, or one above `most`. */
static bool read_number(struct cursor *cursor, uint64_t most, uint64_t *ret_number) {
    uint64_t number = 0;
    bool fits = true;
    skip_spaces(cursor);
    if (!is_digit(cursor))
        return false;
    for (; is_digit(cursor); cursor->at++)
        fits = fits && !__builtin_mul_overflow(number, 10, &number) &&
               !__builtin_add_overflow(number, (uint64_t)(*cursor->at - '0'), &number);
    *ret_number = number;
    return fits && number <= most;
}

static bool read_number_32(struct cursor *cursor, uint32_t *ret_number) {
    uint64_t number = 0;
    bool is_right = read_number(cursor, UINT32_MAX, &number);
    *ret_number = (uint32_t)number;
    return is_right;
}

struct number {
    uint64_t size;
    bool is_negative;
};

/* There may be a sign, and without a digit it is 0. False: above `most`. */
static bool read_signed(struct cursor *cursor, uint64_t most, struct number *ret_number) {
    *ret_number = (struct number) { 0, false };
    skip_spaces(cursor);
    bool has_sign = cursor->at < cursor->end && (*cursor->at == '-' || *cursor->at == '+');
    ret_number->is_negative = has_sign && *cursor->at == '-';
    cursor->at += has_sign;
    return !is_digit(cursor) || read_number(cursor, most, &ret_number->size);
}

static bool read_timeout(struct cursor *cursor, int64_t *ret_timeout) {
    struct number number;
    bool is_right = read_signed(cursor, INT64_MAX, &number);
    *ret_timeout = number.is_negative ? -(int64_t)number.size : (int64_t)number.size;
    return is_right;
}

/* A negative one is as large as can be. */
static bool read_count(struct cursor *cursor, uint32_t *ret_count) {
    struct number number;
    bool is_right = read_signed(cursor, UINT64_MAX, &number);
    bool is_large = number.size > UINT32_MAX || (number.is_negative && number.size > 0);
    *ret_count = is_large ? UINT32_MAX : (uint32_t)number.size;
    return is_right && cursor->at[-1] >= '0' && cursor->at[-1] <= '9';
}

static bool is_name_byte(char byte) {
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
           (byte >= '0' && byte <= '9') || (byte != '\0' && strchr("-+/;.$_()", byte) != NULL);
}

static bool read_name(struct cursor *cursor, char *name) {
    size_t size = 0, left = (size_t)(cursor->end - cursor->at);
    while (size < left && size <= HTW__TUBE_NAME_MAX && is_name_byte(cursor->at[size]))
        size++;
    if (size == 0 || size > HTW__TUBE_NAME_MAX || *cursor->at == '-')
        return false;
    memcpy(name, cursor->at, size);
    name[size] = '\0';
    cursor->at += size;
    return true;
}

static bool read_argument(struct cursor *cursor, char kind, struct htw__serve_line *line) {
    switch (kind) {
    case 'i':
        return read_number(cursor, UINT64_MAX, &line->id);
    case 'p':
        return read_number_32(cursor, &line->priority);
    case 'd':
        return read_number_32(cursor, &line->delay_s);
    case 't':
        return read_number_32(cursor, &line->ttr_s);
    case 's':
        return read_number_32(cursor, &line->size);
    case 'c':
        return read_count(cursor, &line->count);
    case 'w':
        return read_timeout(cursor, &line->timeout_s);
    case 'n':
        return read_name(cursor, line->name);
    case ' ':
        skip_spaces(cursor);
        return true;
    default: /* $ */
        return cursor->at == cursor->end;
    }
}

static bool is_http(const char *bytes, size_t size) {
    return memmem(bytes, size, " HTTP/", strlen(" HTTP/")) != NULL;
}

/* The longest word with which the bytes begin, such as one that ends with a space; HTW__VERBS: none. */
static unsigned find_verb(const char *bytes, size_t size) {
    unsigned found = HTW__VERBS;
    size_t longest = 0;
    for (unsigned verb = 0; verb < HTW__VERBS; verb++) {
        size_t length = words[verb].length;
        if (bytes[0] == words[verb].word[0] && length > longest && length <= size &&
            memcmp(bytes, words[verb].word, length) == 0) {
            found = verb;
            longest = length;
            if (bytes[length - 1] == ' ')
                break;
        }
    }
    return found;
}

static enum htw__serve_line_result read_command(const char *bytes, size_t size,
                                                struct htw__serve_line *line) {
    if (memchr(bytes, 0, size) != NULL || memchr(bytes, '\r', size) != NULL)
        return HTW__SERVE_LINE_BAD;
    unsigned found = find_verb(bytes, size);
    if (found == HTW__VERBS)
        return is_http(bytes, size) ? HTW__SERVE_LINE_HTTP : HTW__SERVE_LINE_UNKNOWN;
    struct cursor cursor = { bytes + words[found].length, bytes + size };
    memset(line, 0, sizeof(*line));
    line->verb = (enum htw__verb)found;
    line->timeout_s = -1;
    for (const char *kind = words[found].arguments; *kind != '\0'; kind++)
        if (!read_argument(&cursor, *kind, line))
            return HTW__SERVE_LINE_BAD;
    return HTW__SERVE_LINE_COMMAND;
}

const char *htw__serve_line_end(const char *bytes, size_t size) {
    const char *at = bytes, *end = bytes + size;
    while ((at = memchr(at, '\r', (size_t)(end - at))) != NULL)
        if (++at < end && *at == '\n')
            return at + 1;
    return NULL;
}

enum htw__serve_line_result htw__serve_line_read(const char *bytes, size_t size,
                                                 struct htw__serve_line *ret_line,
                                                 size_t *ret_consumed) {
    size_t seen = size < HTW__SERVE_LINE_MAX ? size : HTW__SERVE_LINE_MAX;
    const char *end = htw__serve_line_end(bytes, seen);
    *ret_consumed = 0;
    if (end == NULL)
        return size < HTW__SERVE_LINE_MAX ? HTW__SERVE_LINE_MORE : HTW__SERVE_LINE_TOO_LONG;
    *ret_consumed = (size_t)(end - bytes);
    return read_command(bytes, *ret_consumed - 2, ret_line);
}
