/* SPDX-License-Identifier: MIT */
/* implementations.h - those that are built in (a file impl_* each), and plugins. */
#ifndef HTW_BENCH_IMPLEMENTATIONS_H
#define HTW_BENCH_IMPLEMENTATIONS_H

#include "bench.h"

extern const struct bench_implementation bench_null, bench_relink, bench_htw, bench_htw_strict,
    bench_htw_kafka, bench_heap, bench_rbtree, bench_libev, bench_libevent, bench_libuv;

/* All implementations, and NULL. */
const struct bench_implementation *const *implementations(void);

/* Adds the one of a shared object. NULL, or what went wrong, as words that follow its name. */
const char *implementations_load(const char *path);

/* Whether it is one of htw's, or only marks what is the least to pay: not a peer of htw's. */
bool implementation_is_peer(const struct bench_implementation *implementation);

#endif /* HTW_BENCH_IMPLEMENTATIONS_H */
