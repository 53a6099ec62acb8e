/* SPDX-License-Identifier: MIT */
/*
 * scheduler_oracle.h - an ideal scheduler in manual time, as simple as possible: it visits all timers
 * every time.
 *
 * It knows the contract of htw/scheduler.h. The order of timers that are due at one instant is open, so the oracle
 * is told of each callback when it starts, and says whether it may start now.
 */
#ifndef HTW_TESTS_MODEL_SCHEDULER_ORACLE_H
#define HTW_TESTS_MODEL_SCHEDULER_ORACLE_H

#include <htw/observe.h>
#include <htw/scheduler.h>

enum { TIMERS = 48, GROUPS = 2, KEYS = 4, SITES = 3, CLOCKS = HTW_CLOCK_MANUAL + 1 };

#define TICK_NS HTW_MILLISECOND

struct timed {
    htw_handle handle;
    enum htw_clock clock;
    bool lives; /* it is pending, or in its callback */
    /* By its clock; while its group is paused: the rest, unless `keeps_instant`. */
    int64_t deadline_ns;
    int64_t
        tick_ns;  /* where it runs: the deadline, which was rounded up unless it was due at once */
    bool was_due; /* before its clock went back: whether it is rounded up is open */
    bool keeps_instant; /* an instant of the wall clock, which a pause does not move */
    int group, key;     /* -1: none */
    int64_t period_ns;  /* 0: runs once */
    enum htw_repeat repeat;
    uint64_t missed; /* periods that were left out since the last run */
    int site;        /* -1: none */
    bool is_hooked;
    uint64_t releases, wanted_releases; /* calls of the hook, and what the oracle wants */
};

extern struct ideal_scheduler {
    struct timed timers[TIMERS];
    bool paused[GROUPS];
    int64_t now_ns[CLOCKS];
    uint64_t limit;     /* of pending timers; 0: none */
    bool lacked_memory; /* a timer may run where it comes up: when it is due, but not at a tick */
    struct htw_scheduler_stats counted;
    struct htw_site_stats sites[SITES];
    struct timed *running; /* NULL: no callback runs */
    bool moved, ended;     /* the running one, by its callback */
} ideal;

/* A sum of times, of which either may be HTW_NEVER_NS. */
int64_t sum_ns(int64_t a, int64_t b);

/* ---- answers */

bool ideal_is_pending(const struct timed *timer);

/* Of a paused timer: the deadline if its group is resumed now. */
int64_t ideal_deadline_ns(const struct timed *timer);

/* How long until its deadline, and until it runs, if no clock is set. HTW_NEVER_NS: it does not. */
int64_t ideal_rest_ns(const struct timed *timer);
int64_t ideal_left_ns(const struct timed *timer);
int64_t ideal_least_left_ns(void);

/* Whether its callback may start now. */
bool ideal_may_run(const struct timed *timer);

/* The timer that has a key in a group; NULL: none. */
struct timed *ideal_holder(int group, int key);

/* Whether the limit of pending timers is reached. */
bool ideal_is_full(void);

/* ---- what happens */

/* Arms a timer or moves it. */
void ideal_arm(struct timed *timer, int64_t at_ns, bool is_instant);

/* A timer ends, and is counted. */
void ideal_end(struct timed *timer, uint64_t *counter);

/* What a cancel answers. */
int ideal_cancel(struct timed *timer);

/* How many timers a cancel of their group ends. */
int64_t ideal_cancel_group(int group);

void ideal_pause(int group);
void ideal_resume(int group);

/* The timers of a group go on without it. */
void ideal_forget_group(int group);

void ideal_pass_time(int64_t delta_ns);
void ideal_set_clock(enum htw_clock clock, int64_t time_ns);

/* A callback starts, and is late by so much; it is over. */
void ideal_start(struct timed *timer, int64_t late_ns);
void ideal_finish(struct timed *timer);

#endif /* HTW_TESTS_MODEL_SCHEDULER_ORACLE_H */
