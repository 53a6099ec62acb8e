/* SPDX-License-Identifier: MIT */
/* journal_disk_scenes.c - what a journal promises to threads where its disk fails, is full, or loses power. */
#include "scene_disk.h"
#include "journal_case.h"

/* ---- a disk that fails */

static void try_put_1(void) {
    (void)scene_put(1, MS);
}

static bool has_failed(const struct one *one) {
    REQUIRE(one->put == 0 || one->put == -EIO);
    return one->put != 0;
}

static void play_sync_fails(void) {
    scene_open_journal(NULL);
    scene_damage_sync(1);
    scene_start(1, try_put_1);
    (void)scene_put(0, MS);
    scene_join();
    bool failed = has_failed(&journal_scene.jobs[0]) || has_failed(&journal_scene.jobs[1]);
    REQUIRE(failed == scene_disk_has_failed());
    scene_cut_power();
    REQUIRE(scene_put(2, MS) == -EIO || !failed);
    explore_sleep_ns(20 * MS);
    REQUIRE(journal_scene.stops == (failed || journal_scene.jobs[2].put != 0));
    scene_judge_cut();
}

/* A change that lacks space has not happened, also after a power cut; and the next one is made. */
static void put_1_on_full_disk(void) {
    int result = scene_put(1, MS);
    REQUIRE(result == 0 || result == -ENOSPC);
    scene_empty_disk();
    REQUIRE(result == 0 || scene_put(1, MS) == 0);
}

static void play_full(void) {
    scene_open_journal(NULL);
    scene_fill_disk(1);
    scene_start(1, put_1_on_full_disk);
    (void)scene_put(0, MS);
    REQUIRE(journal_scene.jobs[0].put == 0 || journal_scene.jobs[0].put == -ENOSPC);
    scene_join();
    unsigned count = journal_scene.jobs[0].put == 0;
    explore_sleep_ns(20 * MS);
    REQUIRE(scene_disk_has_failed() && journal_scene.stops == 0);
    REQUIRE(journal_scene.jobs[0].deliveries == count && journal_scene.jobs[1].deliveries == 1);
    scene_require_counts(1 + count, 0);
    scene_cut_power();
    scene_stop_journal();
    scene_open_again();
    REQUIRE(journal_scene.jobs[0].deliveries == count && journal_scene.jobs[1].deliveries == 1);
    scene_stop_journal();
}

static void end_0_on_full_disk(void) {
    REQUIRE(scene_end(0) == -ENOSPC);
    scene_empty_disk();
    REQUIRE(scene_end(0) == 0);
}

static void play_end_on_full_disk(void) {
    scene_open_journal(NULL);
    REQUIRE(scene_put(0, 0) == 0);
    scene_fill_disk(0);
    scene_start(1, end_0_on_full_disk);
    scene_judge_end();
}

static void play_cancel_on_full_disk(void) {
    scene_open_journal(NULL);
    REQUIRE(scene_put(0, 5 * MS) == 0);
    scene_fill_disk(0);
    scene_start(1, scene_cancel_0);
    scene_join();
    REQUIRE(journal_scene.jobs[0].end == -ENOSPC || journal_scene.jobs[0].end == -EALREADY);
    explore_sleep_ns(20 * MS);
    REQUIRE(journal_scene.jobs[0].deliveries == 1);
    scene_empty_disk();
    scene_stop_journal();
}

/* ---- the power is cut at any step */

static void play_cut(void) {
    scene_open_journal(NULL);
    scene_start(1, scene_put_1);
    scene_start(0, scene_cut_power);
    REQUIRE(scene_put(0, MS) == 0);
    REQUIRE(scene_end(0) == 0);
    scene_join();
    scene_judge_cut();
}

static void play_cut_change(void) {
    scene_open_journal(NULL);
    REQUIRE(scene_put(0, MS) == 0);
    scene_start(0, scene_cut_power);
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    job.deadline_ns = scene_wall_ns() + MS;
    job.payload = scene_payloads[1];
    job.payload_size = SCENE_SIZE;
    change.jobs = &job;
    change.job_count = 1;
    change.done = &journal_scene.jobs[0].id;
    change.done_count = 1;
    atomic_store(&journal_scene.jobs[0].is_ending, true);
    REQUIRE(htw_journal_apply(journal_scene.journal, &change) == 0);
    atomic_store(&journal_scene.jobs[0].has_ended, true);
    scene_join();
    unsigned ended = scene_cut.ended;
    scene_stop_journal();
    scene_open_again();
    REQUIRE(journal_scene.jobs[0].deliveries + journal_scene.jobs[1].deliveries == 1);
    REQUIRE((ended & 1) == 0 || journal_scene.jobs[1].deliveries == 1);
    scene_stop_journal();
}

/* The log is copied into the file after each change. */
static void copy_often(struct htw_journal_options *options) {
    (void)options;
    htw__log_checkpoint_pages = 1;
}

static void play_checkpoint(void) {
    scene_open_journal(copy_often);
    scene_start(1, scene_put_1);
    scene_start(0, scene_cut_power);
    REQUIRE(scene_put(0, MS) == 0);
    REQUIRE(scene_put(2, MS) == 0);
    scene_join();
    explore_sleep_ns(20 * MS);
    REQUIRE(journal_scene.journal->stats.checkpoints > 0);
    scene_judge_cut();
}

const struct scene journal_disk_scenes[] = {
    { "sync-fails", "a journal whose sync has failed stops, and loses nothing", play_sync_fails, 1,
      2, 0 },
    { "full", "a put that lacks space has not happened, and the next one is made", play_full, 1, 2,
      0 },
    { "end-full", "an end that lacks space may be made again", play_end_on_full_disk, 1, 2, 0 },
    { "cancel-full", "a job whose cancel lacks space is delivered", play_cancel_on_full_disk, 1, 2,
      0 },
    { "cut", "a power cut loses nothing that was answered", play_cut, 1, 2, 0 },
    { "cut-change", "a power cut leaves all of a change, or nothing", play_cut_change, 1, 2, 0 },
    { "checkpoint", "the same while the log is copied", play_checkpoint, 0, 2, 0 },
    { .name = NULL },
};
