/* SPDX-License-Identifier: MIT */
/* test_queue.c - the queues of a journal by name and number, their pauses, policies and counts. */
#include "../../../src/journal/queue.h"
#include "../../support/failing_allocator.h"
#include "../unit.h"

static struct failing_allocator memory;
static struct htw__queues queues;

static void set_up(void) {
    failing_allocator_init(&memory);
    assert_int_equal(htw__queues_init(&queues, &memory.allocator, false), 0);
}

static void tear_down(void) {
    htw__queues_fini(&queues);
    assert_all_released(&memory);
}

#define QUEUE_TEST(name) UNIT_TEST_BETWEEN(set_up, tear_down, name)

static struct htw__queue *get(const char *name) {
    struct htw__queue *queue = NULL;
    assert_int_equal(htw__queues_get(&queues, name, &queue), 0);
    return queue;
}

QUEUE_TEST(queue_that_comes_back_has_its_number_and_no_other_has_it) {
    char name[16];
    uint64_t number = get("a")->number;
    htw__queues_drop(&queues, get("a"));
    assert_int_equal(get("a")->number, number);
    for (int i = 0; i < 10000; i++) { /* 380 of them do not get their first choice */
        snprintf(name, sizeof(name), "%d", i % 5000);
        number = get(name)->number;
        assert_ptr_equal(htw__queues_find_number(&queues, number), get(name));
    }
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
