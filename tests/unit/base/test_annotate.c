/* SPDX-License-Identifier: MIT */
/*
 * test_annotate - with the annotations helgrind sees that a spin lock excludes and that a flag
 * publishes: `./dev helgrind` fails where one of them is missing. By itself, and under
 * ThreadSanitizer, this tests the patterns for which they are meant.
 */
#include "../../../src/base/annotate.h"

#include "../unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { ROUNDS = 1000 };

static struct {
    atomic_bool locked;
    unsigned long count; /* guarded by `locked` */
} spin;

static void *count(void *argument) {
    for (int round = 0; round < ROUNDS; round++) {
        while (atomic_exchange_explicit(&spin.locked, true, memory_order_acquire))
            sched_yield();
        HTW__ANNOTATE_LOCK_ACQUIRED(&spin);
        spin.count++;
        HTW__ANNOTATE_LOCK_RELEASED(&spin);
        atomic_store_explicit(&spin.locked, false, memory_order_release);
    }
    return argument;
}

UNIT_TEST(annotated_spin_lock_excludes) {
    HTW__ANNOTATE_ATOMIC(&spin.locked, sizeof spin.locked);
    HTW__ANNOTATE_LOCK_CREATED(&spin);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, count, NULL), 0);
    count(NULL);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(spin.count, 2 * ROUNDS);
    HTW__ANNOTATE_LOCK_DESTROYED(&spin);
}

static struct {
    atomic_bool there;
    int value; /* written before `there` is set, read after it was seen */
} parcel;

static void *send(void *argument) {
    parcel.value = 42;
    HTW__ANNOTATE_HAPPENS_BEFORE(&parcel);
    atomic_store_explicit(&parcel.there, true, memory_order_release);
    return argument;
}

UNIT_TEST(annotated_flag_publishes) {
    HTW__ANNOTATE_ATOMIC(&parcel.there, sizeof parcel.there);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, send, NULL), 0);
    while (!atomic_load_explicit(&parcel.there, memory_order_acquire))
        sched_yield();
    HTW__ANNOTATE_HAPPENS_AFTER(&parcel);
    int value = parcel.value;
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(value, 42);
}
