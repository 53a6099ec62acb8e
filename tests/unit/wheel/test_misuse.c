/* SPDX-License-Identifier: MIT */
/* test_misuse.c - with check_level 1, a timer that was not left alone and a wheel that is used after its end are told. */
#include "../../support/abort_cases.h"

#include <htw/wheel.h>

/* Of each case in its own child. */
static struct htw_wheel *wheel;
static struct htw_timer timers[3];
static bool strict;

/* ---- the steps */

ABORT_STEP(open_wheel) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.size = 4;
    options.start = 100;
    options.strict_fifo = strict;
    options.allocator = &abort_case_memory;
    EXPECT(htw_wheel_create(&wheel, &options) == 0);
}

static const uint64_t ticks[] = { 50, 102, 176, 177, HTW_NEVER_TICK };
#define TICK(index) ((void *)(uintptr_t)&ticks[index])

static void arm_all(void *tick) {
    for (size_t i = 0; i < COUNT_OF(timers); i++)
        EXPECT(htw_wheel_schedule(wheel, &timers[i], *(const uint64_t *)tick) == 0);
}

static void arm_first(void *tick) {
    EXPECT(htw_wheel_schedule(wheel, &timers[0], *(const uint64_t *)tick) == 0);
}

static void arm_second(void *tick) {
    EXPECT(htw_wheel_schedule(wheel, &timers[1], *(const uint64_t *)tick) == 0);
}

static void arm_copy(void *tick) {
    struct htw_timer copy = timers[1];
    EXPECT(htw_wheel_schedule(wheel, &copy, *(const uint64_t *)tick) == 0);
}

/* What happens to the second. malloc() keeps a list in what was freed. */

ABORT_STEP(initialise) {
    htw_timer_init(&timers[1]);
}

ABORT_STEP(overwrite) {
    memset(&timers[1], 0xdd, sizeof timers[1]);
}

ABORT_STEP(overwrite_links) {
    memset(&timers[1], 0x55, 2 * sizeof(void *));
}

ABORT_STEP(poll_all) {
    while (htw_wheel_poll(wheel, 176) != NULL)
        ;
}

ABORT_STEP(drain) {
    while (htw_wheel_drain(wheel) != NULL)
        ;
}

ABORT_STEP(cancel_neighbours) {
    htw_wheel_cancel(wheel, &timers[0]);
    htw_wheel_cancel(wheel, &timers[2]);
}

ABORT_STEP(cancel_second) {
    htw_wheel_cancel(wheel, &timers[1]);
}

ABORT_STEP(destroy) {
    htw_wheel_destroy(wheel);
}

static const struct abort_step steps[] = {
    { "open", open_wheel, NULL },
    { "all at 50", arm_all, TICK(0) },
    { "all at 102", arm_all, TICK(1) },
    { "all at 177", arm_all, TICK(3) },
    { "all at never", arm_all, TICK(4) },
    { "first at 50", arm_first, TICK(0) },
    { "first at 102", arm_first, TICK(1) },
    { "first at 176", arm_first, TICK(2) },
    { "second at 102", arm_second, TICK(1) },
    { "second at 177", arm_second, TICK(3) },
    { "copy at 50", arm_copy, TICK(0) },
    { "initialise", initialise, NULL },
    { "overwrite", overwrite, NULL },
    { "overwrite links", overwrite_links, NULL },
    { "poll", poll_all, NULL },
    { "drain", drain, NULL },
    { "cancel neighbours", cancel_neighbours, NULL },
    { "cancel second", cancel_second, NULL },
    { "destroy", destroy, NULL },
    { NULL, NULL, NULL },
};

static const char *const of_timer[] = {
    "open, second at 102, initialise, poll",
    "open, second at 102, overwrite, poll",
    "open, all at 102, initialise, poll",
    "open, all at 102, overwrite, poll",
    "open, all at 102, overwrite links, poll",
    "open, all at 177, first at 176, overwrite, poll", /* it is demoted */
    "open, all at 50, overwrite, poll",
    "open, second at 102, initialise, first at 102, poll",
    "open, all at 102, overwrite, drain",
    "open, all at never, initialise, drain",
    "open, all at 102, overwrite, destroy",
};

UNIT_TEST(misuse_of_a_pending_timer_is_told_with_its_address) {
    if (HTW_CHECK_LEVEL != 1)
        skip(); /* 0: nothing is looked at; 2: htw_wheel_check() finds it */
    char message[100];
    snprintf(message, sizeof message, "htw: timer %p " BROKEN "\n", (void *)&timers[1]);
    for (size_t i = 0; i < 2 * COUNT_OF(of_timer); i++) {
        strict = i % 2 == 1;
        assert_abort_cases(&(struct abort_case) { of_timer[i / 2], message }, 1, steps);
    }
}

static const struct abort_case others[] = {
    { "open, all at 102, overwrite, cancel neighbours", "or a neighbour of it " BROKEN },
    { "open, all at 102, copy at 50", "or a neighbour of it " BROKEN },
    { "open, destroy, first at 102", ENDED },
    { "open, destroy, poll", ENDED },
    { "open, destroy, destroy", ENDED },
    { "open, all at 102, second at 177, poll, first at 50, cancel second, destroy", NULL },
};

UNIT_TEST(misuse_of_a_wheel_is_told) {
    if (HTW_CHECK_LEVEL != 1)
        skip();
    for (int i = 0; i < 2; i++) {
        strict = i == 1;
        assert_abort_cases(others, COUNT_OF(others), steps);
    }
}
