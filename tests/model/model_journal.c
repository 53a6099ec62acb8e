/* SPDX-License-Identifier: MIT */
/*
 * model_journal.c - random histories of a journal in manual time beside a list that is searched from end to end. What is
 * leased or delivered, when and in what order, what each call answers, how many jobs a queue has in each state, and the
 * lists of them are compared.
 *
 * Histories put, lease, release, bury, kick, move, extend, give back, cancel and end jobs, one or several in a change, pause
 * queues and give them policies, advance the clock, close and open the file, with memory for few jobs and for many. In half of the histories jobs of the default queue
 * are delivered: one in flight is LEASED. In half of them the journal is a guest, and a program puts jobs, too. Each file
 * that is closed is checked, and has no blocks without jobs.
 * Usage: arguments.h.
 */
/* holds: journal-2, journal-3, journal-4, journal-6, journal-7, journal-9, journal-10, journal-10a, journal-10b, journal-10c,
   journal-10e, journal-10f, journal-10g, journal-18, journal-20 */
#include "../support/journal_structs.h"
#include "../support/manual_time.h"
#include "../support/test_folder.h"
#include "arguments.h"

#include <htw/journal_guest.h>
#include <htw/journal_inspect.h>

#include <sqlite3.h>

#define START_NS (INT64_C(28333333) * HTW_MINUTE)
#define STEPS 1000 /* of a history */
#define JOBS_MAX 1500
#define QUEUES 3
#define KEYS 6
#define DEFAULT 0
#define ATTEMPTS_MAX 4
#define LEASE_NS HTW_MINUTE /* of jobs that do not say it */
#define ENDED 4             /* behind the states of the library */
#define STATES 5
#define MEMORY_MORE (512 << 10) /* what does not grow with jobs */

struct model_job {
    uint64_t id;
    int state;
    unsigned queue;
    uint32_t priority, attempts, stored_attempts, releases, timeouts, buries, kicks;
    int64_t deadline_ns; /* DELAYED */
    int64_t lease_ns;
    int64_t end_ns; /* LEASED; HTW_NEVER_NS: it is in flight */
    bool is_durable;
    unsigned key; /* 0: none */
    uint64_t buried;
    uint64_t listed;   /* the list that had it last */
    unsigned char sum; /* of the payload */
    size_t size;
};

static const char *const names[QUEUES] = { NULL, "a", "b" }; /* "b" has a policy */
static struct model_arguments arguments;
static struct random_source source;
static uint64_t history, steps_done, burials, lists;
static struct model_job jobs[JOBS_MAX]; /* in the order of putting */
static size_t job_count;
static int64_t paused_until_ns[QUEUES];
static struct htw_scheduler *scheduler;
static struct htw_journal *journal;
static struct htw_journal_options options;
static bool keeps; /* what is delivered does not end at once */
static size_t in_flight;
static struct model_job last; /* that was delivered in this advance */
static sqlite3 *program;      /* of a guest */
static char path[TEST_FOLDER_SIZE + 8];

static void fail(const char *what, uint64_t id, int64_t result) {
    fprintf(stderr,
            "--seed %llu --first %llu --histories 1, step %llu: %s: job %llu, result %lld: %s\n",
            (unsigned long long)arguments.seed, (unsigned long long)history,
            (unsigned long long)steps_done, what, (unsigned long long)id, (long long)result,
            htw_journal_error());
    exit(1);
}

static void expect(int64_t result, int64_t expected, const char *what, uint64_t id) {
    if (result != expected)
        fail(what, id, result);
}

static int64_t now(void) {
    return htw_scheduler_now(scheduler);
}

static struct model_job *job_of(uint64_t id) {
    for (size_t i = 0; i < job_count; i++)
        if (jobs[i].id == id)
            return &jobs[i];
    return NULL;
}

static unsigned char sum_of(const void *bytes, size_t size) {
    unsigned char sum = 1;
    for (size_t i = 0; i < size; i++)
        sum = (unsigned char)(sum * 31 + ((const unsigned char *)bytes)[i]);
    return sum;
}

/* ---- the model */

static bool is_delivered(const struct model_job *job) {
    return options.deliver != NULL && job->queue == DEFAULT;
}

static void become_due(struct model_job *job, int64_t deadline_ns) {
    job->state = deadline_ns <= now() ? HTW_JOB_READY : HTW_JOB_DELAYED;
    job->deadline_ns = deadline_ns;
}

static void bury(struct model_job *job) {
    job->state = HTW_JOB_BURIED;
    job->buries++;
    job->buried = ++burials;
}

static bool see(void *context, const struct htw_job_info *info) {
    struct htw_job_info *copy = context;
    *copy = *info;
    return true;
}

static struct htw_job_info peek(const struct model_job *job) {
    struct htw_job_info info = { .id = 0 };
    expect(htw_journal_peek(journal, job->id, see, &info), 0, "htw_journal_peek", job->id);
    return info;
}

/* After its last attempt a job of the queue with a policy is buried; before that the library has chosen the delay. */
static void fail_attempt(struct model_job *job) {
    if (names[job->queue] == NULL || names[job->queue][0] != 'b')
        become_due(job, now());
    else if (job->attempts >= ATTEMPTS_MAX)
        bury(job);
    else
        become_due(job, peek(job).deadline_ns);
    if (job->queue == 2)
        job->stored_attempts = job->attempts;
}

/* A policy is applied by a change, and to a lease of an earlier process when that has been read. */
static bool has_timed_out(struct model_job *job) {
    bool has = job->queue != 2 || peek(job).timeouts != job->timeouts;
    job->timeouts += has;
    return has;
}

static bool has_ended(const struct model_job *job) {
    return job->state == ENDED;
}

static void apply_in_model(struct model_job *job, const struct htw_job_update *update) {
    bool is_given_back = update->step == HTW_JOB_EXTEND && update->deadline_ns == INT64_MIN;
    if (is_given_back && !job->is_durable) {
        job->state = HTW_JOB_READY;
        return;
    }
    if (update->step == HTW_JOB_EXTEND) {
        job->end_ns = update->deadline_ns;
        return;
    }
    job->releases += update->step == HTW_JOB_RELEASE;
    job->kicks += update->step == HTW_JOB_KICK;
    if (update->has_priority && update->step != HTW_JOB_END)
        job->priority = update->priority;
    job->stored_attempts = job->attempts;
    in_flight -= is_delivered(job) && job->state == HTW_JOB_LEASED;
    int64_t due_ns = update->deadline_ns > now() ? update->deadline_ns : now();
    switch (update->step) {
    case HTW_JOB_RELEASE:
        if (update->deadline_ns == INT64_MIN)
            fail_attempt(job);
        else
            become_due(job, due_ns);
        break;
    case HTW_JOB_MOVE:
        become_due(job, due_ns);
        break;
    case HTW_JOB_KICK:
        become_due(job, now());
        break;
    case HTW_JOB_BURY:
        bury(job);
        break;
    default:
        job->state = ENDED;
        break;
    }
}

/* What the clock has changed. Jobs that are buried at once have no certain order: some were in the file only. */
static void pass_time(void) {
    uint64_t before = burials;
    for (size_t i = 0; i < job_count; i++) {
        struct model_job *job = &jobs[i];
        if (job->state == HTW_JOB_LEASED && job->end_ns <= now() && has_timed_out(job)) {
            burials = before;
            fail_attempt(job);
        }
        if (job->state == HTW_JOB_DELAYED && job->deadline_ns <= now())
            job->state = HTW_JOB_READY;
    }
    burials = before + 1;
}

/* Whether a job is to be delivered. Where no more may be in flight, one of these ends. */
static bool awaits_delivery(void) {
    struct model_job *flying = NULL;
    bool is_due = false;
    for (size_t i = 0; i < job_count; i++) {
        is_due = is_due || (is_delivered(&jobs[i]) && jobs[i].state == HTW_JOB_READY);
        if (is_delivered(&jobs[i]) && jobs[i].state == HTW_JOB_LEASED)
            flying = &jobs[i];
    }
    if (is_due && in_flight == options.max_in_flight) {
        expect(htw_journal_done(journal, flying->id), 0, "htw_journal_done", flying->id);
        apply_in_model(flying, &UPDATE(.step = HTW_JOB_END));
    }
    return is_due;
}

static bool is_before(const struct model_job *a, const struct model_job *b) {
    return a->priority != b->priority ? a->priority < b->priority : a < b;
}

static struct model_job *first_ready(unsigned queues) {
    struct model_job *first = NULL;
    for (size_t i = 0; i < job_count; i++)
        if (jobs[i].state == HTW_JOB_READY && (queues >> jobs[i].queue & 1) != 0 &&
            paused_until_ns[jobs[i].queue] <= now() &&
            (first == NULL || is_before(&jobs[i], first)))
            first = &jobs[i];
    return first;
}

/* ---- comparing */

/* As which the statistics count it: what waits for `deliver` is DELAYED. */
static int counted_state(const struct model_job *job) {
    return is_delivered(job) && job->state == HTW_JOB_READY ? HTW_JOB_DELAYED : job->state;
}

static bool counts_agree(unsigned queue) {
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    uint64_t counts[STATES] = { 0 };
    for (size_t i = 0; i < job_count; i++)
        counts[counted_state(&jobs[i])] += jobs[i].queue == queue;
    int error = htw_journal_get_queue(journal, names[queue], &stats);
    if (error == -ENOENT)
        return counts[0] + counts[1] + counts[2] + counts[3] == 0;
    return stats.delayed == counts[0] && stats.ready == counts[1] && stats.leased == counts[2] &&
           stats.buried == counts[3];
}

/* Those of all queues. */
static bool totals_agree(void) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    uint64_t counts[STATES] = { 0 };
    for (size_t i = 0; i < job_count; i++)
        counts[counted_state(&jobs[i])]++;
    expect(htw_journal_get_stats(journal, &stats), 0, "htw_journal_get_stats", 0);
    return stats.delayed == counts[0] && stats.ready == counts[1] && stats.leased == counts[2] &&
           stats.buried == counts[3] && stats.in_flight == in_flight &&
           stats.found + stats.put == stats.jobs + stats.done + stats.cancelled + stats.replaced &&
           (options.max_memory == 0 || stats.memory_bytes < options.max_memory + MEMORY_MORE);
}

/* Each queue that there is, once, after the default one. */
static bool list_queue(void *context, const struct htw_queue_stats *stats) {
    unsigned *seen = context, queue = 0;
    while (queue < QUEUES && (stats->name == NULL) != (names[queue] == NULL))
        queue++;
    while (queue < QUEUES && stats->name != NULL && strcmp(stats->name, names[queue]) != 0)
        queue++;
    if (queue == QUEUES || (*seen >> queue & 1) != 0 || (*seen == 0) != (queue == 0))
        fail("a queue is listed twice, or none", queue, *seen);
    *seen |= 1u << queue;
    return true;
}

static void list_queues(void) {
    unsigned seen = 0;
    expect(htw_journal_list_queues(journal, list_queue, &seen), 0, "htw_journal_list_queues", 0);
    for (unsigned queue = 0; queue < QUEUES; queue++) {
        struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
        int error = htw_journal_get_queue(journal, names[queue], &stats);
        expect(seen >> queue & 1, error == 0, "listed, and not there", queue);
        if (error == 0 && paused_until_ns[queue] > now())
            expect(stats.paused_until_ns, paused_until_ns[queue], "the pause", queue);
    }
}

/* One from which jobs are leased. */
static unsigned random_queue(void) {
    unsigned first = options.deliver != NULL;
    return first + (unsigned)random_below(&source, QUEUES - first);
}

static bool is_listed_before(const struct model_job *a, const struct model_job *b) {
    if (a->state == HTW_JOB_BURIED)
        return a->buried < b->buried || (a->buried == b->buried && a != b);
    if (a->state == HTW_JOB_LEASED)
        return a != b; /* in no certain order after an open */
    bool is_by_time = a->state == HTW_JOB_DELAYED;
    if (is_by_time && a->deadline_ns != b->deadline_ns)
        return a->deadline_ns < b->deadline_ns;
    return is_by_time ? a->id < b->id : is_before(a, b);
}

struct listing {
    unsigned queue;
    int state;
    const struct model_job *last;
};

static bool compare_listed(void *context, const struct htw_job_info *info) {
    struct listing *listing = context;
    struct model_job *job = job_of(info->id);
    if (job == NULL || (int)info->state != job->state || job->state != listing->state ||
        job->queue != listing->queue)
        fail("listed in a wrong state", info->id, job == NULL ? -1 : job->state);
    if (listing->last != NULL && listing->last->state == job->state &&
        !is_listed_before(listing->last, job))
        fail("listed out of order", info->id, listing->state);
    if (info->payload_size != job->size || sum_of(info->payload, job->size) != job->sum ||
        info->attempts != job->attempts || info->priority != job->priority ||
        info->releases != job->releases || info->timeouts != job->timeouts ||
        info->buries != job->buries || info->kicks != job->kicks ||
        info->lease_ns != job->lease_ns || info->key_size != (job->key > 0) ||
        (job->key > 0 && *(const char *)info->key != (char)job->key))
        fail("listed with other contents", info->id, 0);
    if ((job->state == HTW_JOB_DELAYED && info->deadline_ns != job->deadline_ns) ||
        (job->state == HTW_JOB_LEASED && !is_delivered(job) && info->deadline_ns != job->end_ns))
        fail("listed with another time", info->id, info->deadline_ns);
    if (job->listed == lists || (info->queue == NULL) != (names[job->queue] == NULL) ||
        (info->queue != NULL && strcmp(info->queue, names[job->queue]) != 0))
        fail("listed twice, or with another queue", info->id, (int64_t)lists);
    listing->last = job;
    job->listed = lists;
    return true;
}

static void compare_one(void) {
    if (job_count == 0)
        return;
    struct model_job *job = &jobs[random_below(&source, job_count)];
    struct listing listing = { .queue = job->queue, .state = job->state };
    lists++;
    expect(htw_journal_peek(journal, job->id, compare_listed, &listing),
           has_ended(job) ? -ENOENT : 0, "htw_journal_peek", job->id);
}

/* Jobs that are due are read, and memory is made free, step by step. */
static void settle(void) {
    last.deadline_ns = INT64_MIN;
    for (unsigned round = 0; round < 400; round++) {
        expect(htw_journal_sync(journal), 0, "htw_journal_sync", 0);
        expect(htw_scheduler_advance(scheduler, 0), 0, "htw_scheduler_advance", 0);
        expect(htw_journal_sync(journal), 0, "htw_journal_sync", 0);
        pass_time();
        if (!awaits_delivery() && counts_agree(0) && counts_agree(1) && counts_agree(2) &&
            totals_agree())
            return;
    }
    for (unsigned queue = 0; queue < QUEUES; queue++) {
        struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
        int error = htw_journal_get_queue(journal, names[queue], &stats);
        unsigned counts[STATES] = { 0 };
        for (size_t i = 0; i < job_count; i++)
            counts[jobs[i].state] += jobs[i].queue == queue;
        fprintf(stderr, "queue %u (%d): %d %d %d %d, in the model %u %u %u %u\n", queue, error,
                (int)stats.delayed, (int)stats.ready, (int)stats.leased, (int)stats.buried,
                counts[0], counts[1], counts[2], counts[3]);
    }
    for (size_t i = 0; i < job_count; i++)
        if (jobs[i].state != ENDED && (int)peek(&jobs[i]).state != jobs[i].state)
            fail("the state is wrong", jobs[i].id, (int64_t)peek(&jobs[i]).state);
    fail("the counts are wrong", 0, (int64_t)in_flight);
}

/* ---- the steps */

static int64_t random_deadline(void) {
    switch (random_below(&source, 9)) {
    case 0:
        return HTW_NEVER_NS;
    case 1:
    case 2:
    case 3:
        return now() - (int64_t)random_below(&source, HTW_HOUR);
    case 4:
        return now() + HTW_MILLISECOND / 2 + (int64_t)random_below(&source, 3 * HTW_MILLISECOND);
    case 5:
    case 6:
    case 7:
        return now() + 1 + (int64_t)random_below(&source, HTW_HOUR);
    default:
        return now() + 1 + (int64_t)random_below(&source, 3 * HTW_DAY);
    }
}

static struct model_job *job_with_key(unsigned key) {
    for (size_t i = 0; i < job_count; i++)
        if (key != 0 && jobs[i].key == key && !has_ended(&jobs[i]))
            return &jobs[i];
    return NULL;
}

static int count_inbox(void *count, int columns, char **values, char **column_names) {
    (void)columns, (void)column_names;
    *(int *)count = atoi(values[0]);
    return 0;
}

/* By the program; then the journal takes it in, or it ends before that. */
static int put_in(struct htw_job *job, struct model_job *model) {
    int result = htw_journal_put_in(program, job), inbox = 1, rounds = 0;
    if (result == 0 && random_one_in(&source, 8)) {
        expect(htw_journal_cancel(journal, job->id), 0, "cancelled in the inbox", job->id);
        model->state = ENDED;
    }
    while (result == 0 && inbox > 0) {
        expect(rounds++ < 400, true, "it stays in the inbox", job->id);
        expect(htw_journal_wake(journal), 0, "htw_journal_wake", job->id);
        expect(htw_journal_sync(journal), 0, "htw_journal_sync", job->id);
        expect(sqlite3_exec(program, "SELECT count(*) FROM htw_inbox", count_inbox, &inbox, NULL),
               SQLITE_OK, "the inbox", job->id);
    }
    return result;
}

/* A new job, in the model and for the journal, without a key. */
static struct htw_job make_job(struct model_job *model) {
    static unsigned char payload[2000];
    size_t size = random_one_in(&source, 10) ? random_below(&source, sizeof(payload))
                                             : random_below(&source, 40);
    for (size_t i = 0; i < size; i++)
        payload[i] = (unsigned char)random_next(&source);
    *model = (struct model_job) { .queue = (unsigned)random_below(&source, QUEUES),
                                  .priority = (uint32_t)random_below(&source, 3),
                                  .sum = sum_of(payload, size),
                                  .size = size };
    int64_t lease_ns = random_one_in(&source, 4) ? 1 + (int64_t)random_below(&source, HTW_HOUR) : 0;
    if (is_delivered(model)) { /* a mere delay has neither */
        model->priority = 0;
        lease_ns = 0;
    }
    model->lease_ns = lease_ns == 0 ? LEASE_NS : lease_ns;
    become_due(model, random_deadline());
    return JOB(.deadline_ns = model->deadline_ns, .payload = payload, .payload_size = size,
               .queue = names[model->queue], .priority = model->priority, .lease_ns = lease_ns);
}

static void put(void) {
    if (job_count == JOBS_MAX)
        return;
    struct model_job *new_job = &jobs[job_count];
    struct htw_job job = make_job(new_job);
    if (random_one_in(&source, 4))
        new_job->key = 1 + (unsigned)random_below(&source, KEYS);
    char key = (char)new_job->key;
    job.key = key == 0 ? NULL : &key;
    job.key_size = key != 0;
    job.flags = random_one_in(&source, 2) ? HTW_JOB_IF_ABSENT : 0;
    struct model_job *before = job_with_key(new_job->key);
    bool is_put_in = options.is_guest && random_one_in(&source, 2);
    int result = is_put_in ? put_in(&job, new_job) : journal_put_job(journal, &job);
    if (before != NULL && job.flags != 0) {
        expect(result, -EEXIST, "put in spite of the key", before->id);
        return;
    }
    expect(result, 0, "htw_journal_apply", 0);
    if (before != NULL && new_job->state != ENDED) { /* what is in the inbox has replaced nothing */
        in_flight -= is_delivered(before) && before->state == HTW_JOB_LEASED;
        before->state = ENDED;
    }
    new_job->id = job.id;
    job_count++;
}

static void list(void) {
    struct htw_list_place place = { { 0 } };
    struct listing listing = { .queue = (unsigned)random_below(&source, QUEUES),
                               .state = (int)random_below(&source, ENDED) };
    uint32_t page = 1 + (uint32_t)random_below(&source, random_one_in(&source, 2) ? 9 : 300);
    size_t count_before = job_count;
    int count;
    lists++;
    if (options.deliver != NULL && listing.queue == DEFAULT && listing.state < HTW_JOB_BURIED)
        return; /* those that wait are not sure to have been read */
    do {
        count = htw_journal_list(journal, names[listing.queue], (enum htw_job_state)listing.state,
                                 &place, page, compare_listed, &listing);
        if (count == (int)page && random_one_in(&source, 9))
            put(); /* jobs that stay come once all the same */
    } while (count == (int)page);
    for (size_t i = 0; i < count_before; i++)
        if (jobs[i].queue == listing.queue && jobs[i].state == listing.state &&
            jobs[i].listed != lists)
            fail("not listed", jobs[i].id, listing.state);
}

struct grant {
    int result;
    int64_t lease_ns; /* wanted; 0: that of the job */
    uint64_t id;
};

static void leased(void *arg, int result, const struct htw_delivery *delivery) {
    struct grant *grant = arg;
    grant->result = result;
    grant->id = delivery == NULL ? 0 : delivery->id;
    if (delivery == NULL)
        return;
    struct model_job *job = job_of(delivery->id);
    if (job == NULL || delivery->payload_size != job->size ||
        sum_of(delivery->payload, job->size) != job->sum || delivery->attempt != ++job->attempts ||
        delivery->priority != job->priority)
        fail("leased with other contents", delivery->id, (int64_t)delivery->attempt);
    if ((delivery->lease_ns != job->lease_ns &&
         (delivery->lease_ns != 0 || job->lease_ns != LEASE_NS)) ||
        delivery->lease_end_ns != now() + (grant->lease_ns == 0 ? job->lease_ns : grant->lease_ns))
        fail("leased for another time", delivery->id, delivery->lease_ns);
    job->end_ns = delivery->lease_end_ns;
}

static void lease(void) {
    struct htw_lease wanted = HTW_LEASE_INIT;
    const char *queues[QUEUES];
    struct grant grant = { .result = 1 };
    unsigned set = 1u << random_queue() | (unsigned)random_below(&source, 1u << QUEUES);
    if (options.deliver != NULL)
        set &= ~(1u << DEFAULT);
    for (unsigned i = 0; i < QUEUES; i++)
        if ((set >> i & 1) != 0)
            queues[wanted.queue_count++] = names[i];
    wanted.queues = queues;
    if (random_one_in(&source, 2))
        wanted.lease_ns = 1 + (int64_t)random_below(&source, HTW_HOUR);
    grant.lease_ns = wanted.lease_ns;
    wanted.is_durable = random_one_in(&source, 3);
    struct model_job *job = first_ready(set);
    struct model_job *any = &jobs[random_below(&source, job_count + 1)];
    if (random_one_in(&source, 6) && any < jobs + job_count && !is_delivered(any)) {
        job = any;
        wanted.id = job->id;
        wanted.queue_count = 0;
    }
    int expected = 0;
    if (job == NULL)
        expected = -ETIMEDOUT;
    else if (has_ended(job))
        expected = -ENOENT;
    else if (job->state == HTW_JOB_LEASED)
        expected = -EALREADY;
    expect(htw_journal_lease(journal, &wanted, leased, &grant), expected, "htw_journal_lease",
           job == NULL ? 0 : job->id);
    expect(grant.result, expected, "told", 0);
    if (expected != 0)
        return;
    if (grant.id != job->id)
        fail("another job was leased", grant.id, (int64_t)job->id);
    if (wanted.is_durable || job->state != HTW_JOB_READY)
        job->stored_attempts = job->attempts;
    job->is_durable = wanted.is_durable;
    job->state = HTW_JOB_LEASED;
}

/* What a step of a job in this state answers. */
static int answer(const struct model_job *job, enum htw_job_step step) {
    bool is_leased = job->state == HTW_JOB_LEASED;
    if (has_ended(job))
        return -ENOENT;
    switch (step) {
    case HTW_JOB_CANCEL:
    case HTW_JOB_MOVE:
        return is_leased ? -EALREADY : 0;
    case HTW_JOB_RELEASE:
        return is_leased ? 0 : -EALREADY;
    case HTW_JOB_EXTEND:
        return is_leased && !is_delivered(job) ? 0 : -EALREADY;
    case HTW_JOB_KICK:
        return is_leased || job->state == HTW_JOB_READY ? -EALREADY : 0;
    default:
        return 0;
    }
}

static bool precedes(const struct model_job *a, const struct model_job *b) {
    return a->deadline_ns < b->deadline_ns || (a->deadline_ns == b->deadline_ns && a->id < b->id);
}

static void deliver(void *context, const struct htw_delivery *delivery) {
    (void)context;
    struct model_job *job = job_of(delivery->id);
    if (job == NULL || !is_delivered(job) || job->state > HTW_JOB_READY)
        fail("delivered, and does not wait", delivery->id, job == NULL ? -1 : job->state);
    if (delivery->deadline_ns != job->deadline_ns || delivery->deadline_ns > now() ||
        delivery->late_ns != now() - delivery->deadline_ns ||
        delivery->lease_end_ns != HTW_NEVER_NS)
        fail("the times are wrong", delivery->id, delivery->deadline_ns);
    if (delivery->payload_size != job->size || delivery->key_size != (job->key > 0) ||
        sum_of(delivery->payload, job->size) != job->sum || delivery->attempt != ++job->attempts ||
        (job->key > 0 && *(const char *)delivery->key != (char)job->key))
        fail("delivered with other contents", delivery->id, (int64_t)delivery->attempt);
    if (options.parallel <= 1 && precedes(job, &last))
        fail("delivered out of order", delivery->id, 0);
    if (++in_flight > options.max_in_flight)
        fail("too many are in flight", delivery->id, (int64_t)in_flight);
    last = *job;
    job->state = HTW_JOB_LEASED;
    job->end_ns = HTW_NEVER_NS;
    job->is_durable = false;
    if (keeps)
        return;
    htw_journal_done_later(journal, job->id, NULL, NULL);
    apply_in_model(job, &UPDATE(.step = HTW_JOB_END));
}

static struct htw_job_update random_update(const struct model_job *job) {
    struct htw_job_update update =
        UPDATE(.id = job->id, .deadline_ns = random_deadline(),
               .step = (enum htw_job_step)random_below(&source, HTW_JOB_EXTEND + 1));
    if (random_one_in(&source, 2) &&
        (update.step == HTW_JOB_RELEASE || (update.step == HTW_JOB_EXTEND && !job->is_durable)))
        update.deadline_ns = INT64_MIN;
    if (update.step != HTW_JOB_EXTEND && random_one_in(&source, 3)) {
        update.has_priority = true;
        update.priority = (uint32_t)random_below(&source, 3);
    }
    return update;
}

static void store(void *arg, int result) {
    *(int *)arg = result;
}

/* Two jobs are changed, a third one ends, and one is put: all, or nothing if one of them is impossible. */
static void change_together(void) {
    struct htw_job_update updates[2];
    struct model_job *changed[3];
    int answers[3], result = 1;
    size_t at = job_count < 3 ? 0 : (size_t)random_below(&source, job_count - 2);
    if (job_count < 3 || job_count == JOBS_MAX)
        return;
    for (size_t i = 0; i < 3; i++)
        changed[i] = &jobs[at + i];
    updates[0] = random_update(changed[0]);
    updates[1] =
        UPDATE(.id = changed[1]->id, .step = HTW_JOB_MOVE, .deadline_ns = random_deadline());
    answers[0] = answer(changed[0], updates[0].step);
    answers[1] = answer(changed[1], HTW_JOB_MOVE);
    answers[2] = answer(changed[2], HTW_JOB_END);
    struct htw_job job = make_job(&jobs[job_count]);
    const struct htw_journal_change change =
        CHANGE(.updates = updates, .update_count = 2, .done = &changed[2]->id, .done_count = 1,
               .jobs = &job, .job_count = 1);
    expect(htw_journal_apply_later(journal, &change, store, &result), 0, "apply_later", 0);
    (void)!htw_journal_sync(journal); /* says so if it is lost */
    if (answers[0] != 0 || answers[1] != 0 || answers[2] != 0) {
        if (result == 0 || (result != answers[0] && result != answers[1] && result != answers[2]))
            fail("a change of which a part is impossible", changed[0]->id, result);
        return;
    }
    expect(result, 0, "a change of several parts", changed[0]->id);
    apply_in_model(changed[0], &updates[0]);
    apply_in_model(changed[1], &updates[1]);
    apply_in_model(changed[2], &UPDATE(.step = HTW_JOB_END));
    jobs[job_count++].id = job.id;
    settle();
}

static void update(void) {
    if (job_count == 0)
        return;
    struct model_job *job = &jobs[random_below(&source, job_count)];
    struct htw_job_update update = random_update(job);
    int expected = answer(job, update.step);
    if (random_one_in(&source, 3) && !has_ended(job)) {
        update.attempt = (uint32_t)(1 + random_below(&source, 3));
        if (job->state != HTW_JOB_LEASED || update.attempt != job->attempts)
            expected = -ESTALE;
    } else if (update.step == HTW_JOB_CANCEL && job->key != 0) {
        char key = (char)job->key;
        settle(); /* a job that the journal itself is changing is refused by its key */
        job = job_with_key((unsigned)key);
        expected = job == NULL ? -ENOENT : answer(job, HTW_JOB_CANCEL);
        update.id = 0;
        update.key = &key;
        update.key_size = 1;
        expect(htw_journal_update(journal, &update), expected, "cancelled by key", (uint64_t)key);
        if (expected == 0)
            apply_in_model(job, &update);
        return;
    }
    expect(htw_journal_update(journal, &update), expected, "htw_journal_update", job->id);
    if (expected == 0)
        apply_in_model(job, &update);
    if (update.step == HTW_JOB_EXTEND && update.deadline_ns <= now())
        settle(); /* it ends at once */
}

/* Which jobs were kicked, the file says: those before all others, if some were buried at once. */
static void kick(void) {
    const struct htw_job_update update = { .step = HTW_JOB_KICK };
    unsigned queue = random_queue();
    uint32_t count = (uint32_t)random_below(&source, 6), kicked = 0, possible = 0;
    const struct model_job *first_left = NULL;
    bool has_buried = false;
    for (size_t i = 0; i < job_count; i++)
        has_buried = has_buried || (jobs[i].queue == queue && jobs[i].state == HTW_JOB_BURIED);
    int state = has_buried ? HTW_JOB_BURIED : HTW_JOB_DELAYED;
    int result = htw_journal_kick(journal, names[queue], count);
    for (size_t i = 0; i < job_count; i++) {
        struct model_job *job = &jobs[i];
        if (job->queue != queue || job->state != state)
            continue;
        possible++;
        if (peek(job).state == HTW_JOB_READY)
            kicked++;
        else if (first_left == NULL || is_listed_before(job, first_left))
            first_left = job;
    }
    expect(kicked, count < possible ? count : possible, "htw_journal_kick", queue);
    expect(result, kicked, "the answer of htw_journal_kick", queue);
    for (size_t i = 0; i < job_count; i++) {
        struct model_job *job = &jobs[i];
        if (job->queue != queue || job->state != state || peek(job).state != HTW_JOB_READY)
            continue;
        if (first_left != NULL && !is_listed_before(job, first_left))
            fail("kicked before its turn", job->id, 0);
        apply_in_model(job, &update);
    }
}

static void set_policy(void) {
    struct htw_queue_policy policy = HTW_QUEUE_POLICY_INIT;
    policy.attempts_max = ATTEMPTS_MAX;
    policy.initial_ns = HTW_SECOND;
    policy.cap_ns = HTW_HOUR;
    expect(htw_journal_set_policy(journal, "b", &policy), 0, "htw_journal_set_policy", 0);
}

static void keep_or_end(void) {
    keeps = !keeps;
}

static void open_program(void) {
    expect(sqlite3_open(path, &program), SQLITE_OK, "sqlite3_open", 0);
    sqlite3_busy_timeout(program, 60000);
    expect(sqlite3_exec(program,
                        random_one_in(&source, 2) ? "PRAGMA journal_mode = WAL"
                                                  : "PRAGMA synchronous = OFF",
                        NULL, NULL, NULL),
           SQLITE_OK, "the mode of the file", 0);
}

static void close_journal(void) {
    expect(htw_journal_close(journal), 0, "htw_journal_close", 0);
    const char *problem = journal_problem_of(path);
    if (problem != NULL)
        fail(problem, 0, 0);
}

static void open_again(void) {
    close_journal();
    expect(htw_journal_open(&journal, scheduler, path, &options), 0, "htw_journal_open", 0);
    memset(paused_until_ns, 0, sizeof(paused_until_ns));
    in_flight = 0;
    for (size_t i = 0; i < job_count; i++) {
        struct model_job *job = &jobs[i];
        if (has_ended(job))
            continue;
        if (job->state == HTW_JOB_LEASED && !job->is_durable)
            job->state = HTW_JOB_READY;
        const struct htw_job_info info = peek(job); /* memory may have written them */
        if (info.attempts < job->stored_attempts || info.attempts > job->attempts)
            fail("the attempts are wrong after an open", job->id, info.attempts);
        job->attempts = job->stored_attempts = info.attempts;
        if (job->state == HTW_JOB_LEASED)
            job->timeouts = info.timeouts;
    }
    settle();
    for (size_t i = 0; i < job_count; i++) { /* the end of a lease is not written */
        struct model_job *job = &jobs[i];
        if (has_ended(job) || job->state == HTW_JOB_LEASED)
            continue;
        uint32_t timeouts = peek(job).timeouts;
        if (timeouts > job->timeouts)
            fail("the ends of leases are wrong after an open", job->id, timeouts);
        job->timeouts = timeouts;
    }
}

/* To a whole tick of the scheduler, so that all is done that is due. */
static void advance(void) {
    uint64_t most_ns = (uint64_t)(random_one_in(&source, 3) ? HTW_DAY : HTW_MINUTE);
    int64_t delta_ns = (int64_t)(random_magnitude(&source) % most_ns);
    delta_ns -= delta_ns % HTW_MILLISECOND;
    last.deadline_ns = INT64_MIN;
    expect(htw_scheduler_advance(scheduler, delta_ns), 0, "htw_scheduler_advance", 0);
}

static void pause_queue(void) {
    unsigned queue = random_queue();
    static const int64_t until_ns[] = { 0, HTW_NEVER_NS, HTW_MINUTE };
    unsigned i = (unsigned)random_below(&source, 3);
    paused_until_ns[queue] = until_ns[i] == HTW_MINUTE ? now() + HTW_MINUTE : until_ns[i];
    expect(htw_journal_pause(journal, names[queue], paused_until_ns[queue]), 0, "htw_journal_pause",
           0);
}

static const struct {
    unsigned weight;
    void (*take)(void);
    bool settles_before, settles_after;
} kinds[] = {
    { 1, open_again, false, true },  { 1, pause_queue, false, true },
    { 2, advance, false, true },     { 1, keep_or_end, false, false },
    { 1, kick, false, true },        { 2, list, true, false },
    { 1, list_queues, true, false }, { 8, lease, false, false },
    { 10, update, false, false },    { 2, change_together, false, false },
    { 25, put, false, false },
};

static void step(void) {
    unsigned i = 0, number = (unsigned)random_below(&source, 54);
    while (number >= kinds[i].weight)
        number -= kinds[i++].weight;
    if (kinds[i].settles_before)
        settle();
    kinds[i].take();
    if (kinds[i].settles_after) {
        settle();
        compare_one();
    }
}

static int count_blocks(void *context, int columns, char **values, char **column_names) {
    (void)columns, (void)column_names;
    *(int *)context = atoi(values[0]);
    return 0;
}

/* Without jobs there are no blocks. */
static void end_all(void) {
    sqlite3 *connection;
    int blocks = -1;
    for (size_t i = 0; i < job_count; i++)
        if (!has_ended(&jobs[i]))
            expect(htw_journal_done(journal, jobs[i].id), 0, "htw_journal_done", jobs[i].id);
    close_journal();
    if ((sqlite3_open(path, &connection) != SQLITE_OK ||
         sqlite3_exec(connection, "SELECT count(*) FROM htw_block", count_blocks, &blocks, NULL) !=
             SQLITE_OK ||
         sqlite3_close(connection) != SQLITE_OK || blocks != 0))
        fail("blocks without jobs", 0, blocks);
}

static uint64_t run_history(uint64_t number) {
    char command[2 * TEST_FOLDER_SIZE];
    snprintf(command, sizeof(command), "rm -f %s*", path);
    expect(system(command), 0, command, 0);
    history = number;
    source.state = arguments.seed * UINT64_C(1000003) + number;
    job_count = in_flight = 0;
    keeps = false;
    memset(paused_until_ns, 0, sizeof(paused_until_ns));
    options = (struct htw_journal_options)HTW_JOURNAL_OPTIONS_INIT;
    options.synchronous = HTW_SYNCHRONOUS_NORMAL;
    options.near_ns = random_one_in(&source, 2) ? 0 : 1 + (int64_t)random_below(&source, HTW_HOUR);
    options.max_memory = random_one_in(&source, 2) ? 0 : 8000 + random_below(&source, 40000);
    options.deliver = random_one_in(&source, 2) ? deliver : NULL;
    options.max_in_flight = random_one_in(&source, 2) ? 100000 : 1 + random_below(&source, 20);
    options.parallel = (uint32_t)random_below(&source, 4);
    scheduler = manual_scheduler(START_NS);
    expect(scheduler != NULL, true, "htw_scheduler_create", 0);
    options.is_guest = random_one_in(&source, 2);
    options.inbox_ns = options.is_guest ? HTW_NEVER_NS : 0;
    program = NULL;
    if (options.is_guest)
        open_program();
    expect(htw_journal_open(&journal, scheduler, path, &options), 0, "htw_journal_open", 0);
    set_policy();
    for (steps_done = 0; steps_done < STEPS; steps_done++)
        step();
    settle();
    end_all();
    sqlite3_close(program);
    htw_scheduler_destroy(scheduler);
    return STEPS;
}

int main(int argc, char **argv) {
    char folder[TEST_FOLDER_SIZE];
    arguments = (struct model_arguments) { .seed = 1, .steps = 20000, .histories = UINT64_MAX };
    if (!test_folder_create(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/journal", folder);
    int status = model_play(&arguments, argc, argv, run_history);
    return test_folder_remove(folder) ? status : 1;
}
