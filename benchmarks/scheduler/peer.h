/* SPDX-License-Identifier: MIT */
/*
 * peer.h - the interface between workloads and a timer service for threads. There is one service
 * in a process, so the functions take no pointer to it.
 */
#ifndef BENCH_SCHEDULER_PEER_H
#define BENCH_SCHEDULER_PEER_H

#include "../common/report.h"

#include <htw/scheduler.h>

#include <stdint.h>

struct peer {
    const char *name; /* as struct named */
    const char *about;
    bool has_workers; /* start() uses `workers` */
    bool arms_later;  /* in a thread of its own, some time after schedule(); so it cancels */

    /* Starts the service, or ends the process. `workers`: the threads that run callbacks. 0: the
       thread that waits for deadlines does; -1: the peer's own choice. */
    void (*start)(int workers);
    /*
     * Schedules a callback. Any thread may call this. Callbacks have htw's type, so that no peer
     * needs a wrapper; other peers pass NULL for the expiration.
     *
     * now_ns: the caller's last reading of the clock, at most some hundred microseconds old, for
     *   peers that take an instant. Peers that take a delay read the clock themselves.
     * ret_handle: NULL if the timer will not be cancelled; otherwise cancel() must be called once.
     * Returns 0, or another number if there is no memory.
     */
    int (*schedule)(int64_t now_ns, int64_t delay_ns, htw_callback *callback, void *arg,
                    uint64_t *ret_handle);
    /* Returns whether the callback will not run. */
    bool (*cancel)(uint64_t handle);
    /* How many timers are pending; NULL: it does not count them. */
    uint64_t (*pending)(void);
};

static inline void peer_schedule(const struct peer *peer, int64_t now_ns, int64_t delay_ns,
                                 htw_callback *callback, void *arg, uint64_t *ret_handle) {
    if (__builtin_expect(peer->schedule(now_ns, delay_ns, callback, arg, ret_handle) != 0, 0))
        report_out_of_memory();
}

#endif
