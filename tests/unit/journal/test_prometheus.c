/* SPDX-License-Identifier: MIT */
/* test_prometheus.c - the text for Prometheus, of a journal. */
#include "../../support/prometheus_text.h"
#include "journal_fixture.h"

static void assert_value(const char *name, uint64_t value) {
    assert_int_equal(prometheus_text_value(name), value);
}

static void assert_agrees(struct journal_fixture *f) {
    struct htw_journal_stats stats = journal_stats(f);
    assert_int_equal(htw_journal_prometheus(f->journal, prometheus_text_begin()), 0);
    prometheus_text_end();
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        { "htw_journal_found", stats.found },
        { "htw_journal_put_total", stats.put },
        { "htw_journal_done_total", stats.done },
        { "htw_journal_cancelled_total", stats.cancelled },
        { "htw_journal_replaced_total", stats.replaced },
        { "htw_journal_delivered_total", stats.delivered },
        { "htw_journal_refused_total", stats.refused },
        { "htw_journal_failed_total", stats.failed },
        { "htw_journal_commits_total", stats.commits },
        { "htw_journal_checkpoints_total", stats.checkpoints },
        { "htw_journal_jobs", stats.jobs },
        { "htw_journal_in_flight", stats.in_flight },
        { "htw_journal_in_memory", stats.in_memory },
        { "htw_journal_queued", stats.queued },
        { "htw_journal_memory_bytes", stats.memory_bytes },
        { "htw_journal_log_bytes", stats.log_bytes },
        { "htw_journal_delayed", stats.delayed },
        { "htw_journal_ready", stats.ready },
        { "htw_journal_leased", stats.leased },
        { "htw_journal_buried", stats.buried },
        { "htw_journal_queues", stats.queues },
        { "htw_journal_requests", stats.requests },
        { "htw_journal_stopped", stats.stopped },
        { "htw_journal_oldest_seconds", stats.oldest_ns / HTW_SECOND },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_value(rows[i].name, rows[i].value);
    prometheus_text_assert_histogram("htw_journal_commit_seconds", &stats.commit);
    prometheus_text_assert_histogram("htw_journal_durable_seconds", &stats.durable);
    prometheus_text_assert_histogram("htw_journal_lateness_seconds", &stats.lateness);
    assert_int_equal(prometheus_text_count(), 27);
}

/* Each number differs from the others of its kind where it can. */
JOURNAL_TEST(journal_prometheus_after_some_life_agrees_with_the_stats) {
    journal_open(f);
    journal_put(f, HTW_DAY, "found");
    journal_close(f);
    f->keeps = true;
    f->options.max_jobs = 9;
    f->options.max_in_flight = 5;
    journal_open(f);
    for (int i = 0; i < 6; i++)
        journal_put(f, HTW_SECOND, "due");
    journal_advance_to(f, 3 * HTW_SECOND);
    assert_int_equal(f->seen_count, 5);
    assert_int_equal(htw_journal_done(f->journal, f->seen[0].id), 0);
    assert_int_equal(htw_journal_done(f->journal, f->seen[1].id), 0);
    for (int i = 0; i < 2; i++)
        journal_put_struct(f, JOB(.deadline_ns = START_NS + HTW_HOUR, KEY("key")));
    assert_int_equal(htw_journal_cancel(f->journal, journal_put(f, HTW_HOUR, "c")), 0);
    while (journal_stats(f).jobs < 9)
        journal_put(f, HTW_MINUTE, "more");
    assert_int_equal(htw_journal_put(f->journal, START_NS, "x", 1, NULL), -EAGAIN);
    journal_advance_to(f, 3 * HTW_SECOND); /* nothing goes on meanwhile */
    assert_agrees(f);
    assert_value("htw_journal_found", 1);
    assert_value("htw_journal_done_total", 2);
    assert_value("htw_journal_cancelled_total", 1);
    assert_value("htw_journal_replaced_total", 1);
    assert_value("htw_journal_refused_total", 1);
    assert_value("htw_journal_delivered_total", 6);
    assert_value("htw_journal_in_flight", 4);
    assert_value("htw_journal_jobs", 9);
    for (size_t i = 2; i < f->seen_count; i++)
        assert_int_equal(htw_journal_done(f->journal, f->seen[i].id), 0);
}

JOURNAL_TEST(journal_prometheus_given_wrongly_is_refused) {
    journal_open(f);
    assert_int_equal(htw_journal_prometheus(NULL, stdout), -EINVAL);
    assert_int_equal(htw_journal_prometheus(f->journal, NULL), -EINVAL);
}
