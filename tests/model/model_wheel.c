/* SPDX-License-Identifier: MIT */
/* model_wheel.c - random histories of a wheel, compared with the oracle after each step. For its
   arguments see arguments.h. */
/* holds: wheel-1, wheel-2, wheel-3, wheel-4, wheel-6, wheel-8, wheel-9, wheel-11 */
#include "arguments.h"

#include "../support/history.h"

enum { DEFAULT_SEED = 20260101, DEFAULT_STEPS = 2000000, REPEAT_EVERY = 8 };

/* --- the shape of a history --------------------------------------------------------------- */

/* What a history does, as weights; each is drawn anew for each history. */
struct shape {
    uint32_t weights[HISTORY_KINDS];
    uint64_t deadline_weights[9];
    uint64_t cluster; /* a tick near which many timers are armed */
    bool undisturbed; /* never cancels, moves or drains, so that next() must be exact */
    bool refusing;    /* some allocations fail */
    uint64_t steps;
};

struct plan {
    struct history_options options;
    uint64_t steps;
};

/* Sizes, and how many steps a history of that size gets: checking a large wheel is slow. */
static const struct {
    uint32_t size;
    uint64_t steps;
} sizes[] = { { 2, 1200 }, { 4, 1500 }, { 8, 1500 }, { 64, 700 }, { 256, 300 }, { 1024, 120 } };

enum { SIZES = sizeof sizes / sizeof sizes[0], STARTS = 6 };

static uint64_t choose_start(struct random_source *source, uint64_t which) {
    switch (which) {
    case 0:
        return 0;
    case 1:
        return random_below(source, 5000);
    case 2:
        return (UINT64_C(1) << 32) - 500 + random_below(source, 1000);
    case 3:
        return HTW_NEVER_TICK - 1 - random_below(source, 3000);
    case 4:
        return HTW_NEVER_TICK - 1 - (UINT64_C(1) << (16 + random_below(source, 30)));
    default:
        return random_magnitude(source);
    }
}

/* History `number` of a run: every combination of size, start and order comes again and again. */
static struct plan make_plan(struct random_source *source, uint64_t number) {
    uint64_t combination = number % (SIZES * STARTS * 2);
    size_t which_size = (size_t)(combination % SIZES);
    struct plan plan = {
        .options = {
            .size = sizes[which_size].size,
            .start = choose_start(source, combination / SIZES % STARTS),
            .strict = combination / SIZES / STARTS != 0,
            .timers = (uint32_t)(1 + random_below(source, random_one_in(source, 3) ? 12 : 160)),
            .check_every = 1,
        },
        .steps = sizes[which_size].steps,
    };
    if (plan.options.start == HTW_NEVER_TICK)
        plan.options.start--;
    /* Now and then many timers, which are costly to check. */
    if (random_one_in(source, 40)) {
        plan.options.timers = 2000;
        plan.options.check_every = 64;
        plan.steps = 5000;
    }
    return plan;
}

static struct shape make_shape(struct random_source *source) {
    struct shape shape = {
        .weights = { [HISTORY_SCHEDULE] = 30,
                     [HISTORY_WITHIN] = 5,
                     [HISTORY_CANCEL] = 8,
                     [HISTORY_POLL] = 15,
                     [HISTORY_BATCH] = 10,
                     [HISTORY_NEXT] = 8,
                     [HISTORY_RESERVE] = 0,
                     [HISTORY_DRAIN] = 0,
                     [HISTORY_REFUSE] = 0 },
        .undisturbed = random_one_in(source, 4),
        .refusing = random_one_in(source, 4),
    };
    for (size_t i = 0; i < sizeof shape.deadline_weights / sizeof shape.deadline_weights[0]; i++)
        shape.deadline_weights[i] = random_below(source, 10);
    shape.deadline_weights[1] += 2;
    if (random_one_in(source, 3))
        shape.weights[HISTORY_CANCEL] = (uint32_t)random_below(source, 60);
    if (random_one_in(source, 3))
        shape.weights[HISTORY_WITHIN] = (uint32_t)random_below(source, 60);
    if (random_one_in(source, 3))
        shape.weights[HISTORY_BATCH] = (uint32_t)random_below(source, 60);
    if (random_one_in(source, 3))
        shape.weights[HISTORY_POLL] = (uint32_t)(1 + random_below(source, 60));
    if (random_one_in(source, 4))
        shape.weights[HISTORY_RESERVE] = 1;
    if (random_one_in(source, 4))
        shape.weights[HISTORY_DRAIN] = 1;
    if (shape.refusing)
        shape.weights[HISTORY_REFUSE] = 6;
    if (shape.undisturbed) {
        shape.weights[HISTORY_CANCEL] = 0;
        shape.weights[HISTORY_DRAIN] = 0;
    }
    return shape;
}

/* --- choosing an operation ---------------------------------------------------------------- */

static uint64_t choose_weighted(struct random_source *source, const uint64_t *weights,
                                size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += weights[i];
    uint64_t ticket = random_below(source, sum);
    uint64_t chosen = 0;
    while (ticket >= weights[chosen])
        ticket -= weights[chosen++];
    return chosen;
}

/* Stops at the last tick that is not HTW_NEVER_TICK. */
static uint64_t later(uint64_t tick, uint64_t delay) {
    return delay > HTW_NEVER_TICK - 1 - tick ? HTW_NEVER_TICK - 1 : tick + delay;
}

static uint64_t earlier(uint64_t tick, uint64_t delay) {
    return delay > tick ? 0 : tick - delay;
}

static uint64_t jitter(struct random_source *source, uint64_t tick) {
    uint64_t by = random_below(source, 3);
    return earlier(later(tick, by), 1);
}

/* How many bits wide the buckets of a random level are. */
static unsigned choose_shift(struct random_source *source, uint32_t size) {
    unsigned bits = 0;
    while ((UINT32_C(1) << bits) < size)
        bits++;
    unsigned level = (unsigned)random_below(source, 64 / bits);
    if (!random_one_in(source, 4))
        level = (unsigned)random_below(source, bits < 4 ? 12 / bits : 3);
    return level * bits;
}

static uint64_t choose_deadline(struct random_source *source, const struct history *history,
                                struct shape *shape) {
    uint64_t clock = history->clock;
    uint32_t size = history->options.size;
    unsigned shift = choose_shift(source, size);
    uint64_t other = history->deadlines[random_below(source, history->options.timers)];
    switch (choose_weighted(source, shape->deadline_weights, 9)) {
    case 0: /* the same few ticks again and again */
        if (shape->cluster <= clock)
            shape->cluster = later(clock, 1 + random_below(source, 4 * (uint64_t)size));
        return later(shape->cluster, random_below(source, 2));
    case 1: /* near */
        return later(clock, 1 + random_below(source, 3 * (uint64_t)size));
    case 2: /* about the start of a bucket */
        return jitter(source, later(clock, random_below(source, 2 * (uint64_t)size) << shift) >>
                                  shift << shift);
    case 3: /* about the end of a level's window */
        return jitter(source, later(clock >> shift << shift, (uint64_t)size << shift));
    case 4: /* about a power of two */
        other = UINT64_C(1) << random_below(source, 64);
        return jitter(source, random_one_in(source, 2) ? other : later(clock, other));
    case 5: /* any distance */
        return later(clock, random_magnitude(source));
    case 6: /* the end of time */
        return random_one_in(source, 3) ? earlier(HTW_NEVER_TICK - 1, random_below(source, 3))
                                        : HTW_NEVER_TICK;
    case 7: /* the past and the present */
        return earlier(clock, random_one_in(source, 2) ? 0 : random_magnitude(source));
    default: /* where another timer is or was, or the same slot a turn later */
        if (random_one_in(source, 2))
            return jitter(source, other);
        return later(other, (uint64_t)size << shift);
    }
}

static uint64_t choose_now(struct random_source *source, const struct history *history) {
    uint64_t clock = history->clock;
    uint64_t earliest = oracle_earliest(&history->oracle);
    switch (random_below(source, 12)) {
    case 0:
        return clock;
    case 1:
    case 2:
        return later(clock, 1);
    case 3:
    case 4:
        return later(clock, random_below(source, 2 * (uint64_t)history->options.size));
    case 5:
    case 6:
    case 7: /* about the next deadline, which may be far away */
        if (earliest != HTW_NEVER_TICK)
            return jitter(source, earliest);
        return later(clock, 1);
    case 8:
        return earlier(clock, random_magnitude(source));
    case 9: { /* about any deadline: a jump over many timers */
        uint64_t which = random_below(source, history->options.timers);
        uint64_t tick = history->deadlines[which];
        if (tick == HTW_NEVER_TICK || (tick > UINT64_MAX / 2 && !random_one_in(source, 8)))
            return later(clock, 2);
        return jitter(source, tick);
    }
    case 10:
        return later(clock, random_magnitude(source) >> 40);
    default:
        if (random_one_in(source, 200))
            return random_one_in(source, 2) ? HTW_NEVER_TICK
                                            : later(clock, random_magnitude(source));
        return later(clock, 1);
    }
}

/* Inside a round most steps go on with the same `now`; the rest disturb it. */
static uint64_t choose_poll(struct random_source *source, const struct history *history,
                            uint64_t round_now) {
    if (history->in_round && !random_one_in(source, 10))
        return round_now;
    return choose_now(source, history);
}

static struct history_op choose_op(struct random_source *source, const struct history *history,
                                   struct shape *shape, uint64_t *round_now) {
    static const size_t maxima[] = { 1, 2, 5, HISTORY_BATCH_MAX };
    static const size_t budgets[] = { 1, 2, 64, 0 };
    uint64_t weights[HISTORY_KINDS];
    for (size_t i = 0; i < HISTORY_KINDS; i++)
        weights[i] = shape->weights[i];
    if (history->in_round) {
        weights[HISTORY_POLL] *= 3;
        weights[HISTORY_BATCH] *= 3;
    }
    struct history_op op = {
        .kind = (enum history_kind)choose_weighted(source, weights, HISTORY_KINDS),
        .timer = (uint32_t)random_below(source, history->options.timers),
    };
    bool pending = htw_timer_is_pending(&history->timers[op.timer]);
    switch (op.kind) {
    case HISTORY_SCHEDULE:
    case HISTORY_WITHIN:
        if (pending && shape->undisturbed) {
            op.kind = HISTORY_NEXT;
            break;
        }
        op.tick = choose_deadline(source, history, shape);
        op.latest = random_one_in(source, 20) ? HTW_NEVER_TICK
                                              : later(op.tick, random_magnitude(source) >> 30);
        if (op.latest < op.tick)
            op.latest = op.tick;
        break;
    case HISTORY_POLL:
    case HISTORY_BATCH:
        op.tick = *round_now = choose_poll(source, history, *round_now);
        op.max = maxima[random_below(source, 4)];
        op.budget = budgets[random_below(source, 4)];
        break;
    case HISTORY_RESERVE:
        op.tick = random_one_in(source, 4) ? HTW_NEVER_TICK : random_magnitude(source);
        break;
    case HISTORY_REFUSE:
        op.max = 1 + (size_t)random_below(source, 3);
        break;
    case HISTORY_CANCEL:
    case HISTORY_NEXT:
    case HISTORY_DRAIN:
    case HISTORY_KINDS:
        break;
    }
    return op;
}

/* --- running ------------------------------------------------------------------------------ */

static struct model_arguments arguments = { DEFAULT_SEED, DEFAULT_STEPS, 0, UINT64_MAX, false };

/* Says how to see the failure again; always false. */
static bool report(uint64_t number, const struct plan *plan, uint64_t step, const char *op,
                   const char *message) {
    printf("model: seed %" PRIu64 ", history %" PRIu64 " (size %" PRIu32 ", start %" PRIu64
           ", %s), step %" PRIu64 " (%s): %s\n",
           arguments.seed, number, plan->options.size, plan->options.start,
           plan->options.strict ? "strict" : "relaxed", step, op, message);
    printf("model: again with --seed %" PRIu64 " --first %" PRIu64 " --histories 1 --trace\n",
           arguments.seed, number);
    return false;
}

static bool play(uint64_t number, const struct plan *plan, struct random_source *source,
                 struct history *history) {
    struct shape shape = make_shape(source);
    uint64_t round_now = 0;
    char text[128] = "create";
    if (!history_open(history, &plan->options))
        return report(number, plan, 0, text, history->message);
    while (history->steps < plan->steps) {
        struct history_op op = choose_op(source, history, &shape, &round_now);
        bool same = history_run(history, &op);
        if (!same || arguments.trace)
            history_describe(&op, text, sizeof text);
        if (arguments.trace)
            printf("%" PRIu64 ": clock %" PRIu64 ": %s\n", history->steps, history->clock, text);
        if (!same)
            return report(number, plan, history->steps, text, history->message);
    }
    if (!history_finish(history, (enum history_end)(number % HISTORY_ENDS)))
        return report(number, plan, history->steps, "the end", history->message);
    return true;
}

/* Runs a history, some of them twice: the second time everything must come in the same order. */
static uint64_t run_history(uint64_t number) {
    uint64_t digests[2] = { 0, 0 };
    int times = number % REPEAT_EVERY == 0 ? 2 : 1;
    uint64_t steps = 0;
    for (int i = 0; i < times; i++) {
        struct random_source source = { arguments.seed ^ number * UINT64_C(0xd1342543de82ef95) };
        struct plan plan = make_plan(&source, number);
        struct history history;
        bool same = play(number, &plan, &source, &history);
        digests[i] = history.digest;
        steps = history.steps;
        history_close(&history);
        if (!same)
            return 0;
        if (i == 1 && digests[0] != digests[1])
            return report(number, &plan, plan.steps, "repeated",
                          "the same calls gave another order");
    }
    return steps;
}

int main(int argc, char *argv[]) {
    return model_play(&arguments, argc, argv, run_history);
}
