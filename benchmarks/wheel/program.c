/* SPDX-License-Identifier: MIT */
/* program.c - htw-bench-wheel: its workloads, implementations and options. */
#include "../common/program.h"
#include "implementations.h"
#include "options.h"

#define OPERATIONS 4000000
#define QUICK_OPERATIONS 400000
#define MANY_TIMERS 1000000

extern const struct workload workload_churn, workload_fifo, workload_fifo_time, workload_expire,
    workload_long, workload_keep_alive, workload_sparse, workload_slack, workload_memory;

static const struct workload *const workloads[] = {
    &workload_churn, &workload_fifo,       &workload_fifo_time, &workload_expire, &workload_long,
    &workload_slack, &workload_keep_alive, &workload_sparse,    &workload_memory, NULL,
};

static const void *peers[PEERS_MAX] = {
    &bench_null,   &bench_relink, &bench_htw, &bench_htw_strict, &bench_htw_kafka, &bench_heap,
#ifdef BENCH_WITH_RBTREE
    &bench_rbtree,
#endif
#ifdef BENCH_WITH_LIBEV
    &bench_libev,
#endif
};

static struct options options = { .seed = 1 };

static struct bench_option table[] = {
    OPTION_COUNT("n", "churn fifo fifo-time expire long slack keep-alive memory", &options.timers,
                 1, 1e9, "how many timers"),
    OPTION_COUNT("seed", NULL, &options.seed, 1, 1e9, "of the random numbers (1)"),
    OPTION_FLAG("check-end", NULL, &options.has_end,
                "let all timers expire in the end, and check that"),
    OPTION_FLAG("quick", NULL, &given.is_quick, "fewer operations"),
    { 0 },
};

static const struct options *read_options(void) {
    options.implementation = given.peer;
    if (options.timers == 0)
        options.timers = given.workload->count;
    /* With ten million timers a slow implementation takes microseconds for each operation. */
    options.operations = options.timers > MANY_TIMERS ? OPERATIONS / 4 : OPERATIONS;
    if (given.is_quick)
        options.operations = QUICK_OPERATIONS;
    report_init("\"workload\":\"%s\",\"peer\":\"%s\",\"timers\":%llu", given.workload->name,
                options.implementation->name, (unsigned long long)options.timers);
    return &options;
}

const struct program program = {
    .workloads = workloads,
    .table = table,
    .peers = peers,
    .quick = 1,
    .read = read_options,
};
