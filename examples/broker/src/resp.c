/* SPDX-License-Identifier: MIT */
/* resp.c - the parser of requests. It depends on nothing else of the broker. */
#include "resp.h"

#include "number.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The least size of an argument: "$0\r\n\r\n". */
#define ARGUMENT_MIN 6
/* More than the longest first line of an argument, "$1048576\r\n". */
#define HEADER_MAX 32

static enum resp_result invalid(struct resp_request *request, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(request->error, sizeof(request->error), format, list);
    va_end(list);
    return RESP_INVALID;
}

static enum resp_result more(struct resp_request *request, size_t needed) {
    request->needed = needed;
    return RESP_MORE;
}

static bool append(struct resp_request *request, const char *bytes, size_t size) {
    if (request->count == request->capacity) {
        size_t capacity = request->capacity == 0 ? 16 : 2 * request->capacity;
        struct resp_argument *arguments =
            realloc(request->arguments, capacity * sizeof(*arguments));
        if (arguments == NULL)
            return false;
        request->arguments = arguments;
        request->capacity = capacity;
    }
    request->arguments[request->count++] = (struct resp_argument) { bytes, size };
    return true;
}

/* ------------------------------------------------------------------ "*2\r\n$3\r\nGET\r\n..." */

/* Reads the number in the line at `at`, after its first byte. On RESP_REQUEST, `ret_end` is the end
   of the line. */
static enum resp_result header(struct resp_request *request, const char *buffer, size_t size,
                               size_t at, const char *name, int64_t *ret_value, size_t *ret_end) {
    size_t seen = size - at < HEADER_MAX ? size - at : HEADER_MAX;
    const char *end = memchr(buffer + at, '\n', seen);
    if (end == NULL && seen == HEADER_MAX)
        return invalid(request, "Protocol error: too big %s count string", name);
    if (end == NULL)
        return more(request, size < at + ARGUMENT_MIN && at > 0 ? at + ARGUMENT_MIN : size + 1);
    /* The '\r' is required: otherwise an argument could be shorter than ARGUMENT_MIN, and `needed`
       more than the request has. */
    size_t digits = (size_t)(end - buffer) - at - 1;
    *ret_end = (size_t)(end - buffer) + 1;
    return digits > 0 && end[-1] == '\r' && number_parse(buffer + at + 1, digits - 1, ret_value)
               ? RESP_REQUEST
               : invalid(request, "Protocol error: invalid %s length",
                         name[0] == 'm' ? "multibulk" : "bulk");
}

/* `behind`: the least size of the arguments that follow. */
static enum resp_result parse_argument(struct resp_request *request, const char *buffer,
                                       size_t size, size_t max_request, size_t behind, size_t *at) {
    int64_t length;
    size_t start;
    if (*at == size)
        return more(request, *at + ARGUMENT_MIN);
    if (buffer[*at] != '$')
        return invalid(request, "Protocol error: expected '$', got '%c'",
                       buffer[*at] >= ' ' && buffer[*at] <= '~' ? buffer[*at] : '?');
    enum resp_result result = header(request, buffer, size, *at, "bulk", &length, &start);
    if (result != RESP_REQUEST)
        return result;
    if (length < 0 || (uint64_t)length > max_request)
        return invalid(request, "Protocol error: invalid bulk length");
    size_t end = start + (size_t)length;
    if (end + 2 + behind > max_request)
        return invalid(request, "Protocol error: too big request");
    if (size - start < (size_t)length + 2)
        return more(request, end + 2);
    if (buffer[end] != '\r' || buffer[end + 1] != '\n')
        return invalid(request, "Protocol error: no end of line after a bulk string");
    *at = end + 2;
    return append(request, buffer + start, (size_t)length) ? RESP_REQUEST : RESP_NO_MEMORY;
}

static enum resp_result parse_array(struct resp_request *request, const char *buffer, size_t size,
                                    size_t max_request) {
    int64_t count;
    size_t at;
    enum resp_result result = header(request, buffer, size, 0, "mbulk", &count, &at);
    if (result != RESP_REQUEST)
        return result;
    if (count > (int64_t)RESP_ARGUMENTS_MAX)
        return invalid(request, "Protocol error: invalid multibulk length");
    size_t behind = count > 0 ? (size_t)count * ARGUMENT_MIN : 0;
    if (at + behind > max_request)
        return invalid(request, "Protocol error: too big request");
    while (behind > 0) {
        behind -= ARGUMENT_MIN;
        result = parse_argument(request, buffer, size, max_request, behind, &at);
        if (result == RESP_MORE)
            request->needed += behind;
        if (result != RESP_REQUEST)
            return result;
    }
    request->consumed = at;
    return RESP_REQUEST;
}

/* ------------------------------------------------------------------ inline */

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0';
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads the escape sequence after a backslash, and returns its end. */
static const char *unescape(const char *at, const char *end, char *ret_byte) {
    if (end - at >= 3 && *at == 'x' && hex_digit(at[1]) >= 0 && hex_digit(at[2]) >= 0) {
        *ret_byte = (char)(hex_digit(at[1]) * 16 + hex_digit(at[2]));
        return at + 3;
    }
    static const char letters[] = "nrtba", bytes[] = "\n\r\t\b\a";
    const char *letter = memchr(letters, *at, sizeof(letters) - 1);
    *ret_byte = letter != NULL ? bytes[letter - letters] : *at;
    return at + 1;
}

/* Copies a quoted part to `*to`, without its quotes. Returns NULL if the quote is not closed, or no
   blank follows it. */
static const char *unquote(const char *at, const char *end, char **to) {
    char quote = *at++;
    while (at < end && *at != quote) {
        if (*at == '\\' && at + 1 < end && quote == '"') {
            at = unescape(at + 1, end, (*to)++);
        } else if (*at == '\\' && at + 1 < end && at[1] == '\'') {
            *(*to)++ = '\'';
            at += 2;
        } else {
            *(*to)++ = *at++;
        }
    }
    if (at == end || (at + 1 < end && !is_blank(at[1])))
        return NULL;
    return at + 1;
}

static enum resp_result parse_inline(struct resp_request *request, char *buffer, size_t size,
                                     size_t max_request) {
    size_t limit = max_request < RESP_INLINE_MAX ? max_request : RESP_INLINE_MAX;
    const char *end = memchr(buffer, '\n', size < limit ? size : limit);
    if (end == NULL)
        return size >= limit ? invalid(request, "Protocol error: too big inline request")
                             : more(request, size + 1);
    const char *at = buffer;
    char *to = buffer; /* never ahead of `at` */
    request->consumed = (size_t)(end - buffer) + 1;
    while (true) {
        while (at < end && is_blank(*at))
            at++;
        if (at == end)
            return RESP_REQUEST;
        char *start = to;
        while (at < end && !is_blank(*at)) {
            if (*at == '"' || *at == '\'') {
                at = unquote(at, end, &to);
                if (at == NULL)
                    return invalid(request, "Protocol error: unbalanced quotes in request");
                break;
            }
            *to++ = *at++;
        }
        if (!append(request, start, (size_t)(to - start)))
            return RESP_NO_MEMORY;
    }
}

enum resp_result resp_parse(struct resp_request *request, char *buffer, size_t size,
                            size_t max_request) {
    request->count = 0;
    if (size == 0)
        return more(request, 1);
    return buffer[0] == '*' ? parse_array(request, buffer, size, max_request)
                            : parse_inline(request, buffer, size, max_request);
}

void resp_fini(struct resp_request *request) {
    free(request->arguments);
    *request = (struct resp_request) { .arguments = NULL };
}
