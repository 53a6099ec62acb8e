/* SPDX-License-Identifier: MIT */
/*
 * wheel.c - every short history of a wheel, compared with the oracle after each step.
 *
 *     enumerate_wheel DEPTH                              all that follow
 *     enumerate_wheel SIZE fifo|any START DEPTH          all histories of up to DEPTH steps
 *     enumerate_wheel SIZE fifo|any START DEPTH STEPS    one history, as a failure prints it
 *
 * From each state, each operation is tried: a timer is armed, moved or cancelled, for all ticks at
 * which something changes (the present one, the ends of windows); polls alone and in batches, within budgets;
 * memory is refused. Then the wheel is emptied in each way.
 *
 * THE SEARCH goes breadth first, so the first difference that it finds is a shortest one. A state is kept as its
 * path, one byte a step, and each history is played from its begin.
 *
 * SYMMETRY. One idle timer is like the other, so only the first is armed. Two histories that lead to
 * the same lists, keys and clocks have the same futures, so only the first is continued: see digest.c.
 */
/* holds: wheel-2, wheel-5, wheel-6, wheel-7, wheel-8, wheel-9 */
#include "../../src/wheel/state.h"
#include "../support/history_compare.h"
#include "digest.h"
#include "states.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OPS_MAX = 96, DEPTH_MAX = 16, PATIENCE_S = 60 };

/* In wheels up to this size, each step is followed by a check of all buckets; in larger ones, each
   step to a new state. */
enum { SMALL = 4 };

/* The numbers of its operations, each of the list in the state before. */
struct path {
    uint8_t steps[DEPTH_MAX];
};

struct frontier {
    struct path *paths;
    size_t count, capacity;
};

static struct history_options options;
static struct history history; /* the present one */
static struct history_op ops[OPS_MAX];
static size_t op_count;

static char name[64]; /* of the search */
static unsigned depth;
static struct states states;
static uint64_t histories;

/* The history that is tried: one that crashes, or loops for ever, is printed. */
static struct path trying;
static unsigned trying_length;
static struct history_op taken[DEPTH_MAX];

/* ---- operations */

static uint64_t later(uint64_t tick, uint64_t delay) {
    return delay > HTW_NEVER_TICK - 1 - tick ? HTW_NEVER_TICK - 1 : tick + delay;
}

/* The last tick in the window of a level whose buckets are 2^shift ticks wide. */
static uint64_t window_end(uint32_t shift) {
    uint64_t first = history.clock >> shift << shift; /* of the bucket in which the clock is */
    return later(first, ((uint64_t)options.size << shift) - 1);
}

static void append(struct history_op op) {
    if (op_count == OPS_MAX)
        abort();
    ops[op_count++] = op;
}

static void append_arm(uint32_t timer, uint64_t tick) {
    for (size_t i = op_count; i-- > 0 && ops[i].timer == timer;)
        if (ops[i].tick == tick)
            return;
    append((struct history_op) { .kind = HISTORY_SCHEDULE, .timer = timer, .tick = tick });
}

/* A timer is armed or moved: at the ends of the windows, to two ticks of one bucket of levels 1 and 2, and to
   the tick of each other timer. */
static void append_arms(uint32_t timer) {
    uint64_t size = options.size, clock = history.clock;
    uint32_t bits = history.wheel->bits;
    uint64_t near_end = window_end(bits);
    uint64_t far_end = window_end(2 * bits);
    const uint64_t ticks[] = { clock,
                               later(clock, 1),
                               later(clock, size - 1),
                               later(clock, size),
                               later(clock, size + 1),
                               near_end,
                               later(near_end, 1),
                               later(near_end, 2),
                               far_end,
                               later(far_end, 1),
                               HTW_NEVER_TICK };
    for (size_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++)
        append_arm(timer, ticks[i]);
    for (size_t i = 0; i < history.oracle.count; i++)
        append_arm(timer, history.oracle.entries[i].deadline);
}

static void append_polls(void) {
    uint64_t clock = history.clock, size = options.size;
    uint64_t earliest = oracle_earliest(&history.oracle);
    const uint64_t nows[] = { clock, later(clock, 1),
                              earliest == HTW_NEVER_TICK ? later(clock, size * size) : earliest,
                              HTW_NEVER_TICK };
    for (size_t i = 0; i < sizeof(nows) / sizeof(nows[0]); i++) {
        append((struct history_op) { .kind = HISTORY_POLL, .tick = nows[i] });
        for (size_t max = 1; max <= 2; max++)
            for (size_t budget = 0; budget <= 2; budget++)
                append((struct history_op) {
                    .kind = HISTORY_BATCH, .tick = nows[i], .max = max, .budget = budget });
    }
    append((struct history_op) { .kind = HISTORY_POLL, .tick = later(clock, size) });
    if (clock == 0)
        return;
    append((struct history_op) { .kind = HISTORY_POLL, .tick = clock - 1 });
    append((struct history_op) { .kind = HISTORY_BATCH, .tick = clock - 1, .max = 1 });
}

/* From the first or the second allocation on, all are refused, until that is taken back. A level takes two. */
static void append_refusals(void) {
    bool is_refusing = history.memory.fail_at != 0;
    for (size_t nth = is_refusing ? 0 : 1; nth <= (is_refusing ? 0 : 2); nth++)
        append((struct history_op) { .kind = HISTORY_REFUSE, .max = nth, .budget = 1 });
}

/* All that is worth trying in a state. */
static void list_operations(void) {
    uint64_t clock = history.clock, size = options.size;
    bool idle_was_tried = false;
    op_count = 0;
    for (uint32_t timer = 0; timer < TIMERS; timer++) {
        bool pending = htw_timer_is_pending(&history.timers[timer]);
        if (!pending && idle_was_tried)
            continue;
        idle_was_tried |= !pending;
        append_arms(timer);
        if (pending)
            append((struct history_op) { .kind = HISTORY_CANCEL, .timer = timer });
        else
            append((struct history_op) { .kind = HISTORY_WITHIN,
                                         .timer = timer,
                                         .tick = later(clock, 1),
                                         .latest = later(clock, size + 1) });
    }
    append_polls();
    append((struct history_op) { .kind = HISTORY_NEXT });
    append((struct history_op) { .kind = HISTORY_DRAIN });
    append((struct history_op) { .kind = HISTORY_RESERVE, .tick = size * size });
    append_refusals();
}

/* ---- one history */

/*
 * htw_wheel_next() may return a tick that a timer was taken from, and so the history keeps these. It returns
 * keys of the delay queue. A key is the deadline of a timer that was inserted under it, so a tick that is no key
 * becomes one only by another timer; only those that are keys are kept.
 */
static void trim_left(void) {
    const struct htw__delay_queue *queue = &history.wheel->queue;
    size_t kept = 0;
    for (size_t i = 0; i < history.left_count; i++) {
        bool is_key = false, is_known = false;
        for (uint32_t id = 0; id < queue->capacity && !is_key; id++)
            is_key = htw__delay_queue_key(queue, id) == history.left[i];
        for (size_t k = 0; k < kept; k++)
            is_known |= history.left[k] == history.left[i];
        if (is_key && !is_known)
            history.left[kept++] = history.left[i];
    }
    history.left_count = kept;
}

/* The next step of the history that is tried. */
static bool take_step(unsigned step) {
    taken[step] = ops[trying.steps[step]];
    history.steps = 0; /* what is compared now and then is compared by visit() */
    bool same = history_run(&history, &taken[step]);
    trim_left();
    return same;
}

/* From its begin to the state before its last step, and lists what may follow. */
static void play(unsigned length) {
    history_close(&history);
    if (!history_open(&history, &options))
        abort();
    list_operations();
    for (unsigned step = 0; step < length; step++) {
        if (!take_step(step))
            abort(); /* it was the same before */
        list_operations();
    }
}

/* Says what differs, and how to see it again. Always false. */
static bool report(const char *end) {
    printf("enumerate: a difference: %s\n", history.message);
    for (unsigned step = 0; step < trying_length; step++) {
        char text[128];
        history_describe(&taken[step], text, sizeof(text));
        printf("enumerate:   %s\n", text);
    }
    printf("enumerate:   %s\nenumerate: again: ./dev enumerate %s %u ", end, name, depth);
    for (unsigned step = 0; step < trying_length; step++)
        printf("%u%s", trying.steps[step], step + 1 < trying_length ? "," : "\n");
    fflush(stdout);
    return false;
}

static void on_crash(int number) {
    signal(number, SIG_DFL);
    printf("enumerate: signal %d\n", number);
    report("");
    _exit(1);
}

/* ---- the search */

static void push(struct frontier *frontier, const struct path *path) {
    if (frontier->count == frontier->capacity) {
        frontier->capacity = frontier->capacity * 2 + 1024;
        frontier->paths = realloc(frontier->paths, frontier->capacity * sizeof(*frontier->paths));
        if (frontier->paths == NULL)
            abort();
    }
    frontier->paths[frontier->count++] = *path;
}

/* Brings the history to its end, in each way if it is not one of the longest. */
static bool finish(void) {
    static const char *const ends[HISTORY_ENDS] = { "poll", "drain", "destroy" };
    for (unsigned end = 0; end < (trying_length < depth ? HISTORY_ENDS : 1); end++) {
        if (end > 0)
            play(trying_length);
        history.steps = 0;
        if (!history_finish(&history, (enum history_end)end))
            return report(ends[end]);
    }
    return true;
}

/* Plays the history that is tried, and compares the state behind its last step; `next` receives it if it is new. Returns
   how many operations its last step was chosen from; 0: a difference. */
static size_t try_history(struct frontier *next) {
    unsigned last = trying_length - 1;
    uint64_t before = 0, after = 0;
    play(last);
    size_t count = op_count;
    histories++;
    bool is_batch = ops[trying.steps[last]].kind == HISTORY_BATCH;
    if (is_batch)
        (void)digest_state(&history, depth - trying_length, &before);
    bool same = take_step(last);
    if (same && !digest_state(&history, depth - trying_length, &after))
        same = history_differ(&history, "a timer is lost, or in a wrong list");
    /* Otherwise the caller calls for ever. */
    if (same && is_batch && history.in_round && after == before)
        same = history_differ(&history, "HTW_MORE though nothing has changed");
    bool is_new = same && states_insert(&states, after);
    if (!same || ((is_new || options.size <= SMALL) && !history_compare_all(&history)))
        return report("");
    if (is_new && trying_length < depth)
        push(next, &trying);
    return is_new && !finish() ? 0 : count;
}

/* Tries each operation after a history of `length` operations. */
static bool extend(const struct path *path, unsigned length, struct frontier *next) {
    size_t count = 1;
    alarm(PATIENCE_S);
    trying = *path;
    trying_length = length + 1;
    for (size_t i = 0; i < count; i++) {
        trying.steps[length] = (uint8_t)i;
        count = try_history(next);
    }
    return count > 0;
}

/* Of the processor, so that other processes do not count. */
static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool search(void) {
    struct frontier now = { NULL, 0, 0 };
    double begun = seconds();
    bool same = true;
    histories = 0;
    push(&now, &(struct path) { { 0 } });
    for (unsigned length = 0; same && length < depth; length++) {
        struct frontier next = { NULL, 0, 0 };
        for (size_t i = 0; same && i < now.count; i++)
            same = extend(&now.paths[i], length, &next);
        free(now.paths);
        now = next;
        printf("enumerate: %s: depth %u, %s%zu states, %" PRIu64
               " histories, %.1f s, %u differences\n",
               name, length + 1, states.is_full ? "at most " : "", states.count, histories,
               seconds() - begun, !same);
        fflush(stdout);
    }
    free(now.paths);
    states_fini(&states);
    return same;
}

/* The history of the numbers that a failure prints. */
static bool try_again(const char *numbers) {
    struct frontier none = { NULL, 0, 0 };
    for (char *rest; trying_length < depth && *numbers != '\0'; numbers = rest + (*rest == ','))
        trying.steps[trying_length++] = (uint8_t)strtoul(numbers, &rest, 10);
    bool same = try_history(&none) > 0;
    printf("enumerate: %s\n", same ? "no difference" : history.message);
    free(none.paths);
    states_fini(&states);
    return same;
}

/* ---- the wheels */

static const char *const starts[] = { "zero", "wrap", "high", "end", "last" };
enum { STARTS = sizeof(starts) / sizeof(starts[0]) };

/* "wrap": two ticks before levels 0 to 2 go round; "high": before all levels do, whatever the size. "end": the
   end of the window of level 1 is near the last tick; "last": that of level 0. */
static uint64_t tick_of(size_t start, uint64_t size) {
    const uint64_t ticks[STARTS] = { 0, size * size * size - 2, (UINT64_C(1) << 60) - 2,
                                     HTW_NEVER_TICK - 1 - (size * size + 1),
                                     HTW_NEVER_TICK - 1 - size };
    return ticks[start];
}

static void set_options(uint32_t size, bool strict, size_t start) {
    options = (struct history_options) { .size = size,
                                         .strict = strict,
                                         .start = tick_of(start, size),
                                         .timers = TIMERS,
                                         .check_every = UINT32_MAX };
    snprintf(name, sizeof(name), "wheel %u %s %s", size, strict ? "fifo" : "any", starts[start]);
}

static bool search_all(void) {
    static const uint32_t sizes[] = { 2, 4, 16, 64 };
    bool same = true;
    for (size_t i = 0; same && i < 4 * STARTS * 2; i++) {
        set_options(sizes[i % 4], i / 4 % 2 != 0, i / 8);
        same = search();
    }
    return same;
}

static size_t start_of(const char *text) {
    size_t start = 0;
    while (start < STARTS && strcmp(text, starts[start]) != 0)
        start++;
    return start;
}

static void watch_for_crashes(void) {
    static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        signal(numbers[i], on_crash);
}

int main(int argc, char *argv[]) {
    bool is_all = argc == 2;
    uint32_t size = argc < 5 ? 0 : (uint32_t)strtoul(argv[1], NULL, 10);
    size_t start = argc < 5 ? STARTS : start_of(argv[3]);
    depth = argc < 2 ? 0 : (unsigned)strtoul(argv[is_all ? 1 : argc < 5 ? 0 : 4], NULL, 10);
    if (depth == 0 || depth > DEPTH_MAX || argc > 6 ||
        (!is_all && (size < 2 || size > 1024 || (size & (size - 1)) != 0 || start == STARTS))) {
        fprintf(stderr,
                "usage: enumerate_wheel DEPTH\n"
                "       enumerate_wheel SIZE fifo|any zero|wrap|high|end|last DEPTH [STEPS]\n");
        return 2;
    }
    watch_for_crashes();
    if (is_all)
        return search_all() ? 0 : 1;
    set_options(size, strcmp(argv[2], "fifo") == 0, start);
    return (argc == 6 ? try_again(argv[5]) : search()) ? 0 : 1;
}
