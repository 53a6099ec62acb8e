/* SPDX-License-Identifier: MIT */
/* input.c - reads the records of the named files, one file after the other, and divides them into delay and message. */
#include "input.h"

#include "signals.h"
#include "terminal.h"
#include "times.h"
#include "visible.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAPACITY_FIRST ((size_t)256 * 1024)
#define READ_LEAST ((size_t)64 * 1024)

int htw__input_init(struct htw__input *input, char *const names[], int count, char separator,
                    size_t max_record) {
    *input = (struct htw__input) {
        .names = names,
        .names_left = count,
        .separator = separator,
        .max_record = max_record,
        .name = "-",
        .fd = -1,
        .buffer = malloc(CAPACITY_FIRST),
        .capacity = CAPACITY_FIRST,
    };
    return input->buffer == NULL ? -ENOMEM : 0;
}

static void close_file(struct htw__input *input) {
    if (input->fd > STDIN_FILENO)
        close(input->fd);
    input->fd = -1;
    input->is_skipping = false;
}

static void end_errors(struct htw__input *input) {
    htw__terminal_count(input->name, input->errors);
    input->errors = 0;
}

void htw__input_fini(struct htw__input *input) {
    end_errors(input);
    close_file(input);
    free(input->buffer);
    input->buffer = NULL;
}

/* Non-blocking, so that the loop waits in poll() for a writer of a FIFO, too. */
static int open_file(const char *name) {
    if (strcmp(name, "-") == 0)
        return STDIN_FILENO;
    int fd;
    do
        fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR && htw__signals_stop() == 0);
    return fd >= 0 ? fd : -errno;
}

static void open_next(struct htw__input *input) {
    end_errors(input);
    input->name = *input->names++;
    input->names_left--;
    input->line = 0;
    int fd = open_file(input->name);
    if (fd < 0) {
        htw__terminal_error("%s: %s", input->name, strerror(-fd));
        input->has_failed = true;
        return;
    }
    input->fd = fd; /* of a directory, too: reading that fails */
}

void htw__input_advance(struct htw__input *input) {
    while (input->fd < 0 && input->begin == input->end && input->names_left > 0)
        open_next(input);
}

bool htw__input_is_over(const struct htw__input *input) {
    return input->fd < 0 && input->begin == input->end && input->names_left == 0;
}

static int resize(struct htw__input *input, size_t capacity) {
    char *buffer = realloc(input->buffer, capacity);
    if (buffer == NULL)
        return -ENOMEM;
    input->buffer = buffer;
    input->capacity = capacity;
    return 0;
}

/* Moves an unfinished record to the front: once, since then it begins there. Doubling
 * keeps the cost of long records linear; the memory of one is freed after it. */
static int make_space(struct htw__input *input) {
    if (input->begin > 0) {
        memmove(input->buffer, input->buffer + input->begin, input->end - input->begin);
        input->end -= input->begin;
        input->scanned -= input->begin;
        input->begin = 0;
    }
    if (input->end == 0 && input->capacity > CAPACITY_FIRST)
        return resize(input, CAPACITY_FIRST);
    if (input->capacity - input->end >= READ_LEAST)
        return 0;
    return input->capacity > SIZE_MAX / 2 ? -ENOMEM : resize(input, input->capacity * 2);
}

static void fail_to_read(struct htw__input *input, int error) {
    htw__terminal_error("%s: %s", input->name, strerror(error));
    if (input->end > input->begin)
        htw__terminal_error("%s:%" PRIu64 ": incomplete because of that, and skipped", input->name,
                            htw__input_line(input));
    input->begin = input->end;
    input->scanned = input->end;
    input->has_failed = true;
    close_file(input);
}

int htw__input_read(struct htw__input *input) {
    int error = make_space(input);
    if (error != 0)
        return error;
    ssize_t size = read(input->fd, input->buffer + input->end, input->capacity - input->end);
    if (size > 0)
        input->end += (size_t)size;
    else if (size == 0)
        close_file(input);
    else if (errno != EINTR && errno != EAGAIN)
        fail_to_read(input, errno);
    return 0;
}

/* Whether there is a separator, to which `scanned` then leads. */
static bool scan(struct htw__input *input) {
    const char *from = input->buffer + input->scanned;
    const char *found = memchr(from, input->separator, input->end - input->scanned);
    input->scanned = found != NULL ? (size_t)(found - input->buffer) : input->end;
    return found != NULL;
}

/* Drops what is here of a record that was too long, with its separator. */
static void skip(struct htw__input *input) {
    input->is_skipping = !scan(input);
    input->begin = input->scanned + !input->is_skipping;
    input->scanned = input->begin;
}

bool htw__input_peek(struct htw__input *input, const char **ret_bytes, size_t *ret_size) {
    if (input->is_skipping)
        skip(input);
    if (input->begin == input->end)
        return false;
    bool is_whole = scan(input) || input->fd < 0;
    *ret_bytes = input->buffer + input->begin;
    *ret_size = input->scanned - input->begin;
    return is_whole || htw__input_is_too_long(input, *ret_size);
}

bool htw__input_is_too_long(const struct htw__input *input, size_t size) {
    return size > input->max_record;
}

bool htw__input_is_whole(const struct htw__input *input, size_t size) {
    return input->begin + size < input->end || input->fd < 0;
}

void htw__input_consume(struct htw__input *input, size_t size) {
    input->is_skipping = !htw__input_is_whole(input, size);
    input->begin += size;
    if (input->begin < input->end) /* the separator, which the last record may lack */
        input->begin++;
    input->scanned = input->begin;
    input->line++;
}

uint64_t htw__input_line(const struct htw__input *input) {
    return input->line + 1;
}

/* As much of a bad word as the error message repeats. */
#define WORD_SHOWN 40

int htw__input_next(struct htw__input *input, const char **ret_bytes, size_t *ret_size) {
    for (;;) {
        htw__input_advance(input);
        if (htw__input_peek(input, ret_bytes, ret_size))
            return 1;
        if (htw__input_is_over(input))
            return 0;
        struct pollfd wanted = { .fd = input->fd, .events = POLLIN };
        int error = poll(&wanted, 1, -1) < 0 && errno == EINTR ? 0 : htw__input_read(input);
        if (error != 0)
            return error;
    }
}

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t';
}

const char *htw__line_parse(const char *bytes, size_t size, struct htw__line *ret_line) {
    const char *end = bytes + size;
    while (bytes < end && is_blank(*bytes))
        bytes++;
    const char *word_end = bytes;
    while (word_end < end && !is_blank(*word_end))
        word_end++;

    struct htw__line *line = ret_line;
    line->word = bytes;
    line->word_size = (size_t)(word_end - bytes);
    line->message = word_end < end ? word_end + 1 : end;
    line->message_size = (size_t)(end - line->message);
    if (line->word_size == 0)
        return "empty line";
    line->is_instant = *bytes == '@';
    if (line->is_instant)
        return htw__instant_parse(bytes + 1, line->word_size - 1, &line->when_ns);
    return htw__duration_parse(bytes, line->word_size, &line->when_ns);
}

void htw__line_report(const struct htw__line *line, struct htw__input *input, const char *why) {
    char word[WORD_SHOWN + 1];
    bool is_cut;
    if (!htw__terminal_shows(&input->errors))
        return;
    htw__visible_format(line->word == NULL ? "" : line->word, line->word_size, word, sizeof(word),
                        &is_cut);
    htw__terminal_error("%s:%" PRIu64 ": %s%s%s%s", input->name, htw__input_line(input), why,
                        line->word_size > 0 ? ": " : "", word, is_cut ? "..." : "");
}
