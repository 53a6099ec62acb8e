/* SPDX-License-Identifier: MIT */
/*
 * peer.h - what a timer service for threads must offer to be measured. Workloads know nothing
 * else of it. There is one service in a process, so the functions take no pointer to it.
 */
#ifndef BENCH_SCHEDULER_PEER_H
#define BENCH_SCHEDULER_PEER_H

#include <htw/scheduler.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct peer {
    const char *name;
    const char *about; /* one line */
    bool has_workers;  /* start() heeds `workers` */

    /* Starts the service; ends the process when it cannot. `workers`: threads that run
       callbacks, 0 for those that wait for deadlines; -1 for what the peer would choose. */
    void (*start)(int workers);
    /*
     * Schedules a callback. Any thread may call this. Callbacks have the type of htw's, so that
     * nobody pays for a wrapper; the others give them NULL for the firing.
     *
     * now_ns: the caller's last reading of the clock, at most some hundred microseconds old. For
     * peers that are told an instant; those that are told a delay read the clock themselves.
     * ret_handle: NULL when it will not be cancelled; otherwise cancel() must be called once.
     * Returns 0, or another number when memory is lacking.
     */
    int (*schedule)(int64_t now_ns, int64_t delay_ns, htw_callback *callback, void *arg,
                    uint64_t *ret_handle);
    /* Whether the callback will not run. */
    bool (*cancel)(uint64_t handle);
    /* How many timers it holds that were not cancelled. */
    uint64_t (*pending)(void);
    /* The bytes that it says it holds; or NULL. */
    uint64_t (*memory_bytes)(void);
};

/* The list ends with NULL. */
extern const struct peer *const peers[];

const struct peer *peer_named(const char *name);

/* Schedules, and ends the run with the metric out_of_memory where that fails. */
void peer_exhausted(void) __attribute__((noreturn, cold));

static inline void peer_schedule(const struct peer *peer, int64_t now_ns, int64_t delay_ns,
                                 htw_callback *callback, void *arg, uint64_t *ret_handle) {
    if (__builtin_expect(peer->schedule(now_ns, delay_ns, callback, arg, ret_handle) != 0, 0))
        peer_exhausted();
}

#endif
