/* SPDX-License-Identifier: MIT */
/*
 * fuzz_resp.c - checks the promises of the broker's parser on any bytes; aborts if one is broken.
 *
 * The first byte sets the limit of a request, the second the size of the pieces that the rest
 * arrives in, the third the meaning of the rest: the bytes that a client sends, indices of
 * fragments of the protocol, or the arguments of a valid request.
 *
 * The parser always gets a copy of exactly the size that it is told, so that AddressSanitizer
 * detects each read beyond it.
 */
#include "../../../tests/fuzz/fuzz.h"

#include "../src/resp.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 64, ENCODED_MAX = 1 << 17 };

struct stream {
    const uint8_t *data;
    size_t size;
    size_t max_request;
};

/* A parsed request, and the copy of the bytes that it refers to. */
struct parsed {
    char *copy;
    struct resp_request request;
    enum resp_result result;
};

static void check(bool holds, const char *what) {
    if (!holds)
        fuzz_fail("%s", what);
}

static void check_request(const struct parsed *parsed, size_t size) {
    const struct resp_request *request = &parsed->request;
    check(request->consumed > 0 && request->consumed <= size, "consumed nothing, or too much");
    for (size_t i = 0; i < request->count; i++) {
        const struct resp_argument *argument = &request->arguments[i];
        size_t start = (size_t)(argument->bytes - parsed->copy);
        check(argument->bytes >= parsed->copy && start <= request->consumed &&
                  argument->size <= request->consumed - start,
              "an argument lies outside of its request");
    }
}

/* Parses the bytes from `at` to `end`. */
static struct parsed parse(const struct stream *stream, size_t at, size_t end) {
    struct parsed parsed = { .copy = malloc(end - at) };
    check(parsed.copy != NULL || at == end, "no memory");
    if (end > at)
        memcpy(parsed.copy, stream->data + at, end - at);
    parsed.result = resp_parse(&parsed.request, parsed.copy, end - at, stream->max_request);
    switch (parsed.result) {
    case RESP_REQUEST:
        check_request(&parsed, end - at);
        break;
    case RESP_MORE:
        check(parsed.request.needed > end - at, "wants no more than it has");
        break;
    case RESP_INVALID:
        check(memchr(parsed.request.error, '\0', sizeof(parsed.request.error)) != NULL &&
                  parsed.request.error[0] != '\0' && strpbrk(parsed.request.error, "\r\n") == NULL,
              "the text of an error is not one line");
        break;
    case RESP_NO_MEMORY:
        fuzz_fail("no memory");
    }
    return parsed;
}

static void parsed_fini(struct parsed *parsed) {
    resp_fini(&parsed->request);
    free(parsed->copy);
}

/* As parse(), but the bytes arrive in pieces, and the parser runs when it has what it needs. */
static struct parsed parse_in_pieces(const struct stream *stream, size_t at, size_t piece) {
    size_t end = at;
    for (;;) {
        struct parsed parsed = parse(stream, at, end);
        if (parsed.result != RESP_MORE || end == stream->size)
            return parsed;
        size_t needed = parsed.request.needed;
        while (end - at < needed && end < stream->size)
            end += stream->size - end < piece ? stream->size - end : piece;
        if (end - at < needed) /* the stream ends before */
            return parsed;
        parsed_fini(&parsed);
    }
}

/* If the pieces end before the size of a valid request, the parser may not have seen an error yet.
   */
static void compare(const struct parsed *whole, const struct parsed *pieces) {
    if (pieces->result == RESP_MORE && whole->result == RESP_INVALID)
        return;
    check(whole->result == pieces->result, "pieces are parsed otherwise than the whole");
    if (whole->result == RESP_INVALID)
        check(strcmp(whole->request.error, pieces->request.error) == 0,
              "pieces are refused otherwise than the whole");
    if (whole->result != RESP_REQUEST)
        return;
    check(whole->request.consumed == pieces->request.consumed &&
              whole->request.count == pieces->request.count,
          "pieces make another request than the whole");
    for (size_t i = 0; i < whole->request.count; i++) {
        const struct resp_argument *a = &whole->request.arguments[i];
        const struct resp_argument *b = &pieces->request.arguments[i];
        check(a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0,
              "pieces make other arguments than the whole");
    }
}

/* Parses all requests of a stream, each as a whole and in pieces. */
static void run_stream(const struct stream *stream, size_t piece) {
    size_t at = 0;
    bool goes_on = true;
    while (goes_on) {
        struct parsed whole = parse(stream, at, stream->size);
        struct parsed pieces = parse_in_pieces(stream, at, piece);
        compare(&whole, &pieces);
        goes_on = whole.result == RESP_REQUEST;
        at += goes_on ? whole.request.consumed : 0;
        parsed_fini(&pieces);
        parsed_fini(&whole);
    }
}

/* Makes arguments of the bytes (one byte for the length of each), and writes them as a request. The
   parser must return the same arguments. */
static void run_round_trip(const uint8_t *data, size_t size, size_t piece) {
    static char encoded[ENCODED_MAX];
    struct resp_argument arguments[ARGUMENTS_MAX];
    size_t count = 0;
    for (size_t at = 0; at < size && count < ARGUMENTS_MAX; count++) {
        size_t length = data[at++];
        length = length < size - at ? length : size - at;
        arguments[count] = (struct resp_argument) { (const char *)data + at, length };
        at += length;
    }
    size_t end = (size_t)snprintf(encoded, sizeof encoded, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++) {
        end += (size_t)snprintf(encoded + end, sizeof encoded - end, "$%zu\r\n", arguments[i].size);
        memcpy(encoded + end, arguments[i].bytes, arguments[i].size);
        end += arguments[i].size;
        memcpy(encoded + end, "\r\n", 2);
        end += 2;
    }
    struct stream stream = { (const uint8_t *)encoded, end, sizeof encoded };
    struct parsed parsed = parse_in_pieces(&stream, 0, piece);
    check(parsed.result == RESP_REQUEST, "a valid request is not accepted");
    check(parsed.request.consumed == end, "a valid request does not end where it ends");
    check(parsed.request.count == count, "a valid request has another number of arguments");
    for (size_t i = 0; i < count; i++)
        check(parsed.request.arguments[i].size == arguments[i].size &&
                  memcmp(parsed.request.arguments[i].bytes, arguments[i].bytes,
                         arguments[i].size) == 0,
              "a valid request has other arguments");
    parsed_fini(&parsed);
    if (end > 0) { /* without its last byte it is incomplete */
        stream.size--;
        parsed = parse(&stream, 0, stream.size);
        check(parsed.result == RESP_MORE && parsed.request.needed == end,
              "a request that lacks a byte does not want just that");
        parsed_fini(&parsed);
    }
}

/* Writes the fragments that the bytes select, so that random bytes become likely requests. */
static size_t spell(char *text, size_t size, const uint8_t *data, size_t count) {
    static const char *const pieces[] = {
        "*",      "$",      "\r\n",   "\n",     "0",      "1",  "2",   "3",      "-",
        "9",      " ",      "x",      "\"",     "'",      "\\", "\\x", "41",     "GET",
        "*1\r\n", "$3\r\n", "$0\r\n", "\r\n$1", "*2\r\n", "\t", "\\n", "ab\r\n",
    };
    size_t end = 0;
    for (size_t i = 0; i < count; i++) {
        const char *piece = pieces[data[i] % (sizeof pieces / sizeof pieces[0])];
        size_t length = strlen(piece);
        if (length > size - end)
            break;
        memcpy(text + end, piece, length);
        end += length;
    }
    return end;
}

static void run(const uint8_t *data, size_t size) {
    static char text[ENCODED_MAX];
    if (size < 3)
        return;
    size_t max_request = 1 + (size_t)data[0] * data[0];
    size_t piece = 1 + data[1] % 32;
    unsigned form = data[2] % 3;
    struct stream stream = { data + 3, size - 3, max_request };
    if (form == 0) {
        run_round_trip(stream.data, stream.size, piece);
        return;
    }
    if (form == 1) {
        stream.size = spell(text, sizeof text, stream.data, stream.size);
        stream.data = (const uint8_t *)text;
    }
    run_stream(&stream, piece);
}

/* Bytes of a client, requests of up to 62 501 bytes, in pieces of 32. */
#define HEAD "\372\37\2"

static const struct fuzz_attack attacks[] = {
    { "requests of no arguments", HEAD, "", { "*0\r\n" } },
    { "an argument, again and again", HEAD, "", { "*1\r\n$0\r\n\r\n" } },
    { "a request of many arguments", HEAD "*10000\r\n", "", { "$0\r\n\r\n" } },
    { "a long argument", HEAD "*1\r\n$62000\r\n", "", { "x" } },
    { "a long line", HEAD, "", { "x" } },
    { "a line of many words", HEAD, "\n", { "x " } },
    { "a line in quotes", HEAD "\"", "\"\n", { "\\x41" } },
    { "digits", HEAD "*", "", { "0" } },
    { .name = NULL },
};

/* The copies of what is left of a stream are those of this fuzzer. */
const struct fuzz_target fuzz_target = {
    .name = "resp",
    .run = run,
    .memory = { 8 << 20, 8 },
    .attacks = attacks,
};
