/* SPDX-License-Identifier: MIT */
/* flight_input.c - gets a flight record out of a file, or from a monitor. */
#include "flight.h"

#include "../kit/terminal.h"
#include "../top/fetch.h"
#include "../top/find.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool refuse(const char *name, uint64_t line, const char *why) {
    htw__terminal_error("%s: line %" PRIu64 ": %s", name, line, why);
    return false;
}

static bool finish(struct htw__flight *flight, const char *name) {
    if (!flight->has_head) {
        htw__terminal_error("%s: not a flight record", name);
        return false;
    }
    if (htw__flight_finish(flight) == 0)
        return true;
    htw__terminal_error("%s: %s", name, strerror(ENOMEM));
    return false;
}

/* A NUL ends a line too early, and so makes it a wrong one. */
static bool read_lines(struct htw__flight *flight, const char *name, FILE *stream) {
    static char line[HTW__FLIGHT_LINE_MAX + 2];
    for (uint64_t number = 1; fgets(line, sizeof(line), stream) != NULL; number++) {
        size_t size = strlen(line);
        size -= size > 0 && line[size - 1] == '\n';
        const char *why = htw__flight_take(flight, line, size);
        if (why != NULL)
            return refuse(name, number, why);
    }
    if (!ferror(stream))
        return finish(flight, name);
    htw__terminal_error("%s: %s", name, strerror(errno));
    return false;
}

/* NULL: it could not be opened. */
static bool read_stream(struct htw__flight *flight, const char *name, FILE *stream) {
    bool is_read = stream != NULL && read_lines(flight, name, stream);
    if (stream == NULL)
        htw__terminal_error("%s: %s", name, strerror(errno));
    else
        (void)fclose(stream);
    return is_read;
}

bool htw__flight_read(struct htw__flight *flight, const char *name) {
    return read_stream(flight, name, strcmp(name, "-") == 0 ? stdin : fopen(name, "re"));
}

bool htw__flight_fetch(struct htw__flight *flight, const char *program) {
    struct htw__fetch fetch = { NULL, 0 };
    char path[HTW__FIND_PATH_MAX];
    int error = htw__find_path(program, path);
    if (error == 0)
        error = htw__fetch_ask(&fetch, path, "events", NULL);
    bool is_read = error == 0 && read_stream(flight, path, fmemopen(fetch.bytes, fetch.size, "r"));
    if (is_read && flight->event_count == 0) {
        htw__terminal_error(
            "%s: no event is recorded: `htw top --observe +events` switches that on", program);
        is_read = false;
    }
    if (error != 0)
        htw__terminal_error("%s: %s", program, htw__fetch_sentence(error));
    htw__fetch_end(&fetch);
    return is_read;
}
