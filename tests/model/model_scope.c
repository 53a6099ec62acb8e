/* SPDX-License-Identifier: MIT */
/*
 * model_scope.c - random histories of trees of scopes in manual time, compared after each step with an oracle. For its
 * arguments see arguments.h.
 *
 * There is one thread. Callbacks make steps of their own: they enter, end, shorten and exit scopes of the same tree,
 * their own included. The oracle knows which scope must end next, for which reason; a scope that was exited is
 * overwritten. All deadlines are whole ticks, so that each is kept to the nanosecond.
 */
/* holds: scope-1, scope-2, scope-3, scope-4 */
#include "arguments.h"

#include "../support/random.h"

#include <htw/scope.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

/* A call that ends scopes: which it ends next, in order. */
struct ending {
    struct node *next[SCOPES];
    unsigned count;
    enum htw_scope_end why, cause; /* of the next one */
};

static struct model {
    struct htw_scheduler *scheduler;
    struct node nodes[SCOPES];
    unsigned entered;
    unsigned parents[ENTERED_MAX + 1]; /* by number: that of the parent; 0: none */
    struct ending endings[DEPTH];      /* those that are going on; the last one is the innermost */
    unsigned depth;
    bool is_advancing;
    unsigned nested_left; /* steps that may yet be made in callbacks */
    struct random_source source;
    uint64_t step;
    const char *failure;
    bool trace;
} model;

static void expect(bool holds, const char *what) {
    if (!holds && model.failure == NULL)
        model.failure = what;
}

#define EXPECT(condition) expect(condition, #condition)

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

static void remove_next(struct ending *ending, const struct node *node) {
    for (unsigned i = 0; i < ending->count; i++)
        if (ending->next[i] == node) {
            ending->count--;
            memmove(&ending->next[i], &ending->next[i + 1],
                    (ending->count - i) * sizeof(struct node *));
        }
}

/* Whether a scope is in another one; the scopes between them may have ended. */
static bool is_below(const struct node *node, const struct node *top) {
    unsigned number = model.parents[node->number];
    while (number != 0 && number != top->number)
        number = model.parents[number];
    return number != 0;
}

/* Whether a scope ends before another one, in the end of a scope in which both are: of the two scopes in which they are
   and that have one parent, the newer one is first. */
static bool is_first(const struct node *one, const struct node *other) {
    for (unsigned a = one->number; a != 0; a = model.parents[a])
        for (unsigned b = other->number; b != 0; b = model.parents[b])
            if (model.parents[a] == model.parents[b])
                return a > b;
    return false;
}

/* The scopes in one that ends, without those in them, in the order in which they end: its children, and what a call
   that is going on has to end in a child that has ended. Returns how many. */
static unsigned list_run(const struct node *top, struct node **list) {
    unsigned count = 0;
    for (unsigned i = 0; i < SCOPES; i++) {
        struct node *node = &model.nodes[i];
        bool is_listed = is_open(node) && is_below(node, top);
        for (unsigned j = 0; is_listed && j < SCOPES; j++)
            is_listed = !is_open(&model.nodes[j]) || !is_below(&model.nodes[j], top) ||
                        !is_below(node, &model.nodes[j]);
        unsigned place = count;
        for (; is_listed && place > 0 && is_first(node, list[place - 1]); place--)
            list[place] = list[place - 1];
        if (is_listed) {
            list[place] = node;
            count++;
        }
    }
    return count;
}

/* A scope ends: those in it are next. */
static void note_end(struct ending *ending, struct node *node, enum htw_scope_end why) {
    struct node *run[SCOPES];
    node->why = why;
    node->cause = ending->cause;
    unsigned count = list_run(node, run);
    for (unsigned i = 0; i < model.depth; i++)
        remove_next(&model.endings[i], node);
    memmove(&ending->next[count], ending->next, ending->count * sizeof(struct node *));
    memcpy(ending->next, run, count * sizeof(struct node *));
    ending->count += count;
    ending->why = HTW_SCOPE_PARENT;
}

static struct ending *begin_ending(struct node *first, enum htw_scope_end why) {
    struct ending *ending = &model.endings[model.depth++];
    EXPECT(model.depth < DEPTH);
    *ending = (struct ending) { { first }, first != NULL, why, why };
    return ending;
}

/* All have ended that had to. */
static void end_ending(void) {
    EXPECT(model.endings[--model.depth].count == 0);
}

/* ---- steps */

static void take_any_step(bool may_advance);

static void note_callback(struct htw_scope *scope, enum htw_scope_end why) {
    struct node *node = HTW_CONTAINER_OF(scope, struct node, scope);
    struct ending *ending = &model.endings[model.depth - 1];
    if (model.is_advancing && why == HTW_SCOPE_DEADLINE) { /* the next timer */
        EXPECT(ending->count == 0 && node->is_tighter && node->deadline_ns <= now_ns());
        end_ending();
        ending = begin_ending(node, HTW_SCOPE_DEADLINE);
    }
    EXPECT(model.depth > 0 && ending->count > 0 && ending->next[0] == node && ending->why == why);
    EXPECT(is_open(node));
    if (model.failure != NULL)
        return;
    note_end(ending, node, why);
    EXPECT(htw_scope_why(scope) == why && htw_scope_left_ns(scope) == 0);
    bool was_advancing = model.is_advancing;
    model.is_advancing = false;
    while (below(3) == 0 && model.nested_left > 0 && model.failure == NULL) {
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
    return delay_ns == HTW_NEVER_NS ? HTW_NEVER_NS : now_ns() + (delay_ns > 0 ? delay_ns : 0);
}

static int64_t some_delay(void) {
    return below(4) == 0 ? HTW_NEVER_NS : ((int64_t)below(40) - 2) * TICK_NS;
}

static void enter(void) {
    struct node *node = some_node(false), *parent = below(5) == 0 ? NULL : some_node(true);
    if (node == NULL)
        return;
    int64_t delay_ns = some_delay(), now = now_ns();
    enum htw_scope_end why = HTW_SCOPE_OPEN, cause = HTW_SCOPE_OPEN;
    node->deadline_ns = after(delay_ns);
    node->is_tighter = node->deadline_ns != HTW_NEVER_NS;
    if (parent != NULL && parent->deadline_ns <= node->deadline_ns) {
        node->deadline_ns = parent->deadline_ns;
        node->is_tighter = false;
    }
    if (parent != NULL && !is_open(parent)) {
        why = HTW_SCOPE_PARENT;
        cause = parent->cause;
    } else if (node->deadline_ns <= now) {
        why = node->is_tighter ? HTW_SCOPE_DEADLINE : HTW_SCOPE_PARENT;
        cause = HTW_SCOPE_DEADLINE;
    }
    node->why = why;
    node->cause = cause;
    node->number = ++model.entered;
    model.parents[node->number] = parent != NULL ? parent->number : 0;
    EXPECT(htw_scope_enter(&node->scope, model.scheduler, parent != NULL ? &parent->scope : NULL,
                           delay_ns, note_callback) == (int)why);
}

static void cancel(struct node *node) {
    enum htw_scope_end before = node->why;
    begin_ending(is_open(node) ? node : NULL, HTW_SCOPE_CANCELLED);
    EXPECT(htw_scope_cancel(&node->scope) == (int)before);
    end_ending();
}

static void exit_scope(struct node *node) {
    enum htw_scope_end before = node->why;
    if (node->is_exiting)
        return;
    struct ending *ending = begin_ending(NULL, HTW_SCOPE_CANCELLED);
    node->is_exiting = true;
    if (is_open(node))
        note_end(ending, node, HTW_SCOPE_CANCELLED);
    EXPECT(htw_scope_exit(&node->scope) == (int)before);
    end_ending();
    memset(&node->scope, 0xa5, sizeof(node->scope));
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
        if (is_open(other) && (other == node || is_below(other, node)) &&
            other->deadline_ns >= deadline_ns) {
            other->deadline_ns = deadline_ns;
            other->is_tighter = other == node;
        }
    }
}

static void advance(void) {
    model.is_advancing = true;
    begin_ending(NULL, HTW_SCOPE_DEADLINE);
    EXPECT(htw_scheduler_advance(model.scheduler, (int64_t)below(6) * TICK_NS) == 0);
    end_ending();
    model.is_advancing = false;
    for (unsigned i = 0; i < SCOPES; i++)
        EXPECT(!is_open(&model.nodes[i]) || model.nodes[i].deadline_ns > now_ns());
}

/* ---- comparing */

static void compare(void) {
    uint64_t timers = 0;
    for (unsigned i = 0; i < SCOPES && model.failure == NULL; i++) {
        const struct node *node = &model.nodes[i];
        if (node->number == 0)
            continue;
        int64_t left_ns = node->deadline_ns == HTW_NEVER_NS ? HTW_NEVER_NS
                          : node->deadline_ns > now_ns()    ? node->deadline_ns - now_ns()
                                                            : 0;
        EXPECT(htw_scope_why(&node->scope) == node->why);
        EXPECT(htw_scope_cause(&node->scope) == node->cause);
        EXPECT(htw_scope_left_ns(&node->scope) == (is_open(node) ? left_ns : 0));
        timers += is_open(node) && node->is_tighter;
    }
    EXPECT(htw_pending(model.scheduler) == timers);
}

static void take_any_step(bool may_advance) {
    uint64_t which = below(10);
    struct node *node = some_node(true);
    if (model.trace)
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
        advance();
    compare();
}

static void begin(uint64_t seed) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    model = (struct model) { .source = { seed }, .trace = model.trace };
    options.clock = HTW_CLOCK_MANUAL;
    options.workers = HTW_NO_WORKERS;
    options.shards = 1 + (uint32_t)below(2);
    EXPECT(htw_scheduler_create(&model.scheduler, &options) == 0);
}

static struct model_arguments arguments = { .seed = 1, .steps = 100000, .histories = UINT64_MAX };

static uint64_t run_history(uint64_t number) {
    struct random_source seeds = { arguments.seed ^ number * UINT64_C(0x9e3779b97f4a7c15) };
    model.trace = arguments.trace;
    begin(random_next(&seeds));
    for (; model.step < STEPS_A_HISTORY && model.failure == NULL; model.step++) {
        model.nested_left = NESTED_STEPS;
        take_any_step(true);
    }
    model.nested_left = 0;
    for (unsigned i = 0; i < SCOPES; i++)
        if (model.nodes[i].number != 0)
            exit_scope(&model.nodes[i]);
    EXPECT(htw_pending(model.scheduler) == 0);
    EXPECT(htw_scheduler_destroy(model.scheduler) == 0);
    if (model.failure == NULL)
        return model.step;
    printf("FAILED: %s\n  again: --seed %" PRIu64 " --first %" PRIu64 " --histories 1 --trace\n",
           model.failure, arguments.seed, number);
    return 0;
}

int main(int argc, char *argv[]) {
    return model_play(&arguments, argc, argv, run_history);
}
