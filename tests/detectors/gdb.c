/* SPDX-License-Identifier: MIT */
/* gdb.c - what the script for gdb is tried on: stops in stop_here(). */
#include "parcel.h"

static void callback(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
}

__attribute__((noinline)) void stop_here(struct htw_scheduler *scheduler, htw_handle plain,
                                         htw_handle keyed, htw_handle gone,
                                         struct htw_wheel *wheel);

void stop_here(struct htw_scheduler *scheduler, htw_handle plain, htw_handle keyed, htw_handle gone,
               struct htw_wheel *wheel) {
    __asm__ volatile("" : : "r"(scheduler), "r"(plain), "r"(keyed), "r"(gone), "r"(wheel));
}

int main(void) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    struct htw_wheel *wheel;
    struct htw_timer timer;
    htw_handle plain, keyed, gone;
    struct htw_spec spec = HTW_SPEC_INIT;
    struct htw_group *group;
    options.clock = HTW_CLOCK_MANUAL;
    options.thread_name = "tried";
    options.observe = HTW_OBSERVE_STACKS;
    spec.site = HTW_HERE(callback, "keyed");
    spec.arg = &spec;
    spec.when_ns = spec.latest_ns = 7 * HTW_SECOND;
    spec.key = "key";
    spec.key_size = 3;
    REQUIRE(htw_wheel_create(&wheel, NULL) == 0);
    htw_timer_init(&timer);
    REQUIRE(htw_wheel_schedule(wheel, &timer, 300) == 0);
    REQUIRE(htw_scheduler_create(&scheduler, &options) == 0);
    REQUIRE(htw_schedule(scheduler, 5 * HTW_SECOND, callback, &timer, &plain) == 0);
    REQUIRE(htw_schedule(scheduler, HTW_SECOND, callback, NULL, &gone) == 0);
    REQUIRE(htw_group_create(scheduler, &group) == 0);
    REQUIRE(htw_group_set_name(group, "tenant") == 0);
    REQUIRE(htw_group_pause(group) == 0);
    REQUIRE(htw_schedule_spec(scheduler, &spec, &keyed, NULL) == 0);
    REQUIRE(htw_cancel(scheduler, gone) == HTW_CANCELLED);
    stop_here(scheduler, plain, keyed, gone, wheel);
    htw_group_destroy(group);
    htw_wheel_destroy(wheel);
    REQUIRE(htw_scheduler_destroy(scheduler) == 0);
    return 0;
}
