/* SPDX-License-Identifier: MIT */
/* test_misuse.c - with check_level 1, a scheduler, purgatory or request that is used after its end is told. */
#include "../../support/abort_cases.h"

#include <htw/purgatory.h>

#ifndef HTW_CHECK_LEVEL
#define HTW_CHECK_LEVEL 0
#endif

#define BROKEN "was freed, overwritten or initialised while pending"
#define ENDED "is used after it was destroyed"

/* Of each case in its own child. */
static struct htw_scheduler *scheduler;
static struct htw_purgatory *purgatory;
static struct htw_threshold *threshold;
static struct htw_request request;
static const struct htw_key key = { "k", 1 };

static void run(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
}

static bool never(void *context, struct htw_request *asked) {
    (void)context, (void)asked;
    return false;
}

static void complete(void *context, struct htw_request *ended, enum htw_reason reason) {
    (void)context, (void)ended, (void)reason;
}

static void open_scheduler(void) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.clock = HTW_CLOCK_MANUAL;
    options.workers = 0;
    options.allocator = &abort_case_memory;
    EXPECT(htw_scheduler_create(&scheduler, &options) == 0);
}

static void open_purgatory(void) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    options.try_complete = never;
    options.on_complete = complete;
    options.allocator = &abort_case_memory;
    open_scheduler();
    EXPECT(htw_purgatory_create(&purgatory, scheduler, &options) == 0);
}

static void wait_on_key(void) {
    open_purgatory();
    EXPECT(htw_purgatory_try_complete_else_watch(purgatory, &request, &key, 1, HTW_SECOND) ==
           HTW_WATCHED);
}

static void wait_on_threshold(void) {
    open_purgatory();
    EXPECT(htw_threshold_create(purgatory, 0, &threshold) == 0);
    EXPECT(htw_threshold_await(threshold, &request, 5, HTW_SECOND) == HTW_WATCHED);
}

static void schedule_after_the_end(void) {
    open_scheduler();
    EXPECT(htw_scheduler_destroy(scheduler) == 0);
    EXPECT(htw_schedule(scheduler, HTW_SECOND, run, NULL, NULL) == 0);
}

static void destroy_twice(void) {
    open_scheduler();
    EXPECT(htw_scheduler_destroy(scheduler) == 0);
    EXPECT(htw_scheduler_destroy(scheduler) == 0);
}

static void destroy_before_the_purgatory(void) {
    open_purgatory();
    EXPECT(htw_scheduler_destroy(scheduler) == 0);
}

static void destroy_purgatory_twice(void) {
    open_purgatory();
    EXPECT(htw_purgatory_destroy(purgatory) == 0);
    EXPECT(htw_purgatory_destroy(purgatory) == 0);
}

static void check_after_the_end(void) {
    open_purgatory();
    EXPECT(htw_purgatory_destroy(purgatory) == 0);
    EXPECT(htw_purgatory_check(purgatory, "k", 1) == 0);
}

static void check_one_that_was_initialised(void) {
    wait_on_key();
    htw_request_init(&request);
    EXPECT(htw_purgatory_check(purgatory, "k", 1) == 0);
}

static void check_one_that_was_overwritten(void) {
    wait_on_key();
    memset(&request, 0xdd, sizeof(request));
    EXPECT(htw_purgatory_check(purgatory, "k", 1) == 0);
}

/* malloc() keeps a list in what was freed. */
static void check_one_whose_begin_was_overwritten(void) {
    wait_on_key();
    memset(&request, 0x55, 2 * sizeof(void *));
    EXPECT(htw_purgatory_check(purgatory, "k", 1) == 0);
}

static void close_with_one_that_was_initialised(void) {
    wait_on_key();
    htw_request_init(&request);
    EXPECT(htw_purgatory_close(purgatory, NULL, NULL) == 0);
}

static void expire_one_that_was_overwritten(void) {
    wait_on_key();
    memset(&request, 0xdd, sizeof(request));
    EXPECT(htw_scheduler_advance(scheduler, 2 * HTW_SECOND) == 0);
}

static void advance_past_one_that_was_initialised(void) {
    wait_on_threshold();
    uint64_t value = 5;
    memset(&request, 0, offsetof(struct htw_request, _place));
    EXPECT(htw_threshold_advance(threshold, value) == 0);
}

static void leave_alone(void) {
    wait_on_key();
    EXPECT(htw_purgatory_check(purgatory, "k", 1) == 0);
    EXPECT(htw_purgatory_destroy(purgatory) == 0);
    wait_on_threshold();
    EXPECT(htw_threshold_advance(threshold, 5) == 1);
    EXPECT(htw_threshold_destroy(threshold) == 0);
    EXPECT(htw_purgatory_destroy(purgatory) == 0);
    EXPECT(htw_scheduler_destroy(scheduler) == 0);
}

static const struct abort_case cases[] = {
    { "schedule after the end", schedule_after_the_end, ENDED },
    { "destroy twice", destroy_twice, ENDED },
    { "destroy before the purgatory", destroy_before_the_purgatory,
      "is destroyed before a purgatory that uses it" },
    { "purgatory destroyed twice", destroy_purgatory_twice, ENDED },
    { "check after the end", check_after_the_end, ENDED },
    { "check, initialised", check_one_that_was_initialised, BROKEN },
    { "check, overwritten", check_one_that_was_overwritten, BROKEN },
    { "check, begin overwritten", check_one_whose_begin_was_overwritten, BROKEN },
    { "close, initialised", close_with_one_that_was_initialised, BROKEN },
    { "expire, overwritten", expire_one_that_was_overwritten, BROKEN },
    { "threshold, initialised", advance_past_one_that_was_initialised, BROKEN },
    { "no misuse", leave_alone, NULL },
};

UNIT_TEST(misuse_of_schedulers_and_requests_is_told) {
    if (HTW_CHECK_LEVEL != 1)
        skip(); /* 0: nothing is looked at; 2: htw_wheel_check() finds it */
    assert_abort_cases(cases, COUNT_OF(cases));
}
