/* SPDX-License-Identifier: MIT */
/* test_stats.c - the memory of keys, the text for Prometheus, and names in what the scheduler tells. */
#include "../../../src/purgatory/cpu.h"
#include "../../support/prometheus_text.h"
#include "../../support/purgatory_case.h"

#include <htw/observe.h>

static void do_nothing(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context, (void)request, (void)reason;
}

/* What the header says that keys need. Cells come in chunks, and there is a table; each of 4096 shards has
   room for a key. */
PURGATORY_TEST(purgatory_memory_of_a_key_is_what_the_header_says) {
    static struct waiter waiters[10000];
    uint64_t before = purgatory_case_stats(test).memory_bytes;
    char names[2][17];
    for (unsigned i = 0; i < 10000; i++) {
        waiter_init(&waiters[i], test, '\0');
        snprintf(names[0], sizeof(names[0]), "%u", i);
        snprintf(names[1], sizeof(names[1]), "%016u", i);
        watch(&waiters[i], HTW_NEVER_NS, names[0], names[1]);
    }
    uint64_t bytes = purgatory_case_stats(test).memory_bytes - before;
    assert_in_range(bytes, (20000 - 4096) * sizeof(struct htw__key_cell),
                    20000 * (sizeof(struct htw__key_cell) + 16));
    for (unsigned i = 0; i < 10000; i++)
        if (i % 3 == 0)
            assert_true(cancel(&waiters[i]));
    assert_true(purgatory_case_stats(test).memory_bytes - before <= bytes);
}

/* ---- Prometheus */

/* Whether what is said of the purgatory, or the dump of the scheduler, has these lines. */
static bool says(struct purgatory_case *test, bool is_dump, const char *lines) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(is_dump ? htw_scheduler_dump(test->scheduler, stream)
                             : htw_purgatory_prometheus(test->purgatory, stream),
                     0);
    fclose(stream);
    bool has = strstr(text, lines) != NULL;
    free(text);
    return has;
}

PURGATORY_TEST(purgatory_prometheus_agrees_with_the_stats) {
    for (char name = 'a'; name <= 'g'; name++)
        watch(purgatory_case_waiter(test, name), name < 'd' ? MS : HTW_SECOND, "k", "l", "m");
    purgatory_case_advance(test, MS);
    assert_true(cancel(&test->waiters[3]));
    struct htw_purgatory_stats stats = purgatory_case_stats(test);
    assert_int_equal(htw_purgatory_prometheus(test->purgatory, prometheus_text_begin()), 0);
    prometheus_text_end();
    assert_int_equal(prometheus_text_value("htw_purgatory_submitted_total"), 7);
    assert_int_equal(prometheus_text_value("htw_purgatory_ended_total"), 4);
    assert_int_equal(prometheus_text_value("htw_purgatory_pending"), 3);
    assert_int_equal(prometheus_text_value("htw_purgatory_delayed"), 3);
    assert_int_equal(prometheus_text_value("htw_purgatory_watched"), 9);
    assert_int_equal(prometheus_text_value("htw_purgatory_keys"), 3);
    assert_int_equal(prometheus_text_value("htw_purgatory_alarms"), stats.alarms);
    assert_int_equal(prometheus_text_value("htw_purgatory_memory_bytes"), stats.memory_bytes);
    assert_int_equal(prometheus_text_count(), 9);
    assert_true(says(test, false, "_bucket{le=\"0.001\"} 0\n")); /* each waited for a millisecond */
    assert_true(says(test, false, "_bucket{le=\"0.002\"} 4\n"));
}

PURGATORY_TEST(purgatory_prometheus_to_a_stream_that_fails_answers_eio) {
    FILE *bad;
    for (unsigned i = 0; (bad = prometheus_text_bad_stream(i)) != NULL; i++) {
        assert_int_equal(htw_purgatory_prometheus(test->purgatory, bad), -EIO);
        fclose(bad);
    }
}

PURGATORY_TEST(purgatory_timers_have_its_name_in_a_dump) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    struct htw_purgatory *named;
    struct htw_request request = { 0 };
    struct htw_key key = { "k", 1 };
    options.on_complete = do_nothing;
    options.name = "fetches whose name is too long for it";
    assert_int_equal(htw_purgatory_create(&named, test->scheduler, &options), 0);
    watch(purgatory_case_waiter(test, 'a'), HTW_SECOND, "k");
    assert_int_equal(
        htw_purgatory_try_complete_else_watch(named, &request, &key, 1, 2 * HTW_SECOND),
        HTW_WATCHED);
    assert_int_equal(check_key_later(test, "k"), 0);
    assert_true(says(test, true, "  purgatory timeouts()\n"));
    assert_true(says(test, true, "  purgatory checks()\n"));
    assert_true(says(test, true, "  fetches whose name is too long  timeouts()\n"));
    assert_true(says(test, true, "  purgatory\n"));
    assert_true(says(test, true, "  fetches whose name is too long \n"));
    purgatory_case_advance(test, 2 * HTW_SECOND);
    assert_int_equal(htw_purgatory_destroy(named), 0);
    assert_false(says(test, true, "fetches"));
}

static void find_fetches(void *context, const union htw_visited *visited) {
    const struct htw_site_stats *stats = &visited->site;
    if (stats->origin.site != NULL && stats->origin.site->name != NULL &&
        strcmp(stats->origin.site->name, "fetches") == 0)
        *(struct htw_site_stats *)context = *stats;
}

/* What was counted has its name when the purgatory has gone, and goes on with another one of that name. */
PURGATORY_TEST(purgatory_site_outlives_it) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    struct htw_site_stats seen[2] = { { .armed = 0 } };
    options.on_complete = do_nothing;
    options.name = "fetches";
    assert_int_equal(htw_scheduler_observe(test->scheduler, HTW_OBSERVE_SITES), 0);
    for (unsigned i = 0; i < 2; i++) {
        struct htw_purgatory *passing;
        struct htw_request request = { 0 };
        struct htw_key key = { "k", 1 };
        assert_int_equal(htw_purgatory_create(&passing, test->scheduler, &options), 0);
        assert_int_equal(
            htw_purgatory_try_complete_else_watch(passing, &request, &key, 1, HTW_SECOND),
            HTW_WATCHED);
        assert_int_equal(htw_purgatory_destroy(passing), 0);
        assert_int_equal(
            htw_scheduler_visit(test->scheduler, HTW_VISIT_SITES, 0, find_fetches, &seen[i]), 0);
        assert_int_equal(seen[i].pending, 0);
    }
    assert_ptr_equal(seen[0].origin.address, seen[1].origin.address);
    assert_true(seen[0].armed > 0 && seen[1].armed > seen[0].armed);
}
