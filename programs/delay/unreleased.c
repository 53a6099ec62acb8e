/* SPDX-License-Identifier: MIT */
/* unreleased.c - saves the messages that a run has not released. */
#include "unreleased.h"

#include "../kit/input.h"
#include "../kit/signals.h"
#include "safe_file.h"

#include <inttypes.h>
#include <stdio.h>

static void push(struct htw__message ***tail, struct htw__message *message) {
    message->in.next = NULL;
    **tail = message;
    *tail = &message->in.next;
}

/* ---- a record; the stream remembers errors */

static void put_time(FILE *stream, const char *sign, int64_t time_ns) {
    time_ns = htw__time_later(time_ns, 0);
    fprintf(stream, "%s%" PRId64 ".%09" PRId64 " ", sign, time_ns / HTW_SECOND,
            time_ns % HTW_SECOND);
}

/* An instant is saved as an instant: as a delay it would be late by the time until the next run. */
static void put_message(const struct htw__unreleased *unreleased,
                        const struct htw__message *message, FILE *stream) {
    bool is_instant = message->instant_ns != INT64_MAX;
    put_time(stream, is_instant ? "@" : "",
             is_instant ? message->instant_ns : message->due_ns - unreleased->now_ns);
    fwrite(message->bytes, 1, message->size, stream);
}

/* As it came, unless its delay has begun to run already. */
static void put_record(const struct htw__unreleased *unreleased, const char *bytes, size_t size,
                       FILE *stream) {
    struct htw__line line;
    if (unreleased->from_start && htw__line_parse(bytes, size, &line) == NULL && !line.is_instant) {
        put_time(stream, "", line.when_ns - unreleased->now_ns);
        bytes = line.message;
        size = line.message_size;
    }
    fwrite(bytes, 1, size, stream);
    putc(unreleased->input->separator, stream);
}

/* ---- all of them */

/* Takes the next whole record of a copy of the input, so that this can be repeated. */
static bool take_record(struct htw__input *input, const char **ret_bytes, size_t *ret_size) {
    if (!htw__input_peek(input, ret_bytes, ret_size) || !htw__input_is_whole(input, *ret_size))
        return false;
    htw__input_consume(input, *ret_size);
    return true;
}

void htw__unreleased_collect(struct htw__unreleased *unreleased, struct htw__output *output,
                             struct htw_wheel *wheel) {
    struct htw__message **tail = &unreleased->messages, *message;
    struct htw__input input = *unreleased->input;
    const char *bytes;
    size_t size;
    while ((message = htw__output_pop(output)) != NULL)
        push(&tail, message);
    while ((message = htw__message_of(htw_wheel_poll(wheel, HTW_NEVER_TICK))) != NULL)
        push(&tail, message);
    for (message = unreleased->messages; message != NULL; message = message->in.next)
        unreleased->count++;
    while (take_record(&input, &bytes, &size))
        unreleased->count++;
    unreleased->fragment_line = input.begin < input.end ? htw__input_line(&input) : 0;
}

void htw__unreleased_fini(struct htw__unreleased *unreleased) {
    while (unreleased->messages != NULL) {
        struct htw__message *message = unreleased->messages;
        unreleased->messages = message->in.next;
        htw__message_destroy(message);
    }
}

static int write_to(const struct htw__unreleased *unreleased, struct htw__safe_file *file) {
    struct htw__input input = *unreleased->input;
    const char *bytes;
    size_t size;
    for (const struct htw__message *message = unreleased->messages;
         message != NULL && !ferror(file->stream); message = message->in.next)
        put_message(unreleased, message, file->stream);
    while (!ferror(file->stream) && take_record(&input, &bytes, &size))
        put_record(unreleased, bytes, size, file->stream);
    return htw__safe_file_commit(file);
}

struct htw__saved htw__unreleased_save(const struct htw__unreleased *unreleased, const char *path) {
    struct htw__saved saved = { .path = NULL };
    struct htw__safe_file file;
    htw__signals_begin_saving();
    saved.error = htw__safe_file_open(&file, path);
    if (saved.error == 0)
        saved.error = write_to(unreleased, &file);
    htw__safe_file_close(&file);
    if (saved.error == 0)
        return saved;
    if (htw__safe_file_open_elsewhere(&file) == 0 && write_to(unreleased, &file) == 0) {
        saved.path = file.temporary;
        file.temporary = NULL;
    }
    htw__safe_file_close(&file);
    return saved;
}
