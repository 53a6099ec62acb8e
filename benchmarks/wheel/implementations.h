/* SPDX-License-Identifier: MIT */
/* implementations.h - the built-in implementations (each is a file impl_*), and plugins. */
#ifndef BENCH_WHEEL_IMPLEMENTATIONS_H
#define BENCH_WHEEL_IMPLEMENTATIONS_H

#include "bench.h"

extern const struct bench_implementation bench_null, bench_relink, bench_htw, bench_htw_strict,
    bench_htw_kafka, bench_heap, bench_rbtree, bench_libev, bench_libevent, bench_libuv;

/* All implementations, and NULL. */
const struct bench_implementation *const *implementations(void);

/* Adds the implementation of a shared object. Returns NULL, or what went wrong. */
const char *implementations_load(const char *path);

/* NULL if there is none of this name. */
const struct bench_implementation *implementation_named(const char *name);

#endif /* BENCH_WHEEL_IMPLEMENTATIONS_H */
