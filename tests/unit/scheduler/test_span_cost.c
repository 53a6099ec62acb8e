/* SPDX-License-Identifier: MIT */
/*
 * test_span_cost.c - what a change of the scale costs: steps for each class of spans, whatever the number
 * of timers. The calls that file timers, and classes, are the test's own, which count.
 */
#include "scheduler_fixture.h"

#include "../../../src/scheduler/store.h"
#include "../../../src/base/heap.h"

#include <stdlib.h>

static unsigned calls;

void __real_htw__heap_push(struct htw__heap *heap, struct htw__heap_node *node);
void __wrap_htw__heap_push(struct htw__heap *heap, struct htw__heap_node *node);
int __real_htw__store_file(struct htw__store *store, struct htw__entry entry);
int __wrap_htw__store_file(struct htw__store *store, struct htw__entry entry);

void __wrap_htw__heap_push(struct htw__heap *heap, struct htw__heap_node *node) {
    calls++;
    __real_htw__heap_push(heap, node);
}

int __wrap_htw__store_file(struct htw__store *store, struct htw__entry entry) {
    calls++;
    return __real_htw__store_file(store, entry);
}

static void run_nothing(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    (void)expiration;
}

/* How many times a change of the scale arms or disarms, and allocates. */
static unsigned calls_of_a_change(struct scheduler_fixture *f, unsigned timers, unsigned classes) {
    struct htw_spec spec = HTW_SPEC_INIT;
    create_group(f);
    spec.callback = run_nothing;
    spec.when_ns = 10 * MS;
    spec.group = f->group;
    for (unsigned i = 0; i < timers; i++) {
        spec.span_ns = (10 + i % classes) * 10 * HTW_SECOND;
        assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), 0);
    }
    calls = 0;
    size_t blocks = f->memory.live_blocks;
    assert_int_equal(htw_group_set_scale(f->group, 0.3), 0);
    assert_int_equal(f->memory.live_blocks, blocks);
    unsigned counted = calls;
    assert_int_equal(htw_group_cancel(f->group, NULL, NULL), timers);
    destroy_group(f);
    return counted;
}

SCHEDULER_TEST(span_scale_costs_as_much_with_many_timers_as_with_few) {
    assert_int_equal(calls_of_a_change(f, 1, 1), 1);
    assert_int_equal(calls_of_a_change(f, 5000, 1), 1);
    assert_int_equal(calls_of_a_change(f, 7, 7), 7);
    assert_int_equal(calls_of_a_change(f, 5000, 7), 7);
    assert_int_equal(calls_of_a_change(f, 5000, 90), 90);
}
