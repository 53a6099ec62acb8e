/* SPDX-License-Identifier: MIT */
/*
 * wheel.c - every short history of a wheel, compared with the oracle after each step.
 *
 *     enumerate_wheel SIZE fifo|any zero|wrap|end DEPTH     all histories of up to DEPTH steps
 *     enumerate_wheel SIZE fifo|any zero|wrap|end PATH [poll|drain|destroy]
 *                                                           one history, as a failure prints it
 *
 * From each state, each operation is tried: a timer is armed, moved or cancelled, for all distances at
 * which something changes (a tick, a window, a level); polls alone and in batches, within budgets;
 * memory is refused. Then the wheel is emptied in each way.
 *
 * SYMMETRY. One idle timer is like the other, so only the first is armed. Two histories that lead to
 * the same lists, keys and clocks have the same futures, so only the first is continued. Which timers
 * they are does not matter, nor what an idle timer was armed for.
 *
 * THE SEARCH goes breadth first, so the first difference that it finds is a shortest one. A state that is to
 * be continued is kept as its path, one byte a step. Neighbours have most of their path in common, so
 * mostly one step is run to get to the next state, and one copy returns to it (image.h).
 */
#include "../../src/wheel/lists.h"
#include "../support/history_compare.h"
#include "image.h"
#include "states.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TIMERS = 3, DEPTH_MAX = 8, OPS_MAX = 80, PATIENCE_S = 60 };

/* The chains of a bucket change every `size` insertions (bucket.h), and a history has fewer than this. */
enum { INSERTIONS_MAX = 64 };

/* In wheels up to this size, each step is followed by a check of all buckets; in larger ones, each
   step to a new state. */
enum { SMALL = 4 };

/* ---- the digest of a state */

/* Timers are named in the order in which they are met. */
struct reading {
    const struct history *history;
    uint64_t digest;
    uint64_t names[TIMERS]; /* 0: not met */
    uint64_t count;
    bool is_sound;
};

static void add(struct reading *reading, uint64_t value) {
    reading->digest = digest_add(reading->digest, value);
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
        back = &link->_next;
    }
    add(reading, 0);
}

static void add_bucket(struct reading *reading, uint32_t id) {
    const struct htw_wheel *wheel = reading->history->wheel;
    unsigned level = htw__wheel_id_level(wheel, id);
    add(reading, id);
    add(reading, htw__delay_queue_key(&wheel->queue, id));
    if (!wheel->strict_fifo && wheel->mask < INSERTIONS_MAX - 1)
        add(reading, htw__delay_queue_since(&wheel->queue, id));
    for (uint32_t i = 0; i < htw__wheel_list_count(wheel, level); i++) {
        struct htw__list list = htw__wheel_list(wheel, level, id & wheel->mask, i);
        if (*list.head == list.end)
            continue;
        add(reading, i);
        add_list(reading, list, id);
    }
}

static void add_wheel(struct reading *reading) {
    const struct htw_wheel *wheel = reading->history->wheel;
    add(reading, wheel->clock);
    add(reading, wheel->max_deadline);
    add(reading, wheel->drained % HTW__BUCKET_CHAINS_MAX);
    if (!wheel->strict_fifo && wheel->mask < INSERTIONS_MAX - 1)
        add(reading, wheel->inserted);
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

/* What is expected of the next steps depends on these, too. */
static void add_expectations(struct reading *reading) {
    const struct history *history = reading->history;
    const struct failing_allocator *memory = &history->memory;
    add(reading, history->reserved);
    add(reading, memory->fail_at > memory->calls ? memory->fail_at - memory->calls : 0);
    add(reading, (uint64_t)history->disturbed << 1 | (uint64_t)history->in_round);
    add(reading, history->idle);
    if (history->options.strict)
        add(reading, history->longest);
    uint64_t sum = 0;
    for (size_t i = 0; i < history->left_count; i++) {
        bool is_counted = history->left[i] <= history->clock;
        for (size_t k = 0; k < i; k++)
            is_counted |= history->left[k] == history->left[i];
        if (!is_counted)
            sum += digest_add(2, history->left[i]);
    }
    add(reading, sum);
}

/* False: some timer is not where its wheel has it. */
static bool read_state(struct history *history, uint64_t *ret_digest) {
    struct reading reading = { .history = history, .digest = 1, .is_sound = true };
    add_wheel(&reading);
    add_oracle(&reading);
    add_expectations(&reading);
    *ret_digest = digest_add(reading.digest, 3);
    return reading.is_sound || history_differ(history, "a timer is lost, or in a wrong list");
}

/* ---- operations */

static uint64_t later(uint64_t tick, uint64_t delay) {
    return delay > HTW_NEVER_TICK - 1 - tick ? HTW_NEVER_TICK - 1 : tick + delay;
}

struct operations {
    struct history_op ops[OPS_MAX];
    size_t count;
};

static void append(struct operations *operations, struct history_op op) {
    if (operations->count == OPS_MAX)
        abort();
    operations->ops[operations->count++] = op;
}

/* A timer is armed for each distance, in ascending order; or moved. */
static void append_arms(struct operations *operations, const struct history *history,
                        uint32_t timer) {
    uint64_t size = history->options.size;
    const uint64_t distances[] = {
        0, 1, size - 1, size, size + 1, size * size - 1, size * size, size * size + 1
    };
    struct history_op op = { .kind = HISTORY_SCHEDULE, .timer = timer };
    for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
        uint64_t tick = later(history->clock, distances[i]);
        if (i > 0 && tick == op.tick) /* with size 2, or at the end of time */
            continue;
        op.tick = tick;
        append(operations, op);
    }
    op.tick = HTW_NEVER_TICK;
    append(operations, op);
}

static void append_polls(struct operations *operations, const struct history *history) {
    uint64_t clock = history->clock, size = history->options.size;
    uint64_t earliest = oracle_earliest(&history->oracle);
    const uint64_t nows[] = { clock, later(clock, 1), later(clock, size),
                              earliest == HTW_NEVER_TICK ? later(clock, size * size) : earliest,
                              HTW_NEVER_TICK };
    for (size_t i = 0; i < sizeof(nows) / sizeof(nows[0]); i++) {
        append(operations, (struct history_op) { .kind = HISTORY_POLL, .tick = nows[i] });
        for (size_t max = 1; i != 2 && max <= 2; max++)
            for (size_t budget = 0; budget <= 2; budget++)
                append(operations,
                       (struct history_op) {
                           .kind = HISTORY_BATCH, .tick = nows[i], .max = max, .budget = budget });
    }
}

/* All that is worth trying in a state. */
static void find_operations(const struct history *history, struct operations *operations) {
    uint64_t clock = history->clock, size = history->options.size;
    bool idle_was_tried = false;
    operations->count = 0;
    for (uint32_t timer = 0; timer < TIMERS; timer++) {
        bool pending = htw_timer_is_pending(&history->timers[timer]);
        if (!pending && idle_was_tried)
            continue;
        idle_was_tried |= !pending;
        append_arms(operations, history, timer);
        if (pending)
            append(operations, (struct history_op) { .kind = HISTORY_CANCEL, .timer = timer });
        else
            append(operations, (struct history_op) { .kind = HISTORY_WITHIN,
                                                     .timer = timer,
                                                     .tick = later(clock, 1),
                                                     .latest = later(clock, size + 1) });
    }
    append_polls(operations, history);
    append(operations, (struct history_op) { .kind = HISTORY_NEXT });
    append(operations, (struct history_op) { .kind = HISTORY_DRAIN });
    append(operations, (struct history_op) { .kind = HISTORY_REFUSE, .max = 1 });
    append(operations, (struct history_op) { .kind = HISTORY_RESERVE, .tick = size * size });
}

/* ---- the search */

struct path {
    uint8_t steps[DEPTH_MAX]; /* numbers of operations */
};

struct frontier {
    struct path *paths;
    size_t count, capacity;
};

/* A state on the way to the present one. */
struct place {
    struct image image;
    struct operations operations;
};

struct search {
    struct history_options options;
    const char *arguments[3]; /* size, order and start, as they were given */
    unsigned depth;
    struct history *history;            /* in the arena */
    struct place places[DEPTH_MAX + 1]; /* by the number of steps */
    struct path path;                   /* which the places are of */
    unsigned length;
    struct states states;
    uint64_t histories, operations;
};

static const char *const ends[HISTORY_ENDS] = { "poll", "drain", "destroy" };

/* Says what differs after the path, and how to see it again. Always false. */
static bool report(const struct search *search, const struct path *path, unsigned length,
                   const char *end) {
    printf("enumerate: a difference: %s\n", search->history->message);
    printf("enumerate: its steps: ./dev enumerate wheel");
    for (size_t i = 0; i < 3; i++)
        printf(" %s", search->arguments[i]);
    for (unsigned i = 0; i < length; i++)
        printf("%s%u", i == 0 ? " /" : "/", path->steps[i]);
    printf("%s%s\n", end == NULL ? "" : " ", end == NULL ? "" : end);
    return false;
}

/* A wheel that is broken may crash, or loop for ever: then this history did it. */
static struct {
    const struct search *search;
    struct path path;
    unsigned length;
} trying;

static void on_crash(int number) {
    printf("enumerate: signal %d\n", number);
    report(trying.search, &trying.path, trying.length, NULL);
    fflush(stdout);
    _exit(1);
}

static bool run_step(struct search *search, const struct history_op *op) {
    struct history *history = search->history;
    history->steps = 0; /* what is compared now and then is compared by compare_state() */
    search->operations++;
    image_open();
    bool same = history_run(history, op);
    image_close();
    return same;
}

/* Goes to the state before the last step of a path that was run before. */
static void go_to(struct search *search, const struct path *path, unsigned length) {
    unsigned common = 0;
    while (common < length && common < search->length &&
           path->steps[common] == search->path.steps[common])
        common++;
    image_restore(&search->places[common].image);
    for (search->length = common; search->length < length;) {
        struct place *place = &search->places[search->length];
        uint8_t step = path->steps[search->length];
        if (!run_step(search, &place->operations.ops[step]))
            abort(); /* it was the same before */
        search->path.steps[search->length++] = step;
        place = &search->places[search->length];
        image_save(&place->image);
        find_operations(search->history, &place->operations);
    }
}

static void push(struct frontier *frontier, const struct path *path) {
    if (frontier->count == frontier->capacity) {
        frontier->capacity = frontier->capacity * 2 + 1024;
        frontier->paths = realloc(frontier->paths, frontier->capacity * sizeof(*frontier->paths));
        if (frontier->paths == NULL)
            abort();
    }
    frontier->paths[frontier->count++] = *path;
}

/* Empties the wheel in each way; at the greatest depth only by polls. */
static bool finish(struct search *search, const struct path *path, unsigned length) {
    static struct image image;
    enum history_end way_end = length == search->depth ? HISTORY_END_POLL + 1 : HISTORY_ENDS;
    if (way_end > 1)
        image_save(&image);
    for (enum history_end way = 0; way < way_end; way++) {
        if (way > 0)
            image_restore(&image);
        search->history->steps = 0;
        image_open();
        bool same = history_finish(search->history, way);
        image_close();
        search->operations += search->history->steps;
        if (!same)
            return report(search, path, length, ends[way]);
    }
    return true;
}

/* Compares the state after a step; `next` receives it if it is new. */
static bool visit(struct search *search, const struct path *path, unsigned length,
                  struct frontier *next) {
    struct history *history = search->history;
    uint64_t digest;
    if (!read_state(history, &digest))
        return report(search, path, length, NULL);
    bool is_new = states_insert(&search->states, digest);
    if ((is_new || history->options.size <= SMALL) && !history_compare_all(history))
        return report(search, path, length, NULL);
    if (!is_new)
        return true;
    if (length < search->depth)
        push(next, path);
    return finish(search, path, length);
}

/* Tries each operation after a history of `length` operations. */
static bool extend(struct search *search, const struct path *path, unsigned length,
                   struct frontier *next) {
    go_to(search, path, length);
    trying.search = search;
    trying.length = length + 1;
    alarm(PATIENCE_S);
    const struct place *place = &search->places[length];
    for (size_t i = 0; i < place->operations.count; i++) {
        struct path longer = *path;
        longer.steps[length] = (uint8_t)i;
        if (i > 0)
            image_restore(&place->image);
        search->histories++;
        trying.path = longer;
        if (!run_step(search, &place->operations.ops[i]))
            return report(search, &longer, length + 1, NULL);
        if (!visit(search, &longer, length + 1, next))
            return false;
    }
    return true;
}

static void begin(struct search *search) {
    image_open();
    search->history = malloc(sizeof(*search->history));
    if (search->history == NULL || !history_open(search->history, &search->options))
        abort();
    image_close();
    image_save(&search->places[0].image);
    find_operations(search->history, &search->places[0].operations);
    search->length = 0;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void say(const struct search *search, unsigned depth, double begun, unsigned differences) {
    printf("enumerate: wheel %s %s %s: depth %u, %s%zu states, %" PRIu64 " histories, %" PRIu64
           " operations, %.1f s, %u differences\n",
           search->arguments[0], search->arguments[1], search->arguments[2], depth,
           search->states.is_full ? "at most " : "", search->states.count, search->histories,
           search->operations, seconds() - begun, differences);
    fflush(stdout);
}

static bool run(struct search *search) {
    signal(SIGSEGV, on_crash);
    signal(SIGABRT, on_crash);
    signal(SIGALRM, on_crash);
    double begun = seconds();
    struct frontier now = { NULL, 0, 0 };
    push(&now, &(struct path) { { 0 } });
    begin(search);
    bool same = true;
    for (unsigned length = 0; same && length < search->depth; length++) {
        struct frontier next = { NULL, 0, 0 };
        for (size_t i = 0; same && i < now.count; i++)
            same = extend(search, &now.paths[i], length, &next);
        free(now.paths);
        now = next;
        say(search, length + 1, begun, !same);
    }
    free(now.paths);
    return same;
}

/* Runs the one history that a path describes, and prints its steps. */
static bool show(struct search *search, const char *path, const char *end) {
    struct operations operations;
    begin(search);
    struct history *history = search->history;
    bool same = true;
    while (same && *path != '\0') {
        char *rest;
        size_t step = strtoul(path + 1, &rest, 10);
        find_operations(history, &operations);
        if (*path != '/' || rest == path + 1 || step >= operations.count) {
            fprintf(stderr, "enumerate: there is no such step: %s\n", path);
            return false;
        }
        char text[128];
        history_describe(&operations.ops[step], text, sizeof(text));
        printf("  clock %" PRIu64 ": %s\n", history->clock, text);
        uint64_t digest;
        same = run_step(search, &operations.ops[step]) && read_state(history, &digest) &&
               history_compare_all(history);
        path = rest;
    }
    for (enum history_end way = 0; same && end != NULL && way < HISTORY_ENDS; way++)
        if (strcmp(end, ends[way]) == 0) {
            printf("  and to the end by: %s\n", end);
            same = history_finish(history, way);
        }
    printf("enumerate: %s\n", same ? "no difference" : history->message);
    return same;
}

/* "wrap": two ticks before levels 0 to 2 go round. "end": the longest distance leads to the last tick. */
static bool read_start(const char *text, uint64_t size, uint64_t *ret_start) {
    const struct {
        const char *name;
        uint64_t tick;
    } starts[] = { { "zero", 0 },
                   { "wrap", size * size * size - 2 },
                   { "end", HTW_NEVER_TICK - 1 - (size * size + 1) } };
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (strcmp(text, starts[i].name) == 0) {
            *ret_start = starts[i].tick;
            return true;
        }
    return false;
}

int main(int argc, char *argv[]) {
    struct search *search = calloc(1, sizeof(*search));
    if (search == NULL)
        return 1;
    uint32_t size = argc < 5 ? 0 : (uint32_t)strtoul(argv[1], NULL, 10);
    search->options = (struct history_options) { .size = size,
                                                 .strict = argc > 2 && strcmp(argv[2], "fifo") == 0,
                                                 .timers = TIMERS,
                                                 .check_every = UINT32_MAX };
    if (argc < 5 || argc > 6 || size < 2 || size > 1024 || (size & (size - 1)) != 0 ||
        !read_start(argv[3], size, &search->options.start)) {
        fprintf(stderr,
                "usage: enumerate_wheel SIZE fifo|any zero|wrap|end DEPTH\n"
                "       enumerate_wheel SIZE fifo|any zero|wrap|end PATH [poll|drain|destroy]\n");
        return 2;
    }
    memcpy(search->arguments, argv + 1, sizeof(search->arguments));
    search->depth = (unsigned)strtoul(argv[4], NULL, 10);
    if (search->depth > DEPTH_MAX)
        search->depth = DEPTH_MAX;
    bool same = argv[4][0] == '/' ? show(search, argv[4], argv[5]) : run(search);
    for (size_t i = 0; i <= DEPTH_MAX; i++)
        image_fini(&search->places[i].image);
    states_fini(&search->states);
    free(search);
    return same ? 0 : 1;
}
