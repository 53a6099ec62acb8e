/* SPDX-License-Identifier: MIT */
/* test_misuse.c - with check_level 1, a scheduler, purgatory or request that is used after its end is told. */
#include "../../support/abort_cases.h"

#include <htw/threshold.h>

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

/* ---- the steps */

ABORT_STEP(open_scheduler) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.clock = HTW_CLOCK_MANUAL;
    options.workers = HTW_NO_WORKERS;
    options.allocator = &abort_case_memory;
    EXPECT(htw_scheduler_create(&scheduler, &options) == 0);
}

ABORT_STEP(open_purgatory) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    open_scheduler(NULL);
    options.try_complete = never;
    options.on_complete = complete;
    options.allocator = &abort_case_memory;
    EXPECT(htw_purgatory_create(&purgatory, scheduler, &options) == 0);
    EXPECT(htw_threshold_create(purgatory, 0, &threshold) == 0);
}

ABORT_STEP(wait_on_key) {
    open_purgatory(NULL);
    EXPECT(htw_purgatory_try_complete_else_watch(purgatory, &request, &key, 1, HTW_SECOND) ==
           HTW_WATCHED);
}

ABORT_STEP(wait_on_threshold) {
    open_purgatory(NULL);
    EXPECT(htw_threshold_await(threshold, &request, 5, HTW_SECOND) == HTW_WATCHED);
}

ABORT_STEP(initialise) {
    memset(&request, 0, offsetof(struct htw_request, _place));
}

static void overwrite(void *size) {
    memset(&request, 0xdd, *(const size_t *)size);
}

ABORT_STEP(schedule) {
    EXPECT(htw_schedule(scheduler, HTW_SECOND, run, NULL, NULL) == 0);
}

ABORT_STEP(check) {
    EXPECT(htw_purgatory_check(purgatory, "k", 1) == 0);
}

ABORT_STEP(close_purgatory) {
    EXPECT(htw_purgatory_close(purgatory, NULL, NULL) == 0);
}

ABORT_STEP(expire) {
    EXPECT(htw_scheduler_advance(scheduler, 2 * HTW_SECOND) == 0);
}

ABORT_STEP(advance) {
    EXPECT(htw_threshold_advance(threshold, 5) == 1);
}

ABORT_STEP(destroy_purgatory) {
    EXPECT(htw_threshold_destroy(threshold) == 0);
    threshold = NULL;
    EXPECT(htw_purgatory_destroy(purgatory) == 0);
}

ABORT_STEP(destroy_scheduler) {
    EXPECT(htw_scheduler_destroy(scheduler) == 0);
}

static size_t all = sizeof(request),
              links = 2 * sizeof(void *); /* malloc() keeps those in what was freed */

static const struct abort_step steps[] = {
    { "open scheduler", open_scheduler, NULL },
    { "open", open_purgatory, NULL },
    { "wait on key", wait_on_key, NULL },
    { "wait on threshold", wait_on_threshold, NULL },
    { "initialise", initialise, NULL },
    { "overwrite", overwrite, &all },
    { "overwrite the begin", overwrite, &links },
    { "schedule", schedule, NULL },
    { "check", check, NULL },
    { "close", close_purgatory, NULL },
    { "expire", expire, NULL },
    { "advance", advance, NULL },
    { "destroy", destroy_purgatory, NULL },
    { "destroy scheduler", destroy_scheduler, NULL },
    { NULL, NULL, NULL },
};

static const struct abort_case cases[] = {
    { "open scheduler, destroy scheduler, schedule", ENDED },
    { "open scheduler, destroy scheduler, destroy scheduler", ENDED },
    { "open, destroy scheduler", "is destroyed before a group or purgatory that uses it" },
    { "open, destroy, destroy", ENDED },
    { "open, destroy, check", ENDED },
    { "wait on key, initialise, check", BROKEN },
    { "wait on key, overwrite, check", BROKEN },
    { "wait on key, overwrite the begin, check", BROKEN },
    { "wait on key, initialise, close", BROKEN },
    { "wait on key, overwrite, expire", BROKEN },
    { "wait on threshold, initialise, advance", BROKEN },
    { "wait on key, check, destroy, wait on threshold, advance, destroy, destroy scheduler", NULL },
};

UNIT_TEST(misuse_of_schedulers_and_requests_is_told) {
    if (HTW_CHECK_LEVEL != 1)
        skip(); /* 0: nothing is looked at; 2: htw_wheel_check() finds it */
    assert_abort_cases(cases, COUNT_OF(cases), steps);
}
