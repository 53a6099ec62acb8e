/* SPDX-License-Identifier: MIT */
/* Timers that are known by a key. */
#include "../../support/scheduler_case.h"

#include "../unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DELAY_NS (10 * HTW_MILLISECOND)

static struct htw_spec keyed(struct probe *probe, const char *key) {
    struct htw_spec spec = case_probe_spec(probe, DELAY_NS);
    spec.key = key;
    spec.key_size = strlen(key);
    return spec;
}

static htw_handle found(const struct scheduler_case *test, const char *key) {
    return htw_find_key(test->scheduler, NULL, key, strlen(key));
}

static int cancel_key(const struct scheduler_case *test, const char *key, void **ret_arg) {
    return htw_cancel_key(test->scheduler, NULL, key, strlen(key), ret_arg);
}

static void keyed_scheduled_again_replaces_and_gives_the_argument_back(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec first = keyed(&a, "key"), second = keyed(&b, "key");
    struct htw_unexpired replaced = { .handle = 77 };
    assert_int_equal(htw_schedule_spec(test->scheduler, &first, &a.handle, &replaced), 0);
    assert_int_equal(replaced.handle, 0);
    assert_null(replaced.arg);
    assert_int_equal(htw_schedule_spec(test->scheduler, &second, &b.handle, &replaced), 0);
    assert_int_equal(replaced.handle, a.handle);
    assert_ptr_equal(replaced.callback, case_probe_run);
    assert_ptr_equal(replaced.arg, &a);
    assert_int_equal(replaced.deadline_ns, CASE_START_NS + DELAY_NS);
    assert_true(a.handle != b.handle);
    assert_int_equal(htw_cancel(test->scheduler, a.handle), HTW_GONE);
    assert_int_equal(htw_pending(test->scheduler), 1);
    scheduler_case_advance(test, DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "b");
    struct htw_scheduler_stats stats = scheduler_case_stats(test->scheduler);
    assert_int_equal(stats.scheduled, 2);
    assert_int_equal(stats.cancelled, 1);
    assert_int_equal(stats.fired, 1);
}

static void keyed_replaced_with_a_hook_gives_no_argument(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec first = keyed(&a, "key"), second = keyed(&b, "key");
    struct htw_unexpired replaced;
    void *arg = test;
    first.release = case_probe_release;
    probe_schedule_spec(&a, &first);
    assert_int_equal(htw_schedule_spec(test->scheduler, &second, NULL, &replaced), 0);
    assert_int_equal(replaced.handle, a.handle);
    assert_null(replaced.arg);
    assert_string_equal(scheduler_case_log(test), "A");
    /* Both outputs may be left out. */
    assert_int_equal(htw_schedule_spec(test->scheduler, &first, NULL, NULL), 0);
    assert_int_equal(cancel_key(test, "key", &arg), HTW_CANCELLED);
    assert_null(arg);
    assert_int_equal(a.releases, 2);
}

static void keyed_to_keep_what_exists_answers_eexist(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec first = keyed(&a, "key"), second = keyed(&b, "key");
    htw_handle handle = 77;
    struct htw_unexpired replaced = { .handle = 77 };
    second.keep_existing = true;
    second.release = case_probe_release;
    probe_schedule_spec(&a, &first);
    assert_int_equal(htw_schedule_spec(test->scheduler, &second, &handle, &replaced), -EEXIST);
    assert_int_equal(handle, 77);
    assert_int_equal(replaced.handle, 77);
    assert_int_equal(found(test, "key"), a.handle);
    assert_int_equal(scheduler_case_stats(test->scheduler).scheduled, 1);
    scheduler_case_advance(test, DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "a");
    /* Nothing is under the key any more. */
    probe_schedule_spec(&b, &second);
    scheduler_case_advance(test, DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "bB");
}

static void keyed_cancelled_by_its_key_is_given_back_once(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = keyed(&a, "key");
    void *arg = test;
    assert_int_equal(cancel_key(test, "key", &arg), HTW_GONE);
    assert_ptr_equal(arg, test);
    probe_schedule_spec(&a, &spec);
    assert_int_equal(cancel_key(test, "other", &arg), HTW_GONE);
    assert_int_equal(cancel_key(test, "ke", &arg), HTW_GONE);
    assert_int_equal(cancel_key(test, "key", &arg), HTW_CANCELLED);
    assert_ptr_equal(arg, &a);
    assert_int_equal(cancel_key(test, "key", NULL), HTW_GONE);
    assert_int_equal(found(test, "key"), 0);
    assert_int_equal(htw_cancel(test->scheduler, a.handle), HTW_GONE);
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(a.runs, 0);
}

static void keyed_cancelled_by_its_handle_frees_the_key(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = keyed(&a, "key");
    probe_schedule_spec(&a, &spec);
    assert_int_equal(htw_cancel(test->scheduler, a.handle), HTW_CANCELLED);
    assert_int_equal(found(test, "key"), 0);
    probe_schedule_spec(&a, &spec); /* asserts that nothing is replaced */
}

static void keyed_moved_keeps_its_key(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = keyed(&a, "key");
    probe_schedule_spec(&a, &spec);
    assert_int_equal(htw_reschedule(test->scheduler, a.handle, 5 * DELAY_NS), HTW_MOVED);
    assert_int_equal(found(test, "key"), a.handle);
    scheduler_case_advance(test, 5 * DELAY_NS - 1);
    assert_int_equal(a.runs, 0);
    assert_int_equal(found(test, "key"), a.handle);
    scheduler_case_advance(test, 1);
    assert_int_equal(a.runs, 1);
    assert_int_equal(found(test, "key"), 0);
}

/* ---- what a key may be */

static void key_of_no_bytes_is_a_key(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec first = keyed(&a, ""), second = keyed(&b, "");
    struct htw_unexpired replaced;
    void *arg;
    probe_schedule_spec(&a, &first);
    assert_int_equal(found(test, ""), a.handle);
    assert_int_equal(htw_schedule_spec(test->scheduler, &second, NULL, &replaced), 0);
    assert_ptr_equal(replaced.arg, &a);
    assert_int_equal(cancel_key(test, "", &arg), HTW_CANCELLED);
    assert_ptr_equal(arg, &b);
}

static void key_that_is_null_is_none(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec first = case_probe_spec(&a, DELAY_NS), second = case_probe_spec(&b, DELAY_NS);
    first.key_size = second.key_size = 8;
    probe_schedule_spec(&a, &first);
    probe_schedule_spec(&b, &second);
    assert_int_equal(htw_cancel_key(test->scheduler, NULL, NULL, 0, NULL), -EINVAL);
    assert_int_equal(htw_find_key(test->scheduler, NULL, NULL, 0), 0);
    assert_int_equal(htw_pending(test->scheduler), 2);
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(a.runs + b.runs, 2);
}

static void key_longer_than_the_longest_is_refused(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = keyed(&a, "key");
    size_t size = (size_t)UINT32_MAX + 1;
    spec.key_size = size;
    assert_int_equal(htw_schedule_spec(test->scheduler, &spec, NULL, NULL), -EINVAL);
    assert_int_equal(htw_cancel_key(test->scheduler, NULL, "key", size, NULL), -EINVAL);
    assert_int_equal(htw_find_key(test->scheduler, NULL, "key", size), 0);
}

static void key_of_a_megabyte_is_copied_and_compared_to_its_end(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    enum { SIZE = 1 << 20 };
    unsigned char *key = malloc(SIZE);
    assert_non_null(key);
    memset(key, 'x', SIZE);
    struct htw_spec spec = case_probe_spec(&a, DELAY_NS);
    spec.key = key;
    spec.key_size = SIZE;
    uint64_t before = scheduler_case_stats(test->scheduler).memory_bytes;
    probe_schedule_spec(&a, &spec);
    assert_true(scheduler_case_stats(test->scheduler).memory_bytes >= before + SIZE);
    key[SIZE - 1] = 'y';
    assert_int_equal(htw_find_key(test->scheduler, NULL, key, SIZE), 0);
    assert_int_equal(htw_find_key(test->scheduler, NULL, key, SIZE - 1), 0);
    key[SIZE - 1] = 'x';
    assert_int_equal(htw_find_key(test->scheduler, NULL, key, SIZE), a.handle);
    assert_int_equal(htw_cancel_key(test->scheduler, NULL, key, SIZE, NULL), HTW_CANCELLED);
    free(key);
}

/* ---- while the callback runs */

static unsigned schedule_successor(struct probe *probe) {
    struct probe *successor = probe->context;
    struct htw_spec spec = keyed(successor, "key");
    if (htw_find_key(probe->test->scheduler, NULL, "key", 3) != 0 ||
        htw_cancel_key(probe->test->scheduler, NULL, "key", 3, NULL) != HTW_GONE)
        return 99;
    struct htw_unexpired replaced;
    if (htw_schedule_spec(probe->test->scheduler, &spec, &successor->handle, &replaced) != 0)
        return 99;
    return replaced.handle != 0;
}

static void key_is_free_when_the_callback_starts(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec spec = keyed(&a, "key");
    a.during = schedule_successor;
    a.context = &b;
    probe_schedule_spec(&a, &spec);
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(a.answer, 0);
    assert_int_equal(found(test, "key"), b.handle);
    scheduler_case_advance(test, DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "ab");
}

static unsigned succeed_and_come_again(struct probe *probe) {
    if (probe->runs > 1)
        return 0;
    if (schedule_successor(probe) != 0)
        return 99;
    return (unsigned)htw_reschedule(probe->test->scheduler, probe->handle, 2 * DELAY_NS);
}

/* The key went when the callback started; the successor has it. */
static void key_stays_the_successors_when_the_first_comes_again(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec spec = keyed(&a, "key");
    a.during = succeed_and_come_again;
    a.context = &b;
    probe_schedule_spec(&a, &spec);
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(a.answer, HTW_MOVED);
    assert_int_equal(found(test, "key"), b.handle);
    scheduler_case_advance(test, 2 * DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "aba");
    assert_int_equal(found(test, "key"), 0);
}

static unsigned find_itself(struct probe *probe) {
    return htw_find_key(probe->test->scheduler, NULL, "key", 3) == probe->handle;
}

static void keyed_repeating_is_found_in_every_run(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = keyed(&a, "key");
    spec.period_ns = DELAY_NS;
    a.during = find_itself;
    probe_schedule_spec(&a, &spec);
    for (unsigned run = 1; run <= 3; run++) {
        a.answer = 0;
        scheduler_case_advance(test, DELAY_NS);
        assert_int_equal(a.runs, run);
        assert_true(a.answer);
        assert_int_equal(found(test, "key"), a.handle);
    }
    void *arg;
    assert_int_equal(cancel_key(test, "key", &arg), HTW_CANCELLED);
    assert_ptr_equal(arg, &a);
    scheduler_case_advance(test, 10 * DELAY_NS);
    assert_int_equal(a.runs, 3);
}

static unsigned replace_itself(struct probe *probe) {
    struct probe *successor = probe->context;
    struct htw_spec spec = keyed(successor, "key");
    spec.keep_existing = true;
    if (htw_schedule_spec(probe->test->scheduler, &spec, NULL, NULL) != -EEXIST)
        return 99;
    spec.keep_existing = false;
    struct htw_unexpired replaced;
    if (htw_schedule_spec(probe->test->scheduler, &spec, &successor->handle, &replaced) != 0)
        return 99;
    return replaced.handle != 0;
}

static void keyed_repeating_that_runs_loses_its_key_and_ends(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec spec = keyed(&a, "key");
    spec.period_ns = DELAY_NS;
    spec.release = case_probe_release;
    a.during = replace_itself;
    a.context = &b;
    probe_schedule_spec(&a, &spec);
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(a.answer, 0); /* not replaced: it was not cancelled before a run */
    assert_int_equal(found(test, "key"), b.handle);
    scheduler_case_advance(test, 5 * DELAY_NS);
    assert_string_equal(scheduler_case_log(test), "aAb");
    assert_int_equal(scheduler_case_stats(test->scheduler).cancelled, 0);
}

static unsigned cancel_own_key(struct probe *probe) {
    void *arg = probe;
    int outcome = htw_cancel_key(probe->test->scheduler, NULL, "key", 3, &arg);
    bool gone = htw_find_key(probe->test->scheduler, NULL, "key", 3) == 0;
    return gone && arg == probe ? (unsigned)outcome : 99;
}

static void keyed_repeating_cancelled_by_key_in_its_run_answers_running(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = keyed(&a, "key");
    spec.period_ns = DELAY_NS;
    a.during = cancel_own_key;
    probe_schedule_spec(&a, &spec);
    scheduler_case_advance(test, 5 * DELAY_NS);
    assert_int_equal(a.answer, HTW_RUNNING);
    assert_int_equal(a.runs, 1);
    assert_int_equal(htw_pending(test->scheduler), 0);
}

/* Replaces whichever of two has not run, when it is due already. */
static unsigned replace_the_other(struct probe *probe) {
    struct probe *other = probe->context;
    if (other->runs > 0)
        return 0;
    struct htw_spec spec = keyed(other, other->name == 'a' ? "a" : "b");
    struct htw_unexpired replaced;
    int error = htw_schedule_spec(probe->test->scheduler, &spec, &other->handle, &replaced);
    return error == 0 && replaced.arg == other ? 1 : 99;
}

static void keyed_that_is_due_but_has_not_started_is_replaced(void **state) {
    struct scheduler_case *test = *state;
    struct probe a = scheduler_case_probe(test, 'a'), b = scheduler_case_probe(test, 'b');
    struct htw_spec first = keyed(&a, "a"), second = keyed(&b, "b");
    a.during = b.during = replace_the_other;
    a.context = &b;
    b.context = &a;
    probe_schedule_spec(&a, &first);
    probe_schedule_spec(&b, &second);
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(a.runs + b.runs, 1);
    assert_int_equal(a.answer + b.answer, 1);
    a.during = b.during = NULL;
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(a.runs, 1);
    assert_int_equal(b.runs, 1);
}

/* ---- groups, limits, many */

static void key_belongs_to_its_group(void **state) {
    struct scheduler_case *test = *state;
    struct htw_group *groups[3] = { NULL };
    struct probe probes[3];
    assert_int_equal(htw_group_create(test->scheduler, &groups[1]), 0);
    assert_int_equal(htw_group_create(test->scheduler, &groups[2]), 0);
    assert_int_equal(htw_find_key(test->scheduler, groups[1], "key", 3), 0);
    assert_int_equal(htw_cancel_key(test->scheduler, groups[1], "key", 3, NULL), HTW_GONE);
    for (unsigned i = 0; i < 3; i++) {
        probes[i] = scheduler_case_probe(test, (char)('a' + i));
        struct htw_spec spec = keyed(&probes[i], "key");
        spec.group = groups[i];
        probe_schedule_spec(&probes[i], &spec);
    }
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(htw_find_key(test->scheduler, groups[i], "key", 3), probes[i].handle);
    assert_int_equal(htw_cancel_key(test->scheduler, groups[1], "key", 3, NULL), HTW_CANCELLED);
    assert_int_equal(htw_find_key(test->scheduler, groups[1], "key", 3), 0);
    htw_group_destroy(groups[2]); /* the timer keeps the key, which nobody can name */
    assert_int_equal(htw_find_key(test->scheduler, NULL, "key", 3), probes[0].handle);
    scheduler_case_advance(test, DELAY_NS);
    assert_int_equal(probes[0].runs, 1);
    assert_int_equal(probes[1].runs, 0);
    assert_int_equal(probes[2].runs, 1);
    htw_group_destroy(groups[1]);
}

static void key_of_another_schedulers_group_is_refused(void **state) {
    struct scheduler_case *test = *state;
    struct scheduler_case other;
    struct htw_scheduler_options options = scheduler_case_options();
    scheduler_case_begin(&other, &options);
    assert_int_equal(htw_group_create(other.scheduler, &other.group), 0);
    struct probe a = scheduler_case_probe(test, 'a');
    struct htw_spec spec = keyed(&a, "key");
    spec.group = other.group;
    assert_int_equal(htw_schedule_spec(test->scheduler, &spec, NULL, NULL), -EINVAL);
    assert_int_equal(htw_cancel_key(test->scheduler, other.group, "key", 3, NULL), -EINVAL);
    assert_int_equal(htw_find_key(test->scheduler, other.group, "key", 3), 0);
    scheduler_case_end(&other);
}

static void keyed_replaces_where_the_limit_is_reached(void **state) {
    (void)state;
    struct scheduler_case test;
    struct htw_scheduler_options options = scheduler_case_options();
    options.max_pending = 2;
    scheduler_case_begin(&test, &options);
    struct probe a = scheduler_case_probe(&test, 'a'), b = scheduler_case_probe(&test, 'b');
    struct probe c = scheduler_case_probe(&test, 'c');
    struct htw_spec first = keyed(&a, "a"), second = keyed(&b, "b"), third = keyed(&c, "b");
    struct htw_spec fourth = keyed(&c, "c");
    struct htw_unexpired replaced;
    probe_schedule_spec(&a, &first);
    probe_schedule_spec(&b, &second);
    for (unsigned i = 0; i < 300; i++) {
        assert_int_equal(htw_schedule_spec(test.scheduler, &fourth, NULL, NULL), -EAGAIN);
        assert_int_equal(htw_schedule_spec(test.scheduler, &third, NULL, &replaced), 0);
        assert_ptr_equal(replaced.arg, i == 0 ? &b : &c);
        assert_int_equal(htw_pending(test.scheduler), 2);
    }
    third.keep_existing = true;
    assert_int_equal(htw_schedule_spec(test.scheduler, &third, NULL, NULL), -EEXIST);
    assert_int_equal(scheduler_case_stats(test.scheduler).refused, 300);
    scheduler_case_advance(&test, DELAY_NS);
    assert_int_equal(a.runs + c.runs, 2);
    probe_schedule_spec(&a, &first); /* the limit is what it was */
    probe_schedule_spec(&b, &second);
    assert_int_equal(htw_schedule_spec(test.scheduler, &fourth, NULL, NULL), -EAGAIN);
    scheduler_case_end(&test);
}

static void count_run(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    ++*(unsigned *)arg;
}

static int schedule_number(struct htw_scheduler *scheduler, uint32_t key, unsigned *runs,
                           struct htw_unexpired *ret_replaced) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = count_run;
    spec.arg = runs;
    spec.when_ns = DELAY_NS + key % 1000 * HTW_MILLISECOND;
    spec.latest_ns = spec.when_ns;
    spec.key = &key;
    spec.key_size = sizeof(key);
    return htw_schedule_spec(scheduler, &spec, NULL, ret_replaced);
}

static void keyed_by_the_hundred_thousand_are_each_found(void **state) {
    (void)state;
    enum { KEYS = 100000 };
    struct htw_scheduler_options options = scheduler_case_options();
    struct htw_scheduler *scheduler;
    unsigned *runs = calloc(KEYS, sizeof(*runs));
    assert_non_null(runs);
    options.shards = 8;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    uint64_t empty = scheduler_case_stats(scheduler).memory_bytes;
    for (uint32_t key = 0; key < KEYS; key++)
        assert_int_equal(schedule_number(scheduler, key, &runs[key], NULL), 0);
    for (uint32_t key = 0; key < KEYS; key += 2) {
        struct htw_unexpired replaced;
        assert_int_equal(schedule_number(scheduler, key, &runs[key], &replaced), 0);
        assert_ptr_equal(replaced.arg, &runs[key]);
    }
    for (uint32_t key = 0; key < KEYS; key++)
        assert_true(htw_is_pending(scheduler, htw_find_key(scheduler, NULL, &key, sizeof(key))));
    for (uint32_t key = 0; key < KEYS; key += 3)
        assert_int_equal(htw_cancel_key(scheduler, NULL, &key, sizeof(key), NULL), HTW_CANCELLED);
    assert_int_equal(htw_scheduler_advance(scheduler, 2 * HTW_SECOND), 0);
    for (uint32_t key = 0; key < KEYS; key++) {
        assert_int_equal(runs[key], key % 3 != 0);
        assert_int_equal(htw_find_key(scheduler, NULL, &key, sizeof(key)), 0);
    }
    assert_adds_up(scheduler);
    /* One page of records may stay in each shard, and upper levels of the wheels. */
    assert_true(scheduler_case_stats(scheduler).memory_bytes < empty + 8 * (512u << 10));
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    free(runs);
}

#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, scheduler_case_setup, scheduler_case_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(keyed_scheduled_again_replaces_and_gives_the_argument_back),
        CASE(keyed_replaced_with_a_hook_gives_no_argument),
        CASE(keyed_to_keep_what_exists_answers_eexist),
        CASE(keyed_cancelled_by_its_key_is_given_back_once),
        CASE(keyed_cancelled_by_its_handle_frees_the_key),
        CASE(keyed_moved_keeps_its_key),
        CASE(key_of_no_bytes_is_a_key),
        CASE(key_that_is_null_is_none),
        CASE(key_longer_than_the_longest_is_refused),
        CASE(key_of_a_megabyte_is_copied_and_compared_to_its_end),
        CASE(key_is_free_when_the_callback_starts),
        CASE(key_stays_the_successors_when_the_first_comes_again),
        CASE(keyed_repeating_is_found_in_every_run),
        CASE(keyed_repeating_that_runs_loses_its_key_and_ends),
        CASE(keyed_repeating_cancelled_by_key_in_its_run_answers_running),
        CASE(keyed_that_is_due_but_has_not_started_is_replaced),
        CASE(key_belongs_to_its_group),
        CASE(key_of_another_schedulers_group_is_refused),
        cmocka_unit_test(keyed_replaces_where_the_limit_is_reached),
        cmocka_unit_test(keyed_by_the_hundred_thousand_are_each_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
