/* SPDX-License-Identifier: MIT */
/* test_retire.c - a record that has used up its generations. Four million lives long. */
#include "scheduler_fixture.h"

#include <errno.h>
#include <sched.h>

/* With 1024 shards and 32 bits of index a generation has 22. */
#define GENERATIONS ((1u << 22) - 1)

/* So that all that this thread schedules is of one shard. */
static void stay_on_this_cpu(cpu_set_t *before) {
    cpu_set_t one;
    CPU_ZERO(&one);
    assert_int_equal(sched_getaffinity(0, sizeof(*before), before), 0);
    CPU_SET((unsigned)sched_getcpu(), &one);
    (void)sched_setaffinity(0, sizeof(one), &one);
}

/* holds: scheduler-5 */
SCHEDULER_TEST(scheduler_record_without_a_generation_left_is_retired) {
    f->options.shards = HTW_SHARDS_MAX;
    f->index_bits = 32;
    scheduler_reopen(f);
    cpu_set_t before;
    stay_on_this_cpu(&before);
    htw_handle first = 0, last = 0, next = 0;
    for (uint64_t i = 0; i <= GENERATIONS && (uint32_t)next == (uint32_t)first; i++) {
        last = next;
        if (htw_schedule(f->scheduler, MS, probe_run, &f->probes[0], &next) != 0 ||
            htw_cancel(f->scheduler, next) != HTW_CANCELLED)
            fail();
        if (i == 0)
            first = next;
    }
    /* The low 32 bits are the index: another record was taken in the end. */
    assert_int_not_equal((uint32_t)next, (uint32_t)first);
    assert_int_equal((uint32_t)last, (uint32_t)first);
    assert_int_equal(last >> 42, GENERATIONS);
    arm(f, 0, MS);
    const htw_handle stale[] = { first, last, next };
    for (size_t i = 0; i < 3; i++) {
        assert_false(htw_is_pending(f->scheduler, stale[i]));
        assert_int_equal(htw_reschedule(f->scheduler, stale[i], 0), HTW_GONE);
        assert_int_equal(htw_cancel(f->scheduler, stale[i]), HTW_GONE);
    }
    advance(f, MS);
    assert_ran(f, 0);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}
