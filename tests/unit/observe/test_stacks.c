/* SPDX-License-Identifier: MIT */
/* test_stacks.c - the stack of calls by which a timer was scheduled. */
#include "../../../src/observe/symbol.h"
#include "../../support/told.h"
#include "../scheduler/scheduler_fixture.h"

#include <unistd.h>

#if (!defined(__GLIBC__) || defined(HTW_PORTABLE)) && !defined(_WIN32)

SCHEDULER_TEST(stacks_are_refused_here) {
    struct htw_scheduler_options options = scheduler_options();
    struct htw_scheduler *scheduler;
    assert_int_equal(htw_scheduler_observe(f->scheduler, HTW_OBSERVE_STACKS), -ENOTSUP);
    assert_int_equal(htw_scheduler_observed(f->scheduler), 0);
    options.observe = HTW_OBSERVE_STACKS;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), -ENOTSUP);
}

#else

enum { KEPT = 65536, MORE = 100 };

/* Where arm_plain() and arm_with_hook() return to: what must be in the stack of the timer. */
static const void *callers[PROBES];

static void observe(struct scheduler_fixture *f, uint32_t set) {
    assert_int_equal(htw_scheduler_observe(f->scheduler, set), 0);
    assert_int_equal(htw_scheduler_observed(f->scheduler), set);
}

static __attribute__((noinline)) void arm_plain(struct scheduler_fixture *f, unsigned number) {
    callers[number] = __builtin_extract_return_addr(__builtin_return_address(0));
    arm(f, number, MS);
}

static __attribute__((noinline)) void arm_with_hook(struct scheduler_fixture *f, unsigned number) {
    struct htw_spec spec = hooked_spec(f, number, MS);
    callers[number] = __builtin_extract_return_addr(__builtin_return_address(0));
    arm_spec(f, number, &spec);
}

struct seen {
    unsigned right, none, all;
};

static void see(void *context, const struct htw_unexpired *unexpired) {
    struct seen *seen = context;
    const struct probe *probe = unexpired->arg;
    const struct htw_stack *stack = unexpired->stack;
    seen->all++;
    seen->none += stack == NULL;
    for (uint32_t i = 0; probe != NULL && stack != NULL && i < stack->depth; i++)
        seen->right += stack->frames[i] == callers[probe->number];
}

SCHEDULER_TEST(stack_says_who_armed_what_a_stop_hands_back) {
    struct seen seen = { 0 };
    arm_plain(f, 0);
    observe(f, HTW_OBSERVE_STACKS);
    arm_plain(f, 1);
    arm_plain(f, 2);
    arm_with_hook(f, 3);
    observe(f, HTW_OBSERVE_SITES);
    arm_plain(f, 4);
    assert_int_equal(htw_scheduler_stop(f->scheduler, see, &seen), 0);
    assert_int_equal(seen.all, 5);
    assert_int_equal(seen.right, 3);
    assert_int_equal(seen.none, 2);
}

SCHEDULER_TEST(stack_is_of_the_arming_also_after_moves_and_runs) {
    struct seen seen = { 0 };
    observe(f, HTW_OBSERVE_STACKS);
    arm_plain(f, 0);
    assert_int_equal(reschedule(f, 0, HTW_SECOND), HTW_MOVED);
    arm_every(f, 1, MS, MS, HTW_REPEAT_SKIP);
    advance(f, 10 * MS);
    assert_int_equal(htw_scheduler_stop(f->scheduler, see, &seen), 0);
    assert_int_equal(seen.all, 2);
    assert_int_equal(seen.right, 1); /* the other one was not armed so */
    assert_int_equal(seen.none, 0);
}

SCHEDULER_TEST(stacks_without_memory_are_not_switched_on) {
    failing_allocator_fail(&f->memory, 1, true);
    assert_int_equal(htw_scheduler_observe(f->scheduler, HTW_OBSERVE_STACKS), -ENOMEM);
    failing_allocator_relent(&f->memory);
    assert_int_equal(htw_scheduler_observed(f->scheduler), 0);
    uint64_t before = scheduler_stats(f).memory_bytes;
    observe(f, HTW_OBSERVE_STACKS);
    assert_true(scheduler_stats(f).memory_bytes >
                before + (uint64_t)KEPT * sizeof(struct htw_stack));
}

/* ---- texts */

SCHEDULER_TEST(stacks_are_in_a_dump) {
    arm_plain(f, 0);
    arm_plain(f, 1);
    observe(f, HTW_OBSERVE_STACKS);
    arm_with_hook(f, 2);
    volatile unsigned end = 6; /* the loop stays one call */
    for (unsigned i = 3; i < end; i++)
        arm_plain(f, i);
    char *text = scheduler_dump(f->scheduler);
    const char *first = strstr(text, "         3  armed by\n            ");
    assert_non_null(first);
    const char *second = strstr(first, "         1  armed by\n            ");
    assert_non_null(second);
    struct htw__safe_copy copy; /* the call is shown, which is before what it returns to */
    char call[HTW__SYMBOL_MAX];
    htw__safe_copy_init(&copy);
    assert_non_null(strstr(second, htw__symbol_text(&copy, (uintptr_t)callers[2] - 1, call)));
    htw__safe_copy_fini(&copy);
    assert_non_null(strstr(second, "\n         2  of which no stack was kept\n"));
    free(text);
    observe(f, 0);
    text = scheduler_dump(f->scheduler);
    assert_null(strstr(text, "armed by"));
    free(text);
    advance(f, MS);
}

/* What a scheduler writes to standard error when it is destroyed. */
static char *destroyed(struct htw_scheduler *scheduler) {
    static char text[65536];
    FILE *file = tmpfile();
    assert_non_null(file);
    int kept = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    int result = htw_scheduler_destroy(scheduler);
    dup2(kept, STDERR_FILENO);
    close(kept);
    assert_int_equal(result, 0);
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
    return text;
}

static struct htw_scheduler *observing(uint32_t set) {
    struct htw_scheduler_options options = scheduler_options();
    struct htw_scheduler *scheduler;
    options.observe = set;
    options.thread_name = "leaky";
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    return scheduler;
}

static void never_run(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
}

static struct htw_scheduler *ending;
static int destroyed_again;

static void destroy_again(enum htw_log_level level, const char *subsystem, const char *message) {
    keep_told(level, subsystem, message);
    if (told.count == 1)
        destroyed_again = htw_scheduler_destroy(ending);
}

UNIT_TEST(stacks_of_what_nobody_cancelled_are_written_at_the_end) {
    struct htw_scheduler *scheduler = observing(HTW_OBSERVE_STACKS);
    volatile unsigned count = 3;
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(htw_schedule(scheduler, MS, never_run, NULL, NULL), 0);
    char *text = destroyed(scheduler);
    const char *begin = "htw: scheduler leaky has stopped, and nobody has cancelled 3 timers\n"
                        "         3  armed by\n            ";
    assert_memory_equal(text, begin, strlen(begin));
    assert_string_equal(destroyed(observing(HTW_OBSERVE_STACKS)), "");
    scheduler = observing(HTW_OBSERVE_STACKS);
    assert_int_equal(htw_schedule(scheduler, MS, never_run, NULL, NULL), 0);
    ending = scheduler;
    begin_told(destroy_again);
    assert_string_equal(destroyed(scheduler), "");
    assert_int_equal(destroyed_again, -EDEADLK);
    assert_true(told.count > 2); /* the sentence, how many, and each call of the stack */
    assert_told("1 scheduler:             ");
    scheduler = observing(HTW_OBSERVE_SITES);
    assert_int_equal(htw_schedule(scheduler, MS, never_run, NULL, NULL), 0);
    assert_string_equal(destroyed(scheduler), "");
}

/* Each call of this has a stack of its own depth. */
static __attribute__((noinline)) int arm_deep(struct htw_scheduler *scheduler, unsigned depth) {
    if (depth == 0)
        return htw_schedule(scheduler, MS, never_run, NULL, NULL);
    int error = arm_deep(scheduler, depth - 1);
    __asm__ volatile("" : : "r"(error)); /* not at the end: the frame stays */
    return error;
}

static int arm_by_table(struct htw_scheduler *scheduler, unsigned number) {
    int error = number & 1 ? arm_deep(scheduler, 1) : arm_deep(scheduler, 2);
    if (number & 2)
        error |= number & 4 ? arm_deep(scheduler, 3) : arm_deep(scheduler, 4);
    return error;
}

UNIT_TEST(stacks_that_find_no_room_are_counted) {
    struct htw_scheduler *scheduler = observing(HTW_OBSERVE_STACKS);
    htw_handle first;
    assert_int_equal(htw_schedule(scheduler, MS, never_run, NULL, &first), 0);
    for (unsigned i = 1; i < KEPT + MORE; i++)
        assert_int_equal(htw_schedule(scheduler, MS, never_run, NULL, NULL), 0);
    char *text = scheduler_dump(scheduler);
    assert_non_null(strstr(text, "\n       100  of which no stack was kept\n"));
    free(text);
    assert_int_equal(htw_cancel(scheduler, first), HTW_CANCELLED);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(arm_by_table(scheduler, i), 0); /* the first finds room, in its record */
    text = scheduler_dump(scheduler);
    assert_non_null(strstr(text, "\n       111  of which no stack was kept\n"));
    free(text);
    assert_int_equal(htw_scheduler_stop(scheduler, see, &(struct seen) { 0 }), 0);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}

#endif
