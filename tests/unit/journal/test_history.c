/* SPDX-License-Identifier: MIT */
/* test_history.c - jobs that are done and stay for a time. */
/* holds: journal-10d */
#include "journal_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void open_with(struct journal_fixture *f, int64_t history_ns) {
    f->options.history_ns = history_ns;
    journal_open(f);
}

/* With its text as the key. */
static uint64_t put(struct journal_fixture *f, const char *queue, const char *text) {
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    job.queue = queue;
    job.payload = job.key = text;
    job.payload_size = job.key_size = strlen(text);
    change.jobs = &job;
    change.job_count = 1;
    assert_int_equal(htw_journal_apply(f->journal, &change), 0);
    return job.id;
}

static uint64_t done_in(struct journal_fixture *f, const char *queue) {
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    int error = htw_journal_get_queue(f->journal, queue, &stats);
    assert_true(error == 0 || error == -ENOENT);
    assert_int_equal(stats.delayed + stats.ready + stats.leased + stats.buried, 0);
    return stats.done;
}

static struct htw_job_info seen_info;

static bool see(void *context, const struct htw_job_info *info) {
    char *text = context;
    seen_info = *info;
    sprintf(text + strlen(text), "%.*s", (int)info->payload_size, (const char *)info->payload);
    return true;
}

static const char *listed(struct journal_fixture *f, const char *queue, uint32_t page) {
    static char text[256];
    struct htw_list_place place = { { 0 } };
    int count;
    text[0] = '\0';
    do {
        count = htw_journal_list(f->journal, queue, HTW_JOB_DONE, &place, page, see, text);
        assert_true(count >= 0);
    } while (count == (int)page);
    return text;
}

static void leased(void *arg, int result, const struct htw_delivery *delivery) {
    (void)delivery;
    *(int *)arg = result;
}

static int lease(struct journal_fixture *f, uint64_t id) {
    struct htw_lease wanted = HTW_LEASE_INIT;
    int result = 1;
    wanted.id = id;
    int answer = htw_journal_lease(f->journal, &wanted, leased, &result);
    assert_int_equal(answer, result);
    return answer;
}

static int end(struct journal_fixture *f, uint64_t id, uint32_t attempt) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = id;
    update.attempt = attempt;
    return htw_journal_update(f->journal, &update);
}

JOURNAL_TEST(history_has_all_ways_of_done_with_attempts_and_the_time_of_the_end) {
    char text[64] = "";
    open_with(f, HTW_HOUR);
    uint64_t ids[] = { put(f, "q", "a"), put(f, "q", "b"), put(f, "q", "c"), put(f, "q", "d"),
                       put(f, "q", "e") };
    assert_int_equal(lease(f, ids[0]), 0);
    assert_int_equal(lease(f, ids[1]), 0);
    journal_advance_to(f, 10 * HTW_SECOND);
    assert_int_equal(end(f, ids[0], 1), 0);
    journal_advance_to(f, 90 * HTW_SECOND);
    assert_int_equal(htw_journal_done(f->journal, ids[1]), 0);
    assert_int_equal(end(f, ids[2], 0), 0);
    assert_int_equal(htw_journal_cancel(f->journal, ids[3]), 0);
    uint64_t replacing = put(f, "q", "e");
    assert_int_equal(htw_journal_done(f->journal, replacing), 0);
    assert_string_equal(listed(f, "q", 1), "abce");
    assert_string_equal(listed(f, "q", 100), "abce");
    assert_int_equal(done_in(f, "q"), 4);
    assert_int_equal(htw_journal_peek(f->journal, ids[0], see, text), 0);
    assert_int_equal(seen_info.state, HTW_JOB_DONE);
    assert_int_equal(seen_info.attempts, 1);
    assert_int_equal(seen_info.deadline_ns, START_NS + 10 * HTW_SECOND);
    assert_int_equal(htw_journal_peek(f->journal, ids[4], see, text), -ENOENT);
    const struct htw_journal_stats stats = journal_stats(f);
    assert_int_equal(stats.found + stats.put,
                     stats.jobs + stats.done + stats.cancelled + stats.replaced);
    assert_int_equal(stats.jobs, 0);
}

JOURNAL_TEST(history_counts_the_delivery_of_a_mere_delay_as_an_attempt) {
    char text[64] = "";
    f->keeps = true;
    open_with(f, HTW_HOUR);
    uint64_t id = journal_put(f, HTW_SECOND, "a");
    journal_advance_to(f, HTW_SECOND);
    assert_int_equal(htw_journal_done(f->journal, id), 0);
    assert_int_equal(htw_journal_peek(f->journal, id, see, text), 0);
    assert_int_equal(seen_info.attempts, 1);
    assert_null(seen_info.queue);
    assert_int_equal(done_in(f, NULL), 1);
}

JOURNAL_TEST(history_stays_while_there_is_no_scheduler) {
    open_with(f, HTW_HOUR);
    assert_int_equal(htw_journal_done(f->journal, put(f, "q", "a")), 0);
    journal_close(f);
    struct htw_scheduler *scheduler = f->scheduler;
    f->scheduler = NULL;
    f->options.deliver = NULL;
    open_with(f, 0);
    assert_int_equal(htw_journal_done(f->journal, put(f, "q", "b")), 0);
    assert_string_equal(listed(f, "q", 9), "a");
    journal_close(f);
    f->scheduler = scheduler;
}

JOURNAL_TEST(history_of_negative_length_is_refused) {
    f->options.history_ns = -1;
    assert_int_equal(journal_try_open(f), -EINVAL);
    assert_string_equal(htw_journal_options_invalid(&f->options), "history_ns");
}
