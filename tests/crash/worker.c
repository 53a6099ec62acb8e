/* SPDX-License-Identifier: MIT */
/*
 * worker.c - the process that uses a journal until it is killed. Threads put, replace, cancel, move, bury, kick and end
 * jobs, and pause queues, while jobs are delivered, and leased from two queues, one with a policy, durably and not;
 * another one sets the wall clock.
 */
#include "worker.h"

#include "../../src/journal/database.h"
#include "../fault/faulty_vfs.h"
#include "../support/random.h"
#include "wall_clock.h"

#include <htw/journal.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 3
#define REQUESTS 6

static const struct orders *orders;
static struct htw_scheduler *scheduler;
static struct htw_journal *journal;

static void write_report(const struct report *line) {
    if (write(orders->report_fd, line, sizeof(*line)) != sizeof(*line))
        _exit(9);
}

static void report(enum report_kind kind, uint64_t id, int result) {
    write_report(&(struct report) { .kind = kind, .result = result, .id = id });
}

/* What a disk that fails may answer. After the journal has stopped it must be opened again. */
static bool is_of_disk(int result) {
    return orders->has_faults && (result == -EIO || result == -ENOSPC);
}

static void end_if_stopped(void) {
    if (orders->has_faults && htw_journal_sync(journal) == -EIO) {
        report(STOPPED, 0, 0);
        _exit(0);
    }
}

static bool is_expected(int result) {
    return result == -ENOENT || result == -EALREADY || result == -ESTALE || is_of_disk(result);
}

static void end(uint64_t id, bool is_cancel) {
    report(END_ASKED, id, 0);
    int result = is_cancel ? htw_journal_cancel(journal, id) : htw_journal_done(journal, id);
    if (result == 0)
        report(ENDED, id, 0);
    else if (!is_expected(result))
        report(FAILED, id, result);
    else if (is_of_disk(result))
        end_if_stopped();
}

struct ending {
    uint64_t id;
};

static void ended_later(void *arg, int result) {
    struct ending *ending = arg;
    if (result == 0)
        report(ENDED, ending->id, 0);
    else if (!is_expected(result))
        report(FAILED, ending->id, result);
    free(ending);
}

/* The clock may have been set since the journal has read it, in this thread. What it has read is the
   deadline and how late the job is, and the clock must have shown that. */
static bool is_early(const struct htw_delivery *delivery) {
    /* What is leased was due once, though the clock may have been set back since. */
    return delivery->late_ns < 0 ||
           ((delivery->queue == NULL || delivery->late_ns > 0) &&
            !wall_clock_has_shown(delivery->deadline_ns + delivery->late_ns));
}

/* The clock that `delivery` has is that of the lease or later, and what is counted of the clock is read after it. */
static void report_delivery(const struct htw_delivery *delivery, bool is_durable) {
    write_report(&(struct report) { .kind = is_early(delivery) ? EARLY : DELIVERED,
                                    .id = delivery->id,
                                    .attempt = delivery->attempt,
                                    .is_durable = is_durable,
                                    .now_ns = delivery->deadline_ns + delivery->late_ns,
                                    .end_ns = delivery->lease_end_ns,
                                    .clock_steps = wall_clock_steps() });
}

/* Of eight jobs one is not ended, and comes again; one is released at a time, one as the policy says, one keeps its
   lease for longer, and one is buried, until it is kicked; up to the third attempt. */
static bool is_changed(const struct htw_delivery *delivery) {
    static const enum htw_job_step steps[] = { HTW_JOB_END, HTW_JOB_RELEASE, HTW_JOB_BURY,
                                               HTW_JOB_RELEASE, HTW_JOB_EXTEND };
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    unsigned choice = delivery->id % 8;
    if (orders->drains || choice > 4 || (choice > 0 && delivery->attempt > 2))
        return false;
    update.id = delivery->id;
    update.attempt = delivery->lease_end_ns == HTW_NEVER_NS ? 0 : delivery->attempt;
    update.step = steps[choice];
    if (choice == 0 || (choice == 4 && delivery->lease_end_ns == HTW_NEVER_NS))
        return true;
    update.deadline_ns = choice == 1   ? delivery->deadline_ns + HTW_SECOND / 10
                         : choice == 4 ? delivery->lease_end_ns + HTW_SECOND / 20
                                       : INT64_MIN;
    if (choice != 4)
        report(GIVEN, delivery->id, 0);
    (void)htw_journal_update_later(delivery->journal, &update, NULL, NULL);
    return true;
}

/* ---- a job that recurs */

#define PERIOD_NS (20 * HTW_MILLISECOND)

static int next_instant(const char *schedule, const char *zone, int64_t after_ns,
                        int64_t *ret_next_ns) {
    (void)schedule, (void)zone;
    *ret_next_ns = after_ns - after_ns % PERIOD_NS + PERIOD_NS;
    return 0;
}

static void recur(void) {
    struct htw_recurring rule = HTW_RECURRING_INIT;
    rule.name = rule.schedule = "rule";
    rule.catch_up = 50;
    rule.job.payload = "r";
    rule.job.payload_size = 1;
    int result = orders->drains ? htw_journal_remove_recurring(journal, rule.name)
                                : htw_journal_set_recurring(journal, &rule);
    if (result != 0 && result != -ENOENT && !is_of_disk(result))
        report(FAILED, 0, result);
}

/* In its first attempt it has the deadline with which it was put. */
static void report_recurred(const struct htw_delivery *delivery) {
    if (delivery->payload_size == 1 && *(const char *)delivery->payload == 'r' &&
        delivery->attempt == 1)
        report(RECURRED, delivery->id, (int)(delivery->deadline_ns / PERIOD_NS & INT32_MAX));
}

static void use(const struct htw_delivery *delivery) {
    uint64_t id = delivery->id;
    if (is_changed(delivery))
        return;
    struct ending *ending = malloc(sizeof(*ending));
    if (ending == NULL)
        _exit(9);
    ending->id = id;
    report(END_ASKED, id, 0);
    int result = htw_journal_done_later(delivery->journal, id, ended_later, ending);
    if (result != 0 && !is_of_disk(result))
        report(FAILED, id, result);
    if (result != 0)
        free(ending);
}

static void deliver(void *context, const struct htw_delivery *delivery) {
    (void)context;
    report_recurred(delivery);
    report_delivery(delivery, false);
    use(delivery);
}

/* ---- queues beside the default one */

static const char *const queues[] = { "q", "r" };

static const unsigned slots[REQUESTS] = { 0, 1, 2, 3, 4, 5 };

static void ask(const unsigned *slot);

static bool is_durable(const unsigned *slot) {
    return *slot % 2 == 0;
}

static void leased(void *arg, int result, const struct htw_delivery *delivery) {
    const unsigned *slot = arg;
    if (result != 0)
        return;
    report_delivery(delivery, is_durable(slot));
    use(delivery);
    ask(slot);
}

/* Six requests wait at any time: for the first queue, the second or both, durably or not. */
static void ask(const unsigned *slot) {
    static _Atomic unsigned asked;
    struct htw_lease lease = HTW_LEASE_INIT;
    lease.queues = &queues[*slot % 3 == 2];
    lease.queue_count = *slot % 3 == 0 ? 2 : 1;
    lease.wait_until_ns = HTW_NEVER_NS;
    lease.is_durable = is_durable(slot);
    lease.lease_ns = (5 + asked++ % 5 * 60) * HTW_MILLISECOND;
    int result = htw_journal_lease_later(journal, &lease, leased, (void *)(uintptr_t)slot, NULL);
    if (result != 0 && !is_of_disk(result))
        report(FAILED, 0, result);
}

/* Up to three seconds ahead, some far, some past. */
static int64_t random_deadline(struct random_source *source) {
    int64_t ahead_ns = random_one_in(source, 20)
                           ? (int64_t)random_below(source, 2 * HTW_DAY)
                           : (int64_t)random_below(source, 3500) * HTW_MILLISECOND;
    return wall_clock_now_ns() + ahead_ns - 500 * HTW_MILLISECOND;
}

static void put(struct random_source *source, uint64_t *ret_id) {
    static const char payload[2000];
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    job.queue = random_one_in(source, 2) ? queues[random_below(source, 2)] : NULL;
    job.priority = (uint32_t)random_below(source, 3);
    job.deadline_ns = random_deadline(source);
    job.payload = payload;
    job.payload_size = random_below(source, sizeof(payload));
    change.jobs = &job;
    change.job_count = 1;
    int result = htw_journal_apply(journal, &change);
    uint64_t id = job.id;
    *ret_id = result == 0 ? id : 0;
    if (result == 0) {
        report(PUT, id, 0);
    } else if (result == -EAGAIN) { /* ends and releases that wait fill the memory */
        report(REFUSED, id, result);
        usleep(500);
    } else if (!is_of_disk(result)) {
        report(FAILED, id, result);
    } else {
        end_if_stopped(); /* it may be in the file */
        report(REFUSED, id, result);
        usleep(500);
    }
}

static int step(struct random_source *source, uint64_t id, enum htw_job_step kind) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = id;
    update.step = kind;
    update.deadline_ns = random_deadline(source);
    update.has_priority = random_one_in(source, 2);
    update.priority = (uint32_t)random_below(source, 3);
    if (kind == HTW_JOB_BURY)
        report(GIVEN, id, 0);
    return htw_journal_update(journal, &update);
}

static int set_policy(struct random_source *source) {
    struct htw_queue_policy policy = HTW_QUEUE_POLICY_INIT;
    policy.attempts_max = (uint32_t)random_below(source, 4);
    policy.initial_ns = (int64_t)random_below(source, 20) * HTW_MILLISECOND;
    policy.cap_ns = HTW_SECOND;
    return htw_journal_set_policy(journal, queues[1], &policy);
}

/* One of the changes that are no put and no end. */
static void disturb(struct random_source *source, uint64_t id) {
    const char *queue = queues[random_below(source, 2)];
    int result = 0;
    switch (random_below(source, 6)) {
    case 0:
        result = step(source, id, HTW_JOB_MOVE);
        break;
    case 1:
        result = step(source, id, HTW_JOB_KICK);
        break;
    case 2:
        result = step(source, id, HTW_JOB_BURY);
        break;
    case 3:
        result = htw_journal_kick(journal, queue, 3);
        break;
    case 4:
        result = htw_journal_pause(journal, queue,
                                   wall_clock_now_ns() + (int64_t)random_below(source, 30000000));
        break;
    default:
        result = set_policy(source);
        break;
    }
    if (result < 0 && !is_expected(result))
        report(FAILED, id, result);
    else if (is_of_disk(result))
        end_if_stopped();
}

static void *change(void *arg) {
    struct random_source source = { (uintptr_t)arg };
    uint64_t ids[16] = { 0 };
    for (;;) {
        uint64_t *id = &ids[random_below(&source, 16)];
        if (*id != 0 && random_one_in(&source, 3))
            end(*id, random_one_in(&source, 2));
        else if (*id != 0 && random_one_in(&source, 3))
            disturb(&source, *id);
        put(&source, id);
    }
    return NULL;
}

/* By milliseconds to days, forward and back, some of them there and back. */
static void *set_clock(void *arg) {
    static const int64_t units[] = { HTW_MILLISECOND, HTW_SECOND, HTW_MINUTE, HTW_HOUR, HTW_DAY };
    struct random_source source = { (uintptr_t)arg };
    for (;;) {
        usleep((useconds_t)random_below(&source, 60000));
        int64_t delta_ns =
            units[random_below(&source, 5)] * (1 + (int64_t)random_below(&source, 5));
        if (wall_clock_ahead_ns() > 0 ? !random_one_in(&source, 3) : random_one_in(&source, 3))
            delta_ns = -delta_ns;
        wall_clock_step(delta_ns);
        if (random_one_in(&source, 3))
            wall_clock_step(-delta_ns);
    }
    return NULL;
}

static void start_thread(void *(*run)(void *), uint64_t seed) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)seed) != 0)
        _exit(9);
}

/* From one operation on some fail. What fails at first keeps the journal from being opened. */
static void plan_faults(struct random_source *source) {
    static const enum fault faults[] = { FAULT_REFUSED, FAULT_TORN,  FAULT_FULL, FAULT_GROWTH,
                                         FAULT_QUOTA,   FAULT_LIMIT, FAULT_SYNC, FAULT_SYNC_FULL };
    faulty_vfs_register();
    faulty_vfs_reset(random_next(source));
    for (int i = 0; i < 3; i++)
        faulty_vfs_plan(faults[random_below(source, 8)], (long)(random_magnitude(source) % 3000),
                        1 + (long)random_below(source, 20));
}

static void open_journal(struct random_source *source) {
    struct htw_scheduler_options of_scheduler = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    of_scheduler.clock = random_one_in(source, 2) ? HTW_CLOCK_REALTIME : HTW_CLOCK_MONOTONIC;
    of_scheduler.tick_ns = 10 * HTW_MICROSECOND;
    options.deliver = deliver;
    options.next_instant = next_instant;
    options.parallel = 1 + (uint32_t)random_below(source, 3);
    options.near_ns = HTW_SECOND; /* so that most jobs are read from the file */
    options.max_memory = 100000;
    options.history_ns = random_one_in(source, 2) ? 0 : (int64_t)random_below(source, HTW_DAY);
    /* What a kill must not lose is the same; and it is faster, so that more happens in a round. */
    options.synchronous = random_one_in(source, 4) ? HTW_SYNCHRONOUS_FULL : HTW_SYNCHRONOUS_NORMAL;
    if (random_one_in(source, 2))
        htw__log_checkpoint_pages = 50; /* the log begins again while the process is killed */
    if (htw_scheduler_create(&scheduler, &of_scheduler) != 0)
        _exit(9);
    int result = htw_journal_open(&journal, scheduler, orders->path, &options);
    if (result == 0)
        return;
    if (is_of_disk(result)) {
        report(STOPPED, 0, result);
        _exit(0);
    }
    fprintf(stderr, "worker: %s\n", htw_journal_error());
    report(FAILED, 0, result);
    _exit(9);
}

/* All that is left becomes due when the clock is set, which has to wake those that sleep. */
static _Noreturn void drain(void) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    usleep(100000);
    wall_clock_step(wall_clock_most_ahead_ns() - wall_clock_ahead_ns() + 3 * HTW_DAY);
    do {
        usleep(20000);
        if (htw_journal_kick(journal, NULL, HTW_KICK_MAX) < 0 ||
            htw_journal_kick(journal, queues[0], HTW_KICK_MAX) < 0 ||
            htw_journal_kick(journal, queues[1], HTW_KICK_MAX) < 0)
            report(FAILED, 0, -1);
        htw_journal_get_stats(journal, &stats);
    } while (stats.jobs > 0);
    report(QUIET, 0, htw_journal_close(journal));
    _exit(0);
}

void worker_run(const struct orders *told) {
    struct random_source source = { told->seed };
    orders = told;
    if (orders->has_faults)
        plan_faults(&source);
    open_journal(&source);
    recur();
    for (int i = 0; i < REQUESTS; i++)
        ask(&slots[i]);
    if (orders->drains)
        drain();
    if (orders->steps_clock)
        start_thread(set_clock, random_next(&source));
    for (int i = 0; i < THREADS; i++)
        start_thread(change, random_next(&source));
    for (;;)
        pause();
}
