/* SPDX-License-Identifier: MIT */
/* test_queue.c - the queues of a journal by name and number, their pauses, policies and counts. */
#include "../../../src/journal/policy.h"
#include "../../../src/journal/queue.h"
#include "../../support/failing_allocator.h"
#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct failing_allocator memory;
static struct htw__queues queues;

static void set_up(void) {
    failing_allocator_init(&memory);
    assert_int_equal(htw__queues_init(&queues, &memory.allocator, false), 0);
}

static void tear_down(void) {
    htw__queues_fini(&queues);
    assert_int_equal(memory.live_blocks, 0);
    assert_null(memory.error);
    failing_allocator_fini(&memory);
}

#define QUEUE_TEST(name) UNIT_TEST_BETWEEN(set_up, tear_down, name)

static struct htw__queue *get(const char *name) {
    struct htw__queue *queue = NULL;
    assert_int_equal(htw__queues_get(&queues, name, &queue), 0);
    return queue;
}

QUEUE_TEST(queue_is_found_by_name_and_by_number) {
    char name[16];
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "q%d", i);
        struct htw__queue *queue = get(name);
        assert_ptr_equal(get(name), queue);
        assert_ptr_equal(htw__queues_find_number(&queues, queue->number), queue);
    }
    assert_null(htw__queues_find(&queues, "q"));
    assert_null(htw__queues_find_number(&queues, 1001));
    assert_ptr_equal(htw__queues_find(&queues, NULL), htw__queues_find_number(&queues, 0));
    uint64_t last = 0;
    for (struct htw__queue *queue = queues.unnamed;
         (queue = htw__queues_next(&queues, queue)) != NULL; last++)
        assert_int_equal(queue->number, last + 1); /* in the order in which they came */
    assert_int_equal(last, 1000);
    assert_ptr_equal(htw__queues_next(&queues, NULL), queues.unnamed);
}

QUEUE_TEST(queue_that_stays_leads_to_the_next_one_whatever_goes) {
    struct htw__queue *before = get("a"), *here = get("b"), *after = get("c"), *last = get("d");
    here->users++;
    htw__queues_drop(&queues, before);
    htw__queues_drop(&queues, here);
    htw__queues_drop(&queues, after);
    assert_ptr_equal(htw__queues_next(&queues, queues.unnamed), here);
    assert_ptr_equal(htw__queues_next(&queues, here), last);
    assert_ptr_equal(htw__queues_next(&queues, last), NULL);
    here->users--;
    htw__queues_drop(&queues, here);
    assert_ptr_equal(htw__queues_next(&queues, queues.unnamed), last);
}

QUEUE_TEST(queue_goes_when_nothing_is_left_of_it) {
    struct htw__queue *queue = get("a");
    queue->users++;
    htw__queues_drop(&queues, queue);
    assert_ptr_equal(htw__queues_find(&queues, "a"), queue);
    queue->users--;
    assert_int_equal(htw__queue_pause(&queues, queue, 5), 0);
    htw__queues_drop(&queues, queue);
    assert_ptr_equal(htw__queues_find(&queues, "a"), queue);
    assert_null(htw__queues_resume(&queues, 4));
    assert_ptr_equal(htw__queues_resume(&queues, 5), queue);
    htw__queues_drop(&queues, queue);
    assert_null(htw__queues_find(&queues, "a"));
    htw__queues_drop(&queues, queues.unnamed);
    assert_non_null(htw__queues_find(&queues, NULL));
}

QUEUE_TEST(queue_number_is_given_again_only_when_it_is_free) {
    uint64_t first = get("a")->number;
    queues.next_number = HTW__QUEUE_MAX;
    assert_int_equal(get("b")->number, HTW__QUEUE_MAX);
    assert_int_equal(get("c")->number, first + 1);
}

QUEUE_TEST(queue_pauses_end_in_order) {
    static const int64_t ends[] = { 30, 10, 20 };
    static const char *const names[] = { "a", "b", "c" };
    for (size_t i = 0; i < COUNT_OF(ends); i++)
        assert_int_equal(htw__queue_pause(&queues, get(names[i]), ends[i]), 0);
    assert_int_equal(htw__queue_pause(&queues, get("b"), 40), 0);
    assert_int_equal(htw__queues_next_end(&queues), 20);
    assert_ptr_equal(htw__queues_resume(&queues, 100), get("c"));
    assert_ptr_equal(htw__queues_resume(&queues, 100), get("a"));
    assert_ptr_equal(htw__queues_resume(&queues, 100), get("b"));
    assert_null(htw__queues_resume(&queues, 100));
    assert_int_equal(htw__queues_next_end(&queues), HTW_NEVER_NS);
}

QUEUE_TEST(queue_backoff_grows_to_its_cap_and_is_off_by_default) {
    struct htw__queue *queue = get("a");
    assert_int_equal(htw__policy_backoff(&queue->policy, 1, 5), 0);
    queue->policy.initial_ns = 100;
    queue->policy.cap_ns = 1000;
    queue->policy.jitter = 0;
    assert_int_equal(htw__policy_backoff(&queue->policy, 1, 1), 100);
    assert_int_equal(htw__policy_backoff(&queue->policy, 1, 3), 400);
    assert_int_equal(htw__policy_backoff(&queue->policy, 1, UINT32_MAX), 1000);
    queue->policy.jitter = 1;
    assert_int_equal(htw__policy_backoff(&queue->policy, 7, 4),
                     htw__policy_backoff(&queue->policy, 7, 4));
}

QUEUE_TEST(queue_of_a_file_is_refused_if_it_is_damaged) {
    const struct htw__queue_row good = { .number = 7,
                                         .name = "a",
                                         .name_size = 1,
                                         .jobs = { 2, 1, 0, 2 },
                                         .policy = "3 0 0 0 0",
                                         .policy_size = 9 };
    struct htw__queue_row row = good;
    char name[HTW_QUEUE_NAME_MAX + 1];
    memset(name, 'n', sizeof(name));
    row.jobs[1] = -1;
    assert_int_equal(htw__queues_load(&queues, &row), -EBADMSG);
    row = good;
    row.number = 0;
    assert_int_equal(htw__queues_load(&queues, &row), -EBADMSG);
    row = good;
    row.name_size = 0;
    assert_int_equal(htw__queues_load(&queues, &row), -EBADMSG);
    row = good;
    row.name = name;
    row.name_size = sizeof(name);
    assert_int_equal(htw__queues_load(&queues, &row), -EBADMSG);
    row = good;
    row.name = "a\0b";
    row.name_size = 3;
    assert_int_equal(htw__queues_load(&queues, &row), -EBADMSG);
    row = good;
    row.jobs[3] = INT64_MAX;
    assert_int_equal(htw__queues_load(&queues, &row), -EBADMSG);
    assert_int_equal(htw__queues_load(&queues, &good), 0);
    assert_int_equal(htw__queues_load(&queues, &good), -EBADMSG);
    assert_int_equal(htw__queues_find(&queues, "a")->policy.attempts_max, 3);
    assert_int_equal(get("b")->number, 8);
    row = good;
    row.number = 9;
    row.name = "c";
    row.policy = "3";
    row.policy_size = 1;
    assert_int_equal(htw__queues_load(&queues, &row), -EBADMSG);
}

QUEUE_TEST(queue_counts_of_a_change_that_fails_do_not_count) {
    struct htw__queue *queue = get("a");
    struct htw__queues_changed changed = { NULL, NULL };
    htw__queue_count(&changed, queue, HTW_JOB_READY, 1);
    htw__queue_count(&changed, queue, HTW_JOB_DELAYED, 1);
    htw__queues_end_change(&changed, true);
    htw__queue_count(&changed, queue, HTW_JOB_BURIED, 1);
    htw__queues_end_change(&changed, false);
    queue->users++;
    htw__queues_end_transaction(&queues, &changed, true);
    assert_int_equal(queue->counts.of[HTW_JOB_READY], 1);
    assert_int_equal(queue->counts.of[HTW_JOB_DELAYED], 1);
    assert_int_equal(queue->counts.of[HTW_JOB_BURIED], 0);
    htw__queue_count(&changed, queue, HTW_JOB_READY, 5);
    htw__queues_end_change(&changed, true);
    htw__queues_end_transaction(&queues, &changed, false);
    assert_int_equal(queue->counts.of[HTW_JOB_READY], 1);
}

UNIT_TEST(queue_without_memory_is_not_there) {
    set_up();
    struct htw__queue *queue;
    failing_allocator_fail(&memory, 1, true);
    assert_int_equal(htw__queues_get(&queues, "a", &queue), -ENOMEM);
    assert_int_equal(htw__queue_pause(&queues, queues.unnamed, 1), -ENOMEM);
    failing_allocator_relent(&memory);
    assert_null(htw__queues_find(&queues, "a"));
    tear_down();
    failing_allocator_init(&memory);
    failing_allocator_fail(&memory, 1, true);
    assert_int_equal(htw__queues_init(&queues, &memory.allocator, false), -ENOMEM);
    htw__queues_fini(&queues);
    failing_allocator_fini(&memory);
}
