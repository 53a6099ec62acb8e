/* SPDX-License-Identifier: MIT */
/*
 * counter.h - a number that one thread at a time writes and any thread may read.
 *
 * The writer loads and stores, both relaxed, which is as cheap as a plain number: an atomic
 * addition would lock the cache line. Two writers at once would lose additions, so they must use a
 * lock. A reader sees each counter whole, but may see changes of several counters in any order.
 */
#ifndef HTW_SRC_BASE_COUNTER_H
#define HTW_SRC_BASE_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

struct htw__counter {
    _Atomic uint64_t value;
};

static inline uint64_t htw__counter_read(const struct htw__counter *counter) {
    return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

/* The writer only. */
static inline void htw__counter_set(struct htw__counter *counter, uint64_t value) {
    atomic_store_explicit(&counter->value, value, memory_order_relaxed);
}

/* The writer only. Wraps round at 2^64. */
static inline void htw__counter_add(struct htw__counter *counter, uint64_t n) {
    htw__counter_set(counter, htw__counter_read(counter) + n);
}

#endif /* HTW_SRC_BASE_COUNTER_H */
