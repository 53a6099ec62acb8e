/* SPDX-License-Identifier: MIT */
/* unreleased.c - saves the messages that a run has not released. */
#include "unreleased.h"

#include "../kit/input.h"
#include "../kit/safe_file.h"
#include "../kit/signals.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A record in pieces, of which some may be empty. */
struct record {
    char head[64]; /* the delay or the instant, with a blank; empty if `bytes` contains it */
    const char *bytes;
    size_t size;
    bool is_ended; /* `bytes` have the separator at their end */
};

/* Is called with one record; an error ends the walk. */
typedef int visit_fn(void *context, const struct record *record, char separator);

static void push(struct htw__message ***tail, struct htw__message *message) {
    message->in.next = NULL;
    **tail = message;
    *tail = &message->in.next;
}

static void format_head(struct record *record, const char *sign, int64_t time_ns) {
    time_ns = htw__time_later(time_ns, 0);
    snprintf(record->head, sizeof(record->head), "%s%" PRId64 ".%09" PRId64 " ", sign,
             time_ns / HTW_SECOND, time_ns % HTW_SECOND);
}

/* An instant is saved as an instant: as a delay it would be late by the time until the next run. */
static struct record record_of(const struct htw__unreleased *unreleased,
                               const struct htw__message *message) {
    struct record record = { .bytes = message->bytes, .size = message->size, .is_ended = true };
    if (message->instant_ns != INT64_MAX)
        format_head(&record, "@", message->instant_ns);
    else
        format_head(&record, "", message->due_ns - unreleased->now_ns);
    return record;
}

/* As it came, unless its delay has begun to run already. */
static struct record record_of_input(const struct htw__unreleased *unreleased, const char *bytes,
                                     size_t size) {
    struct record record = { .bytes = bytes, .size = size };
    struct htw__line line;
    if (!unreleased->from_start || htw__line_parse(bytes, size, &line) != NULL || line.is_instant)
        return record;
    format_head(&record, "", line.when_ns - unreleased->now_ns);
    record.bytes = line.message;
    record.size = line.message_size;
    return record;
}

/* Visits all records, in order. Consumes a copy of the input, so that this can be repeated;
 * `*input` becomes that copy. */
static int walk(const struct htw__unreleased *unreleased, visit_fn *visit, void *context,
                struct htw__input *input) {
    *input = *unreleased->input;
    int error = 0;
    for (const struct htw__message *message = unreleased->messages; message != NULL && error == 0;
         message = message->in.next) {
        struct record record = record_of(unreleased, message);
        error = visit(context, &record, input->separator);
    }
    const char *bytes;
    size_t size;
    while (error == 0 && htw__input_peek(input, &bytes, &size) &&
           htw__input_is_whole(input, size)) {
        struct record record = record_of_input(unreleased, bytes, size);
        error = visit(context, &record, input->separator);
        htw__input_consume(input, size);
    }
    return error;
}

/* How many records fit into a number of bytes. */
struct fit {
    int64_t room, bytes;
    uint64_t count;
};

static int fit_one(void *context, const struct record *record, char separator) {
    struct fit *fit = context;
    (void)separator;
    int64_t bytes = (int64_t)(strlen(record->head) + record->size + !record->is_ended);
    if (bytes > fit->room - fit->bytes)
        return -ENOSPC;
    fit->bytes += bytes;
    fit->count++;
    return 0;
}

void htw__unreleased_collect(struct htw__unreleased *unreleased, struct htw__output *output,
                             struct htw_wheel *wheel) {
    struct htw__message **tail = &unreleased->messages;
    struct htw__message *message;
    while ((message = htw__output_pop(output)) != NULL)
        push(&tail, message);
    while ((message = htw__message_of(htw_wheel_poll(wheel, HTW_NEVER_TICK))) != NULL)
        push(&tail, message);
    struct fit fit = { .room = INT64_MAX };
    struct htw__input input;
    walk(unreleased, fit_one, &fit, &input);
    unreleased->count = fit.count;
    unreleased->fragment_line = htw__input_has_fragment(&input) ? htw__input_line(&input) : 0;
}

void htw__unreleased_fini(struct htw__unreleased *unreleased) {
    while (unreleased->messages != NULL) {
        struct htw__message *message = unreleased->messages;
        unreleased->messages = message->in.next;
        htw__message_destroy(message);
    }
}

static int put_one(void *context, const struct record *record, char separator) {
    struct htw__safe_file *file = context;
    int error = htw__safe_file_put(file, record->head, strlen(record->head));
    if (error == 0)
        error = htw__safe_file_put(file, record->bytes, record->size);
    if (error == 0 && !record->is_ended)
        error = htw__safe_file_put(file, &separator, 1);
    return error;
}

static int write_to(const struct htw__unreleased *unreleased, struct htw__safe_file *file) {
    struct htw__input input;
    int error = walk(unreleased, put_one, file, &input);
    return error != 0 ? error : htw__safe_file_commit(file);
}

/* Keeps the whole records of a file that got a part of all; says how many these are. Deletes it
 * if there are none. */
static uint64_t keep_part(const struct htw__unreleased *unreleased, struct htw__safe_file *file) {
    struct fit fit = { .room = htw__safe_file_size(file) };
    struct htw__input input;
    walk(unreleased, fit_one, &fit, &input);
    if (fit.count > 0 && htw__safe_file_cut(file, fit.bytes) == 0)
        return fit.count;
    htw__safe_file_remove(file);
    return 0;
}

static void move_name(struct htw__saved *saved, struct htw__safe_file *file, uint64_t count) {
    saved->count = count;
    saved->path = file->temporary;
    file->temporary = NULL;
}

/* In another directory: what the first attempt wrote, `saved`, is less or as much. */
static void save_elsewhere(const struct htw__unreleased *unreleased, struct htw__saved *saved) {
    struct htw__safe_file file;
    htw__signals_begin_saving();
    int error = htw__safe_file_open_elsewhere(&file);
    uint64_t count = 0;
    if (error == 0)
        count = write_to(unreleased, &file) == 0 ? unreleased->count : keep_part(unreleased, &file);
    if (count > saved->count) {
        if (saved->path != NULL)
            unlink(saved->path);
        free(saved->path);
        move_name(saved, &file, count);
    } else if (count > 0) {
        htw__safe_file_remove(&file);
    }
    htw__safe_file_close(&file);
}

struct htw__saved htw__unreleased_save(const struct htw__unreleased *unreleased, const char *path) {
    struct htw__saved saved = { .count = unreleased->count };
    struct htw__safe_file file;
    htw__signals_begin_saving();
    saved.error = htw__safe_file_open(&file, path);
    if (saved.error == 0)
        saved.error = write_to(unreleased, &file);
    if (saved.error != 0) {
        bool has_temporary = file.temporary != NULL;
        uint64_t count = 0;
        if (has_temporary)
            count = file.is_whole ? unreleased->count : keep_part(unreleased, &file);
        saved.count = 0;
        if (count > 0)
            move_name(&saved, &file, count);
        if (count < unreleased->count && (!has_temporary || saved.error != -ECANCELED))
            save_elsewhere(unreleased, &saved);
    }
    htw__safe_file_close(&file);
    return saved;
}
