/* SPDX-License-Identifier: MIT */
/* test_set_time.c - the clock is set, forward and back. */
#include "../../support/random.h"
#include "scheduler_fixture.h"

/* holds: scheduler-1 */
SCHEDULER_TEST(scheduler_set_back_runs_nothing_early) {
    f->options.manual_start_ns = 100 * MS;
    scheduler_reopen(f);
    arm(f, 0, 50 * MS); /* at 150 */
    arm(f, 1, 0);       /* at 100, and due */
    set_time(f, 20 * MS);
    assert_none_ran(f);
    assert_int_equal(htw_scheduler_now(f->scheduler), 20 * MS);
    arm(f, 2, 10 * MS); /* at 30 */
    arm(f, 3, 0);       /* at 20, and due */
    arm_at(f, 4, 90 * MS + 1);
    advance(f, 0);
    assert_ran(f, 3);
    assert_runs_after(f, 10 * MS, 2);
    assert_runs_after(f, 61 * MS, 4);
    assert_runs_after(f, 9 * MS, 1);
    assert_runs_after(f, 50 * MS, 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(f->probes[i].last.late_ns, 0);
}
