/* SPDX-License-Identifier: MIT */
/* journal_case.c - a journal whose deliveries and answers are judged. */
#include "journal_case.h"

#include "scene_disk.h"

#include <string.h>

#define PAGES 4096 /* after which the log is copied: never */

struct scene_journal journal_scene;
struct scene_cut scene_cut;

const char scene_payloads[SCENE_JOBS][SCENE_SIZE + 1] = { "<job 0!>", "<job 1!>", "<job 2!>",
                                                          "<job 3!>" };

int64_t scene_wall_ns(void) {
    return htw_scheduler_now_by(scene.scheduler, HTW_CLOCK_REALTIME);
}

unsigned scene_number_of(const struct htw_delivery *delivery) {
    unsigned number = 0;
    while (number < SCENE_JOBS &&
           memcmp(delivery->payload, scene_payloads[number], SCENE_SIZE) != 0)
        number++;
    REQUIRE(number < SCENE_JOBS && delivery->payload_size == SCENE_SIZE);
    return number;
}

static void deliver(void *context, const struct htw_delivery *delivery) {
    unsigned number = scene_number_of(delivery);
    struct one *one = &journal_scene.jobs[number];
    REQUIRE(journal_scene.inside++ ==
            0); /* one at a time; what is counted here would race otherwise */
    REQUIRE(!journal_scene.is_closed);
    REQUIRE(delivery->late_ns >= 0 && delivery->deadline_ns <= scene_wall_ns());
    REQUIRE(disk_is_durable(scene_payloads[number], SCENE_SIZE));
    REQUIRE(one->deliveries++ == 0);
    one->was_delivered = true;
    atomic_fetch_add(&journal_scene.stage, 1);
    if (journal_scene.more != NULL)
        journal_scene.more(context, delivery);
    REQUIRE(scene_number_of(delivery) == number); /* it is still there */
    journal_scene.inside--;
}

static void note_stop(void *context, const char *why) {
    (void)context;
    REQUIRE(strstr(why, "stopped") != NULL);
    journal_scene.stops++;
}

static void scene_start_journal(void (*change)(struct htw_journal_options *)) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = deliver;
    options.stopped = note_stop;
    options.allocator = &explore_allocator;
    if (change != NULL)
        change(&options);
    journal_scene.is_closed = false;
    REQUIRE(htw_journal_open(&journal_scene.journal, scene.scheduler, DISK_PATH, &options) == 0);
}

void scene_open_journal(void (*change)(struct htw_journal_options *)) {
    memset(&journal_scene, 0, sizeof(journal_scene));
    memset(&scene_cut, 0, sizeof(scene_cut));
    htw__log_checkpoint_pages = PAGES;
    scene_reset_disk();
    scene_open(1, 0, NULL);
    scene_start_journal(change);
}

void scene_stop_journal(void) {
    REQUIRE(htw_journal_close(journal_scene.journal) == 0);
    REQUIRE(journal_scene.inside == 0);
    journal_scene.is_closed = true;
}

/* Not htw_journal_get_stats(), which reads each word of three histograms. */
void scene_require_counts(uint64_t put_count, uint64_t ended) {
    struct htw_journal *journal = journal_scene.journal;
    htw__mutex_lock(&journal->mutex);
    REQUIRE(journal->stats.put == put_count && journal->queued == 0);
    REQUIRE(journal->stats.done + journal->stats.cancelled + journal->stats.replaced == ended);
    REQUIRE(journal->stats.found + put_count == journal->stats.jobs + ended);
    htw__mutex_unlock(&journal->mutex);
}

/* ---- changes, whose answers are noted */

int scene_put(unsigned number, int64_t delay_ns) {
    struct one *one = &journal_scene.jobs[number];
    one->put = htw_journal_put(journal_scene.journal, scene_wall_ns() + delay_ns,
                               scene_payloads[number], SCENE_SIZE, &one->id);
    if (one->put == 0) {
        REQUIRE(disk_is_durable(scene_payloads[number], SCENE_SIZE));
        atomic_store(&one->is_put, true);
    }
    return one->put;
}

int scene_end(unsigned number) {
    struct one *one = &journal_scene.jobs[number];
    atomic_store(&one->is_ending, true);
    one->end = htw_journal_done(journal_scene.journal, one->id);
    if (one->end == 0)
        atomic_store(&one->has_ended, true);
    return one->end;
}

void scene_expect(unsigned number, int64_t delay_ns) {
    explore_expect(&journal_scene.jobs[number].was_delivered, explore_now_ns() + delay_ns + MS);
}

void scene_note_durable(void *arg, int result) {
    REQUIRE(result == 0);
    REQUIRE(journal_scene.last_notice < (int)(uintptr_t)arg); /* in the order of the calls */
    journal_scene.last_notice = (int)(uintptr_t)arg;
    journal_scene.notices++;
}

void scene_put_later(unsigned number, int64_t delay_ns) {
    REQUIRE(htw_journal_put_later(journal_scene.journal, scene_wall_ns() + delay_ns,
                                  scene_payloads[number], SCENE_SIZE, scene_note_durable,
                                  (void *)(uintptr_t)(number + 1),
                                  &journal_scene.jobs[number].id) == 0);
}

/* ---- the same in threads */

void scene_put_1(void) {
    REQUIRE(scene_put(1, MS) == 0);
}

void scene_end_0(void) {
    REQUIRE(scene_end(0) == 0);
}

void scene_cancel_0(void) {
    struct one *one = &journal_scene.jobs[0];
    atomic_store(&one->is_ending, true);
    one->end = htw_journal_cancel(journal_scene.journal, one->id);
    atomic_store(&one->has_ended, one->end == 0);
}

/* ---- a power cut, and what must be there after it */

static unsigned set_of(size_t offset) {
    unsigned set = 0;
    for (unsigned i = 0; i < SCENE_JOBS; i++)
        set |= (unsigned)atomic_load((_Atomic bool *)((char *)&journal_scene.jobs[i] + offset))
               << i;
    return set;
}

/* What was answered before is noted first, and what was begun after it. */
void scene_cut_power(void) {
    scene_cut.put = set_of(offsetof(struct one, is_put));
    scene_cut.ended = set_of(offsetof(struct one, has_ended));
    scene_freeze_disk();
    scene_cut.ending = set_of(offsetof(struct one, is_ending));
}

/* Opens the journal that the power cut has left. */
void scene_open_again(void) {
    for (unsigned i = 0; i < SCENE_JOBS; i++)
        journal_scene.jobs[i].deliveries = 0;
    journal_scene.more = NULL;
    scene_restore_disk();
    scene_start_journal(NULL);
    explore_sleep_ns(100 * MS);
}

void scene_judge_cut(void) {
    scene_stop_journal();
    scene_open_again();
    for (unsigned i = 0; i < SCENE_JOBS; i++) {
        if ((scene_cut.put & ~scene_cut.ending) >> i & 1)
            REQUIRE(journal_scene.jobs[i].deliveries == 1);
        if (scene_cut.ended >> i & 1)
            REQUIRE(journal_scene.jobs[i].deliveries == 0);
    }
    scene_stop_journal();
}

void scene_judge_end(void) {
    scene_join();
    scene_cut_power();
    explore_sleep_ns(20 * MS);
    REQUIRE(journal_scene.jobs[0].deliveries <= 1);
    scene_require_counts(1, 1);
    scene_judge_cut();
}
