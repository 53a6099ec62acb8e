/* SPDX-License-Identifier: MIT */
/* test_handles.c - a handle names its timer and, when that has ended, nothing. */
#include "scheduler_fixture.h"

#include "../../../src/scheduler/state.h"
#include "../../support/timer_info.h"

/* Nothing that takes a handle knows of it, and nothing happens to other timers. */
static void assert_names_nothing(struct scheduler_fixture *f, htw_handle handle) {
    int64_t deadline = 77;
    uint64_t pending = htw_pending(f->scheduler);
    assert_false(htw_is_pending(f->scheduler, handle));
    assert_int_equal(timer_deadline_of(f->scheduler, handle, &deadline), -ENOENT);
    assert_int_equal(htw_scheduler_timer_info(f->scheduler, handle, NULL), -EINVAL);
    assert_int_equal(deadline, 77);
    assert_int_equal(htw_reschedule(f->scheduler, handle, 0), HTW_GONE);
    assert_int_equal(htw_reschedule_at(f->scheduler, handle, 0), HTW_GONE);
    assert_int_equal(htw_set_period(f->scheduler, handle, 1), HTW_GONE);
    assert_int_equal(htw_cancel(f->scheduler, handle), HTW_GONE);
    assert_int_equal(htw_cancel_wait(f->scheduler, handle), HTW_GONE);
    assert_int_equal(htw_pending(f->scheduler), pending);
}

/* Every bit of a handle changed: generation, shard and index, one after the other. */
static void forge(struct scheduler_fixture *f, uint32_t shards, uint32_t index_bits) {
    f->options.shards = shards;
    f->create = htw__scheduler_create;
    f->index_bits = index_bits;
    scheduler_reopen(f);
    arm_every(f, 0, MS, MS, HTW_REPEAT_SKIP);
    htw_handle handle = f->probes[0].handle;
    for (unsigned bit = 0; bit < 64; bit++)
        assert_names_nothing(f, handle ^ UINT64_C(1) << bit);
    for (unsigned bit = 0; bit < 64; bit++)
        assert_names_nothing(f, UINT64_C(1) << bit == handle ? 0 : UINT64_C(1) << bit);
    assert_names_nothing(f, UINT64_MAX);
    assert_names_nothing(f, ~handle);
    assert_names_nothing(f, 0);
    assert_true(htw_is_pending(f->scheduler, handle));
    advance(f, MS);
    assert_ran(f, 0);
}

/* holds: scheduler-5 */
SCHEDULER_TEST(scheduler_forged_handle_names_nothing) {
    forge(f, 1, 0);
    forge(f, 1, 12);
    forge(f, 1, 32);
    forge(f, 3, 0);
    forge(f, 3, 12);
    forge(f, HTW_SHARDS_MAX, 0);
    forge(f, HTW_SHARDS_MAX, 12);
    forge(f, HTW_SHARDS_MAX, 32);
}

/* 2^12 timers a shard, and no more. */
SCHEDULER_TEST(scheduler_without_an_index_left_answers_nomem) {
    f->create = htw__scheduler_create;
    f->index_bits = 12;
    f->count = 4097;
    scheduler_reopen(f);
    for (unsigned i = 0; i < 4096; i++)
        arm(f, i, MS * (i + 1));
    htw_handle handle = 77;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(htw_schedule(f->scheduler, MS, probe_run, &f->probes[4096], &handle),
                         -ENOMEM);
    assert_int_equal(handle, 77);
    assert_int_equal(htw_pending(f->scheduler), 4096);
    assert_int_equal(cancel(f, 17), HTW_CANCELLED);
    arm(f, 4096, MS);
    assert_names_nothing(f, f->probes[17].handle);
    advance(f, 1);
    assert_none_ran(f);
    advance(f, 4096 * MS);
    assert_int_equal(f->log_count, 4096);
    for (unsigned i = 0; i < 4097; i++)
        assert_int_equal(f->probes[i].runs, i != 17);
}

static int compare(const void *a, const void *b) {
    const htw_handle *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

#define PAGE 4096u
#define LIVES 5u

/* Pages of records come and go with many timers: no handle is ever given out twice. */
/* holds: scheduler-5 */
SCHEDULER_TEST(scheduler_handles_stay_unique_when_memory_comes_and_goes) {
    f->count = 3 * PAGE;
    scheduler_reopen(f);
    size_t count = (size_t)LIVES * 3 * PAGE;
    htw_handle *handles = calloc(count, sizeof(*handles));
    assert_non_null(handles);
    size_t next = 0;
    for (unsigned life = 0; life < LIVES; life++) {
        for (unsigned i = 0; i < 3 * PAGE; i++) {
            arm(f, i, MS * (1 + (i & 63)));
            handles[next++] = f->probes[i].handle;
        }
        for (unsigned i = 0; i < 3 * PAGE; i += 2)
            assert_int_equal(cancel(f, i), HTW_CANCELLED);
        advance(f, 64 * MS);
        assert_int_equal(htw_pending(f->scheduler), 0);
        for (size_t i = 0; i < next; i += 97)
            assert_names_nothing(f, handles[i]);
    }
    qsort(handles, count, sizeof(*handles), compare);
    for (size_t i = 1; i < count; i++)
        assert_int_not_equal(handles[i - 1], handles[i]);
    free(handles);
}
