/* SPDX-License-Identifier: MIT */
/*
 * wheel.c - every state of a small wheel, and every step from each, compared with the oracle.
 *
 *     enumerate_wheel                                            all states of a few wheels
 *     enumerate_wheel SIZE fifo|any START LEVELS TIMERS          all states of a wheel
 *     enumerate_wheel SIZE fifo|any START LEVELS TIMERS STATE    one state, as a failure prints it
 *
 * A state is made from nothing: a clock, keys for any of the buckets, timers in any of these and in the lists of the
 * wheel. All states that the invariants of wheel.c allow are made, whether a history leads there or not. From each, each
 * operation is tried, with memory and without. It must do what it does to the oracle, and lead to a state that the
 * invariants allow. So that holds after histories of any length, as long as no more timers are pending at once.
 *
 * What a state means is read from its lists: in which order its timers come out.
 */
/* holds: wheel-2, wheel-5, wheel-6, wheel-7, wheel-8, wheel-9 */
#include "../../src/wheel/lists.h"
#include "../support/history_compare.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    TIMERS_MAX = 4,
    LEVELS_MAX = 4,
    CHOICES_MAX = 64,
    OPS_MAX = 2048,
    BLOCKS_MAX = LEVELS_MAX + 5,
    PATIENCE_S = 60 /* of the processor, for a state */
};

/* The place of a timer that does not exist in this state. */
static const unsigned NOWHERE = UINT32_MAX;

static struct history_options options; /* `start`: the earliest clock */
static unsigned levels;
static unsigned period;        /* after so many ticks the clock is in the same slot of each level */
static char name[64];          /* of these bounds */
static struct history history; /* in the present state */
static uint64_t state_count, step_count;

/* ---- choices: the next state makes the last of them that has another value in another way */

static uint8_t chosen[CHOICES_MAX], counts[CHOICES_MAX];
static size_t choice, known; /* the next one; those before `known` are given */

/* One of 0 .. count - 1. */
static unsigned choose(unsigned count) {
    if (choice == CHOICES_MAX || count == 0 || count > UINT8_MAX)
        abort();
    if (choice == known)
        chosen[known++] = 0;
    counts[choice] = (uint8_t)count;
    return chosen[choice++];
}

/* False: that was the last state. */
static bool choose_next(void) {
    while (known > 0 && chosen[known - 1] + 1 == counts[known - 1])
        known--;
    if (known > 0)
        chosen[known - 1]++;
    return known > 0;
}

/* ---- in which order the timers of a wheel come out */

struct place {
    enum oracle_turn turn;
    uint64_t deadline;
    uint64_t rank; /* of equal deadlines the highest comes first */
    uint32_t id;
};

static struct place places[TIMERS_MAX];
static size_t place_count;

static void read_list(struct htw__timer_list list, enum oracle_turn turn, uint64_t rank) {
    for (struct htw__link *link = *list.head; link != list.end; link = link->_next) {
        const struct htw_timer *timer = htw__timer_of(link);
        if (place_count == TIMERS_MAX)
            abort();
        places[place_count++] =
            (struct place) { turn, turn == ORACLE_WAITING ? timer->_deadline : 0, rank--,
                             (uint32_t)(timer - history.timers) };
    }
}

static int compare_places(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    if (x->deadline != y->deadline)
        return x->deadline < y->deadline ? -1 : 1;
    return x->rank > y->rank ? -1 : 1;
}

/*
 * `due` comes first. With strict FIFO the timers of a tick are in one ring of a bucket, and of two buckets that of the
 * higher level comes first. While that at the top is being emptied, `due` has those of its timers that come last.
 */
static void read_order(void) {
    const struct htw_wheel *wheel = history.wheel;
    place_count = 0;
    read_list(htw__list_of_ring(&wheel->due), wheel->emptying ? ORACLE_WAITING : ORACLE_DUE,
              ((uint64_t)htw__delay_queue_top(&wheel->queue).id << 8) + 128);
    read_list(htw__list_of_ring(&wheel->next_round), ORACLE_NEXT_ROUND, TIMERS_MAX);
    read_list(htw__list_of_ring(&wheel->never), ORACLE_NEVER, TIMERS_MAX);
    for (uint32_t id = 0; id < wheel->queue.capacity; id++) {
        unsigned level = htw__wheel_id_level(wheel, id);
        for (uint32_t i = 0; i < htw__wheel_list_count(wheel, level); i++)
            read_list(htw__wheel_list(wheel, level, id & wheel->mask, i), ORACLE_WAITING,
                      ((uint64_t)id << 8) + 255);
    }
    qsort(places, place_count, sizeof(places[0]), compare_places);
}

/* In any order within a tick, `expected` may be another timer of that. If a batch was full, timers that had waited were
   put into `due`. */
static bool place_is_expected(const struct place *place, const struct oracle_entry *expected) {
    const struct oracle_entry *entry = oracle_find(&history.oracle, place->id);
    if (entry == NULL || entry->deadline != history.timers[place->id]._deadline)
        return false;
    bool was_put = place->turn == ORACLE_DUE && entry->turn == ORACLE_WAITING &&
                   entry->deadline <= history.clock;
    if (place->turn != entry->turn && !was_put)
        return false;
    bool is_alike = !options.strict && entry->turn == ORACLE_WAITING &&
                    expected->turn == ORACLE_WAITING && entry->deadline == expected->deadline;
    return entry == expected || is_alike;
}

static bool order_is_expected(void) {
    read_order();
    bool same = place_count == history.oracle.count;
    for (size_t i = 0; same && i < place_count; i++)
        same = place_is_expected(&places[i], &history.oracle.entries[i]);
    return same || history_differ(&history, "the lists have another order than is expected");
}

/* ---- a state */

static uint64_t later(uint64_t tick, uint64_t delay) {
    return delay > HTW_NEVER_TICK - 1 - tick ? HTW_NEVER_TICK - 1 : tick + delay;
}

static uint64_t last_of_bucket(uint64_t bucket, unsigned shift) {
    return bucket < HTW_NEVER_TICK >> shift ? ((bucket + 1) << shift) - 1 : HTW_NEVER_TICK - 1;
}

/* The last tick that the levels hold. */
static uint64_t last_of_window(void) {
    const struct htw_wheel *wheel = history.wheel;
    unsigned shift = wheel->levels[levels - 1].shift;
    return last_of_bucket(later(wheel->clock >> shift, wheel->mask), shift);
}

/* The bucket in which the clock is, or one of the next, is queued under one of its ticks, or not queued. */
static void choose_key(unsigned level, uint32_t offset) {
    /* How many chains of the bucket were used; of 20 it has no more. */
    static const uint32_t turns[] = { 1, 2, 20 };
    struct htw_wheel *wheel = history.wheel;
    uint64_t since =
        wheel->inserted - 1 - (wheel->mask + 1) * (turns[(wheel->clock + offset) % 3] - 1);
    unsigned shift = wheel->levels[level].shift;
    uint64_t bucket = (wheel->clock >> shift) + offset;
    uint64_t first = bucket << shift, last = last_of_bucket(bucket, shift);
    /* No timer waits for tick 0. */
    uint64_t earliest = wheel->clock + (!wheel->in_round || wheel->clock == 0);
    if (first < earliest)
        first = earliest;
    if (bucket > HTW_NEVER_TICK >> shift || last < first)
        return;
    unsigned key = choose((unsigned)(last - first) + 2);
    if (key > 0)
        htw__delay_queue_lower(&wheel->queue,
                               htw__wheel_bucket_id(wheel, level, (uint32_t)bucket & wheel->mask),
                               first + key - 1, since);
}

/* Of two timers in a bucket, one is in the chain that was used first, the other in the one that was used last. */
static void put_into_bucket(struct htw_timer *timer, uint32_t id) {
    struct htw_wheel *wheel = history.wheel;
    struct htw__bucket bucket = htw__wheel_bucket(wheel, id);
    uint64_t key = htw__delay_queue_key(&wheel->queue, id);
    unsigned shift = wheel->levels[htw__wheel_id_level(wheel, id)].shift;
    uint64_t last = options.strict ? last_of_bucket(key >> shift, shift) : last_of_window();
    bool is_older = (id + (uint32_t)(timer - history.timers)) % 2;
    timer->_deadline = key + choose((unsigned)(last - key) + 1);
    htw__wheel_set_location(wheel, timer, id);
    htw__bucket_add(bucket.buckets, bucket.slot, timer->_deadline,
                    is_older ? bucket.since : bucket.now - 1, &timer->_link, &wheel->nil);
}

static void put_into_list(struct htw_timer *timer, struct htw__link *ring, uint64_t deadline,
                          uint32_t id) {
    timer->_deadline = deadline;
    htw__wheel_set_location(history.wheel, timer, id);
    htw__ring_push_back(ring, &timer->_link);
}

/* From place `least` on: one timer is like the other, so two never change places. */
static unsigned choose_place(struct htw_timer *timer, unsigned least) {
    struct htw_wheel *wheel = history.wheel;
    enum { IDLE, NEVER, DUE, OVERDUE, NEXT_ROUND, BUCKETS };
    unsigned place = least + choose(BUCKETS + wheel->queue.capacity - least);
    uint64_t clock = wheel->clock;
    if (place == NEVER)
        put_into_list(timer, &wheel->never, HTW_NEVER_TICK, HTW__ID_NEVER);
    else if (place == DUE)
        put_into_list(timer, &wheel->due, clock, HTW__ID_DUE);
    else if (place == OVERDUE && clock > 0 && !wheel->emptying)
        put_into_list(timer, &wheel->due, clock - 1, HTW__ID_DUE);
    else if (place == NEXT_ROUND && wheel->in_round)
        put_into_list(timer, &wheel->next_round, clock, HTW__ID_DUE);
    else if (place >= BUCKETS &&
             htw__delay_queue_key(&wheel->queue, place - BUCKETS) != HTW__DELAY_QUEUE_ABSENT)
        put_into_bucket(timer, place - BUCKETS);
    else if (place != IDLE)
        return NOWHERE;
    return place;
}

/* Tells the oracle which timers there are. htw_wheel_next() may answer any key. */
static void expect(void) {
    struct htw_wheel *wheel = history.wheel;
    read_order();
    for (size_t i = 0; i < place_count; i++) {
        const struct htw_timer *timer = &history.timers[places[i].id];
        bool waits = places[i].turn == ORACLE_WAITING;
        oracle_arm(&history.oracle, places[i].id, timer->_deadline,
                   waits ? timer->_deadline - 1 : wheel->clock,
                   places[i].turn == ORACLE_NEXT_ROUND);
        history.deadlines[places[i].id] = timer->_deadline;
    }
    wheel->expired = wheel->inserted - wheel->drained - place_count;
    history.expected = history_read_stats(&history);
    history.longest = place_count;
    history.in_round = wheel->in_round;
    history.reserved = wheel->reach;
    history.left_count = wheel->queue.capacity;
    /* One more, for the tick that a step takes a timer from. */
    history.left_capacity = history.left_count + 1;
    history.left = realloc(history.left, history.left_capacity * sizeof(*history.left));
    if (history.left == NULL)
        abort();
    memcpy(history.left, wheel->queue.keys, history.left_count * sizeof(*history.left));
}

/* Makes the state of the choices. False: there is no such state. */
static bool make(void) {
    struct history_options present = options;
    choice = 0;
    present.start += choose(period);
    if (!history_open(&history, &present))
        abort();
    struct htw_wheel *wheel = history.wheel;
    if (htw_wheel_reserve(wheel, wheel->levels[levels - 1].reach) != 0)
        abort();
    wheel->inserted = 1024 + present.start % options.size;
    wheel->drained = present.start % 64;
    wheel->in_round = choose(2);
    for (unsigned level = 0; level < levels; level++)
        for (uint32_t offset = 0; offset < options.size; offset++)
            choose_key(level, offset);
    struct htw__delay_queue_entry top = htw__delay_queue_top(&wheel->queue);
    wheel->fetched = options.strict && choose(2) ? later(wheel->clock, 8) : 0;
    wheel->emptying =
        options.strict && top.key == wheel->clock && top.id > wheel->mask && choose(2);
    unsigned place = 0;
    for (unsigned timer = 0; timer < options.timers && place != NOWHERE; timer++)
        place = choose_place(&history.timers[timer], place);
    if (place == NOWHERE)
        return false;
    expect();
    return true;
}

/* Whether `make()` could make the state that a step has led to, but for more levels. */
static bool is_allowed(void) {
    const struct htw_wheel *wheel = history.wheel;
    struct htw__delay_queue_entry top = htw__delay_queue_top(&wheel->queue);
    if (!history_compare_all(&history) || !order_is_expected())
        return false;
    if (!wheel->emptying)
        return true;
    bool allowed =
        wheel->strict_fifo && wheel->in_round && top.key == wheel->clock && top.id > wheel->mask;
    struct htw__timer_list due = htw__list_of_ring(&wheel->due);
    for (struct htw__link *link = *due.head; link != due.end; link = link->_next)
        allowed &= htw__timer_of(link)->_deadline == wheel->clock;
    return allowed || history_differ(&history, "the bucket at the top is not being emptied");
}

/* ---- the present state is kept, and comes back after each step */

struct block {
    void *memory;
    size_t size;
    char *copy;
};

static struct block blocks[BLOCKS_MAX];
static size_t block_count;

static void keep_block(void *memory, size_t size) {
    struct block *block = &blocks[block_count++];
    if (block_count > BLOCKS_MAX)
        abort();
    *block = (struct block) { memory, size, realloc(block->copy, size) };
    if (block->copy == NULL)
        abort();
    memcpy(block->copy, memory, size);
}

static void keep(void) {
    struct htw_wheel *wheel = history.wheel;
    block_count = 0;
    keep_block(&history, sizeof(history));
    keep_block(history.oracle.entries, options.timers * sizeof(*history.oracle.entries));
    keep_block(history.deadlines, options.timers * sizeof(*history.deadlines));
    keep_block(history.timers, options.timers * sizeof(*history.timers));
    keep_block(wheel, sizeof(*wheel));
    size_t queue = htw__delay_queue_memory(&wheel->queue);
    keep_block(wheel->queue.keys, queue);
    for (unsigned level = 0; level < levels; level++)
        keep_block(wheel->levels[level].buckets.lists,
                   htw__buckets_bytes(&wheel->levels[level].buckets));
}

/* Whether the timers or the wheel have; the blocks before these are what is expected. */
static bool has_changed(void) {
    for (size_t i = 3; i < block_count; i++)
        if (memcmp(blocks[i].memory, blocks[i].copy, blocks[i].size) != 0)
            return true;
    return false;
}

static void come_back(void) {
    const struct history *kept = (const struct history *)(const void *)blocks[0].copy;
    if (history.memory.calls != kept->memory.calls || history.left != kept->left) {
        history_close(&history);
        make();
        keep();
        return;
    }
    for (size_t i = 0; i < block_count; i++)
        memcpy(blocks[i].memory, blocks[i].copy, blocks[i].size);
}

/* ---- steps */

static struct history_op ops[OPS_MAX];
static size_t op_count;

static void append(struct history_op op) {
    if (op_count == OPS_MAX)
        abort();
    ops[op_count++] = op;
}

static void append_polls(uint64_t now) {
    append((struct history_op) { .kind = HISTORY_POLL, .tick = now });
    for (size_t max = 1; max <= 2; max++)
        for (size_t budget = 0; budget <= 2; budget++)
            append((struct history_op) {
                .kind = HISTORY_BATCH, .tick = now, .max = max, .budget = budget });
}

/* Each call, to all ticks that the levels hold and to the first behind them. */
static void list_steps(void) {
    uint64_t first = history.clock == 0 ? 0 : history.clock - 1, last = later(last_of_window(), 2);
    op_count = 0;
    bool idle_was_tried = false;
    for (uint32_t timer = 0; timer < options.timers; timer++) {
        bool pending = htw_timer_is_pending(&history.timers[timer]);
        if (!pending && idle_was_tried)
            continue;
        idle_was_tried |= !pending;
        for (uint64_t tick = first; tick <= last; tick++)
            append((struct history_op) { .kind = HISTORY_SCHEDULE, .timer = timer, .tick = tick });
        append((struct history_op) {
            .kind = HISTORY_SCHEDULE, .timer = timer, .tick = HTW_NEVER_TICK });
        append((struct history_op) { .kind = HISTORY_CANCEL, .timer = timer });
        append((struct history_op) { .kind = HISTORY_WITHIN,
                                     .timer = timer,
                                     .tick = later(history.clock, 1),
                                     .latest = later(history.clock, options.size + 1) });
    }
    for (uint64_t tick = first; tick <= last; tick++)
        append_polls(tick);
    append_polls(HTW_NEVER_TICK);
    append((struct history_op) { .kind = HISTORY_NEXT });
    append((struct history_op) { .kind = HISTORY_DRAIN });
    append((struct history_op) { .kind = HISTORY_RESERVE, .tick = 2 * options.size });
}

static struct history_op taking;

/* Says what differs, and how to see it again. Always false. */
static bool report(void) {
    char text[128];
    history_describe(&taking, text, sizeof(text));
    printf("enumerate: a difference: %s\nenumerate:   %s\n", history.message, text);
    htw_wheel_dump(history.wheel, stdout);
    printf("enumerate: again: ./dev enumerate wheel %s ", name);
    for (size_t i = 0; i < known; i++)
        printf("%u%s", chosen[i], i + 1 < known ? "," : "\n");
    fflush(stdout);
    return false;
}

static void on_crash(int number) {
    signal(number, SIG_DFL);
    printf("enumerate: signal %d\n", number);
    report();
    _exit(1);
}

/* `refused`: which allocation is, and all behind it; 0: none. */
static bool take_step(const struct history_op *op, size_t refused) {
    taking = *op;
    step_count++;
    if (refused > 0)
        failing_allocator_fail(&history.memory, refused, true);
    history.steps = 0; /* what is compared now and then is compared by is_allowed() */
    if (!history_run(&history, op) || !is_allowed())
        return report();
    if (op->kind == HISTORY_BATCH && history.in_round && !has_changed()) {
        history_differ(&history, "HTW_MORE though nothing has changed");
        return report();
    }
    return true;
}

static bool try_state(void) {
    static const struct itimerval patience = { .it_value = { .tv_sec = PATIENCE_S } };
    state_count++;
    taking = (struct history_op) { .kind = HISTORY_KINDS };
    setitimer(ITIMER_VIRTUAL, &patience, NULL);
    if (!is_allowed())
        return report();
    keep();
    list_steps();
    for (size_t i = 0; i < op_count; i++) {
        size_t calls = history.memory.calls;
        if (!take_step(&ops[i], 0))
            return false;
        calls = history.memory.calls - calls;
        come_back();
        for (size_t refused = 1; refused <= calls && refused <= 2; refused++) {
            if (!take_step(&ops[i], refused))
                return false;
            come_back();
        }
    }
    return history_finish(&history, HISTORY_END_DESTROY) || report();
}

static bool try_all_states(void) {
    bool same = true;
    state_count = step_count = 0;
    known = 0;
    do {
        if (make())
            same = try_state();
        history_close(&history);
    } while (same && choose_next());
    printf("enumerate: wheel %s: %" PRIu64 " states, %" PRIu64 " steps, %u differences\n", name,
           state_count, step_count, !same);
    fflush(stdout);
    return same;
}

/* ---- the wheels */

/* False: not such bounds. */
static bool set_bounds(const char *const words[]) {
    options = (struct history_options) { .size = (uint32_t)atoi(words[0]),
                                         .strict = strcmp(words[1], "fifo") == 0,
                                         .timers = (uint32_t)atoi(words[4]),
                                         .check_every = UINT32_MAX };
    levels = (unsigned)atoi(words[3]);
    period = 1;
    for (unsigned level = 0; level < levels; level++)
        period *= options.size;
    snprintf(name, sizeof(name), "%s %s %s %s %s", words[0], words[1], words[2], words[3],
             words[4]);
    if (strcmp(words[2], "high") == 0)
        options.start = UINT64_C(1) << 60;
    else if (strcmp(words[2], "last") == 0)
        options.start = HTW_NEVER_TICK - period;
    return (options.size == 2 || options.size == 4) && levels >= 1 && levels <= LEVELS_MAX &&
           options.timers >= 1 && options.timers <= TIMERS_MAX;
}

static bool try_again(const char *numbers) {
    for (char *rest; known < CHOICES_MAX && *numbers != '\0'; numbers = rest + (*rest == ','))
        chosen[known++] = (uint8_t)strtoul(numbers, &rest, 10);
    bool same = make() && try_state();
    history_close(&history);
    return same;
}

int main(int argc, char *argv[]) {
    static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGVTALRM };
    static const char *const quick[][5] = { { "2", "any", "zero", "2", "2" },
                                            { "2", "fifo", "last", "2", "2" },
                                            { "4", "any", "last", "1", "2" },
                                            { "4", "fifo", "high", "1", "2" } };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        signal(numbers[i], on_crash);
    bool same = true;
    for (size_t i = 0; argc == 1 && same && i < sizeof(quick) / sizeof(quick[0]); i++)
        same = set_bounds(quick[i]) && try_all_states();
    if (argc > 1 && ((argc != 6 && argc != 7) || !set_bounds((const char *const *)&argv[1]))) {
        fprintf(stderr,
                "usage: enumerate_wheel [2|4 any|fifo zero|high|last LEVELS TIMERS [STATE]]\n");
        return 2;
    }
    if (argc > 1)
        same = argc == 7 ? try_again(argv[6]) : try_all_states();
    return same ? 0 : 1;
}
