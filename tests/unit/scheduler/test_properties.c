/* SPDX-License-Identifier: MIT */
/* test_properties.c - keys, release hooks and the limit of pending timers; the model has what callbacks do with them. */
#include "scheduler_fixture.h"

#define DELAY_NS (10 * MS)

static struct htw_spec keyed(struct scheduler_fixture *f, unsigned number, const char *key) {
    return keyed_spec(f, number, DELAY_NS, key);
}

static htw_handle found(const struct scheduler_fixture *f, const char *key) {
    return htw_find_key(f->scheduler, NULL, key, strlen(key));
}

static int cancel_key(const struct scheduler_fixture *f, const char *key, void **ret_arg) {
    return htw_cancel_key(f->scheduler, NULL, key, strlen(key), ret_arg);
}

/* holds: scheduler-8 */
LATER_TEST(key_of_no_bytes_is_a_key) {
    struct htw_spec first = keyed(f, 0, ""), second = keyed(f, 1, "");
    struct htw_unexpired replaced;
    void *arg;
    arm_spec(f, 0, &first);
    assert_int_equal(found(f, ""), f->probes[0].handle);
    assert_int_equal(htw_schedule_spec(f->scheduler, &second, NULL, &replaced), 0);
    assert_ptr_equal(replaced.arg, &f->probes[0]);
    assert_int_equal(cancel_key(f, "", &arg), HTW_CANCELLED);
    assert_ptr_equal(arg, &f->probes[1]);
}

LATER_TEST(key_that_is_null_is_none) {
    struct htw_spec first = probe_spec(f, 0, DELAY_NS), second = probe_spec(f, 1, DELAY_NS);
    first.key_size = second.key_size = 8;
    arm_spec(f, 0, &first);
    arm_spec(f, 1, &second);
    struct htw_unexpired replaced = { .handle = 77 };
    assert_int_equal(htw_schedule_spec(f->scheduler, &first, NULL, &replaced), 0);
    assert_int_equal(replaced.handle, 0);
    assert_int_equal(htw_cancel_key(f->scheduler, NULL, NULL, 0, NULL), -EINVAL);
    assert_int_equal(htw_find_key(f->scheduler, NULL, NULL, 0), 0);
    assert_int_equal(htw_pending(f->scheduler), 3);
    advance(f, DELAY_NS);
    assert_int_equal(f->probes[0].runs + f->probes[1].runs, 3);
}

LATER_TEST(key_longer_than_the_longest_is_refused) {
    struct htw_spec spec = keyed(f, 0, "key");
    size_t size = (size_t)UINT32_MAX + 1;
    if (size == 0)
        skip(); /* every size is short enough */
    spec.key_size = size;
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), -EINVAL);
    assert_int_equal(htw_cancel_key(f->scheduler, NULL, "key", size, NULL), -EINVAL);
    assert_int_equal(htw_find_key(f->scheduler, NULL, "key", size), 0);
}

/* ---- release hooks */

static void arm_hooked(struct scheduler_fixture *f, unsigned number) {
    struct htw_spec spec = hooked_spec(f, number, DELAY_NS);
    arm_spec(f, number, &spec);
}

/* holds: scheduler-4, scheduler-12 */
LATER_TEST(hook_of_a_timer_that_destroy_finds_runs) {
    arm_hooked(f, 0);
    assert_int_equal(htw_scheduler_destroy(f->scheduler), 0);
    f->scheduler = NULL;
    assert_log(f, "A");
}

static void release_and_cancel_next(struct probe *self) {
    struct probe *next = &self->fixture->probes[(self->number + 1) % 3];
    next->result = htw_cancel(self->fixture->scheduler, next->handle);
}

LATER_TEST(hook_may_cancel) {
    for (unsigned i = 0; i < 3; i++) {
        f->probes[i].on_release = release_and_cancel_next;
        arm_hooked(f, i);
    }
    assert_int_equal(cancel(f, 0), HTW_CANCELLED);
    assert_log(f, "ABC");
    assert_int_equal(f->probes[1].result, HTW_CANCELLED);
    assert_int_equal(f->probes[2].result, HTW_CANCELLED);
    assert_int_equal(f->probes[0].result, HTW_GONE); /* its own hook was under way */
}

static void release_and_stop(struct probe *self) {
    self->result = htw_scheduler_stop(self->fixture->scheduler, NULL, NULL);
}

/* Stop would wait for the hook of a timer that ran. The rule is for all hooks. */
LATER_TEST(hook_that_stops_the_scheduler_gets_edeadlk) {
    for (unsigned i = 0; i < 3; i++) {
        f->probes[i].on_release = release_and_stop;
        arm_hooked(f, i);
        if (i == 0)
            advance(f, DELAY_NS);
        else if (i == 1)
            assert_int_equal(cancel(f, i), HTW_CANCELLED);
        else
            assert_int_equal(htw_scheduler_stop(f->scheduler, probe_visit, NULL), 0);
        assert_int_equal(f->probes[i].result, -EDEADLK);
    }
    assert_log(f, "aAB!cC");
}

/* ---- the limit */

/* Nothing is refused for the limit's sake once all scheduling is. */
SCHEDULER_TEST(scheduler_at_the_limit_after_stop_says_shutdown) {
    f->options.max_pending = 1;
    scheduler_reopen(f);
    arm(f, 0, MS);
    assert_int_equal(htw_scheduler_stop(f->scheduler, NULL, NULL), 0);
    assert_int_equal(htw_schedule(f->scheduler, 0, probe_run, &f->probes[1], NULL), -ESHUTDOWN);
    assert_int_equal(schedule_numbered(f, 1, 0, NULL), -ESHUTDOWN);
    assert_int_equal(scheduler_stats(f).refused, 0);
}
