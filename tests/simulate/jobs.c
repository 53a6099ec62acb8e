/* SPDX-License-Identifier: MIT */
/*
 * jobs.c - jobs of the journal: what was acknowledged outlives each crash, and what has ended does not come back.
 *
 * The payload of a job says its place in the world and its serial. A put or an end whose answer was lost leaves a
 * job that MAY BE: it is delivered when it is due, and then it is, or it is not.
 */
#include "program.h"

#include "../../src/journal/log.h"
#include "../explore/machine.h"
#include "../explore/disk.h"
#include "faults.h"
#include "threads.h"
#include "world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { JOBS_USED = 300, PAYLOAD_MAX = 20000 };

struct payload {
    uint32_t place, serial, size;
};

static struct htw_journal *journal; /* NULL: it is being opened again */
static bool has_stopped;
static int64_t opened_ns; /* when its open began */
static unsigned callers;  /* clients that are in a call of it */
static uint32_t workers, parallel;
static unsigned waiting_callbacks; /* for the disk: one worker at least is left for what is due */
static uint64_t calls_under_way;   /* that a notice ends */

static uint64_t place_of(const struct job *job) {
    return (uint64_t)(job - world->jobs);
}

/* ---- deadlines */

/* How late something may be where no thread was stopped and nothing has failed. */
#define LATE_NS (2 * HTW_SECOND)

static int64_t latest(int64_t a_ns, int64_t b_ns) {
    return a_ns > b_ns ? a_ns : b_ns;
}

static void set_due(struct job *job, int64_t deadline_ns) {
    job->deadline_ns = deadline_ns;
    job->due_ns = latest(deadline_ns - (machine_wall_ns() - machine_now_ns()), machine_now_ns());
}

/* The deadline moves with the wall clock. */
static void follow(struct job *job, int64_t ahead_before_ns) {
    int64_t due_ns = job->deadline_ns - (machine_wall_ns() - machine_now_ns());
    bool was_due = job->deadline_ns - ahead_before_ns <= machine_now_ns();
    job->was_reached = job->was_reached || was_due;
    if (!was_due || due_ns > machine_now_ns())
        set_due(job, job->deadline_ns);
}

static int64_t late_by_ns(const struct job *job) {
    return machine_now_ns() - latest(job->due_ns, latest(stopped_until_ns, failed_until_ns));
}

static void require_in_time(const struct job *job) {
    int64_t late_ns = late_by_ns(job);
    if (late_ns > world->counts.late_job_ns)
        world->counts.late_job_ns = late_ns;
    REQUIRE(late_ns <= LATE_NS);
}

/* ---- payloads */

static unsigned char pattern(uint32_t serial, uint32_t at) {
    return (unsigned char)(serial * 31 + at * 7 + (at >> 8));
}

static const void *payload_of(const struct job *job, unsigned char *bytes) {
    struct payload head = { (uint32_t)place_of(job), job->serial, job->size };
    for (uint32_t i = sizeof(head); i < job->size; i++)
        bytes[i] = pattern(job->serial, i);
    memcpy(bytes, &head, sizeof(head));
    return bytes;
}

static struct job *job_of(const void *bytes, size_t size) {
    struct payload head;
    REQUIRE(size >= sizeof(head));
    memcpy(&head, bytes, sizeof(head));
    REQUIRE(head.place < JOBS && head.size == size);
    for (uint32_t i = sizeof(head); i < size; i++)
        REQUIRE(((const unsigned char *)bytes)[i] == pattern(head.serial, i));
    REQUIRE(world->jobs[head.place].serial ==
            head.serial); /* otherwise it had ended, or was never made */
    return &world->jobs[head.place];
}

/* ---- answers */

/* What is known of a job after a change whose success makes it `after`, and whose failure leaves it `before`. */
static void settle(struct job *job, int result, bool may_have_stopped, enum known before,
                   enum known after) {
    if (result == -ENOENT)
        machine_fail("a job is gone: %u, serial %u", (unsigned)place_of(job), job->serial);
    REQUIRE(result == 0 || result == -EIO || stage_excuses(result));
    if (result == -EIO && may_have_stopped)
        job->known = JOB_MAY_BE;
    else
        job->known = result == 0 ? after : before;
    job->is_busy = false;
}

/* Of a call that waits: the journal says whether it has stopped, once it has memory for that. One that is being closed
   can not be asked. */
static bool has_stopped_now(int result) {
    if (result != -EIO)
        return false;
    while (journal != NULL) {
        int said = htw_journal_sync(journal);
        if (!stage_excuses(said))
            return said == -EIO;
        stage_sleep_ns(10 * HTW_MILLISECOND);
    }
    return true;
}

static void settle_put(struct job *job, int result, bool may_have_stopped) {
    bool was_delivered = job->delivered == world->open;
    stage_note("puts", place_of(job), result);
    REQUIRE(result == 0 || result == -EIO || !was_delivered);
    if (was_delivered && job->known != JOB_CHANGES) /* it was ended since, too */
        job->is_busy = false;
    else
        settle(job, result, may_have_stopped, JOB_NONE, JOB_IS);
}

static void settle_end(struct job *job, int result, bool may_have_stopped) {
    stage_note("ends a job", place_of(job), result);
    settle(job, result == -EALREADY ? -ENOMEM : result, may_have_stopped, JOB_IS, JOB_NONE);
}

/* In a notice the journal cannot be asked: judge_doubts() does it later. */
static void doubt(struct job *job, int result, enum known unless_stopped) {
    job->doubted = result == -EIO ? world->open : 0;
    job->unless_stopped = unless_stopped;
}

static void put_notice(void *arg, int result) {
    calls_under_way--;
    doubt(arg, result, JOB_NONE);
    settle_put(arg, result, true);
}

static void end_notice(void *arg, int result) {
    calls_under_way--;
    doubt(arg, result, JOB_IS);
    settle_end(arg, result, true);
}

/* ---- deliveries */

static void end_later(struct job *job) {
    job->known = JOB_CHANGES;
    job->is_busy = true;
    calls_under_way++;
    int result = htw_journal_done_later(journal, job->id, end_notice, job);
    if (result != 0)
        end_notice(job, result);
}

static void end_now(struct job *job) {
    job->known = JOB_CHANGES;
    job->is_busy = true;
    int result = htw_journal_done(journal, job->id);
    settle_end(job, result, has_stopped_now(result));
}

static void deliver(void *context, const struct htw_delivery *delivery) {
    struct job *job = job_of(delivery->payload, delivery->payload_size);
    (void)context;
    stage_note("delivers", place_of(job), delivery->late_ns);
    REQUIRE(job->known != JOB_NONE);
    REQUIRE(job->id == 0 || job->id == delivery->id);
    REQUIRE(delivery->deadline_ns == job->deadline_ns);
    REQUIRE(job->delivered != world->open);
    REQUIRE((delivery->key != NULL) == job->has_key);
    REQUIRE(job->was_reached || machine_now_ns() >= job->due_ns);
    require_in_time(job);
    job->id = delivery->id;
    job->delivered = world->open;
    /* It is durable, unless a full disk has kept the open from writing the log again. */
    if (job->known == JOB_MAY_BE && !faults_filled_since(opened_ns))
        job->known = JOB_IS;
    if (job->known != JOB_IS || job->is_busy ||
        journal == NULL) /* its put, or the open, has not returned */
        return;
    if (world->is_quiet || chance_one_in(2))
        end_later(job);
    else if (waiting_callbacks + 1 < workers && chance_one_in(2)) {
        waiting_callbacks++;
        end_now(job);
        waiting_callbacks--;
    }
}

/* ---- calls */

/* One that is free. */
static struct job *begin_job(void) {
    uint64_t from = chance_below(JOBS_USED);
    for (uint64_t i = 0; i < JOBS_USED; i++) {
        struct job *job = &world->jobs[(from + i) % JOBS_USED];
        if (job->known != JOB_NONE || job->is_busy)
            continue;
        *job = (struct job) { .known = JOB_CHANGES, .serial = job->serial + 1, .is_busy = true };
        job->size = (uint32_t)(sizeof(struct payload) +
                               chance_below(chance_one_in(16) ? PAYLOAD_MAX / 2 : 300));
        int64_t delay_ns = chance_ns(chance_one_in(4) ? HTW_MINUTE : 2 * HTW_SECOND);
        set_due(job, machine_wall_ns() + delay_ns);
        return job;
    }
    return NULL;
}

static void put(void) {
    unsigned char bytes[PAYLOAD_MAX];
    struct job *job = begin_job();
    if (job == NULL)
        return;
    const void *payload = payload_of(job, bytes);
    if (chance_one_in(2)) {
        calls_under_way++;
        int result = htw_journal_put_later(journal, job->deadline_ns, payload, job->size,
                                           put_notice, job, &job->id);
        if (result != 0)
            put_notice(job, result);
    } else {
        int result = htw_journal_put(journal, job->deadline_ns, payload, job->size, &job->id);
        settle_put(job, result, has_stopped_now(result));
    }
}

/* A job that is there, and was delivered or not in this open. */
static struct job *find(bool was_delivered) {
    uint64_t from = chance_below(JOBS_USED);
    for (uint64_t i = 0; i < JOBS_USED; i++) {
        struct job *job = &world->jobs[(from + i) % JOBS_USED];
        if (job->known == JOB_IS && !job->is_busy && job->id != 0 &&
            (job->delivered == world->open) == was_delivered)
            return job;
    }
    return NULL;
}

static void end_delivered(void) {
    struct job *job = find(true);
    if (job == NULL)
        return;
    if (chance_one_in(2))
        end_later(job);
    else
        end_now(job);
}

/* At any time, or just when it is due. */
static void cancel(void) {
    struct job *job = find(false);
    if (job == NULL)
        return;
    int64_t left_ns = job->due_ns - machine_now_ns();
    if (left_ns > 0 && left_ns < 5 * HTW_SECOND && !chance_one_in(4)) {
        job->is_busy = true;
        stage_sleep_ns(left_ns + (int64_t)chance_below(HTW_MILLISECOND));
        job->is_busy = false;
        if (job->known != JOB_IS || journal == NULL)
            return;
    }
    job->known = JOB_CHANGES;
    job->is_busy = true;
    int result = htw_journal_cancel(journal, job->id);
    REQUIRE(result != 0 || job->delivered != world->open);
    settle_end(job, result, has_stopped_now(result));
}

/* Ends a job and puts another one: both or neither. */
static void put_again(void) {
    unsigned char bytes[PAYLOAD_MAX];
    struct htw_job next = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    struct job *old = find(true), *job = old == NULL ? NULL : begin_job();
    if (job == NULL)
        return;
    old->known = JOB_CHANGES;
    old->is_busy = true;
    next.deadline_ns = job->deadline_ns;
    next.payload = payload_of(job, bytes);
    next.payload_size = job->size;
    change.jobs = &next;
    change.job_count = 1;
    change.done = &old->id;
    change.done_count = 1;
    int result = htw_journal_apply(journal, &change);
    bool may_have_stopped = has_stopped_now(result);
    if (job->id == 0)
        job->id = next.id;
    settle_put(job, result, may_have_stopped);
    settle_end(old, result, may_have_stopped);
}

/* What the holder of a key is; NULL: nobody has it. */
static struct job *holder_of(uint64_t key) {
    struct job *job = &world->jobs[world->holders[key].place];
    return job->serial == world->holders[key].serial && job->known != JOB_NONE ? job : NULL;
}

/* In place of the job that has the key, if that was delivered: of another one a delivery could be under way. */
static void put_under_key(void) {
    unsigned char bytes[PAYLOAD_MAX];
    struct htw_job next = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    uint64_t key = chance_below(JOB_KEYS);
    struct job *old = holder_of(key);
    if (old != NULL && (old->known != JOB_IS || old->is_busy || old->delivered != world->open))
        return;
    struct job *job = begin_job();
    if (job == NULL)
        return;
    if (old != NULL) {
        old->known = JOB_CHANGES;
        old->is_busy = true;
    }
    job->has_key = true;
    world->holders[key].place = (uint32_t)place_of(job);
    world->holders[key].serial = job->serial;
    next.deadline_ns = job->deadline_ns;
    next.payload = payload_of(job, bytes);
    next.payload_size = job->size;
    next.key = &key;
    next.key_size = sizeof(key);
    change.jobs = &next;
    change.job_count = 1;
    int result = htw_journal_apply(journal, &change);
    bool may_have_stopped = has_stopped_now(result);
    if (job->id == 0)
        job->id = next.id;
    settle_put(job, result, may_have_stopped);
    if (old != NULL)
        settle_end(old, result, may_have_stopped);
    if (old != NULL && old->known != JOB_NONE) {
        world->holders[key].place = (uint32_t)place_of(old);
        world->holders[key].serial = old->serial;
    }
}

void jobs_act(void) {
    if (journal == NULL)
        return;
    callers++;
    uint64_t kind = chance_below(16);
    if (kind < 8)
        put();
    else if (kind < 12)
        end_delivered();
    else if (kind < 14)
        cancel();
    else if (kind < 15)
        put_again();
    else
        put_under_key();
    callers--;
}

/* ---- opening and closing */

static void stopped(void *context, const char *why) {
    (void)context, (void)why;
    stage_note("the journal stops", 0, 0);
    has_stopped = true;
}

/* What a fault has caused; a file that is damaged is none. */
static bool may_fail_to_open(int error) {
    return error == -EIO || error == -ENOSPC || error == -ENOMEM;
}

static void open_journal(void) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    struct htw_journal *opened;
    options.deliver = deliver;
    options.stopped = stopped;
    options.parallel = parallel;
    options.near_ns = 30 * HTW_SECOND;
    options.max_memory = UINT64_C(16384) << chance_below(5);
    options.allocator = &stage_allocator;
    has_stopped = false;
    opened_ns = machine_now_ns();
    world->open++;
    int error;
    while ((error = htw_journal_open(&opened, scheduler, DISK_PATH, &options)) != 0) {
        stage_note("cannot open", world->open, error);
        if (!may_fail_to_open(error))
            machine_fail("the journal cannot be opened: %s", htw_journal_error());
        stage_sleep_ns(50 * HTW_MILLISECOND);
        world->open++;
    }
    stage_note("opens", world->open, 0);
    journal = opened;
    if (machine_now_ns() > failed_until_ns)
        failed_until_ns = machine_now_ns();
}

/* Every change has its answer then. */
static void close_journal(void) {
    struct htw_journal *closed = journal;
    journal = NULL;
    while (callers > 0)
        stage_sleep_ns(HTW_MILLISECOND);
    int error = htw_journal_close(closed);
    stage_note("closes", world->open, error);
    REQUIRE(error == 0 || may_fail_to_open(error));
    REQUIRE(calls_under_way == 0);
}

void jobs_begin(void) {
    for (unsigned i = 0; i < JOBS; i++) {
        struct job *job = &world->jobs[i];
        if (job->known == JOB_CHANGES)
            job->known = JOB_MAY_BE;
        job->is_busy = false;
        job->was_reached = false;
        set_due(job, job->deadline_ns);
    }
    htw__log_checkpoint_pages = 30;
}

void jobs_open(uint32_t number) {
    workers = number;
    parallel = 1 + (uint32_t)chance_below(workers);
    open_journal();
}

void jobs_close(void) {
    close_journal();
}

/* ---- what should have happened */

void jobs_follow(int64_t ahead_before_ns) {
    for (unsigned i = 0; i < JOBS; i++)
        follow(&world->jobs[i], ahead_before_ns);
}

/* In this open it should have been delivered. */
static bool is_overdue(const struct job *job) {
    return job->delivered != world->open && !job->is_busy && late_by_ns(job) > LATE_NS;
}

/* A journal that has not stopped has made nothing of a change that failed. */
static void judge_doubts(void) {
    uint32_t asked[JOBS], count = 0;
    for (uint32_t i = 0; i < JOBS; i++)
        if (world->jobs[i].doubted == world->open)
            asked[count++] = i;
    bool has_not_stopped = count > 0 && !has_stopped && htw_journal_sync(journal) == 0;
    for (uint32_t i = 0; i < count; i++) {
        struct job *job = &world->jobs[asked[i]];
        if (has_not_stopped && job->doubted == world->open && job->known == JOB_MAY_BE)
            job->known = job->unless_stopped;
        else if (has_not_stopped && job->doubted == world->open)
            REQUIRE(job->unless_stopped !=
                    JOB_NONE); /* it was delivered, although its put had failed */
        job->doubted = 0;
    }
}

void jobs_judge(void) {
    judge_doubts();
    if (has_stopped) {
        close_journal();
        open_journal();
    }
    for (unsigned i = 0; i < JOBS; i++) {
        struct job *job = &world->jobs[i];
        if (job->known == JOB_IS && is_overdue(job))
            machine_fail("a job is lost: %u, serial %u, id %llx", i, job->serial,
                         (unsigned long long)job->id);
        if (job->known == JOB_MAY_BE && is_overdue(job))
            job->known = JOB_NONE;
    }
}

bool jobs_remain(void) {
    for (unsigned i = 0; i < JOBS; i++)
        if (world->jobs[i].known != JOB_NONE)
            return true;
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    REQUIRE(htw_journal_get_stats(journal, &stats) == 0);
    REQUIRE(stats.jobs == 0); /* nobody knows of another one */
    return false;
}
