/* SPDX-License-Identifier: MIT */
/*
 * fuzz_wheel - makes a history from bytes and runs it against the oracle; aborts where
 * the wheel and the oracle differ.
 *
 * The first bytes say what wheel; then come operations: a byte for the kind, and what the
 * kind needs. Ticks are written relative to something (the clock, the next deadline,
 * another timer), so that short inputs reach interesting places.
 */
#include "fuzz.h"

#include "../support/history.h"

#include <inttypes.h>
#include <stdlib.h>

enum { TIMERS = 48, STEPS_MAX = 3000 };

struct input {
    const uint8_t *data;
    size_t left;
};

/* The next byte; 0 after the end. */
static uint8_t take_byte(struct input *input) {
    if (input->left == 0)
        return 0;
    input->left--;
    return *input->data++;
}

static uint64_t take_number(struct input *input, unsigned bytes) {
    uint64_t number = 0;
    for (unsigned i = 0; i < bytes; i++)
        number = number << 8 | take_byte(input);
    return number;
}

static uint64_t add(uint64_t tick, uint64_t delay) {
    return delay > HTW_NEVER_TICK - tick ? HTW_NEVER_TICK : tick + delay;
}

static uint64_t subtract(uint64_t tick, uint64_t delay) {
    return delay > tick ? 0 : tick - delay;
}

static uint64_t take_tick(struct input *input, const struct history *history) {
    uint8_t form = take_byte(input);
    uint64_t clock = history->clock;
    uint64_t other = history->deadlines[form / 16 % history->options.timers];
    switch (form % 16) {
    case 0:
        return clock;
    case 1:
    case 2:
        return add(clock, take_number(input, 1));
    case 3:
        return add(clock, take_number(input, 2));
    case 4:
        return add(clock, take_number(input, 4));
    case 5:
        return take_number(input, 8);
    case 6:
        return subtract(clock, take_number(input, 1));
    case 7:
        return add(clock, UINT64_C(1) << take_byte(input) % 64);
    case 8:
        return subtract(UINT64_C(1) << take_byte(input) % 64, form / 16 % 2);
    case 9:
        return subtract(HTW_NEVER_TICK, form / 16);
    case 10:
        return other;
    case 11:
        return add(other, 1);
    case 12:
        return subtract(other, 1);
    case 13:
        return add(other, (uint64_t)history->options.size << take_byte(input) % 48);
    case 14:
        return oracle_earliest(&history->oracle);
    default:
        return add(clock, form / 16);
    }
}

static struct history_options take_options(struct input *input) {
    static const uint32_t sizes[] = { 2, 4, 8, 16, 64, 256, 1024, 4096 };
    uint8_t form = take_byte(input);
    struct history_options options = {
        .size = sizes[form % 8],
        .strict = (form & 8) != 0,
        .timers = TIMERS,
        .check_every = sizes[form % 8] > 256 ? 8 : 1,
    };
    switch (form >> 6) {
    case 0:
        break;
    case 1:
        options.start = take_number(input, 2);
        break;
    case 2:
        options.start = HTW_NEVER_TICK - 1 - take_number(input, 2);
        break;
    default:
        options.start = take_number(input, 8);
        break;
    }
    if (options.start == HTW_NEVER_TICK)
        options.start--;
    return options;
}

static struct history_op take_op(struct input *input, const struct history *history) {
    struct history_op op = { .kind = (enum history_kind)(take_byte(input) % HISTORY_KINDS) };
    switch (op.kind) {
    case HISTORY_SCHEDULE:
        op.timer = take_byte(input) % TIMERS;
        op.tick = take_tick(input, history);
        break;
    case HISTORY_WITHIN:
        op.timer = take_byte(input) % TIMERS;
        op.tick = take_tick(input, history);
        op.latest = take_tick(input, history);
        if (op.latest < op.tick)
            op.latest = op.tick;
        break;
    case HISTORY_CANCEL:
        op.timer = take_byte(input) % TIMERS;
        break;
    case HISTORY_POLL:
    case HISTORY_RESERVE:
        op.tick = take_tick(input, history);
        break;
    case HISTORY_BATCH:
        op.tick = take_tick(input, history);
        op.max = 1 + take_byte(input) % HISTORY_BATCH_MAX;
        op.budget = take_byte(input);
        break;
    case HISTORY_REFUSE:
        op.max = 1 + take_byte(input) % 4;
        break;
    case HISTORY_NEXT:
    case HISTORY_DRAIN:
    case HISTORY_KINDS:
        break;
    }
    return op;
}

static void fail(const struct history *history, const struct history_op *op) {
    char text[128] = "the beginning or the end";
    if (op != NULL)
        history_describe(op, text, sizeof text);
    fuzz_fail("size %" PRIu32 ", start %" PRIu64 ", %s, step %" PRIu64 " (%s): %s",
              history->options.size, history->options.start,
              history->options.strict ? "strict" : "relaxed", history->steps, text,
              history->message);
}

static void run(const uint8_t *data, size_t size) {
    struct input input = { data, size };
    struct history_options options = take_options(&input);
    enum history_end end = (enum history_end)(take_byte(&input) % HISTORY_ENDS);
    struct history history;
    if (!history_open(&history, &options))
        fail(&history, NULL);
    while (input.left > 0 && history.steps < STEPS_MAX) {
        struct history_op op = take_op(&input, &history);
        if (!history_run(&history, &op))
            fail(&history, &op);
    }
    if (!history_finish(&history, end))
        fail(&history, NULL);
    history_close(&history);
}

const struct fuzz_target fuzz_target = {
    .name = "wheel",
    .run = run,
    .memory = { 4 << 20, 16 },
};
