/* SPDX-License-Identifier: MIT */
/* journal_scenes.c - what a journal promises to threads that use it at the same time, and what a power cut leaves. */
#include "../../src/journal/state.h"
#include "disk.h"
#include "scenes.h"

#include <htw/journal.h>

#include <string.h>

#define JOBS 4u
#define SIZE 8u

extern int htw__log_checkpoint_pages;

struct one {
    uint64_t id;
    int put, end; /* results */
    /* The put was answered with 0; its end was begun, and answered with 0: what a power cut must respect. */
    _Atomic bool is_put, is_ending, has_ended;
    unsigned deliveries;
    bool was_delivered;
};

static struct {
    struct htw_journal *journal;
    struct one jobs[JOBS];
    htw_deliver *more; /* in `deliver` */
    unsigned inside, notices, stops;
    int last_notice;
    bool is_closed;
    _Atomic unsigned stage;
} at;

/* At a power cut: sets of jobs. */
static struct { unsigned put, ended, ending; } cut;

/* Each is somewhere in the files, or nowhere. */
static const char payloads[JOBS][SIZE + 1] = { "<job 0!>", "<job 1!>", "<job 2!>", "<job 3!>" };

static int64_t wall_ns(void) {
    return htw_scheduler_now_by(scene.scheduler, HTW_CLOCK_REALTIME);
}

static unsigned number_of(const struct htw_delivery *delivery) {
    unsigned number = 0;
    while (number < JOBS && memcmp(delivery->payload, payloads[number], SIZE) != 0)
        number++;
    REQUIRE(number < JOBS && delivery->payload_size == SIZE);
    return number;
}

static void deliver(void *context, const struct htw_delivery *delivery) {
    unsigned number = number_of(delivery);
    struct one *one = &at.jobs[number];
    REQUIRE(at.inside++ == 0); /* one at a time; what is counted here would race otherwise */
    REQUIRE(!at.is_closed);
    REQUIRE(delivery->late_ns >= 0 && delivery->deadline_ns <= wall_ns());
    REQUIRE(disk_is_durable(payloads[number], SIZE));
    REQUIRE(one->deliveries++ == 0);
    one->was_delivered = true;
    atomic_fetch_add(&at.stage, 1);
    if (at.more != NULL)
        at.more(context, delivery);
    REQUIRE(number_of(delivery) == number); /* it is still there */
    at.inside--;
}

static void note_stop(void *context, const char *why) {
    (void)context;
    REQUIRE(strstr(why, "stopped") != NULL);
    at.stops++;
}

static void start_journal(void (*change)(struct htw_journal_options *)) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = deliver;
    options.stopped = note_stop;
    options.allocator = &explore_allocator;
    if (change != NULL)
        change(&options);
    at.is_closed = false;
    REQUIRE(htw_journal_open(&at.journal, scene.scheduler, "journal", &options) == 0);
}

static void open_journal(void (*change)(struct htw_journal_options *)) {
    memset(&at, 0, sizeof(at));
    memset(&cut, 0, sizeof(cut));
    htw__log_checkpoint_pages = 4096;
    disk_reset();
    scene_open(1, 0, NULL);
    start_journal(change);
}

static void stop_journal(void) {
    REQUIRE(htw_journal_close(at.journal) == 0);
    REQUIRE(at.inside == 0);
    at.is_closed = true;
}

static void close_journal(void) {
    stop_journal();
    scene_settle();
    scene_close();
}

/* Not htw_journal_get_stats(), which reads each word of three histograms. */
static void require_counts(uint64_t put_count, uint64_t ended) {
    struct htw_journal *journal = at.journal;
    htw__mutex_lock(&journal->mutex);
    REQUIRE(journal->put == put_count && journal->queued == 0);
    REQUIRE(journal->done + journal->cancelled + journal->replaced == ended);
    REQUIRE(journal->found + put_count == journal->jobs_in_file + ended);
    htw__mutex_unlock(&journal->mutex);
}

/* ---- changes, whose answers are noted */

static int put(unsigned number, int64_t delay_ns) {
    struct one *one = &at.jobs[number];
    one->put = htw_journal_put(at.journal, wall_ns() + delay_ns, payloads[number], SIZE, &one->id);
    if (one->put == 0) {
        REQUIRE(disk_is_durable(payloads[number], SIZE));
        atomic_store(&one->is_put, true);
    }
    return one->put;
}

static int end(unsigned number) {
    struct one *one = &at.jobs[number];
    atomic_store(&one->is_ending, true);
    one->end = htw_journal_done(at.journal, one->id);
    if (one->end == 0)
        atomic_store(&one->has_ended, true);
    return one->end;
}

static void expect(unsigned number, int64_t delay_ns) {
    explore_expect(&at.jobs[number].was_delivered, explore_now_ns() + delay_ns + MS);
}

static void *put_0(void *unused) {
    (void)unused;
    REQUIRE(put(0, MS) == 0);
    return NULL;
}

static void *put_1(void *unused) {
    (void)unused;
    explore_set_cpu(1);
    REQUIRE(put(1, MS) == 0);
    return NULL;
}

static void *end_0(void *unused) {
    (void)unused;
    explore_set_cpu(1);
    REQUIRE(end(0) == 0);
    return NULL;
}

static void note_durable(void *arg, int result) {
    REQUIRE(result == 0);
    REQUIRE(at.last_notice < (int)(uintptr_t)arg); /* in the order of the calls */
    at.last_notice = (int)(uintptr_t)arg;
    at.notices++;
}

static void put_later(unsigned number, int64_t delay_ns) {
    REQUIRE(htw_journal_put_later(at.journal, wall_ns() + delay_ns, payloads[number], SIZE,
                                  note_durable, (void *)(uintptr_t)(number + 1),
                                  &at.jobs[number].id) == 0);
}

/* ---- a power cut, and what must be there after it */

static unsigned set_of(size_t offset) {
    unsigned set = 0;
    for (unsigned i = 0; i < JOBS; i++)
        set |= (unsigned)atomic_load((_Atomic bool *)((char *)&at.jobs[i] + offset)) << i;
    return set;
}

/* What was answered before is noted first, and what was begun after it. */
static void *cut_power(void *unused) {
    (void)unused;
    cut.put = set_of(offsetof(struct one, is_put));
    cut.ended = set_of(offsetof(struct one, has_ended));
    disk_freeze();
    cut.ending = set_of(offsetof(struct one, is_ending));
    return NULL;
}

/* Opens the journal that the power cut has left. */
static void open_again(void) {
    for (unsigned i = 0; i < JOBS; i++)
        at.jobs[i].deliveries = 0;
    at.more = NULL;
    disk_restore();
    start_journal(NULL);
    explore_sleep_ns(100 * MS);
}

static void judge_cut(void) {
    stop_journal();
    open_again();
    for (unsigned i = 0; i < JOBS; i++) {
        if ((cut.put & ~cut.ending) >> i & 1)
            REQUIRE(at.jobs[i].deliveries == 1);
        if (cut.ended >> i & 1)
            REQUIRE(at.jobs[i].deliveries == 0);
    }
    close_journal();
}

/* ---- puts */

static void play_puts(void) {
    open_journal(NULL);
    pthread_t one = scene_start(put_0), other = scene_start(put_1);
    scene_join(one);
    expect(0, MS);
    scene_join(other);
    expect(1, MS);
    explore_sleep_ns(20 * MS);
    REQUIRE(at.jobs[0].deliveries == 1 && at.jobs[1].deliveries == 1);
    require_counts(2, 0);
    close_journal();
}

static void put_under_key(unsigned number) {
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    job.deadline_ns = wall_ns() + 5 * MS;
    job.payload = payloads[number];
    job.payload_size = SIZE;
    job.key = "key";
    job.key_size = 3;
    change.jobs = &job;
    change.job_count = 1;
    REQUIRE(htw_journal_apply(at.journal, &change) == 0);
    at.jobs[number].id = job.id;
}

static void *put_1_under_key(void *unused) {
    (void)unused;
    explore_set_cpu(1);
    put_under_key(1);
    return NULL;
}

static void play_key(void) {
    open_journal(NULL);
    pthread_t other = scene_start(put_1_under_key);
    put_under_key(0);
    scene_join(other);
    unsigned last = at.jobs[0].id < at.jobs[1].id;
    htw__mutex_lock(&at.journal->mutex);
    REQUIRE(at.journal->jobs.waiting.count + at.journal->jobs.in_flight == 1);
    htw__mutex_unlock(&at.journal->mutex);
    expect(last, 5 * MS);
    explore_sleep_ns(20 * MS);
    REQUIRE(at.jobs[last].deliveries == 1);
    require_counts(2, 1);
    close_journal();
}

/* An early job behind a later one, for which the timer is set. */
static void *put_1_late(void *unused) {
    (void)unused;
    explore_set_cpu(1);
    REQUIRE(put(1, 50 * MS) == 0);
    return NULL;
}

static void play_earlier(void) {
    open_journal(NULL);
    REQUIRE(put(2, 80 * MS) == 0);
    explore_sleep_ns(MS); /* it is read, and the timer is set */
    pthread_t other = scene_start(put_1_late);
    REQUIRE(put(0, 5 * MS) == 0);
    expect(0, 5 * MS);
    scene_join(other);
    explore_sleep_ns(200 * MS);
    REQUIRE(at.jobs[0].deliveries == 1 && at.jobs[1].deliveries == 1 && at.jobs[2].deliveries == 1);
    close_journal();
}

static void hold_little(struct htw_journal_options *options) {
    options->near_ns = HTW_SECOND;
}

/* It is left in the file until its minute is near. */
static void play_far(void) {
    open_journal(hold_little);
    pthread_t other = scene_start(put_1);
    REQUIRE(put(0, 3 * HTW_MINUTE) == 0);
    explore_expect(&at.jobs[0].was_delivered, explore_now_ns() + 3 * HTW_MINUTE + MS);
    scene_join(other);
    explore_sleep_ns(4 * HTW_MINUTE);
    REQUIRE(at.jobs[0].deliveries == 1 && at.jobs[1].deliveries == 1);
    close_journal();
}

/* ---- ends */

static void play_end(void) {
    open_journal(NULL);
    REQUIRE(put(0, 0) == 0);
    pthread_t other = scene_start(end_0);
    scene_join(other);
    cut_power(NULL);
    explore_sleep_ns(20 * MS);
    REQUIRE(at.jobs[0].deliveries <= 1);
    require_counts(1, 1);
    judge_cut();
}

static void end_it(void *context, const struct htw_delivery *delivery) {
    (void)context;
    REQUIRE(end(number_of(delivery)) == 0);
}

static void play_end_inside(void) {
    open_journal(NULL);
    at.more = end_it;
    pthread_t other = scene_start(put_1);
    REQUIRE(put(0, 0) == 0);
    expect(0, 0);
    scene_join(other);
    expect(1, MS);
    explore_sleep_ns(20 * MS);
    cut_power(NULL);
    REQUIRE(at.jobs[0].deliveries == 1 && at.jobs[1].deliveries == 1);
    require_counts(2, 2);
    judge_cut();
}

static void *cancel_0(void *unused) {
    (void)unused;
    explore_set_cpu(1);
    struct one *one = &at.jobs[0];
    atomic_store(&one->is_ending, true);
    one->end = htw_journal_cancel(at.journal, one->id);
    atomic_store(&one->has_ended, one->end == 0);
    return NULL;
}

static void play_cancel(void) {
    open_journal(NULL);
    REQUIRE(put(0, 0) == 0);
    pthread_t other = scene_start(cancel_0);
    scene_join(other);
    explore_sleep_ns(20 * MS);
    REQUIRE(at.jobs[0].end == 0 || at.jobs[0].end == -EALREADY);
    REQUIRE(at.jobs[0].deliveries == (at.jobs[0].end == 0 ? 0 : 1));
    require_counts(1, at.jobs[0].end == 0);
    close_journal();
}

static void play_end_and_cancel(void) {
    open_journal(NULL);
    REQUIRE(put(0, HTW_MINUTE) == 0);
    pthread_t other = scene_start(cancel_0);
    int result = htw_journal_done(at.journal, at.jobs[0].id);
    scene_join(other);
    REQUIRE(result == 0 ? at.jobs[0].end == -ENOENT : result == -ENOENT && at.jobs[0].end == 0);
    require_counts(1, 1);
    close_journal();
}

/* ---- at most one in flight, or little memory */

static void hold_one(struct htw_journal_options *options) {
    options->max_in_flight = 1;
}

static void require_end_of_other(void *context, const struct htw_delivery *delivery) {
    (void)context;
    unsigned other = 1 - number_of(delivery);
    REQUIRE(!at.jobs[other].was_delivered || atomic_load(&at.jobs[other].is_ending));
}

static void play_in_flight(void) {
    open_journal(hold_one);
    at.more = require_end_of_other;
    REQUIRE(put(0, 0) == 0);
    REQUIRE(put(1, MS) == 0);
    expect(0, 0);
    explore_sleep_ns(5 * MS);
    REQUIRE(at.jobs[0].deliveries == 1 && at.jobs[1].deliveries == 0);
    pthread_t other = scene_start(end_0);
    expect(1, 0);
    scene_join(other);
    explore_sleep_ns(20 * MS);
    REQUIRE(at.jobs[1].deliveries == 1);
    close_journal();
}

static void remember_little(struct htw_journal_options *options) {
    options->max_memory = 4 * (sizeof(struct htw__job) + SIZE); /* half of it: two jobs that wait */
}

static void put_in_time(unsigned number, int64_t delay_ns) {
    for (unsigned tries = 0; tries < 5 && put(number, delay_ns) == -EAGAIN; tries++)
        explore_sleep_ns(MS);
    REQUIRE(at.jobs[number].put == 0);
}

static void *put_3_and_1(void *unused) {
    (void)unused;
    explore_set_cpu(1);
    put_in_time(3, 13 * MS);
    put_in_time(1, 11 * MS);
    return NULL;
}

static void play_memory(void) {
    open_journal(remember_little);
    pthread_t other = scene_start(put_3_and_1);
    put_in_time(2, 12 * MS);
    put_in_time(0, 10 * MS);
    scene_join(other);
    htw__mutex_lock(&at.journal->mutex);
    REQUIRE(at.journal->jobs.waiting_bytes <= 2 * at.journal->waiting_max);
    htw__mutex_unlock(&at.journal->mutex);
    explore_sleep_ns(100 * MS);
    for (unsigned i = 0; i < JOBS; i++)
        REQUIRE(at.jobs[i].deliveries == 1);
    require_counts(4, 0);
    close_journal();
}

/* ---- notices, and the end of a journal */

static void *put_1_later(void *unused) {
    (void)unused;
    explore_set_cpu(1);
    put_later(0, MS);
    put_later(1, MS);
    return NULL;
}

static void play_sync(void) {
    static bool has_returned;
    has_returned = false;
    open_journal(NULL);
    scene_join(scene_start(put_1_later));
    explore_expect(&has_returned, explore_now_ns() + MS); /* it does not wait for more changes */
    REQUIRE(htw_journal_sync(at.journal) == 0);
    has_returned = true;
    REQUIRE(at.notices == 2);
    REQUIRE(disk_is_durable(payloads[0], SIZE) && disk_is_durable(payloads[1], SIZE));
    explore_sleep_ns(20 * MS);
    REQUIRE(at.jobs[0].deliveries == 1 && at.jobs[1].deliveries == 1);
    close_journal();
}

/* Changes that wait for others are written without a call that waits. */
static void play_later(void) {
    open_journal(NULL);
    pthread_t other = scene_start(put_1);
    put_later(0, MS);
    expect(0, 3 * MS);
    scene_join(other);
    explore_sleep_ns(20 * MS);
    REQUIRE(at.notices == 1 && at.jobs[0].deliveries == 1 && at.jobs[1].deliveries == 1);
    close_journal();
}

static void play_close(void) {
    open_journal(NULL);
    put_later(0, 0);
    put_later(1, 0);
    stop_journal();
    REQUIRE(at.notices == 2);
    REQUIRE(disk_is_durable(payloads[0], SIZE) && disk_is_durable(payloads[1], SIZE));
    scene_settle();
    scene_close();
}

/* It may be refused, or it is made before the journal is closed. */
static void end_later(void *context, const struct htw_delivery *delivery) {
    (void)context;
    int result = htw_journal_done_later(delivery->journal, delivery->id, note_durable,
                                        (void *)(uintptr_t)(delivery->id & 7));
    REQUIRE(result == 0 || result == -ESHUTDOWN);
    at.stage += result == 0 ? 16 : 0;
}

static void stay_and_end_later(void *context, const struct htw_delivery *delivery) {
    explore_sleep_ns(4 * MS);
    end_later(context, delivery);
}

static void play_close_delivery(void) {
    open_journal(NULL);
    at.more = stay_and_end_later;
    REQUIRE(put(0, 0) == 0);
    explore_sleep_ns(2 * MS);
    stop_journal();
    REQUIRE(at.notices == at.stage / 16);
    scene_settle();
    scene_close();
}

/* ---- a disk that fails */

static void *try_put_1(void *unused) {
    (void)unused;
    explore_set_cpu(1);
    (void)put(1, MS);
    return NULL;
}

static bool has_failed(const struct one *one) {
    REQUIRE(one->put == 0 || one->put == -EIO);
    return one->put != 0;
}

static void play_sync_fails(void) {
    open_journal(NULL);
    disk_damage_sync(1);
    pthread_t other = scene_start(try_put_1);
    (void)put(0, MS);
    scene_join(other);
    bool failed = has_failed(&at.jobs[0]) | has_failed(&at.jobs[1]);
    REQUIRE(failed == disk_has_failed());
    cut_power(NULL);
    REQUIRE(put(2, MS) == -EIO || !failed);
    explore_sleep_ns(20 * MS);
    REQUIRE(at.stops == (failed || at.jobs[2].put != 0));
    judge_cut();
}

/* A change that lacks space has not happened, also after a power cut; and the next one is made. */
static void *put_1_on_full_disk(void *unused) {
    (void)unused;
    explore_set_cpu(1);
    if (put(1, MS) == -ENOSPC)
        (void)put(1, MS);
    REQUIRE(at.jobs[1].put == 0);
    return NULL;
}

static void play_full(void) {
    open_journal(NULL);
    disk_fill(1);
    pthread_t other = scene_start(put_1_on_full_disk);
    (void)put(0, MS);
    REQUIRE(at.jobs[0].put == 0 || at.jobs[0].put == -ENOSPC);
    scene_join(other);
    unsigned count = at.jobs[0].put == 0;
    explore_sleep_ns(20 * MS);
    REQUIRE(disk_has_failed() && at.stops == 0);
    REQUIRE(at.jobs[0].deliveries == count && at.jobs[1].deliveries == 1);
    require_counts(1 + count, 0);
    cut_power(NULL);
    stop_journal();
    open_again();
    REQUIRE(at.jobs[0].deliveries == count && at.jobs[1].deliveries == 1);
    close_journal();
}

static void *end_0_on_full_disk(void *unused) {
    (void)unused;
    explore_set_cpu(1);
    int result = end(0);
    REQUIRE(result == 0 || result == -ENOSPC);
    if (result != 0)
        REQUIRE(end(0) == 0);
    return NULL;
}

static void play_end_on_full_disk(void) {
    open_journal(NULL);
    REQUIRE(put(0, 0) == 0);
    disk_fill(0);
    pthread_t other = scene_start(end_0_on_full_disk);
    scene_join(other);
    cut_power(NULL);
    explore_sleep_ns(20 * MS);
    REQUIRE(at.jobs[0].deliveries <= 1);
    require_counts(1, 1);
    judge_cut();
}

static void play_cancel_on_full_disk(void) {
    open_journal(NULL);
    REQUIRE(put(0, 5 * MS) == 0);
    disk_fill(0);
    pthread_t other = scene_start(cancel_0);
    scene_join(other);
    REQUIRE(at.jobs[0].end == -ENOSPC || at.jobs[0].end == -EALREADY);
    expect(0, 5 * MS);
    explore_sleep_ns(20 * MS);
    REQUIRE(at.jobs[0].deliveries == 1);
    close_journal();
}

/* ---- the power is cut at any step */

static void play_cut(void) {
    open_journal(NULL);
    pthread_t other = scene_start(put_1), power = scene_start(cut_power);
    REQUIRE(put(0, MS) == 0);
    REQUIRE(end(0) == 0);
    scene_join(other);
    scene_join(power);
    judge_cut();
}

static void play_cut_change(void) {
    open_journal(NULL);
    REQUIRE(put(0, MS) == 0);
    pthread_t power = scene_start(cut_power);
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    job.deadline_ns = wall_ns() + MS;
    job.payload = payloads[1];
    job.payload_size = SIZE;
    change.jobs = &job;
    change.job_count = 1;
    change.done = &at.jobs[0].id;
    change.done_count = 1;
    atomic_store(&at.jobs[0].is_ending, true);
    REQUIRE(htw_journal_apply(at.journal, &change) == 0);
    atomic_store(&at.jobs[0].has_ended, true);
    scene_join(power);
    unsigned ended = cut.ended;
    stop_journal();
    open_again();
    REQUIRE(at.jobs[0].deliveries + at.jobs[1].deliveries == 1);
    REQUIRE((ended & 1) == 0 || at.jobs[1].deliveries == 1);
    close_journal();
}

/* The log is copied into the file after each change. */
static void copy_often(struct htw_journal_options *options) {
    (void)options;
    htw__log_checkpoint_pages = 1;
}

static void play_checkpoint(void) {
    open_journal(copy_often);
    pthread_t other = scene_start(put_1), power = scene_start(cut_power);
    REQUIRE(put(0, MS) == 0);
    REQUIRE(put(2, MS) == 0);
    scene_join(other);
    scene_join(power);
    explore_sleep_ns(20 * MS);
    REQUIRE(at.journal->checkpoints > 0);
    judge_cut();
}

const struct scene journal_scenes[] = {
    { "puts", "two puts are durable when they are answered, and both jobs are delivered", play_puts,
      1, 2 },
    { "puts-of-a-key", "one of two jobs of a key is left, the later one", play_key, 1, 2 },
    { "put-earlier", "a job that is due before all others is delivered in time", play_earlier, 1,
      2 },
    { "put-far", "a job that is held in the file is delivered in time", play_far, 1, 2 },
    { "end", "a job that ends while it is delivered does not come again", play_end, 1, 2 },
    { "end-inside", "a job may end in its delivery", play_end_inside, 1, 2 },
    { "cancel-job", "a cancel and a delivery agree who comes first", play_cancel, 1, 2 },
    { "end-and-cancel", "one of an end and a cancel ends a job", play_end_and_cancel, 1, 2 },
    { "in-flight", "a job waits until one that is in flight ends", play_in_flight, 1, 2 },
    { "memory", "jobs that memory has no room for are delivered, too", play_memory, 1, 2 },
    { "sync", "all is durable, and all notices were given, when a sync returns", play_sync, 1, 2 },
    { "put-later", "a change that nobody waits for is made", play_later, 1, 2 },
    { "close-journal", "what was accepted is durable before a close returns", play_close, 1, 2 },
    { "close-delivery", "no delivery runs when a close returns", play_close_delivery, 1, 2 },
    { "sync-fails", "a journal whose sync has failed stops, and loses nothing", play_sync_fails, 1,
      2 },
    { "full", "a put that lacks space has not happened, and the next one is made", play_full, 1,
      2 },
    { "end-full", "an end that lacks space may be made again", play_end_on_full_disk, 1, 2 },
    { "cancel-full", "a job whose cancel lacks space is delivered", play_cancel_on_full_disk, 1,
      2 },
    { "cut", "a power cut loses nothing that was answered", play_cut, 1, 2 },
    { "cut-change", "a power cut leaves all of a change, or nothing", play_cut_change, 1, 2 },
    { "checkpoint", "the same while the log is copied", play_checkpoint, 1, 2 },
    { NULL, NULL, NULL, 0, 0 },
};
