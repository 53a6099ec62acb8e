/* SPDX-License-Identifier: MIT */
/* flight_input.c - gets a flight record out of a file, or from a monitor. */
#include "flight_input.h"

#include "../input.h"
#include "../terminal.h"
#include "../top/fetch.h"
#include "../top/path.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
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

/* A pipe may be slow, and is perhaps not blocking. */
static int fill(struct htw__input *input) {
    struct pollfd wanted = { .fd = htw__input_fd(input), .events = POLLIN };
    poll(&wanted, 1, -1);
    return htw__input_read(input);
}

static bool read_lines(struct htw__flight *flight, struct htw__input *input) {
    const char *bytes, *why;
    size_t size;
    htw__input_advance(input);
    while (!htw__input_is_over(input)) {
        if (!htw__input_peek(input, &bytes, &size)) {
            if (fill(input) != 0)
                return refuse(input->name, htw__input_line(input), strerror(ENOMEM));
        } else {
            why = htw__flight_take(flight, bytes, size);
            if (why != NULL)
                return refuse(input->name, htw__input_line(input), why);
            htw__input_consume(input, size);
        }
        htw__input_advance(input);
    }
    return !input->has_failed && finish(flight, input->name);
}

bool htw__flight_read(struct htw__flight *flight, char *name) {
    struct htw__input input;
    char *const names[] = { name };
    bool is_read = htw__input_init(&input, names, 1, '\n', HTW__FLIGHT_LINE_MAX + 1) == 0;
    is_read = is_read && read_lines(flight, &input);
    htw__input_fini(&input);
    return is_read;
}

static bool take_answer(struct htw__flight *flight, const char *path, const char *bytes,
                        size_t size) {
    const char *end = bytes + size;
    for (uint64_t line = 1; bytes < end; line++) {
        const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t length = (size_t)((stop == NULL ? end : stop) - bytes);
        const char *why = htw__flight_take(flight, bytes, length);
        if (why != NULL)
            return refuse(path, line, why);
        bytes += length + (stop != NULL);
    }
    return finish(flight, path);
}

bool htw__flight_fetch(struct htw__flight *flight, const char *program) {
    struct htw__fetch fetch = HTW__FETCH_INIT;
    char path[HTW__FIND_PATH_MAX];
    int error = htw__find_path(program, path);
    if (error == 0)
        error = htw__fetch_all(&fetch, path, "events");
    bool is_read = error == 0 && take_answer(flight, path, fetch.bytes, fetch.size);
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
