/* SPDX-License-Identifier: MIT */
/*
 * model_scope.c - random histories of trees of scopes in manual time, compared after each step with an oracle. For its
 * arguments see arguments.h.
 *
 * There is one thread. Callbacks make steps of their own: they enter, end, shorten and exit scopes of the same tree,
 * their own included. The clock is set at times, forward or back. The oracle knows which scope must end next, for which
 * reason. All deadlines are whole ticks, so that each is kept to the nanosecond.
 */
/* holds: scope-1, scope-2, scope-3, scope-4 */
#include "arguments.h"

#include <htw/loop.h>
#include <htw/scope.h>

enum {
    SCOPES = 20,
    DEPTH = 40,
    STEPS_A_HISTORY = 400,
    NESTED_STEPS = 12,
    ENTERED_MAX = STEPS_A_HISTORY * (NESTED_STEPS + 1)
};

#define TICK_NS HTW_MILLISECOND

/* A scope, and what the oracle knows of it. */
struct node {
    struct htw_scope scope;
    unsigned number; /* of its enter, from 1 on; 0: it was exited */
    int64_t deadline_ns;
    bool is_tighter; /* it has a timer */
    bool is_exiting; /* a call that exits it is going on */
    enum htw_scope_end why, cause;
};

/* What ends a scope, and then all in it. */
struct ending {
    unsigned top; /* the number of the scope; 0: none, it had ended before */
    enum htw_scope_end why;
};

static struct model_arguments arguments = { .seed = 1, .steps = 100000, .histories = UINT64_MAX };

static struct model {
    struct htw_scheduler *scheduler;
    struct node nodes[SCOPES];
    struct htw_scope overwritten; /* what one is that was exited: the library does not use it */
    unsigned entered;
    unsigned parents[ENTERED_MAX + 1]; /* by number: that of the parent; 0: none */
    struct ending endings[DEPTH];      /* those that are going on; the last one is the innermost */
    unsigned depth;
    bool is_advancing;
    unsigned nested_left; /* steps that may yet be made in callbacks */
    struct random_source source;
    uint64_t step;
} model;

static uint64_t below(uint64_t bound) {
    return random_below(&model.source, bound);
}

static int64_t now_ns(void) {
    return htw_scheduler_now(model.scheduler);
}

static bool is_open(const struct node *node) {
    return node->number != 0 && node->why == HTW_SCOPE_OPEN;
}

/* ---- the oracle */

/* Whether a scope has this number or is in the one that has it; the scopes between them may have ended. */
static bool is_in(const struct node *node, unsigned top) {
    unsigned number = node->number;
    while (number != 0 && number != top)
        number = model.parents[number];
    return number != 0;
}

/* Whether a scope ends before another one, if both do: a parent does, and of the scopes in which they are and that have
   one parent, the newer one. */
static bool is_first(const struct node *one, const struct node *other) {
    if (is_in(other, one->number) || is_in(one, other->number))
        return is_in(other, one->number);
    for (unsigned a = one->number; a != 0; a = model.parents[a])
        for (unsigned b = other->number; b != 0; b = model.parents[b])
            if (model.parents[a] == model.parents[b])
                return a > b;
    return false;
}

/* The scope that must end next; NULL: none. */
static struct node *next_of(const struct ending *ending) {
    struct node *next = NULL;
    for (unsigned i = 0; i < SCOPES; i++) {
        struct node *node = &model.nodes[i];
        if (is_open(node) && is_in(node, ending->top) && (next == NULL || is_first(node, next)))
            next = node;
    }
    return next;
}

/* Of a scope, if it is open; NULL: of none yet. */
static void begin_ending(const struct node *node, enum htw_scope_end why) {
    unsigned top = node != NULL && is_open(node) ? node->number : 0;
    EXPECT(model.depth < DEPTH);
    model.endings[model.depth++] = (struct ending) { top, why };
}

/* All have ended that had to. */
static void end_ending(void) {
    EXPECT(next_of(&model.endings[--model.depth]) == NULL);
}

/* ---- steps */

static void take_any_step(bool may_advance);

static void note_callback(struct htw_scope *scope, enum htw_scope_end why) {
    struct node *node = HTW_CONTAINER_OF(scope, struct node, scope);
    struct ending *ending = &model.endings[model.depth - 1];
    if (model.is_advancing && why == HTW_SCOPE_DEADLINE) { /* the next timer */
        EXPECT(node->is_tighter && node->deadline_ns <= now_ns());
        end_ending();
        begin_ending(node, HTW_SCOPE_DEADLINE);
    }
    EXPECT(next_of(ending) == node);
    EXPECT(why == (node->number == ending->top ? ending->why : HTW_SCOPE_PARENT));
    if (model_failure != NULL)
        return;
    node->why = why;
    node->cause = ending->why;
    EXPECT(htw_scope_why(scope) == why && htw_scope_left_ns(scope) == 0);
    bool was_advancing = model.is_advancing;
    model.is_advancing = false;
    while (below(3) == 0 && model.nested_left > 0 && model_failure == NULL) {
        model.nested_left--;
        take_any_step(false);
    }
    model.is_advancing = was_advancing;
}

static struct node *some_node(bool is_entered) {
    for (unsigned i = 0; i < 4 * SCOPES; i++) {
        struct node *node = &model.nodes[below(SCOPES)];
        if ((node->number != 0) == is_entered)
            return node;
    }
    return NULL;
}

/* The deadline of a delay: as htw_scope_enter() and htw_scope_shorten() compute it. */
static int64_t after(int64_t delay_ns) {
    if (delay_ns > HTW_NEVER_NS - now_ns())
        return HTW_NEVER_NS;
    return now_ns() + (delay_ns > 0 ? delay_ns : 0);
}

static int64_t some_delay(void) {
    static const int64_t extremes[] = { HTW_NEVER_NS, HTW_NEVER_NS, HTW_NEVER_NS - 1, INT64_MIN };
    return below(4) == 0 ? extremes[below(4)] : ((int64_t)below(40) - 2) * TICK_NS;
}

static void enter(void) {
    struct node *node = some_node(false), *parent = below(5) == 0 ? NULL : some_node(true);
    if (node == NULL)
        return;
    int64_t delay_ns = some_delay();
    node->deadline_ns = after(delay_ns);
    node->is_tighter = node->deadline_ns != HTW_NEVER_NS;
    if (parent != NULL && parent->deadline_ns <= node->deadline_ns) {
        node->deadline_ns = parent->deadline_ns;
        node->is_tighter = false;
    }
    node->why = node->cause = HTW_SCOPE_OPEN;
    if (parent != NULL && !is_open(parent)) {
        node->why = HTW_SCOPE_PARENT;
        node->cause = parent->cause;
    } else if (node->deadline_ns <= now_ns()) {
        node->why = node->is_tighter ? HTW_SCOPE_DEADLINE : HTW_SCOPE_PARENT;
        node->cause = HTW_SCOPE_DEADLINE;
    }
    node->number = ++model.entered;
    model.parents[node->number] = parent != NULL ? parent->number : 0;
    EXPECT(htw_scope_enter(&node->scope, model.scheduler, parent != NULL ? &parent->scope : NULL,
                           delay_ns, note_callback) == (int)node->why);
}

static void cancel(struct node *node) {
    enum htw_scope_end before = node->why;
    begin_ending(node, HTW_SCOPE_CANCELLED);
    EXPECT(htw_scope_cancel(&node->scope) == (int)before);
    end_ending();
}

static void exit_scope(struct node *node) {
    enum htw_scope_end before = node->why;
    if (node->is_exiting)
        return;
    begin_ending(node, HTW_SCOPE_CANCELLED);
    node->is_exiting = true;
    if (is_open(node))
        node->why = node->cause = HTW_SCOPE_CANCELLED;
    EXPECT(htw_scope_exit(&node->scope) == (int)before);
    end_ending();
    node->scope = model.overwritten;
    node->is_exiting = false;
    node->number = 0;
}

static void shorten(struct node *node) {
    int64_t delay_ns = some_delay(), deadline_ns = after(delay_ns);
    EXPECT(htw_scope_shorten(&node->scope, delay_ns) == (int)node->why);
    if (!is_open(node) || deadline_ns >= node->deadline_ns)
        return;
    for (unsigned i = 0; i < SCOPES; i++) {
        struct node *other = &model.nodes[i];
        if (is_open(other) && is_in(other, node->number) && other->deadline_ns >= deadline_ns) {
            other->deadline_ns = deadline_ns;
            other->is_tighter = other == node;
        }
    }
}

/* Time passes, or the clock is set, also back. */
static void pass_time(void) {
    int64_t delta_ns = ((int64_t)below(10) - 4) * TICK_NS;
    model.is_advancing = true;
    begin_ending(NULL, HTW_SCOPE_DEADLINE);
    if (delta_ns >= 0 && below(3) != 0)
        EXPECT(htw_scheduler_advance(model.scheduler, delta_ns) == 0);
    else
        EXPECT(htw_scheduler_set_clock(model.scheduler, HTW_CLOCK_DEFAULT, now_ns() + delta_ns) ==
               0);
    end_ending();
    model.is_advancing = false;
    for (unsigned i = 0; i < SCOPES; i++)
        EXPECT(!is_open(&model.nodes[i]) || model.nodes[i].deadline_ns > now_ns());
}

/* ---- comparing */

static void compare(void) {
    uint64_t timers = 0;
    for (unsigned i = 0; i < SCOPES && model_failure == NULL; i++) {
        const struct node *node = &model.nodes[i];
        if (node->number == 0) {
            EXPECT(memcmp(&node->scope, &model.overwritten, sizeof(node->scope)) == 0);
            continue;
        }
        int64_t left_ns =
            node->deadline_ns == HTW_NEVER_NS ? HTW_NEVER_NS : node->deadline_ns - now_ns();
        EXPECT(htw_scope_why(&node->scope) == node->why);
        EXPECT(htw_scope_cause(&node->scope) == node->cause);
        EXPECT(htw_scope_left_ns(&node->scope) == (is_open(node) && left_ns > 0 ? left_ns : 0));
        timers += is_open(node) && node->is_tighter;
    }
    EXPECT(htw_pending(model.scheduler) == timers);
}

static void take_any_step(bool may_advance) {
    uint64_t which = below(10);
    struct node *node = some_node(true);
    if (arguments.trace)
        printf("%" PRIu64 "%*s step %" PRIu64 "\n", model.step, (int)model.depth, "", which);
    if (which < 5 || node == NULL)
        enter();
    else if (which == 5)
        cancel(node);
    else if (which == 6)
        exit_scope(node);
    else if (which == 7)
        shorten(node);
    else if (may_advance)
        pass_time();
    compare();
}

static void begin(uint64_t seed) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    model = (struct model) { .source = { seed } };
    memset(&model.overwritten, 0xa5, sizeof(model.overwritten));
    for (unsigned i = 0; i < SCOPES; i++)
        model.nodes[i].scope = model.overwritten;
    options.clock = HTW_CLOCK_MANUAL;
    options.manual_start_ns = HTW_HOUR;
    options.workers = HTW_NO_WORKERS;
    options.shards = 1 + (uint32_t)below(2);
    EXPECT(htw_scheduler_create(&model.scheduler, &options) == 0);
}

static uint64_t run_history(uint64_t number) {
    struct random_source seeds = { arguments.seed ^ number * UINT64_C(0x9e3779b97f4a7c15) };
    begin(random_next(&seeds));
    for (; model.step < STEPS_A_HISTORY && model_failure == NULL; model.step++) {
        model.nested_left = NESTED_STEPS;
        take_any_step(true);
    }
    model.nested_left = 0;
    for (unsigned i = 0; i < SCOPES; i++)
        if (model.nodes[i].number != 0)
            exit_scope(&model.nodes[i]);
    EXPECT(htw_pending(model.scheduler) == 0);
    EXPECT(htw_scheduler_destroy(model.scheduler) == 0);
    return model.step;
}

int main(int argc, char *argv[]) {
    return model_play(&arguments, argc, argv, run_history);
}
