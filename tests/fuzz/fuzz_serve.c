/* SPDX-License-Identifier: MIT */
/*
 * fuzz_serve.c - what a client sends to `htw serve`: its lines. Pieces are read as the whole, and what a line means does
 * not depend on what follows it.
 */
/* holds: serve-4 */
#include "fuzz.h"

#include "../../programs/serve/line.h"

static void check_command(const struct htw__serve_line *line) {
    size_t length = strlen(line->name);
    FUZZ_CHECK((unsigned)line->verb < HTW__VERBS);
    FUZZ_CHECK(length <= HTW__TUBE_NAME_MAX && line->name[0] != '-');
    FUZZ_CHECK(strpbrk(line->name, " \r\n\t!\"'\\<>&") == NULL);
}

/* The line alone, in memory of its own, and each beginning of it. */
static void check_alone(const char *bytes, size_t size, enum htw__serve_line_result expected,
                        const struct htw__serve_line *line) {
    struct htw__serve_line alone;
    size_t consumed;
    char *copy = malloc(size);
    if (copy == NULL)
        fuzz_fail("no memory");
    memcpy(copy, bytes, size);
    FUZZ_CHECK(htw__serve_line_read(copy, size, &alone, &consumed) == expected && consumed == size);
    FUZZ_CHECK(expected != HTW__SERVE_LINE_COMMAND || memcmp(&alone, line, sizeof(alone)) == 0);
    FUZZ_CHECK(htw__serve_line_read(copy, size - 1, &alone, &consumed) == HTW__SERVE_LINE_MORE);
    free(copy);
}

static size_t read_line(const char *bytes, size_t size) {
    struct htw__serve_line line;
    size_t consumed;
    memset(&line, 0, sizeof(line));
    enum htw__serve_line_result result = htw__serve_line_read(bytes, size, &line, &consumed);
    FUZZ_CHECK(consumed <= size && consumed <= HTW__SERVE_LINE_MAX);
    if (result == HTW__SERVE_LINE_MORE) {
        FUZZ_CHECK(consumed == 0 && size < HTW__SERVE_LINE_MAX);
        return size;
    }
    if (result == HTW__SERVE_LINE_TOO_LONG) {
        const char *end = htw__serve_line_end(bytes, size);
        FUZZ_CHECK(consumed == 0 && size >= HTW__SERVE_LINE_MAX);
        return end == NULL ? size : (size_t)(end - bytes);
    }
    FUZZ_CHECK(consumed >= 2 && memcmp(bytes + consumed - 2, "\r\n", 2) == 0);
    if (result == HTW__SERVE_LINE_COMMAND)
        check_command(&line);
    check_alone(bytes, consumed, result, &line);
    return consumed;
}

static void run(const uint8_t *data, size_t size) {
    for (size_t at = 0; at < size;)
        at += read_line((const char *)data + at, size - at);
}

static const struct fuzz_attack attacks[] = {
    { "lines that are empty", "", "", { "\r\n" } },
    { "short commands", "", "", { "stats\r\n" } },
    { "jobs", "", "", { "put 4294967295 0 1 %zu\r\n" } },
    { "unknown commands", "", "", { "unknown %zu\r\n" } },
    { "a long line", "watch ", "\r\n", { "a" } },
    { "a long number", "delete ", "\r\n", { "0" } },
    { "numbers of many digits", "", "", { "peek 000000000000000000000000000000000000000%zu\r\n" } },
    { "halves of ends", "", "", { "\r" } },
    { "ends the other way round", "", "", { "\n\r" } },
    { "browsers", "", "", { "GET /%zu HTTP/1.1\r\n" } },
    { .name = NULL },
};

const struct fuzz_target fuzz_target = {
    .name = "serve",
    .run = run,
    .memory = { 1 << 10, 0 },
    .steps = { 5000, 400 },
    .attacks = attacks,
};
