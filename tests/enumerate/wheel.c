/* SPDX-License-Identifier: MIT */
/*
 * wheel.c - every short history of a wheel, compared with the oracle after each step.
 *
 *     enumerate_wheel DEPTH                         all that follow
 *     enumerate_wheel SIZE fifo|any START DEPTH     all histories of up to DEPTH steps
 *     enumerate_wheel SIZE fifo|any START TEXT [poll|drain|destroy]
 *                                                   one history, as a failure prints it
 *
 * From each state, each operation is tried: a timer is armed, moved or cancelled, for all ticks at
 * which something changes (the present one, the ends of windows); polls alone and in batches, within budgets;
 * memory is refused. Then the wheel is emptied in each way.
 *
 * SYMMETRY. One idle timer is like the other, so only the first is armed. Two histories that lead to
 * the same lists, keys and clocks have the same futures, so only the first is continued (search.h). Which timers
 * they are does not matter, nor what an idle timer was armed for; add_chains() and trim_left() say what else
 * does not.
 */
/* holds: wheel-2, wheel-5, wheel-6, wheel-7, wheel-8, wheel-9 */
#include "../../src/wheel/lists.h"
#include "../support/history_compare.h"
#include "search.h"
#include "states.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMERS = 3, OPS_MAX = 96 };

/* In wheels up to this size, each step is followed by a check of all buckets; in larger ones, each
   step to a new state. */
enum { SMALL = 4 };

/* The level of the latest deadlines that are armed: behind the window of level 2. */
enum { LEVEL_MAX = 3 };

/* What differs from history to history. */
static struct searched {
    struct history history;
    uint64_t digest; /* of the present state */
    bool is_batch;   /* the last step was one */
} * self;

static struct history_options options;
static struct history_op ops[OPS_MAX];
static size_t op_count;

/* ---- the digest of a state */

/* Timers are named in the order in which they are met. */
struct reading {
    const struct history *history;
    uint64_t digest;
    uint64_t names[TIMERS]; /* 0: not met */
    uint64_t count;
    uint64_t demotions; /* at most so many will be made without another step */
    bool is_sound;
};

static void add(struct reading *reading, uint64_t value) {
    reading->digest = digest_add(reading->digest, value);
}

/* At most so often a timer of a bucket is demoted. One that was moved in place may go up once. */
static uint64_t count_demotions(const struct htw_wheel *wheel, uint64_t deadline, uint32_t id) {
    unsigned level = htw__wheel_id_level(wheel, id);
    uint64_t apart =
        (deadline ^ htw__delay_queue_key(&wheel->queue, id)) >> wheel->levels[level].shift;
    return apart == 0 ? level : 1 + LEVEL_MAX;
}

static void add_list(struct reading *reading, struct htw__list list, uint32_t id) {
    const struct history *history = reading->history;
    struct htw__link **back = list.head;
    for (struct htw__link *link = *back; reading->is_sound && link != list.end; link = *back) {
        const struct htw_timer *timer = htw__timer_of(link);
        size_t number = (size_t)(timer - history->timers);
        reading->is_sound = number < TIMERS && reading->names[number] == 0 && link->_back == back &&
                            htw__wheel_owns(history->wheel, timer) && htw__timer_id(timer) == id;
        if (!reading->is_sound)
            break;
        reading->names[number] = ++reading->count;
        add(reading, reading->names[number]);
        add(reading, timer->_deadline);
        if (htw__id_is_bucket(id))
            reading->demotions += count_demotions(history->wheel, timer->_deadline, id);
        back = &link->_next;
    }
    add(reading, 0);
}

/*
 * The chains of a bucket. A running count of insertions chooses them, the next one after every `size`, and where
 * a drain begins. If all chains, all counts and the drain move on by the same number of chains, nothing else changes:
 * so all are read from the chain that is chosen now.
 */
static void add_chains(struct reading *reading, unsigned level, uint32_t id) {
    const struct htw_wheel *wheel = reading->history->wheel;
    const struct htw__buckets *buckets = &wheel->levels[level].buckets;
    uint64_t now = wheel->inserted / buckets->count;
    uint64_t since = htw__delay_queue_since(&wheel->queue, id);
    uint64_t chosen = (wheel->inserted - 1) / buckets->count - since / buckets->count;
    if (buckets->count != wheel->mask + 1)
        abort(); /* the last level has fewer, and chains that change at other times: it is out of reach */
    add(reading, chosen < buckets->chains ? chosen : buckets->chains - 1);
    add(reading, (now - since / buckets->count) & (buckets->chains - 1));
    for (uint32_t i = 0; i < buckets->chains; i++) {
        struct htw__list list = htw__wheel_list(wheel, level, id & wheel->mask,
                                                (uint32_t)(now - i) & (buckets->chains - 1));
        if (*list.head == list.end)
            continue;
        add(reading, i);
        add_list(reading, list, id);
    }
}

static void add_bucket(struct reading *reading, uint32_t id) {
    const struct htw_wheel *wheel = reading->history->wheel;
    unsigned level = htw__wheel_id_level(wheel, id);
    add(reading, id);
    add(reading, htw__delay_queue_key(&wheel->queue, id));
    if (wheel->strict_fifo)
        add_list(reading, htw__wheel_list(wheel, level, id & wheel->mask, 0), id);
    else
        add_chains(reading, level, id);
}

/* When the next chain is chosen, unless a history of `remaining` more steps cannot get there. Those that are met
   later have fewer steps left, so they cannot either. With strict FIFO there are no chains. */
static void add_insertions(struct reading *reading, unsigned remaining) {
    const struct htw_wheel *wheel = reading->history->wheel;
    uint64_t size = wheel->mask + 1;
    uint64_t until = size - wheel->inserted % size;
    uint64_t possible = reading->demotions + remaining * (uint64_t)(1 + LEVEL_MAX);
    if (wheel->strict_fifo)
        return;
    add(reading, until > possible ? UINT64_MAX : until);
    add(reading, (wheel->drained - wheel->inserted / size) % HTW__BUCKET_CHAINS_MAX);
}

static void add_wheel(struct reading *reading, unsigned remaining) {
    const struct htw_wheel *wheel = reading->history->wheel;
    add(reading, wheel->clock);
    add(reading, wheel->max_deadline);
    add(reading, (uint64_t)wheel->level_count << 2 | (uint64_t)wheel->in_round << 1 |
                     (uint64_t)wheel->emptying);
    for (unsigned level = 1; level < wheel->level_count; level++)
        add(reading, wheel->levels[level].last);
    add_list(reading, htw__list_of_ring(&wheel->due), HTW__ID_DUE);
    add_list(reading, htw__list_of_ring(&wheel->next_round), HTW__ID_DUE);
    add_list(reading, htw__list_of_ring(&wheel->never), HTW__ID_NEVER);
    for (uint32_t i = 0; i < wheel->queue.heap_count; i++)
        add(reading, wheel->queue.heap[i].id);
    for (uint32_t id = 0; id < wheel->queue.capacity; id++)
        if (htw__delay_queue_key(&wheel->queue, id) != HTW__DELAY_QUEUE_ABSENT)
            add_bucket(reading, id);
    add_insertions(reading, remaining);
}

/* In which order the oracle expects the timers, where it expects one. */
static void add_oracle(struct reading *reading) {
    const struct oracle *oracle = &reading->history->oracle;
    uint64_t sum = 0;
    for (size_t i = 0; i < oracle->count; i++) {
        const struct oracle_entry *entry = &oracle->entries[i];
        uint64_t value = reading->names[entry->id] << 2 | (uint64_t)entry->turn;
        reading->is_sound &= reading->names[entry->id] != 0;
        if (oracle->strict || entry->turn == ORACLE_DUE || entry->turn == ORACLE_NEXT_ROUND)
            add(reading, value);
        else
            sum += digest_add(1, value);
    }
    add(reading, sum);
    reading->is_sound &= reading->count == oracle->count;
}

static uint64_t next_refusal(const struct failing_allocator *memory) {
    if (memory->fail_at == 0)
        return 0;
    return memory->fail_at > memory->calls ? memory->fail_at - memory->calls : 1;
}

/* What is expected of the next steps depends on these, too. */
static void add_expectations(struct reading *reading) {
    const struct history *history = reading->history;
    add(reading, history->reserved);
    add(reading, next_refusal(&history->memory));
    add(reading, history->in_round);
    uint64_t sum = 0;
    for (size_t i = 0; i < history->left_count; i++)
        sum += digest_add(2, history->left[i]);
    add(reading, sum);
}

/* A call with a budget that has more to do must have changed something: otherwise the caller calls for ever. That the
   history counts such calls is not part of the digest. */
static bool read_state(unsigned remaining, uint64_t *ret_digest) {
    struct history *history = &self->history;
    struct reading reading = { .history = history, .digest = 1, .is_sound = true };
    add_wheel(&reading, remaining);
    add_oracle(&reading);
    add_expectations(&reading);
    if (!reading.is_sound)
        return history_differ(history, "a timer is lost, or in a wrong list");
    *ret_digest = digest_add(reading.digest, 3);
    if (self->is_batch && history->in_round && *ret_digest == self->digest)
        return history_differ(history, "HTW_MORE though nothing has changed");
    self->digest = *ret_digest;
    return true;
}

/* ---- operations */

static uint64_t later(uint64_t tick, uint64_t delay) {
    return delay > HTW_NEVER_TICK - 1 - tick ? HTW_NEVER_TICK - 1 : tick + delay;
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
static void append_arms(const struct history *history, uint32_t timer) {
    uint64_t size = history->options.size, clock = history->clock;
    uint32_t bits = history->wheel->bits;
    uint64_t near_end = htw__wheel_window_end(history->wheel, bits, clock);
    uint64_t far_end = htw__wheel_window_end(history->wheel, 2 * bits, clock);
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
    for (size_t i = 0; i < history->oracle.count; i++)
        append_arm(timer, history->oracle.entries[i].deadline);
}

static void append_polls(const struct history *history) {
    uint64_t clock = history->clock, size = history->options.size;
    uint64_t earliest = oracle_earliest(&history->oracle);
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
static void append_refusals(const struct history *history) {
    bool is_refusing = history->memory.fail_at != 0;
    for (size_t nth = is_refusing ? 0 : 1; nth <= (is_refusing ? 0 : 2); nth++)
        append((struct history_op) { .kind = HISTORY_REFUSE, .max = nth, .budget = 1 });
}

/* All that is worth trying in a state. */
static size_t list_operations(void) {
    const struct history *history = &self->history;
    uint64_t clock = history->clock, size = history->options.size;
    bool idle_was_tried = false;
    op_count = 0;
    for (uint32_t timer = 0; timer < TIMERS; timer++) {
        bool pending = htw_timer_is_pending(&history->timers[timer]);
        if (!pending && idle_was_tried)
            continue;
        idle_was_tried |= !pending;
        append_arms(history, timer);
        if (pending)
            append((struct history_op) { .kind = HISTORY_CANCEL, .timer = timer });
        else
            append((struct history_op) { .kind = HISTORY_WITHIN,
                                         .timer = timer,
                                         .tick = later(clock, 1),
                                         .latest = later(clock, size + 1) });
    }
    append_polls(history);
    append((struct history_op) { .kind = HISTORY_NEXT });
    append((struct history_op) { .kind = HISTORY_DRAIN });
    append((struct history_op) { .kind = HISTORY_RESERVE, .tick = size * size });
    append_refusals(history);
    return op_count;
}

static void describe(size_t operation, char *text) {
    history_describe(&ops[operation], text, SEARCH_TEXT);
}

/* ---- running */

static void begin(void) {
    self = calloc(1, sizeof(*self));
    if (self == NULL || !history_open(&self->history, &options) || !read_state(0, &self->digest))
        abort();
}

/*
 * htw_wheel_next() may return a tick that a timer was taken from, and so the history keeps these. It returns
 * keys of the delay queue. A key is the deadline of a timer that was inserted under it, so a tick that is no key
 * becomes one only by another timer; only those that are keys are kept.
 */
static void trim_left(struct history *history) {
    const struct htw__delay_queue *queue = &history->wheel->queue;
    size_t kept = 0;
    for (size_t i = 0; i < history->left_count; i++) {
        bool is_key = false, is_known = false;
        for (uint32_t id = 0; id < queue->capacity && !is_key; id++)
            is_key = htw__delay_queue_key(queue, id) == history->left[i];
        for (size_t k = 0; k < kept; k++)
            is_known |= history->left[k] == history->left[i];
        if (is_key && !is_known)
            history->left[kept++] = history->left[i];
    }
    history->left_count = kept;
}

static bool run(size_t operation) {
    struct history *history = &self->history;
    history->steps = 0; /* what is compared now and then is compared by compare() */
    self->is_batch = ops[operation].kind == HISTORY_BATCH;
    bool same = history_run(history, &ops[operation]);
    trim_left(history);
    return same;
}

static bool compare(bool is_new) {
    return (!is_new && options.size > SMALL) || history_compare_all(&self->history);
}

static bool finish(size_t end) {
    self->history.steps = 0;
    return history_finish(&self->history, (enum history_end)end);
}

static const char *message(void) {
    return self->history.message;
}

static const char *const ends[] = { "poll", "drain", "destroy", NULL };

static const struct search_model model = { begin,   list_operations, describe, run,    read_state,
                                           compare, finish,          ends,     message };

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

/* The name of the search that the options say, with those that it needs. */
static void set_options(uint32_t size, bool strict, size_t start, char name[64]) {
    options = (struct history_options) { .size = size,
                                         .strict = strict,
                                         .start = tick_of(start, size),
                                         .timers = TIMERS,
                                         .check_every = UINT32_MAX };
    snprintf(name, 64, "wheel %u %s %s", size, strict ? "fifo" : "any", starts[start]);
}

static bool run_all(unsigned depth) {
    static const uint32_t sizes[] = { 2, 4, 16, 64 };
    char name[64];
    bool same = true;
    for (size_t i = 0; same && i < 4 * STARTS * 2; i++) {
        set_options(sizes[i % 4], i / 4 % 2 != 0, i / 8, name);
        same = search_run(&model, name, depth);
    }
    return same;
}

static size_t start_of(const char *text) {
    size_t start = 0;
    while (start < STARTS && strcmp(text, starts[start]) != 0)
        start++;
    return start;
}

int main(int argc, char *argv[]) {
    char name[64];
    bool is_all = argc == 2;
    uint32_t size = argc < 5 ? 0 : (uint32_t)strtoul(argv[1], NULL, 10);
    size_t start = argc < 5 ? STARTS : start_of(argv[3]);
    if (!is_all &&
        (argc > 6 || size < 2 || size > 1024 || (size & (size - 1)) != 0 || start == STARTS)) {
        fprintf(stderr, "usage: enumerate_wheel DEPTH\n"
                        "       enumerate_wheel SIZE fifo|any zero|wrap|high|end|last DEPTH\n"
                        "       enumerate_wheel SIZE fifo|any zero|wrap|high|end|last TEXT "
                        "[poll|drain|destroy]\n");
        return 2;
    }
    if (is_all)
        return run_all((unsigned)strtoul(argv[1], NULL, 10)) ? 0 : 1;
    set_options(size, strcmp(argv[2], "fifo") == 0, start, name);
    return search_told(&model, name, argv[4], argv[5]) ? 0 : 1;
}
