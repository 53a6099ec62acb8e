/* SPDX-License-Identifier: MIT */
/* test_notes.c - what a scheduler tells the function of htw_set_log(). */
#include "../../support/told.h"
#include "scheduler_fixture.h"

int64_t __real_htw__clock_monotonic_ns(void);
int64_t __wrap_htw__clock_monotonic_ns(void);

static _Atomic int64_t stands_at_ns; /* 0: it goes */

int64_t __wrap_htw__clock_monotonic_ns(void) {
    return stands_at_ns != 0 ? stands_at_ns : __real_htw__clock_monotonic_ns();
}

static void run_late(struct scheduler_fixture *f, int64_t late_ns) {
    arm(f, 0, MS);
    set_time(f, htw_scheduler_now(f->scheduler) + MS + late_ns);
}

LATER_TEST(note_tells_of_a_late_callback_once_a_second) {
    run_late(f, 30 * MS); /* there is no function */
    begin_told(keep_told);
    stands_at_ns = HTW_HOUR;
    run_late(f, 10 * MS);
    assert_int_equal(told.count, 0);
    run_late(f, 20 * MS);
    assert_string_equal(told.text,
                        "1 scheduler: htw: a callback has started 20000 us after its deadline\n");
    run_late(f, 30 * MS);
    stands_at_ns += HTW_SECOND - 1;
    run_late(f, 30 * MS);
    assert_int_equal(told.count, 1);
    stands_at_ns++;
    run_late(f, 40 * MS);
    assert_int_equal(told.count, 2);
    stands_at_ns = 0;
    assert_told("40000 us");
}

static struct scheduler_fixture *own;
static int stopped, advanced;

static void arm_and_stop(enum htw_log_level level, const char *subsystem, const char *message) {
    own->probes[1].result =
        htw_schedule(own->scheduler, MS, probe_run, &own->probes[1], &own->probes[1].handle);
    stopped = htw_scheduler_stop(own->scheduler, NULL, NULL);
    advanced = htw_scheduler_advance(own->scheduler, MS);
    keep_told(level, subsystem, message); /* which the test waits for */
}

LATER_TEST(note_function_may_arm_a_timer_and_cannot_stop_its_scheduler) {
    own = f;
    begin_told(arm_and_stop);
    run_late(f, 20 * MS);
    assert_told("20000 us");
    assert_int_equal(f->probes[1].result, 0);
    assert_int_equal(stopped, -EDEADLK);
    assert_true(advanced < 0);
    advance(f, MS);
    assert_ran(f, 0, 1);
}

LATER_TEST(note_tells_of_a_clock_that_was_set_back) {
    arm(f, 0, HTW_HOUR);
    begin_told(keep_told);
    set_time(f, START_NS - HTW_SECOND);
    arm(f, 1, 0);
    advance(f, 0);
    assert_told("1 scheduler: htw: a clock was set back");
    set_time(f, START_NS - 2 * HTW_SECOND);
    arm(f, 2, 0);
    failing_allocator_fail(&f->memory, 1, true);
    begin_told(keep_told);
    advance(f, 0);
    assert_told("1 scheduler: htw: a clock was set back, and there is no memory to adjust a wheel");
    failing_allocator_relent(&f->memory);
    advance(f, HTW_SECOND);
}
