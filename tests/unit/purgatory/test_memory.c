/* SPDX-License-Identifier: MIT */
/*
 * test_memory.c - each allocation is refused in turn. The call returns -ENOMEM, nothing has
 * changed, nothing leaks, and the same call, made again, succeeds.
 */
#include "../../support/purgatory_case.h"

#include <errno.h>
#include <string.h>

/* More than any single call asks for. */
enum { REQUESTS_MAX = 300 };

/* What is tried again and again: 0 or greater when it succeeds. */
typedef int attempt(struct purgatory_case *test);

/* What must not change when a call fails. */
struct snapshot {
    struct htw_purgatory_stats stats;
    size_t blocks, bytes;
    uint64_t timers;
};

static struct snapshot take_snapshot(struct purgatory_case *test) {
    return (struct snapshot) { purgatory_case_stats(test), test->memory.live_blocks,
                               test->memory.live_bytes, htw_pending(test->scheduler) };
}

/* What a call that has failed may leave for the next one. */
struct spare {
    size_t blocks;
    uint64_t timers;
};

static const struct spare no_spare = { 0, 0 };

/* No hook may have been called but try_complete. */
static void assert_unchanged(struct purgatory_case *test, const struct snapshot *before,
                             struct spare spare) {
    struct snapshot now = take_snapshot(test);
    assert_in_range(now.blocks, before->blocks, before->blocks + spare.blocks);
    if (spare.blocks == 0)
        assert_int_equal(now.bytes, before->bytes);
    assert_in_range(now.timers, before->timers, before->timers + spare.timers);
    now.stats.memory_bytes = before->stats.memory_bytes; /* compared as `bytes` */
    assert_memory_equal(&now.stats, &before->stats, sizeof(now.stats));
    assert_ends(test, "");
}

/* Refuses the first request of `memory`, the second and so on, until the call makes do with those
   before; each time once, and once with all that follow. Returns how often it was refused. */
static size_t refuse(struct purgatory_case *test, struct failing_allocator *memory, attempt *call,
                     int expected, struct spare spare) {
    size_t refused = 0;
    int result = -ENOMEM;
    for (size_t nth = 1; result == -ENOMEM; nth++) {
        for (unsigned forever = 0; forever < 2 && (forever == 0 || result == -ENOMEM); forever++) {
            assert_true(nth < REQUESTS_MAX);
            struct snapshot before = take_snapshot(test);
            failing_allocator_fail(memory, nth, forever);
            result = call(test);
            failing_allocator_relent(memory);
            if (result == -ENOMEM) {
                assert_unchanged(test, &before, spare);
                refused++;
            }
        }
    }
    assert_int_equal(result, expected);
    return refused;
}

/* ---- create */

static void check_create(struct purgatory_case *test, uint32_t shards) {
    struct failing_allocator memory;
    failing_allocator_init(&memory);
    struct htw_purgatory_options options = purgatory_case_options();
    options.allocator = &memory.allocator;
    options.shards = shards;
    for (unsigned forever = 0; forever < 2; forever++) {
        int error = -ENOMEM;
        for (size_t nth = 1; error != 0; nth++) {
            struct htw_purgatory *purgatory = NULL;
            assert_true(nth < REQUESTS_MAX);
            failing_allocator_fail(&memory, nth, forever);
            size_t refusals = memory.refusals;
            error = htw_purgatory_create(&purgatory, test->scheduler, &options);
            assert_int_equal(error, memory.refusals > refusals ? -ENOMEM : 0);
            failing_allocator_relent(&memory);
            assert_int_equal(purgatory != NULL, error == 0);
            assert_int_equal(htw_purgatory_destroy(purgatory), 0);
            assert_null(memory.error);
            assert_int_equal(memory.live_blocks, 0);
        }
    }
    failing_allocator_fini(&memory);
}

PURGATORY_TEST(purgatory_create_refused_memory_leaves_nothing) {
    check_create(test, 1);
    check_create(test, 16);
}

/* ---- submit */

static struct htw_key keys[300];
static size_t key_count;
static int64_t timeout_ns;

/* Keys of `size` bytes each. */
static void choose_keys(size_t count, size_t size) {
    static char names[300][100];
    key_count = count;
    for (size_t i = 0; i < count; i++) {
        memset(names[i], 'x', size);
        memcpy(names[i] + size - 3,
               (char[3]) { (char)('0' + i / 100), (char)('0' + i / 10 % 10), (char)('0' + i % 10) },
               3);
        keys[i] = (struct htw_key) { names[i], size };
    }
}

static int submit_chosen(struct purgatory_case *test) {
    return waiter_submit_keys(&test->waiters['s' - 'a'], timeout_ns, keys, key_count);
}

/* Submits on these keys, with memory refused first to the purgatory and then to the scheduler. */
static void check_submit(struct purgatory_case *test, size_t count, size_t size) {
    size_t bytes = test->memory.live_bytes;
    choose_keys(count, size);
    for (unsigned whose = 0; whose < 2; whose++) {
        struct waiter *subject = purgatory_case_waiter(test, 's');
        size_t refused = refuse(test, whose == 0 ? &test->memory : &test->scheduler_memory,
                                submit_chosen, HTW_WATCHED, no_spare);
        /* A few short keys may find room in what there is. */
        assert_true(whose != 0 || refused > 0 || (count <= 3 && size <= 16));
        purgatory_case_forget_log(test);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(htw_purgatory_check(test->purgatory, keys[i].bytes, size), 0);
            assert_log(test, "s?");
        }
        subject->ready = true;
        assert_int_equal(htw_purgatory_check(test->purgatory, keys[count - 1].bytes, size), 1);
        assert_log(test, "s? sC s=");
        /* Each shard may keep a chunk while one of its slots is in use. */
        assert_in_range(test->memory.live_bytes, bytes, bytes + 4 * 4096);
    }
}

/* holds: purgatory-13 */
PURGATORY_TEST(purgatory_submit_refused_memory_changes_nothing) {
    static const size_t counts[] = { 1, 2, 3, 40, 300 };
    static const size_t sizes[] = { 3, 16, 17, 100 };
    /* Another one is there all the time, so that there is something to be spoiled. */
    watch(purgatory_case_waiter(test, 'a'), HTW_NEVER_NS, "000", "some long key that is not short");
    test->waiters[0].name = '\0'; /* it is asked, too, but not of interest */
    timeout_ns = MS;
    for (unsigned c = 0; c < 5; c++)
        for (unsigned s = 0; s < 4; s++)
            check_submit(test, counts[c], sizes[s]);
    timeout_ns = HTW_NEVER_NS;
    check_submit(test, 2, 17);
    purgatory_case_forget_log(test);
    assert_true(cancel(&test->waiters[0]));
}

/* ---- the rest */

static int create_threshold(struct purgatory_case *test) {
    return htw_threshold_create(test->purgatory, 1000, &test->threshold);
}

static uint64_t awaited;

static int await_chosen(struct purgatory_case *test) {
    return waiter_await(&test->waiters['s' - 'a'], awaited, timeout_ns);
}

PURGATORY_TEST(threshold_refused_memory_changes_nothing) {
    static const uint64_t values[] = { 1001, 1500, 100000, UINT64_C(1) << 40, UINT64_MAX };
    assert_true(refuse(test, &test->memory, create_threshold, 0, no_spare) > 0);
    assert_int_equal(waiter_await(purgatory_case_waiter(test, 'a'), 1001, HTW_NEVER_NS),
                     HTW_WATCHED);
    for (unsigned i = 0; i < 10; i++) {
        awaited = values[i / 2];
        timeout_ns = i % 2 == 0 ? MS : 1000000 * HTW_SECOND;
        purgatory_case_waiter(test, 's');
        refuse(test, i % 2 == 0 ? &test->memory : &test->scheduler_memory, await_chosen,
               HTW_WATCHED, (struct spare) { 16, 0 }); /* levels of the wheel */
        assert_true(cancel(&test->waiters['s' - 'a']));
        assert_ends(test, "sX");
    }
    failing_allocator_fail(&test->memory, 1, true); /* what cannot fail makes do without */
    assert_int_equal(htw_threshold_advance(test->threshold, UINT64_MAX), 1);
    failing_allocator_relent(&test->memory);
    assert_ends(test, "aC");
}

/* Ends need none: not of many requests on many keys, and not of the purgatory. */
PURGATORY_TEST(purgatory_ends_all_without_memory) {
    choose_keys(300, 30);
    for (char name = 'a'; name <= 'j'; name++)
        assert_int_equal(
            waiter_submit_keys(purgatory_case_waiter(test, name), MS, keys, name < 'd' ? 300 : 3),
            HTW_WATCHED);
    assert_int_equal(htw_purgatory_check_later(test->purgatory, keys[0].bytes, 30), 0);
    purgatory_case_forget_log(test);
    failing_allocator_fail(&test->memory, 1, true);
    failing_allocator_fail(&test->scheduler_memory, 1, true);
    assert_true(complete(&test->waiters[0]));
    assert_true(cancel(&test->waiters[4]));
    purgatory_case_advance(test, 0);
    test->waiters[5].ready = true;
    assert_int_equal(htw_purgatory_check(test->purgatory, keys[1].bytes, 30), 1);
    assert_int_equal(
        htw_purgatory_cancel_key(test->purgatory, keys[299].bytes, 30, waiter_visit, test), 2);
    purgatory_case_advance(test, MS);
    assert_waiting(test, 0, 0, 0, 0);
}
