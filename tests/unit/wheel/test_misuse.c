/* SPDX-License-Identifier: MIT */
/* test_misuse.c - with check_level 1, a timer that was not left alone and a wheel that is used after its end are told. */
#include "../../support/abort_cases.h"

#include <htw/wheel.h>

#ifndef HTW_CHECK_LEVEL
#define HTW_CHECK_LEVEL 0
#endif

#define BROKEN "was freed, overwritten or initialised while pending"

/* Of each case in its own child. */
static struct htw_wheel *wheel;
static struct htw_timer timers[3];
static bool strict;

static void open_wheel(void) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.size = 4;
    options.start = 100;
    options.strict_fifo = strict;
    options.allocator = &abort_case_memory;
    EXPECT(htw_wheel_create(&wheel, &options) == 0);
}

static void arm(size_t number, uint64_t deadline) {
    EXPECT(htw_wheel_schedule(wheel, &timers[number], deadline) == 0);
}

static void arm_all(uint64_t deadline) {
    open_wheel();
    for (size_t i = 0; i < COUNT_OF(timers); i++)
        arm(i, deadline);
}

static void poll_all(uint64_t now) {
    while (htw_wheel_poll(wheel, now) != NULL)
        ;
}

static void overwrite(size_t number) {
    memset(&timers[number], 0xdd, sizeof timers[number]);
}

static void poll_a_lone_one_that_was_initialised(void) {
    open_wheel();
    arm(1, 102);
    htw_timer_init(&timers[1]);
    poll_all(110);
}

static void poll_a_lone_one_that_was_overwritten(void) {
    open_wheel();
    arm(1, 102);
    overwrite(1);
    poll_all(110);
}

static void poll_one_that_was_initialised(void) {
    arm_all(102);
    htw_timer_init(&timers[1]);
    poll_all(110);
}

static void poll_one_that_was_overwritten(void) {
    arm_all(102);
    overwrite(1);
    poll_all(110);
}

/* malloc() keeps a list in what was freed. */
static void poll_one_whose_links_were_overwritten(void) {
    arm_all(102);
    memset(&timers[1], 0x55, 2 * sizeof(void *));
    poll_all(110);
}

static void demote_one_that_was_overwritten(void) {
    arm_all(177);
    arm(0, 176);
    overwrite(1);
    poll_all(176);
}

static void poll_one_of_the_past_that_was_overwritten(void) {
    arm_all(50);
    overwrite(1);
    poll_all(110);
}

static void arm_beside_one_that_was_initialised(void) {
    open_wheel();
    arm(1, 102);
    htw_timer_init(&timers[1]);
    arm(2, 102);
    poll_all(110);
}

static void drain_one_that_was_overwritten(void) {
    arm_all(102);
    overwrite(1);
    while (htw_wheel_drain(wheel) != NULL)
        ;
}

static void drain_one_of_never_that_was_initialised(void) {
    arm_all(HTW_NEVER_TICK);
    htw_timer_init(&timers[1]);
    while (htw_wheel_drain(wheel) != NULL)
        ;
}

static void destroy_with_one_that_was_overwritten(void) {
    arm_all(102);
    overwrite(1);
    htw_wheel_destroy(wheel);
}

static void cancel_beside_one_that_was_overwritten(void) {
    arm_all(102);
    overwrite(1);
    htw_wheel_cancel(wheel, &timers[0]);
    htw_wheel_cancel(wheel, &timers[2]);
}

static void move_one_that_was_copied(void) {
    arm_all(102);
    struct htw_timer copy = timers[1];
    EXPECT(htw_wheel_schedule(wheel, &copy, 50) == 0);
}

static void leave_alone(void) {
    arm_all(102);
    arm(1, 177);
    poll_all(110);
    arm(0, 50);
    htw_wheel_cancel(wheel, &timers[1]);
    htw_wheel_destroy(wheel);
}

static const struct abort_case of_timer[] = {
    { "poll a lone one, initialised", poll_a_lone_one_that_was_initialised, NULL },
    { "poll a lone one, overwritten", poll_a_lone_one_that_was_overwritten, NULL },
    { "poll, initialised", poll_one_that_was_initialised, NULL },
    { "poll, overwritten", poll_one_that_was_overwritten, NULL },
    { "poll, links overwritten", poll_one_whose_links_were_overwritten, NULL },
    { "demote, overwritten", demote_one_that_was_overwritten, NULL },
    { "poll, of the past", poll_one_of_the_past_that_was_overwritten, NULL },
    { "arm beside it", arm_beside_one_that_was_initialised, NULL },
    { "drain", drain_one_that_was_overwritten, NULL },
    { "drain, of never", drain_one_of_never_that_was_initialised, NULL },
    { "destroy", destroy_with_one_that_was_overwritten, NULL },
};

UNIT_TEST(misuse_of_a_pending_timer_is_told_with_its_address) {
    if (HTW_CHECK_LEVEL != 1)
        skip(); /* 0: nothing is looked at; 2: htw_wheel_check() finds it */
    char message[100];
    snprintf(message, sizeof message, "htw: timer %p " BROKEN "\n", (void *)&timers[1]);
    for (size_t i = 0; i < 2 * COUNT_OF(of_timer); i++) {
        struct abort_case row = of_timer[i / 2];
        strict = i % 2 == 1;
        row.message = message;
        assert_abort_cases(&row, 1);
    }
}

static void destroy(void) {
    open_wheel();
    htw_wheel_destroy(wheel);
}

static void schedule_after_the_end(void) {
    destroy();
    arm(0, 102);
}

static void poll_after_the_end(void) {
    destroy();
    poll_all(102);
}

static void destroy_twice(void) {
    destroy();
    htw_wheel_destroy(wheel);
}

static const struct abort_case others[] = {
    { "cancel beside it", cancel_beside_one_that_was_overwritten, "or a neighbour of it " BROKEN },
    { "move a copy", move_one_that_was_copied, "or a neighbour of it " BROKEN },
    { "schedule after the end", schedule_after_the_end, "is used after it was destroyed" },
    { "poll after the end", poll_after_the_end, "is used after it was destroyed" },
    { "destroy twice", destroy_twice, "is used after it was destroyed" },
    { "no misuse", leave_alone, NULL },
};

UNIT_TEST(misuse_of_a_wheel_is_told) {
    if (HTW_CHECK_LEVEL != 1)
        skip();
    for (int i = 0; i < 2; i++) {
        strict = i == 1;
        assert_abort_cases(others, COUNT_OF(others));
    }
}
