/* SPDX-License-Identifier: MIT */
/* journal_scenes.c - what a journal promises to threads that use it at the same time. */
/* holds: journal-2, journal-10b, journal-10f */
#include "scene_disk.h"
#include "journal_case.h"

/* ---- puts */

static void put_0(void) {
    REQUIRE(scene_put(0, MS) == 0);
}

static void play_puts(void) {
    scene_open_journal(NULL);
    scene_start(0, put_0);
    scene_start(1, scene_put_1);
    scene_join();
    scene_expect(0, MS);
    scene_join();
    scene_expect(1, MS);
    explore_sleep_ns(20 * MS);
    REQUIRE(journal_scene.jobs[0].deliveries == 1 && journal_scene.jobs[1].deliveries == 1);
    scene_require_counts(2, 0);
    scene_stop_journal();
}

static void put_under_key(unsigned number) {
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    job.deadline_ns = scene_wall_ns() + 5 * MS;
    job.payload = scene_payloads[number];
    job.payload_size = SCENE_SIZE;
    job.key = "key";
    job.key_size = 3;
    change.jobs = &job;
    change.job_count = 1;
    REQUIRE(htw_journal_apply(journal_scene.journal, &change) == 0);
    journal_scene.jobs[number].id = job.id;
}

static void put_1_under_key(void) {
    put_under_key(1);
}

static void play_key(void) {
    scene_open_journal(NULL);
    scene_start(1, put_1_under_key);
    put_under_key(0);
    scene_join();
    unsigned last = journal_scene.jobs[0].id < journal_scene.jobs[1].id;
    htw__mutex_lock(&journal_scene.journal->mutex); /* the later one may not have been read yet */
    REQUIRE(htw__jobs_waiting(&journal_scene.journal->jobs) +
                journal_scene.journal->jobs.in_flight <=
            1);
    htw__mutex_unlock(&journal_scene.journal->mutex);
    scene_expect(last, 5 * MS);
    explore_sleep_ns(20 * MS);
    REQUIRE(journal_scene.jobs[last].deliveries == 1);
    scene_require_counts(2, 1);
    scene_stop_journal();
}

/* An early job behind a later one, for which the timer is set. */
static void put_1_late(void) {
    REQUIRE(scene_put(1, 50 * MS) == 0);
}

static void play_earlier(void) {
    scene_open_journal(NULL);
    REQUIRE(scene_put(2, 80 * MS) == 0);
    explore_sleep_ns(MS); /* it is read, and the timer is set */
    scene_start(1, put_1_late);
    REQUIRE(scene_put(0, 5 * MS) == 0);
    scene_expect(0, 5 * MS);
    scene_join();
    explore_sleep_ns(200 * MS);
    REQUIRE(journal_scene.jobs[0].deliveries == 1 && journal_scene.jobs[1].deliveries == 1 &&
            journal_scene.jobs[2].deliveries == 1);
    scene_stop_journal();
}

static void hold_little(struct htw_journal_options *options) {
    options->near_ns = HTW_SECOND;
}

/* It is left in the file until its minute is near. */
static void play_far(void) {
    scene_open_journal(hold_little);
    scene_start(1, scene_put_1);
    REQUIRE(scene_put(0, 3 * HTW_MINUTE) == 0);
    explore_expect(&journal_scene.jobs[0].was_delivered, explore_now_ns() + 3 * HTW_MINUTE + MS);
    scene_join();
    explore_sleep_ns(4 * HTW_MINUTE);
    REQUIRE(journal_scene.jobs[0].deliveries == 1 && journal_scene.jobs[1].deliveries == 1);
    scene_stop_journal();
}

static void set_back(void) {
    explore_set_wall_ns(scene_wall_ns() - 10 * MS);
}

/* The alarm of an overdue job is set for now; it must not stay there when now becomes earlier. */
static void play_set_back(void) {
    scene_open_journal(NULL);
    scene_start(1, set_back);
    REQUIRE(scene_put(0, -20 * MS) == 0);
    scene_join();
    REQUIRE(scene_put(1, 0) == 0);
    scene_expect(0, MS);
    scene_expect(1, MS);
    explore_sleep_ns(20 * MS);
    REQUIRE(journal_scene.jobs[0].deliveries == 1 && journal_scene.jobs[1].deliveries == 1);
    scene_stop_journal();
}

/* ---- ends */

static void play_end(void) {
    scene_open_journal(NULL);
    REQUIRE(scene_put(0, 0) == 0);
    scene_start(1, scene_end_0);
    scene_judge_end();
}

static void end_it(void *context, const struct htw_delivery *delivery) {
    (void)context;
    REQUIRE(scene_end(scene_number_of(delivery)) == 0);
}

static void play_end_inside(void) {
    scene_open_journal(NULL);
    journal_scene.more = end_it;
    scene_start(1, scene_put_1);
    REQUIRE(scene_put(0, 0) == 0);
    scene_expect(0, 0);
    scene_join();
    scene_expect(1, MS);
    explore_sleep_ns(20 * MS);
    scene_cut_power();
    REQUIRE(journal_scene.jobs[0].deliveries == 1 && journal_scene.jobs[1].deliveries == 1);
    scene_require_counts(2, 2);
    scene_judge_cut();
}

static void play_cancel(void) {
    scene_open_journal(NULL);
    REQUIRE(scene_put(0, 0) == 0);
    scene_start(1, scene_cancel_0);
    scene_join();
    explore_sleep_ns(20 * MS);
    REQUIRE(journal_scene.jobs[0].end == 0 || journal_scene.jobs[0].end == -EALREADY);
    REQUIRE(journal_scene.jobs[0].deliveries == (journal_scene.jobs[0].end == 0 ? 0 : 1));
    scene_require_counts(1, journal_scene.jobs[0].end == 0);
    scene_stop_journal();
}

/* Of a job that is in the file alone, which no state in memory refuses, beside others. */
static void play_end_and_cancel(void) {
    scene_open_journal(hold_little);
    for (unsigned i = 0; i < 3; i++)
        REQUIRE(scene_put(i, 3 * HTW_MINUTE) == 0);
    scene_start(1, scene_cancel_0);
    int result = htw_journal_done(journal_scene.journal, journal_scene.jobs[0].id);
    scene_join();
    REQUIRE(result == 0 ? journal_scene.jobs[0].end == -ENOENT
                        : result == -ENOENT && journal_scene.jobs[0].end == 0);
    scene_require_counts(3, 1);
    scene_stop_journal();
}

/* ---- at most one in flight, or little memory */

static void hold_one(struct htw_journal_options *options) {
    options->max_in_flight = 1;
}

static void require_end_of_other(void *context, const struct htw_delivery *delivery) {
    (void)context;
    unsigned other = 1 - scene_number_of(delivery);
    REQUIRE(!journal_scene.jobs[other].was_delivered ||
            atomic_load(&journal_scene.jobs[other].is_ending));
}

static void play_in_flight(void) {
    scene_open_journal(hold_one);
    journal_scene.more = require_end_of_other;
    REQUIRE(scene_put(0, 0) == 0);
    REQUIRE(scene_put(1, MS) == 0);
    scene_expect(0, 0);
    explore_sleep_ns(5 * MS);
    REQUIRE(journal_scene.jobs[0].deliveries == 1 && journal_scene.jobs[1].deliveries == 0);
    scene_start(1, scene_end_0);
    scene_expect(1, 0);
    scene_join();
    explore_sleep_ns(20 * MS);
    REQUIRE(journal_scene.jobs[1].deliveries == 1);
    scene_stop_journal();
}

static void remember_little(struct htw_journal_options *options) {
    options->max_memory =
        4 * (sizeof(struct htw__job) + SCENE_SIZE); /* half of it: two jobs that wait */
}

static void put_in_time(unsigned number, int64_t delay_ns) {
    for (unsigned tries = 0; tries < 5 && scene_put(number, delay_ns) == -EAGAIN; tries++)
        explore_sleep_ns(MS);
    REQUIRE(journal_scene.jobs[number].put == 0);
}

static void put_3_and_1(void) {
    put_in_time(3, 13 * MS);
    put_in_time(1, 11 * MS);
}

static void play_memory(void) {
    scene_open_journal(remember_little);
    scene_start(1, put_3_and_1);
    put_in_time(2, 12 * MS);
    put_in_time(0, 10 * MS);
    scene_join();
    htw__mutex_lock(&journal_scene.journal->mutex);
    REQUIRE(journal_scene.journal->jobs.waiting_bytes <= 2 * journal_scene.journal->waiting_max);
    htw__mutex_unlock(&journal_scene.journal->mutex);
    explore_sleep_ns(100 * MS);
    for (unsigned i = 0; i < SCENE_JOBS; i++)
        REQUIRE(journal_scene.jobs[i].deliveries == 1);
    scene_require_counts(4, 0);
    scene_stop_journal();
}

/* ---- notices, and the end of a journal */

static void put_1_later(void) {
    scene_put_later(0, MS);
    scene_put_later(1, MS);
}

static void play_sync(void) {
    static bool has_returned;
    has_returned = false;
    scene_open_journal(NULL);
    scene_start(1, put_1_later);
    scene_join();
    explore_expect(&has_returned, explore_now_ns() + MS); /* it does not wait for more changes */
    REQUIRE(htw_journal_sync(journal_scene.journal) == 0);
    has_returned = true;
    REQUIRE(journal_scene.notices == 2);
    REQUIRE(disk_is_durable(scene_payloads[0], SCENE_SIZE) &&
            disk_is_durable(scene_payloads[1], SCENE_SIZE));
    explore_sleep_ns(20 * MS);
    REQUIRE(journal_scene.jobs[0].deliveries == 1 && journal_scene.jobs[1].deliveries == 1);
    scene_stop_journal();
}

/* Changes that wait for others are written without a call that waits. */
static void play_later(void) {
    scene_open_journal(NULL);
    scene_start(1, scene_put_1);
    scene_put_later(0, MS);
    scene_expect(0, 3 * MS);
    scene_join();
    explore_sleep_ns(20 * MS);
    REQUIRE(journal_scene.notices == 1 && journal_scene.jobs[0].deliveries == 1 &&
            journal_scene.jobs[1].deliveries == 1);
    scene_stop_journal();
}

/* Its calls do not wake the writer: it writes the changes itself, or leaves them to a thread that uses the file. */
static void play_process(void) {
    scene_open_journal(NULL);
    REQUIRE(htw_journal_process(journal_scene.journal, HTW_NEVER_NS) == 0);
    scene_start(1, scene_put_1);
    scene_put_later(0, MS);
    REQUIRE(htw_journal_process(journal_scene.journal, HTW_NEVER_NS) == 0);
    scene_expect(0, MS);
    scene_join();
    scene_expect(1, MS);
    explore_sleep_ns(20 * MS);
    scene_put_later(2, MS);
    REQUIRE(scene_put(3, MS) == 0); /* not by its own commit, since another change waits */
    explore_sleep_ns(20 * MS);
    REQUIRE(journal_scene.notices == 2);
    for (unsigned i = 0; i < SCENE_JOBS; i++)
        REQUIRE(journal_scene.jobs[i].deliveries == 1);
    scene_require_counts(4, 0);
    scene_stop_journal();
}

static void play_close(void) {
    scene_open_journal(NULL);
    scene_put_later(0, 0);
    scene_put_later(1, 0);
    scene_stop_journal();
    REQUIRE(journal_scene.notices == 2);
    REQUIRE(disk_is_durable(scene_payloads[0], SCENE_SIZE) &&
            disk_is_durable(scene_payloads[1], SCENE_SIZE));
}

/* It may be refused, or it is made before the journal is closed. */
static void end_later(void *context, const struct htw_delivery *delivery) {
    (void)context;
    int result = htw_journal_done_later(delivery->journal, delivery->id, scene_note_durable,
                                        (void *)(uintptr_t)(delivery->id % 8 + 1));
    REQUIRE(result == 0 || result == -ESHUTDOWN);
    journal_scene.stage += result == 0 ? 16 : 0;
}

static void stay_and_end_later(void *context, const struct htw_delivery *delivery) {
    explore_sleep_ns(4 * MS);
    end_later(context, delivery);
}

static void play_close_delivery(void) {
    scene_open_journal(NULL);
    journal_scene.more = stay_and_end_later;
    REQUIRE(scene_put(0, 0) == 0);
    explore_sleep_ns(2 * MS);
    scene_stop_journal();
    REQUIRE(journal_scene.notices == journal_scene.stage / 16);
}

const struct scene journal_scenes[] = {
    { "puts", "two puts are durable when they are answered, and both jobs are delivered", play_puts,
      1, 2, 0 },
    { "puts-of-a-key", "one of two jobs of a key is left, the later one", play_key, 1, 2, 0 },
    { "put-earlier", "a job that is due before all others is delivered in time", play_earlier, 1, 2,
      0 },
    { "put-far", "a job that is held in the file is delivered in time", play_far, 1, 2, 0 },
    { "set-back", "an overdue job is delivered, though the clock is set back before", play_set_back,
      0, 1, 0 },
    { "end", "a job that ends while it is delivered does not come again", play_end, 1, 2, 0 },
    { "end-inside", "a job may end in its delivery", play_end_inside, 1, 2, 0 },
    { "cancel-job", "a cancel and a delivery agree who comes first", play_cancel, 1, 2, 0 },
    { "end-and-cancel", "one of an end and a cancel ends a job", play_end_and_cancel, 1, 2, 0 },
    { "in-flight", "a job waits until one that is in flight ends", play_in_flight, 1, 2, 0 },
    { "memory", "jobs that memory has no room for are delivered, too", play_memory, 1, 2, 0 },
    { "sync", "all is durable, and all notices were given, when a sync returns", play_sync, 1, 2,
      0 },
    { "put-later", "a change that nobody waits for is made", play_later, 1, 2, 0 },
    { "process", "a thread of the program makes its changes, beside one that waits", play_process,
      1, 2, 0 },
    { "close-journal", "what was accepted is durable before a close returns", play_close, 1, 2, 0 },
    { "close-delivery", "no delivery runs when a close returns", play_close_delivery, 1, 2, 0 },
    { .name = NULL },
};
