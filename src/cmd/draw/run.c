/* SPDX-License-Identifier: MIT */
/* run.c - reads the lines of a run, and does to a wheel what they say. */
#include "run.h"

#include "../line.h"
#include "../duration.h"
#include "../instant.h"
#include "../terminal.h"
#include "../../base/clock.h"
#include "../../base/random.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE ((size_t)16 * 1024 * 1024)
#define BATCH 256

/* ---- options */

void htw__run_options_init(struct htw__run_options *options) {
    static char standard_input[] = "-";
    static char *const no_names[] = { standard_input };
    *options = (struct htw__run_options) {
        .tick_ns = HTW__NS_PER_MS,
        .wheel_size = HTW_WHEEL_SIZE_DEFAULT,
        .separator = '\n',
        .until_ns = INT64_MAX,
        .start_ns = htw__clock_realtime_ns(),
        .names = no_names,
        .name_count = 1,
    };
}

/* ---- time */

static void poll_to(struct htw__run *run, uint64_t tick) {
    struct htw_timer *expired[BATCH]; /* they stay in `timers` */
    size_t count;
    while (htw_wheel_poll_batch(run->wheel, tick, expired, BATCH, 0, &count) == HTW_MORE)
        continue;
}

void htw__run_advance(struct htw__run *run, int64_t time_ns) {
    run->now_ns = htw__time_later(run->now_ns, time_ns);
    poll_to(run, htw__time_tick_before(run->now_ns, run->options->tick_ns));
}

/* ---- timers and their names */

static struct htw__run_timer *timer_of(struct htw__key_node *node) {
    return node == NULL ? NULL : HTW_CONTAINER_OF(node, struct htw__run_timer, node);
}

/* Makes a timer the latest of its name. */
static void name_timer(struct htw__run *run, struct htw__run_timer *timer) {
    struct htw__key_node *node =
        htw__key_table_find(&run->by_name, timer->node.hash, timer->name, timer->name_size);
    if (node != NULL)
        htw__key_table_remove(&run->by_name, node);
    timer->shadowed = timer_of(node);
    htw__key_table_insert(&run->by_name, &timer->node);
}

/* Forgets those after it, which have ended. */
static struct htw__run_timer *find(struct htw__run *run, const char *name, size_t size) {
    struct htw__key_node *node =
        htw__key_table_find(&run->by_name, htw__key_hash(name, size, run->seed), name, size);
    struct htw__run_timer *timer = timer_of(node);
    while (timer != NULL && !htw_timer_is_pending(&timer->timer))
        timer = timer->shadowed;
    if (timer_of(node) != timer) {
        htw__key_table_remove(&run->by_name, node);
        if (timer != NULL)
            htw__key_table_insert(&run->by_name, &timer->node);
    }
    return timer;
}

static size_t timer_bytes(size_t name_size) {
    return offsetof(struct htw__run_timer, name) + name_size + 1;
}

static int arm(struct htw__run *run, const char *name, size_t size, uint64_t deadline) {
    struct htw__run_timer *timer = htw__allocate(&htw__default_allocator, timer_bytes(size));
    if (timer == NULL)
        return -ENOMEM;
    htw_timer_init(&timer->timer);
    timer->name_size = (uint32_t)size;
    memcpy(timer->name, name, size);
    htw__key_node_set(&timer->node, htw__key_hash(timer->name, timer->name_size, run->seed),
                      timer->name, timer->name_size);
    int error = htw_wheel_schedule(run->wheel, &timer->timer, deadline);
    if (error != 0) {
        htw__release(&htw__default_allocator, timer, timer_bytes(size));
        return error;
    }
    timer->previous = run->last;
    run->last = timer;
    name_timer(run, timer);
    return 0;
}

static uint64_t deadline_of(const struct htw__run *run, const struct htw__line *line) {
    int64_t tick_ns = run->options->tick_ns;
    int64_t due_ns = line->is_instant ? htw__time_subtract(line->when_ns, run->options->start_ns)
                                      : htw__time_add(line->when_ns, run->now_ns);
    if (due_ns <= run->now_ns) /* as in `htw delay` */
        return htw__time_tick_before(run->now_ns, tick_ns);
    return htw__time_tick_after(due_ns, tick_ns);
}

/* ---- lines */

/* The error names the timer. */
static int move(struct htw__run *run, struct htw__line *line, const char **ret_why) {
    struct htw__run_timer *timer = find(run, line->message, line->message_size);
    if (timer == NULL) {
        *ret_why = "no pending timer to move";
        line->word = line->message;
        line->word_size = line->message_size;
        return 0;
    }
    return htw_wheel_schedule(run->wheel, &timer->timer, deadline_of(run, line));
}

/* Whether the line begins with a word and a blank; `*bytes` and `*size` are then what follows. */
static bool skip_word(const char **bytes, size_t *size, const char *word) {
    size_t length = strlen(word);
    if (*size <= length || memcmp(*bytes, word, length) != 0 ||
        ((*bytes)[length] != ' ' && (*bytes)[length] != '\t'))
        return false;
    *bytes += length + 1;
    *size -= length + 1;
    return true;
}

struct reader {
    struct htw__run *run;
    struct htw__input *input;
    bool is_over; /* a line waits for longer than `until` */
};

static const char *wait(struct reader *reader, const char *bytes, size_t size) {
    struct htw__run *run = reader->run;
    int64_t duration_ns, until_ns = run->options->until_ns;
    const char *why = htw__duration_parse(bytes, size, &duration_ns);
    if (why != NULL)
        return why;
    int64_t time_ns = htw__time_add(run->now_ns, duration_ns);
    reader->is_over = until_ns < time_ns;
    htw__run_advance(run, reader->is_over ? until_ns : time_ns);
    return NULL;
}

static int accept_line(struct reader *reader, const char *bytes, size_t size) {
    struct htw__run *run = reader->run;
    struct htw__line line;
    const char *why = NULL;
    int error = 0;
    if (skip_word(&bytes, &size, "wait")) {
        line = (struct htw__line) { .word = bytes, .word_size = size };
        why = wait(reader, bytes, size);
    } else if (skip_word(&bytes, &size, "cancel")) {
        struct htw__run_timer *timer = find(run, bytes, size);
        line = (struct htw__line) { .word = bytes, .word_size = size };
        if (timer == NULL || !htw_wheel_cancel(run->wheel, &timer->timer))
            why = "no pending timer to cancel";
    } else {
        bool is_move = skip_word(&bytes, &size, "move");
        why = htw__line_parse(bytes, size, &line);
        if (why == NULL)
            error = is_move ? move(run, &line, &why)
                            : arm(run, line.message, line.message_size, deadline_of(run, &line));
    }
    if (why != NULL) {
        htw__line_report(&line, reader->input, why);
        run->has_failed = true;
    }
    return error;
}

/* Waits until the input can be read, and reads: a pipe may be slow, and is perhaps not blocking. */
static int fill(struct htw__input *input) {
    struct pollfd wanted = { .fd = htw__input_fd(input), .events = POLLIN };
    poll(&wanted, 1, -1);
    return htw__input_read(input);
}

static int read_lines(struct reader *reader) {
    struct htw__input *input = reader->input;
    int error = 0;
    htw__input_advance(input);
    while (error == 0 && !reader->is_over && !htw__input_is_over(input)) {
        const char *bytes;
        size_t size;
        if (!htw__input_peek(input, &bytes, &size)) {
            error = fill(input);
        } else if (htw__input_is_too_long(input, size)) {
            htw__line_report(&(struct htw__line) { .word_size = 0 }, input, "line too long");
            reader->run->has_failed = true;
            htw__input_consume(input, size);
        } else {
            error = accept_line(reader, bytes, size);
            htw__input_consume(input, size);
        }
        htw__input_advance(input);
    }
    return error;
}

int htw__run_read(struct htw__run *run) {
    const struct htw__run_options *options = run->options;
    struct htw__input input;
    struct reader reader = { .run = run, .input = &input };
    int error =
        htw__input_init(&input, options->names, options->name_count, options->separator, MAX_LINE);
    if (error == 0)
        error = read_lines(&reader);
    run->has_failed |= input.has_failed;
    htw__input_fini(&input);
    return error;
}

/* ---- the run */

int htw__run_init(struct htw__run *run, const struct htw__run_options *options) {
    *run = (struct htw__run) { .options = options };
    htw__key_table_init(&run->by_name, &htw__default_allocator);
    run->seed = htw__random_seed(run);
    struct htw_wheel_options wheel_options = HTW_WHEEL_OPTIONS_INIT;
    wheel_options.size = options->wheel_size;
    return htw_wheel_create(&run->wheel, &wheel_options);
}

void htw__run_fini(struct htw__run *run) {
    htw_wheel_destroy(run->wheel);
    htw__key_table_fini(&run->by_name);
    while (run->last != NULL) {
        struct htw__run_timer *timer = run->last;
        run->last = timer->previous;
        htw__release(&htw__default_allocator, timer, timer_bytes(timer->name_size));
    }
    run->wheel = NULL;
}
