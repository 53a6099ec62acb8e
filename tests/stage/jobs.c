/* SPDX-License-Identifier: MIT */
/*
 * jobs.c - jobs of a journal, over lives of its process that end in any way: what was acknowledged outlives each crash, what has
 * ended does not come back, and no job is given to two at once.
 *
 * What the outside knows of the jobs outlives the process, too: it is in shared memory, where each change that matters is
 * a single word. A put or an end whose answer was lost leaves a job that MAY BE: it is delivered when it is due, and then it is, or it
 * is not. The payload of a job says its place and its serial.
 *
 * Half of the jobs are in a queue, for which requests wait at any time, durable ones and others.
 */
/* holds: journal-1, journal-2, journal-3, journal-10a, journal-10c */
#include "scenes.h"

#include "../../src/journal/database/database.h"

#include <htw/journal_inspect.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { JOBS = 300, KEYS = 8, REQUESTS = 4, ATTEMPTS = 3, PAYLOAD_MAX = 20000 };

/* What is known of a job. */
enum known {
    NONE,   /* no job: the place is free */
    IS,     /* its put was acknowledged, or it was delivered */
    MAY_BE, /* a put or an end has no answer, because of a crash or of a journal that has stopped */
    CHANGES, /* a put or an end is under way */
};

/* Who has leased a job last. */
struct hold {
    bool is_held;  /* until its end, as far as is known */
    bool may_pass; /* its end or its return has begun: another one may have it */
    bool is_durable;
    uint32_t open; /* of the journal, in which it was leased */
    uint32_t clock_sets, attempt;
    int64_t end_ns;
};

struct job {
    enum known known;
    uint32_t serial;     /* of the jobs in this place */
    uint64_t id;         /* 0: not known yet */
    int64_t deadline_ns; /* by the wall clock */
    int64_t due_ns;      /* by the monotonic clock: from then on it is due */
    bool was_reached;    /* the wall clock had reached its deadline, and was set back */
    uint32_t size;       /* of the payload */
    uint32_t delivered;  /* the open in which it was delivered last; 0: none */
    bool is_busy;        /* a call about it is under way */
    bool has_key, is_queued, is_being_buried;
    uint32_t burials, kicked;  /* it may be buried, unless a kick came after the last burial */
    uint32_t doubted;          /* the open in which a notice said -EIO; 0: none */
    enum known unless_stopped; /* what it is if the journal had not stopped then */
    struct hold hold;
    uint32_t durable_attempt; /* the last one, and the end of its lease */
    int64_t durable_end_ns;
};

struct payload {
    uint32_t place, serial, size;
};

/* What outlives the process. */
static struct outside {
    uint32_t open; /* the number of the present open of the journal */
    struct job jobs[JOBS];
    uint64_t holders[KEYS]; /* the last job of each key: its place, and its serial * JOBS */
} * outside;

struct jobs jobs;
static struct htw_journal *_Atomic journal; /* NULL: it is being opened again */
static _Atomic bool has_stopped;
static _Atomic int64_t opening_ns, opened_ns;
static _Atomic unsigned callers; /* threads that are in a call of it */
static uint32_t parallel;
static unsigned waiting_callbacks; /* for the disk: one worker at least is left for what is due */
static _Atomic uint64_t calls_under_way; /* that a notice ends */
static _Atomic bool has_asked[REQUESTS];
static uint32_t clock_sets;

/* Of what is known. Nothing that may switch threads is called with it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(void) {
    pthread_mutex_lock(&mutex);
}

static void unlock(void) {
    pthread_mutex_unlock(&mutex);
}

void jobs_init(void) {
    outside =
        mmap(NULL, sizeof(*outside), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(outside != MAP_FAILED);
}

static uint64_t below(uint64_t bound) {
    return random_below(stage_random(), bound);
}

static bool one_in(uint64_t many) {
    return random_one_in(stage_random(), many);
}

static uint64_t place_of(const struct job *job) {
    return (uint64_t)(job - outside->jobs);
}

/* ---- deadlines */

static int64_t now_ns(void) {
    return stage_now_ns(HTW_CLOCK_MONOTONIC);
}

static int64_t wall_ns(void) {
    return stage_now_ns(HTW_CLOCK_REALTIME);
}

static int64_t latest(int64_t a_ns, int64_t b_ns) {
    return a_ns > b_ns ? a_ns : b_ns;
}

/* When a request may have it, or `deliver`, by the wall clock. */
static int64_t ready_ns(const struct job *job) {
    return job->hold.is_held ? latest(job->deadline_ns, job->hold.end_ns) : job->deadline_ns;
}

static void set_due(struct job *job) {
    int64_t present_ns = now_ns();
    job->due_ns = latest(ready_ns(job) - (wall_ns() - present_ns), present_ns);
}

void jobs_follow(int64_t ahead_before_ns) {
    int64_t present_ns = now_ns(), ahead_ns = wall_ns() - present_ns;
    clock_sets++;
    for (struct job *job = outside->jobs; job < outside->jobs + JOBS; job++) {
        bool was_due = ready_ns(job) - ahead_before_ns <= present_ns;
        job->was_reached = job->was_reached || job->deadline_ns - ahead_before_ns <= present_ns;
        if (!was_due || ready_ns(job) - ahead_ns > present_ns)
            set_due(job);
    }
}

static bool is_late(const struct job *job) {
    return stage_is_late(latest(job->due_ns, opened_ns));
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
    return &outside->jobs[head.place];
}

static uint32_t serial_of(const void *bytes) {
    struct payload head;
    memcpy(&head, bytes, sizeof(head));
    return head.serial;
}

/* ---- answers */

/* What is known of a job after a change whose success makes it `after`, and whose failure leaves it `before`. */
static void settle(struct job *job, int result, bool may_have_stopped, enum known before,
                   enum known after) {
    REQUIRE(result == 0 || result == -EIO || stage_excuses(result));
    if (result == -EIO && may_have_stopped)
        job->known = MAY_BE;
    else
        job->known = result == 0 ? after : before;
    job->is_busy = false;
}

/* Of a call that waits: the journal says whether it has stopped, once it has memory for that. One that is being closed
   can not be asked. */
static bool has_stopped_now(int result) {
    struct htw_journal *asked;
    if (result != -EIO)
        return false;
    while ((asked = journal) != NULL) {
        int said = htw_journal_sync(asked);
        if (!stage_excuses(said))
            return said == -EIO;
        stage_sleep_ns(10 * HTW_MILLISECOND);
    }
    return true;
}

static void settle_put(struct job *job, int result, bool may_have_stopped) {
    stage_note("puts", place_of(job), result);
    lock();
    bool was_delivered = job->delivered == outside->open;
    REQUIRE(result == 0 || result == -EIO || !was_delivered);
    if (was_delivered && job->known != CHANGES) /* it was ended since, too */
        job->is_busy = false;
    else
        settle(job, result, may_have_stopped, NONE, IS);
    unlock();
}

static void settle_end(struct job *job, int result, bool may_have_stopped) {
    stage_note("ends a job", place_of(job), result);
    lock();
    settle(job, result == -EALREADY ? -EAGAIN : result, may_have_stopped, IS, NONE);
    unlock();
}

/* In a notice the journal cannot be asked: judge_doubts() does it later. */
static void doubt(struct job *job, int result, enum known unless_stopped) {
    lock();
    job->doubted = result == -EIO ? outside->open : 0;
    job->unless_stopped = unless_stopped;
    unlock();
}

static void put_notice(void *arg, int result) {
    calls_under_way--;
    doubt(arg, result, NONE);
    settle_put(arg, result, true);
}

static void end_notice(void *arg, int result) {
    calls_under_way--;
    doubt(arg, result, IS);
    settle_end(arg, result, true);
}

/* ---- deliveries and leases */

/* With the lock. */
static void begin_end(struct job *job) {
    job->known = CHANGES;
    job->is_busy = true;
    job->hold.may_pass = true;
}

static void end_later(struct job *job) {
    calls_under_way++;
    int result = htw_journal_done_later(journal, job->id, end_notice, job);
    if (result != 0)
        end_notice(job, result);
}

static void end_now(struct job *job) {
    int result = htw_journal_done(journal, job->id);
    settle_end(job, result, has_stopped_now(result));
}

static bool is_held_now(const struct job *job, int64_t at_ns) {
    const struct hold *hold = &job->hold;
    return hold->is_held && !hold->may_pass && (hold->open == outside->open || hold->is_durable) &&
           hold->clock_sets == clock_sets && at_ns < hold->end_ns;
}

/* With the lock. */
static void note_hold(struct job *job, const struct htw_delivery *delivery, bool is_durable) {
    REQUIRE(!is_held_now(job, delivery->deadline_ns + delivery->late_ns)); /* two have it */
    REQUIRE(delivery->attempt > job->durable_attempt);
    REQUIRE(job->hold.open != outside->open || delivery->attempt > job->hold.attempt);
    if (is_durable) {
        job->durable_attempt = delivery->attempt;
        job->durable_end_ns = delivery->lease_end_ns;
    }
    job->hold = (struct hold) { .is_held = true,
                                .is_durable = is_durable,
                                .open = outside->open,
                                .clock_sets = clock_sets,
                                .attempt = delivery->attempt,
                                .end_ns = delivery->lease_end_ns };
    set_due(job);
}

/* With the lock. Whether its end may begin. */
static bool receive(struct job *job, const struct htw_delivery *delivery, bool is_durable) {
    REQUIRE(job->known != NONE && job->serial == serial_of(delivery->payload));
    REQUIRE(job->id == 0 || job->id == delivery->id);
    REQUIRE(job->is_queued || delivery->deadline_ns == job->deadline_ns);
    REQUIRE(job->is_queued ? delivery->queue != NULL : job->delivered != outside->open);
    REQUIRE((delivery->key != NULL) == job->has_key);
    REQUIRE(job->was_reached || wall_ns() >= job->deadline_ns);
    REQUIRE(job->is_queued || !is_late(job));
    if (job->id == 0)
        job->id = delivery->id;
    job->delivered = outside->open;
    if (job->is_queued)
        note_hold(job, delivery, is_durable);
    /* It is durable, unless a full disk has kept the open from writing the log again. */
    if (job->known == MAY_BE && !stage_disk_was_full_since(opening_ns))
        job->known = IS;
    /* Or its put, or the open, has not returned. */
    return job->known == IS && !job->is_busy && journal != NULL;
}

static void deliver(void *context, const struct htw_delivery *delivery) {
    struct job *job = job_of(delivery->payload, delivery->payload_size);
    (void)context;
    stage_note("delivers", place_of(job), delivery->late_ns);
    lock();
    bool may_end = receive(job, delivery, false), is_late_end = jobs.ends_all || one_in(2);
    bool waits = !is_late_end && waiting_callbacks + 1 < jobs.workers && one_in(2);
    if (may_end && (is_late_end || waits))
        begin_end(job);
    waiting_callbacks += may_end && waits;
    unlock();
    if (may_end && is_late_end) {
        end_later(job);
    } else if (may_end && waits) {
        end_now(job);
        lock();
        waiting_callbacks--;
        unlock();
    }
}

/* Whatever it is: the lease may be over, or the job. */
static void note_return(void *arg, int result) {
    struct job *job = arg;
    stage_note("is given back", place_of(job), result);
    lock();
    job->is_being_buried = false;
    unlock();
}

/* Its lease ends by a step. */
static void give_back(struct job *job, const struct htw_delivery *delivery, bool buries) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = delivery->id;
    update.attempt = delivery->attempt;
    update.step = buries ? HTW_JOB_BURY : HTW_JOB_RELEASE;
    int result = htw_journal_update_later(delivery->journal, &update, note_return, job);
    if (result != 0)
        note_return(job, result);
}

static void ask(uintptr_t request);

static void leased(void *arg, int result, const struct htw_delivery *delivery) {
    uintptr_t request = (uintptr_t)arg;
    has_asked[request] = false;
    if (result != 0) {
        stage_note("has no lease", request, result);
        REQUIRE(result == -EIO || result == -ESHUTDOWN || stage_excuses(result));
        return;
    }
    struct job *job = job_of(delivery->payload, delivery->payload_size);
    stage_note("leases", place_of(job), delivery->attempt);
    lock();
    bool may_end = receive(job, delivery, request % 2 == 0);
    bool ends = jobs.ends_all || delivery->attempt > ATTEMPTS || one_in(2);
    bool gives_back = !ends && one_in(2), buries = gives_back && one_in(2);
    if (may_end && ends)
        begin_end(job);
    job->hold.may_pass = job->hold.may_pass || gives_back;
    job->is_being_buried = buries;
    job->burials += buries;
    unlock();
    if (may_end && ends)
        end_later(job);
    else if (gives_back)
        give_back(job, delivery, buries);
    ask(request);
}

static const char queue[] = "q";

static void ask(uintptr_t request) {
    static const char *const queues[] = { queue };
    struct htw_lease lease = HTW_LEASE_INIT;
    if (journal == NULL || atomic_exchange(&has_asked[request], true))
        return;
    lease.queues = queues;
    lease.queue_count = 1;
    lease.wait_until_ns = HTW_NEVER_NS;
    lease.is_durable = request % 2 == 0;
    lease.lease_ns = (int64_t)(5 + below(5) * 60) * HTW_MILLISECOND;
    int result = htw_journal_lease_later(journal, &lease, leased, (void *)request, NULL);
    stage_note("asks", request, result);
    REQUIRE(result == 0 || result == -EIO || result == -ESHUTDOWN || stage_excuses(result));
    if (result != 0)
        has_asked[request] = false;
}

/* One that may be buried: it may have ended, or its burial has failed. */
static void kick(struct job *job) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    lock();
    bool is_awaited = job->burials != job->kicked && !job->is_being_buried && !job->is_busy;
    uint32_t burials = job->burials;
    unlock();
    if (!is_awaited)
        return;
    update.id = job->id;
    update.step = HTW_JOB_KICK;
    int result = htw_journal_update(journal, &update);
    stage_note("kicks", place_of(job), result);
    lock();
    if (result != -EIO && !stage_excuses(result))
        job->kicked = burials;
    job->due_ns = latest(job->due_ns, now_ns());
    unlock();
}

/* ---- calls */

/* One that is free. */
static struct job *begin_job(void) {
    uint64_t from = below(JOBS);
    struct job *found = NULL;
    lock();
    for (uint64_t i = 0; i < JOBS && found == NULL; i++) {
        struct job *job = &outside->jobs[(from + i) % JOBS];
        if (job->known == NONE && !job->is_busy)
            found = job;
    }
    if (found != NULL) {
        *found = (struct job) { .known = CHANGES, .serial = found->serial + 1, .is_busy = true };
        found->size =
            (uint32_t)(sizeof(struct payload) + below(one_in(16) ? PAYLOAD_MAX / 2 : 300));
        uint64_t most_ns = (uint64_t)(one_in(4) ? jobs.far_ns : jobs.far_ns / 16);
        found->deadline_ns = wall_ns() + (int64_t)(random_magnitude(stage_random()) % most_ns);
        set_due(found);
    }
    unlock();
    return found;
}

/* Unless a delivery has said so. */
static void note_id(struct job *job, uint64_t id) {
    lock();
    REQUIRE(job->id == 0 || id == 0 || job->id == id);
    if (job->id == 0)
        job->id = id;
    unlock();
}

static void put(void) {
    unsigned char bytes[PAYLOAD_MAX];
    struct job *job = begin_job();
    if (job == NULL)
        return;
    const void *payload = payload_of(job, bytes);
    uint64_t id = 0;
    if (one_in(2)) {
        calls_under_way++;
        int result = htw_journal_put_later(journal, job->deadline_ns, payload, job->size,
                                           put_notice, job, &id);
        if (result != 0)
            put_notice(job, result);
        else
            note_id(job, id);
    } else {
        int result = htw_journal_put(journal, job->deadline_ns, payload, job->size, &id);
        note_id(job, id);
        settle_put(job, result, has_stopped_now(result));
    }
}

/* With the lock: a job that is there, and was delivered or not in this open. */
static struct job *find(bool was_delivered) {
    uint64_t from = below(JOBS);
    for (uint64_t i = 0; i < JOBS; i++) {
        struct job *job = &outside->jobs[(from + i) % JOBS];
        if (job->known == IS && !job->is_busy && job->id != 0 &&
            (job->delivered == outside->open) == was_delivered)
            return job;
    }
    return NULL;
}

/* One whose end begins. */
static struct job *find_delivered(void) {
    lock();
    struct job *job = find(true);
    if (job != NULL)
        begin_end(job);
    unlock();
    return job;
}

static void end_delivered(void) {
    struct job *job = find_delivered();
    if (job != NULL && one_in(2))
        end_later(job);
    else if (job != NULL)
        end_now(job);
}

/* At any time, or just when it is due. */
static void cancel(void) {
    lock();
    struct job *job = find(false);
    int64_t left_ns = job == NULL ? 0 : job->due_ns - now_ns();
    bool sleeps = left_ns > 0 && left_ns < 5 * HTW_SECOND && !one_in(4);
    if (job != NULL)
        job->is_busy = true;
    unlock();
    if (job == NULL)
        return;
    if (sleeps)
        stage_sleep_ns(left_ns + (int64_t)below(HTW_MILLISECOND));
    lock();
    job->is_busy = false;
    bool may_cancel = job->known == IS && journal != NULL;
    if (may_cancel)
        begin_end(job);
    unlock();
    if (!may_cancel)
        return;
    int result = htw_journal_cancel(journal, job->id);
    lock();
    REQUIRE(result != 0 || job->is_queued || job->delivered != outside->open);
    unlock();
    settle_end(job, result, has_stopped_now(result));
}

/* Puts a job, and ends another one, which the key of the first may do: both are done or neither. */
static void apply(struct job *job, struct job *old, struct htw_job *next, bool ends_old) {
    unsigned char bytes[PAYLOAD_MAX];
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    next->deadline_ns = job->deadline_ns;
    next->payload = payload_of(job, bytes);
    next->payload_size = job->size;
    change.jobs = next;
    change.job_count = 1;
    if (ends_old) {
        change.done = &old->id;
        change.done_count = 1;
    }
    int result = htw_journal_apply(journal, &change);
    bool may_have_stopped = has_stopped_now(result);
    note_id(job, next->id);
    settle_put(job, result, may_have_stopped);
    if (old != NULL)
        settle_end(old, result, may_have_stopped);
}

/* Half of them end one that was delivered. */
static void put_in_queue(void) {
    struct htw_job next = HTW_JOB_INIT;
    struct job *job = begin_job();
    if (job == NULL)
        return;
    struct job *old = one_in(2) ? find_delivered() : NULL;
    job->is_queued = true;
    next.queue = queue;
    next.priority = (uint32_t)below(3);
    apply(job, old, &next, old != NULL);
}

/* What the holder of a key is; NULL: nobody has it. */
static struct job *holder_of(uint64_t key) {
    struct job *job = &outside->jobs[outside->holders[key] % JOBS];
    return job->serial == outside->holders[key] / JOBS && job->known != NONE ? job : NULL;
}

static void set_holder(uint64_t key, const struct job *job) {
    outside->holders[key] = place_of(job) + (uint64_t)job->serial * JOBS;
}

/* In place of the job that has the key, if that was delivered: of another one a delivery could be under way. */
static void put_under_key(void) {
    struct htw_job next = HTW_JOB_INIT;
    uint64_t key = below(KEYS);
    struct job *job = begin_job();
    if (job == NULL)
        return;
    lock();
    struct job *old = holder_of(key);
    bool may_put = old == NULL || (old->known == IS && !old->is_busy && old->id != 0 &&
                                   old->delivered == outside->open);
    if (may_put && old != NULL)
        begin_end(old);
    if (may_put)
        set_holder(key, job);
    job->has_key = may_put;
    job->known = may_put ? CHANGES : NONE;
    job->is_busy = may_put;
    unlock();
    if (!may_put)
        return;
    next.key = &key;
    next.key_size = sizeof(key);
    apply(job, old, &next, false);
    lock();
    if (old != NULL && old->known != NONE)
        set_holder(key, old);
    unlock();
}

void jobs_act(void) {
    callers++;
    if (journal != NULL) {
        uint64_t kind = below(20);
        if (kind < 8)
            put();
        else if (kind < 12)
            end_delivered();
        else if (kind < 14)
            cancel();
        else if (kind < 15)
            put_under_key();
        else
            put_in_queue();
    }
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
    options.max_memory = UINT64_C(16384) << below(5);
    options.allocator = &stage_allocator;
    options.synchronous = jobs.is_only_killed ? HTW_SYNCHRONOUS_NORMAL : HTW_SYNCHRONOUS_FULL;
    has_stopped = false;
    opening_ns = now_ns();
    opened_ns = INT64_MAX;
    outside->open++;
    int error;
    while ((error = htw_journal_open(&opened, jobs.scheduler, jobs.path, &options)) != 0) {
        stage_note("cannot open", outside->open, error);
        REQUIRE(may_fail_to_open(error));
        stage_sleep_ns(50 * HTW_MILLISECOND);
        outside->open++;
    }
    stage_note("opens", outside->open, 0);
    journal = opened;
    opened_ns = now_ns();
    for (uintptr_t i = 0; i < REQUESTS; i++)
        ask(i);
}

/* Every change has its answer then. */
void jobs_close(void) {
    struct htw_journal *closed = journal;
    journal = NULL;
    while (callers > 0)
        stage_sleep_ns(HTW_MILLISECOND);
    int error = htw_journal_close(closed);
    stage_note("closes", outside->open, error);
    REQUIRE(error == 0 || may_fail_to_open(error));
    REQUIRE(calls_under_way == 0);
    for (unsigned i = 0; i < REQUESTS; i++)
        REQUIRE(!has_asked[i]);
}

void jobs_open(void) {
    for (struct job *job = outside->jobs; job < outside->jobs + JOBS; job++) {
        if (job->known == CHANGES)
            job->known = MAY_BE;
        job->is_busy = job->is_being_buried = false;
        job->was_reached = job->was_reached && job->is_queued; /* READY is in the file */
        if (!job->hold.is_durable)                             /* the file has the one before */
            job->hold =
                (struct hold) { .is_held = true, .may_pass = true, .end_ns = job->durable_end_ns };
        set_due(job);
    }
    htw__log_checkpoint_pages = 30;
    parallel = 1 + (uint32_t)below(jobs.workers);
    open_journal();
}

/* ---- what should have happened */

/* In this open it should have been delivered, or again. */
static bool is_overdue(const struct job *job) {
    bool is_awaited =
        job->is_queued ? job->burials == job->kicked : job->delivered != outside->open;
    return is_awaited && !job->is_busy && is_late(job);
}

/* A journal that has not stopped has made nothing of a change that failed. */
static void judge_doubts(void) {
    bool is_doubted[JOBS], are_any = false;
    lock();
    for (unsigned i = 0; i < JOBS; i++) {
        is_doubted[i] = outside->jobs[i].doubted == outside->open;
        are_any |= is_doubted[i];
    }
    unlock();
    bool has_not_stopped = are_any && !has_stopped && htw_journal_sync(journal) == 0;
    lock();
    for (unsigned i = 0; i < JOBS; i++) {
        struct job *job = &outside->jobs[i];
        bool is_sure = is_doubted[i] && job->doubted == outside->open && has_not_stopped;
        REQUIRE(!is_sure || job->known == MAY_BE || /* or delivered, although its put had failed */
                job->unless_stopped != NONE);
        if (is_sure && job->known == MAY_BE)
            job->known = job->unless_stopped;
        if (is_doubted[i])
            job->doubted = 0;
    }
    unlock();
}

void jobs_judge(void) {
    judge_doubts();
    if (has_stopped) {
        jobs_close();
        open_journal();
    }
    for (uintptr_t i = 0; i < REQUESTS; i++)
        ask(i);
    for (struct job *job = outside->jobs; job < outside->jobs + JOBS; job++)
        kick(job);
    if (jobs.ends_all)
        end_delivered(); /* whose delivery came before the open had returned */
    lock();
    for (struct job *job = outside->jobs; job < outside->jobs + JOBS; job++) {
        REQUIRE(job->known != IS || !is_overdue(job)); /* it is lost */
        if (job->known == MAY_BE && is_overdue(job))
            job->known = NONE;
    }
    unlock();
}

bool jobs_remain(void) {
    unsigned known = 0, sure = 0;
    lock();
    for (const struct job *job = outside->jobs; job < outside->jobs + JOBS; job++) {
        known += job->known != NONE;
        sure += job->known == IS || job->known == CHANGES;
    }
    unlock();
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    REQUIRE(htw_journal_get_stats(journal, &stats) == 0);
    REQUIRE(stats.jobs == 0 || known > 0); /* nobody knows of another one */
    return stats.jobs > 0 || sure > 0;
}
