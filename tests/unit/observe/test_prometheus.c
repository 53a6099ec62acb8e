/* SPDX-License-Identifier: MIT */
/* test_prometheus.c - the text for Prometheus, of a scheduler. */
#include "../../../src/observe/metrics.h"
#include "../../support/prometheus_text.h"
#include "../scheduler/scheduler_fixture.h"

#define DELAY_NS (10 * MS)

static void assert_value(const char *name, uint64_t value) {
    assert_int_equal(prometheus_text_value(name), value);
}

static void assert_agrees(struct scheduler_fixture *f) {
    struct htw_scheduler_stats stats = scheduler_stats(f);
    assert_int_equal(htw_scheduler_prometheus(f->scheduler, prometheus_text_begin()), 0);
    prometheus_text_end();
    assert_value("htw_scheduled_total", stats.scheduled);
    assert_value("htw_fired_total", stats.fired);
    assert_value("htw_cancelled_total", stats.cancelled);
    assert_value("htw_handed_back_total", stats.handed_back);
    assert_value("htw_runs_total", stats.runs);
    assert_value("htw_late_total", stats.late);
    assert_value("htw_missed_periods_total", stats.missed);
    assert_value("htw_refused_total", stats.refused);
    assert_value("htw_moved_total", stats.moved);
    assert_value("htw_demoted_total", stats.demoted);
    assert_value("htw_wakeups_total", stats.wakeups);
    assert_value("htw_empty_wakeups_total", stats.empty_wakeups);
    assert_value("htw_pending", stats.pending);
    assert_value("htw_running", stats.running);
    assert_value("htw_memory_bytes", stats.memory_bytes);
    prometheus_text_assert_histogram("htw_lateness_seconds", &stats.lateness);
    prometheus_text_assert_histogram("htw_callback_seconds", &stats.callback);
    assert_int_equal(prometheus_text_count(), 17);
}

#define NOT_IN_THIS_LIFE "htw_handed_back_total htw_refused_total htw_empty_wakeups_total"

LATER_TEST(prometheus_after_some_life_agrees_with_the_stats) {
    f->count = 500;
    scheduler_reopen(f);
    for (unsigned i = 0; i < 500; i++) {
        arm(f, i, (i + 1) * DELAY_NS);
    }
    for (unsigned i = 0; i < 500; i += 5)
        assert_int_equal(cancel(f, i), HTW_CANCELLED);
    reschedule(f, 1, HTW_SECOND);
    assert_int_equal(htw_schedule_every(f->scheduler, 0, DELAY_NS, HTW_REPEAT_SKIP, probe_run,
                                        &f->probes[0], NULL),
                     0);
    advance(f, 33 * DELAY_NS);
    htw_scheduler_set_clock(f->scheduler, HTW_CLOCK_DEFAULT, START_NS + 333 * DELAY_NS);
    assert_agrees(f);
    for (const struct htw__metric *metric = htw__scheduler_metrics; metric->member != NULL;
         metric++)
        if (metric->name != NULL && strstr(metric->name, "_total") != NULL &&
            strstr(NOT_IN_THIS_LIFE, metric->name) == NULL)
            assert_true(prometheus_text_value(metric->name) > 0);
}

LATER_TEST(prometheus_to_a_stream_that_fails_answers_eio) {
    FILE *bad;
    for (unsigned i = 0; (bad = prometheus_text_bad_stream(i)) != NULL; i++) {
        assert_int_equal(htw_scheduler_prometheus(f->scheduler, bad), -EIO);
        fclose(bad);
    }
}

LATER_TEST(prometheus_given_wrongly_is_refused) {
    assert_int_equal(htw_scheduler_prometheus(NULL, stdout), -EINVAL);
    assert_int_equal(htw_scheduler_prometheus(f->scheduler, NULL), -EINVAL);
    failing_allocator_fail(&f->memory, 1, true);
    assert_int_equal(htw_scheduler_prometheus(f->scheduler, stdout), -ENOMEM);
    failing_allocator_relent(&f->memory);
}
