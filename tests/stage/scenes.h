/* SPDX-License-Identifier: MIT */
/*
 * scenes.h - random scenes that real threads and the simulation play.
 *
 * A scene has the oracle of what it does: it knows what was asked and answered, and nothing of the library's insides. Its
 * accesses to what threads share are relaxed, so that they order nothing that the library has to order.
 */
#ifndef TESTS_STAGE_SCENES_H
#define TESTS_STAGE_SCENES_H

#include "stage.h"

#include <htw/threshold.h>

#include <stdatomic.h>

/* ---- timers.c */

#define STAGE_OWNERS 64u

struct timers {
    struct htw_scheduler *scheduler;
    unsigned threads; /* that run callbacks, at most */
    bool has_limit;   /* max_pending, which may be reached */
    _Atomic uint64_t armed, cancelled, refused, visited;
};
extern struct timers timers;

void timers_open(struct htw_scheduler *scheduler, unsigned threads, bool has_limit);

/* Makes a random call; each owner has timers that only it arms and moves. */
void timers_act(unsigned owner);

/* Cancels all of an owner. */
void timers_cancel(unsigned owner);

/* Fails if a timer of an owner is late, or lost. */
void timers_judge(unsigned owner);

/* For htw_scheduler_stop(): receives a timer that has not expired. */
void timers_take_back(void *context, const struct htw_unexpired *unexpired);

/* When the scheduler was stopped: each timer came back to one owner. */
void timers_close(void);

/* ---- requests.c */

struct requests {
    struct htw_purgatory *purgatory;
    struct htw_scheduler *scheduler;
    bool has_threshold;
    _Atomic bool is_closing;
    _Atomic uint64_t submitted, released, refused, ended[4]; /* by reason */
};
extern struct requests requests;

void requests_open(struct htw_scheduler *scheduler, uint32_t shards, bool has_threshold);

/* Makes a random call. */
void requests_act(void);

/* Fails if a request is late, or lost. Of the simulation: nothing else runs meanwhile. */
void requests_judge(void);

/* Once no thread acts any more: no request waits for what is there. */
void requests_judge_items(void);

/* Closes the purgatory; may be called by several threads, also before requests_end(). */
void requests_close(void);

/* Destroys it, which runs no hook after that: each request ended once, for a reason that there is. */
void requests_end(void);

/* ---- jobs.c */

struct jobs {
    struct htw_scheduler *scheduler;
    const char *path;
    uint32_t workers;
    int64_t far_ns;      /* how far deadlines are ahead, at most */
    bool is_only_killed; /* no power cut, so that a commit need not wait for the disk */
    bool ends_all;       /* each job that is delivered or leased */
};
extern struct jobs jobs;

/* Once, before the process of any life: no job is there. */
void jobs_init(void);

/* At the begin of a life: opens the journal, which may have been open when a process ended. */
void jobs_open(void);

/* Makes a random call. */
void jobs_act(void);

/* After the wall clock was set, which was so far ahead of the monotonic one. */
void jobs_follow(int64_t ahead_before_ns);

/* Fails if a job is lost. Also opens the journal again where it has stopped, and has the queue served. */
void jobs_judge(void);

/* Whether there are any, as far as is known. */
bool jobs_remain(void);

void jobs_close(void);

#endif /* TESTS_STAGE_SCENES_H */
