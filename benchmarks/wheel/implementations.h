/* SPDX-License-Identifier: MIT */
/* implementations.h - the built-in implementations: each is a file impl_*. */
#ifndef BENCH_WHEEL_IMPLEMENTATIONS_H
#define BENCH_WHEEL_IMPLEMENTATIONS_H

#include "bench.h"

extern const struct bench_implementation bench_null, bench_relink, bench_htw, bench_htw_strict,
    bench_htw_kafka, bench_heap, bench_rbtree, bench_libev;

#endif /* BENCH_WHEEL_IMPLEMENTATIONS_H */
