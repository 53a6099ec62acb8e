/* SPDX-License-Identifier: MIT */
#include "leftover.h"

#include "line.h"
#include "safe_file.h"

#include <inttypes.h>

/* `stream` may be NULL: then records are only counted. */
static void add(struct htw__leftover *leftover, FILE *stream, htw__nanos due_ns, const char *bytes,
                size_t size) {
    leftover->count++;
    if (stream == NULL)
        return;
    htw__nanos left_ns = due_ns - leftover->now_ns;
    if (left_ns < 0)
        left_ns = 0;
    fprintf(stream, "%" PRIu64 ".%09" PRIu64 " ", (uint64_t)(left_ns / HTW__NS_PER_S),
            (uint64_t)(left_ns % HTW__NS_PER_S));
    fwrite(bytes, 1, size, stream);
}

static void add_message(struct htw__leftover *leftover, FILE *stream,
                        struct htw__message *message) {
    add(leftover, stream, message->due_ns, message->bytes, message->size);
    htw__message_destroy(message);
}

static void add_messages(struct htw__leftover *leftover, FILE *stream) {
    struct htw__message *message;
    while ((message = htw__output_pop(leftover->output)) != NULL)
        add_message(leftover, stream, message);
    while ((message = htw__message_of(htw_wheel_poll(leftover->wheel, HTW_NEVER))) != NULL)
        add_message(leftover, stream, message);
    /* Those that lie beyond the last tick. */
    while ((message = htw__message_of(htw_wheel_drain(leftover->wheel))) != NULL)
        add_message(leftover, stream, message);
}

/* As it came, unless its delay has begun to run already. */
static void add_record(struct htw__leftover *leftover, FILE *stream, const char *bytes,
                       size_t size) {
    struct htw__line line;
    char separator = leftover->input->separator;
    bool is_running =
        leftover->from_start && htw__line_parse(bytes, size, &line) == NULL && !line.is_instant;
    if (is_running) {
        add(leftover, stream, line.when_ns, line.message, line.message_size);
    } else {
        leftover->count++;
        if (stream != NULL)
            fwrite(bytes, 1, size, stream);
    }
    if (stream != NULL)
        fwrite(&separator, 1, 1, stream);
}

static void add_input(struct htw__leftover *leftover, FILE *stream) {
    const char *bytes;
    size_t size;
    while (htw__input_peek(leftover->input, &bytes, &size)) {
        add_record(leftover, stream, bytes, size);
        htw__input_consume(leftover->input, size);
    }
    leftover->has_fragment = htw__input_has_fragment(leftover->input);
}

int htw__leftover_take(struct htw__leftover *leftover, const char *path) {
    struct htw__safe_file file = { NULL, NULL, NULL };
    int error = path == NULL ? 0 : htw__safe_file_open(&file, path);
    add_messages(leftover, file.stream);
    add_input(leftover, file.stream);
    if (file.stream != NULL)
        error = htw__safe_file_commit(&file);
    return error;
}
