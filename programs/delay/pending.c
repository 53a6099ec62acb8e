/* SPDX-License-Identifier: MIT */
/* pending.c - messages in the wheel, until they are due. */
#include "state.h"

#include <errno.h>

/* Lines that are accepted in a round. */
#define LINES_AT_ONCE ((size_t)1024)

/* How many messages one step moves out of the wheel, and how many steps of the wheel that may take:
 * a bucket of a million timers takes a million. That is twice the lines that are accepted at once,
 * and a step for each level, so that what is due does not pile up. */
#define MESSAGES_AT_ONCE (2 * LINES_AT_ONCE)
#define STEPS_AT_ONCE (8 * LINES_AT_ONCE)

/* While more than this waits for a slow reader, no more lines are read. */
#define OUTPUT_BYTES_MAX ((size_t)16 * 1024 * 1024)

static size_t pending(const struct htw__delay *delay) {
    return htw_wheel_count(delay->wheel) + delay->output.count;
}

bool htw__delay_collect_due(struct htw__delay *delay) {
    uint64_t tick =
        htw__time_tick_before(htw__timeline_now(&delay->timeline), delay->options->tick_ns);
    struct htw_timer *timers[MESSAGES_AT_ONCE];
    size_t count = 0;
    delay->has_more_due = htw_wheel_poll_batch(delay->wheel, tick, timers, MESSAGES_AT_ONCE,
                                               STEPS_AT_ONCE, &count) == HTW_MORE;
    for (size_t i = 0; i < count; i++)
        htw__output_push(&delay->output, htw__message_of(timers[i]));
    if (delay->slept_until_due && count == 0 && !delay->has_more_due)
        delay->report.idle_wakes++;
    if (count > 0 || !delay->has_more_due)
        delay->slept_until_due = false;
    return delay->has_more_due;
}

size_t htw__delay_room(const struct htw__delay *delay) {
    size_t count = pending(delay);
    if (count >= delay->options->max_pending || delay->output.bytes >= OUTPUT_BYTES_MAX)
        return 0;
    size_t left = delay->options->max_pending - count;
    return left < LINES_AT_ONCE ? left : LINES_AT_ONCE;
}

/* What is due already need not wait for the tick to end. */
static uint64_t deadline_of(const struct htw__delay *delay, int64_t due_ns, int64_t now_ns) {
    if (due_ns <= now_ns)
        return htw__time_tick_before(now_ns, delay->options->tick_ns);
    return htw__time_tick_after(due_ns, delay->options->tick_ns);
}

int htw__delay_put(struct htw__delay *delay, const struct htw__line *line, int64_t due_ns,
                   int64_t now_ns) {
    struct htw__message *message =
        htw__message_create(line->message, line->message_size, delay->options->separator);
    if (message == NULL)
        return -ENOMEM;
    message->due_ns = due_ns;
    if (line->is_instant)
        message->instant_ns = line->when_ns;
    int error =
        htw_wheel_schedule(delay->wheel, &message->in.timer, deadline_of(delay, due_ns, now_ns));
    if (error == 0)
        htw__report_accepted(&delay->report, htw__message_memory(message), pending(delay));
    else
        htw__message_destroy(message);
    return error;
}
