/* SPDX-License-Identifier: MIT */
/* test_keyed.c - timers that are known by a key. */
/* holds: scheduler-8 */
#include "../../../src/scheduler/group.h"
#include "../../support/collisions.h"
#include "scheduler_fixture.h"

#include <errno.h>
#include <string.h>

#define DELAY_NS (10 * MS)

static struct htw_spec keyed(struct scheduler_fixture *f, unsigned number, const char *key) {
    return keyed_spec(f, number, DELAY_NS, key);
}

static void arm_keyed(struct scheduler_fixture *f, unsigned number, const char *key) {
    struct htw_spec spec = keyed(f, number, key);
    arm_spec(f, number, &spec);
}

static htw_handle found(const struct scheduler_fixture *f, const char *key) {
    return htw_find_key(f->scheduler, NULL, key, strlen(key));
}

static int cancel_key(const struct scheduler_fixture *f, const char *key, void **ret_arg) {
    return htw_cancel_key(f->scheduler, NULL, key, strlen(key), ret_arg);
}

/* ---- what a key may be */

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

/* ---- while the callback runs */

/* Schedules the next probe under the key. 0: that replaced nothing. */
static int schedule_successor(struct probe *self, bool keep_existing) {
    struct probe *successor = self + 1;
    struct htw_spec spec = keyed(self->fixture, successor->number, "key");
    struct htw_unexpired replaced = { .handle = 0 };
    spec.keep_existing = keep_existing;
    int error = htw_schedule_spec(self->fixture->scheduler, &spec, &successor->handle, &replaced);
    return error != 0 ? error : replaced.handle != 0;
}

static void act_schedule_successor(struct probe *self) {
    bool is_free =
        found(self->fixture, "key") == 0 && cancel_key(self->fixture, "key", NULL) == HTW_GONE;
    self->result = is_free ? schedule_successor(self, false) : 99;
}

LATER_TEST(key_is_free_when_the_callback_starts) {
    f->probes[0].act = act_schedule_successor;
    arm_keyed(f, 0, "key");
    advance(f, DELAY_NS);
    assert_int_equal(f->probes[0].result, 0);
    assert_int_equal(found(f, "key"), f->probes[1].handle);
    advance(f, DELAY_NS);
    assert_log(f, "ab");
}

static void act_replace_itself(struct probe *self) {
    int kept = schedule_successor(self, true);
    self->result = kept == -EEXIST ? schedule_successor(self, false) : 99;
}

LATER_TEST(keyed_repeating_that_runs_loses_its_key_and_ends) {
    f->probes[0].act = act_replace_itself;
    struct htw_spec spec = keyed(f, 0, "key");
    spec.period_ns = DELAY_NS;
    spec.release = probe_release;
    arm_spec(f, 0, &spec);
    advance(f, DELAY_NS);
    assert_int_equal(f->probes[0].result, 0); /* not replaced: it was not cancelled before a run */
    assert_int_equal(found(f, "key"), f->probes[1].handle);
    advance(f, 5 * DELAY_NS);
    assert_log(f, "aAb");
    assert_int_equal(scheduler_stats(f).cancelled, 0);
}

static void act_cancel_own_key(struct probe *self) {
    void *arg = self;
    self->result = cancel_key(self->fixture, "key", &arg);
    if (arg != self || found(self->fixture, "key") != 0)
        self->result = 99;
}

LATER_TEST(keyed_repeating_cancelled_by_key_in_its_run_answers_running) {
    f->probes[0].act = act_cancel_own_key;
    struct htw_spec spec = keyed(f, 0, "key");
    spec.period_ns = DELAY_NS;
    arm_spec(f, 0, &spec);
    advance(f, 5 * DELAY_NS);
    assert_int_equal(f->probes[0].result, HTW_RUNNING);
    assert_int_equal(f->probes[0].runs, 1);
    assert_int_equal(htw_pending(f->scheduler), 0);
}

/* Replaces whichever of two has not run, when it is due already. */
static void act_replace_the_other(struct probe *self) {
    struct probe *other = &self->fixture->probes[1 - self->number];
    struct htw_spec spec = keyed(self->fixture, other->number, other->number == 0 ? "a" : "b");
    struct htw_unexpired replaced = { .arg = NULL };
    if (other->runs > 0)
        return;
    int error = htw_schedule_spec(self->last.scheduler, &spec, &other->handle, &replaced);
    self->result = error == 0 && replaced.arg == other ? 1 : 99;
}

LATER_TEST(keyed_that_is_due_but_has_not_started_is_replaced) {
    f->probes[0].act = f->probes[1].act = act_replace_the_other;
    arm_keyed(f, 0, "a");
    arm_keyed(f, 1, "b");
    advance(f, DELAY_NS);
    assert_int_equal(f->probes[0].runs + f->probes[1].runs, 1);
    assert_int_equal(f->probes[0].result + f->probes[1].result, 1);
    f->probes[0].act = f->probes[1].act = NULL;
    advance(f, DELAY_NS);
    assert_int_equal(f->probes[0].runs, 1);
    assert_int_equal(f->probes[1].runs, 1);
}
