/* SPDX-License-Identifier: MIT */
/* scenes.h - what all scenes include. */
#ifndef TESTS_EXPLORE_SCENES_H
#define TESTS_EXPLORE_SCENES_H

#include "explore.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define MS HTW_MILLISECOND

/* Ends with a scene without a name. */
extern const struct scene wake_scenes[], scheduler_scenes[], purgatory_scenes[], alarm_scenes[],
    order_scenes[], scope_scenes[];
extern const struct scene journal_scenes[], journal_lease_scenes[], journal_disk_scenes[];

struct scene_timer {
    unsigned runs, releases;
    bool ran, is_inside;
    htw_handle handle;
    int result; /* of the call that a thread makes on it */
};

#define SCENE_THREADS 4u

struct scene_thread {
    pthread_t thread;
    int cpu;
    void (*body)(void);
};

/* What the threads of a scene share; all 0 when it begins. */
struct scene_state {
    struct htw_scheduler *scheduler;
    struct htw_group *group;
    struct scene_timer timers[4];
    _Atomic unsigned stage;
    struct scene_thread threads[SCENE_THREADS];
    bool is_settled;
    unsigned thread_count; /* that have been started and not joined */
};

extern struct scene_state scene;

/* A scheduler with one expirer; `change` may change its options. */
void scene_open(unsigned shards, unsigned workers, void (*change)(struct htw_scheduler_options *));

/* Sleeps until all is quiet, and stops the scheduler. After a scene that happens anyway, and the scheduler is destroyed. */
void scene_settle(void);

/* Callbacks whose argument is a struct scene_timer: counts; counts, and other threads run meanwhile. */
void scene_count(void *arg, const struct htw_expiration *expiration);
void scene_stay(void *arg, const struct htw_expiration *expiration);

/* Arms a timer with one of them. */
void scene_arm(unsigned number, int64_t delay_ns, htw_callback *callback);

/* Sleeps, and is ordered with no other thread by that. */
void scene_sleep_alone(int64_t delay_ns);

/* A thread that runs `body` on this CPU; and awaits all of them. */
void scene_start(int cpu, void (*body)(void));
void scene_join(void);

#endif /* TESTS_EXPLORE_SCENES_H */
