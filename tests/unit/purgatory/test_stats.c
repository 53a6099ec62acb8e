/* SPDX-License-Identifier: MIT */
/* test_stats.c - counters, memory, the text for Prometheus, and the options. */
#include "../../../src/purgatory/cpu.h"
#include "../../support/prometheus_text.h"
#include "../../support/purgatory_case.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- created */

static void never_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    (void)request;
    (void)reason;
}

static int create_with(struct purgatory_case *test, const struct htw_purgatory_options *options) {
    struct htw_purgatory *purgatory = NULL;
    int error = htw_purgatory_create(&purgatory, test->scheduler, options);
    assert_int_equal(purgatory == NULL, error != 0);
    assert_int_equal(htw_purgatory_options_invalid(options) == NULL, error == 0);
    assert_int_equal(htw_purgatory_destroy(purgatory), 0);
    return error;
}

PURGATORY_TEST(purgatory_created_wrongly_is_refused) {
    const struct htw_purgatory_options good = purgatory_case_options();
    struct htw_purgatory_options bad = good;
    struct htw_purgatory *purgatory = NULL;
    assert_int_equal(htw_purgatory_create(NULL, test->scheduler, &good), -EINVAL);
    assert_int_equal(htw_purgatory_create(&purgatory, NULL, &good), -EINVAL);
    assert_int_equal(htw_purgatory_create(&purgatory, test->scheduler, NULL), -EINVAL);
    assert_null(purgatory);
    assert_null(htw_purgatory_options_invalid(NULL));
    bad.on_complete = NULL;
    assert_int_equal(create_with(test, &bad), -EINVAL);
    assert_string_equal(htw_purgatory_options_invalid(&bad), "on_complete");
    static const uint32_t shards[] = {
        3, 5, 65535, 65537, HTW_PURGATORY_SHARDS_MAX * 2, UINT32_MAX
    };
    for (unsigned i = 0; i < sizeof(shards) / sizeof(shards[0]); i++) {
        bad = good;
        bad.shards = shards[i];
        assert_int_equal(create_with(test, &bad), -EINVAL);
        assert_string_equal(htw_purgatory_options_invalid(&bad), "shards");
    }
    static const size_t sizes[] = { 0, 1, 8, SIZE_MAX };
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        bad = good;
        bad.struct_size = sizes[i];
        assert_int_equal(create_with(test, &bad), -EINVAL);
        assert_string_equal(htw_purgatory_options_invalid(&bad), "struct_size");
    }
    const struct htw_allocator none = { NULL, NULL, NULL };
    bad = good;
    bad.allocator = &none;
    assert_int_equal(create_with(test, &bad), -EINVAL);
    assert_string_equal(htw_purgatory_options_invalid(&bad), "allocator");
}

/* ---- counted */

/* holds: purgatory-1 */
PURGATORY_TEST(purgatory_stats_count_every_end) {
    struct htw_threshold *threshold;
    assert_int_equal(htw_threshold_create(test->purgatory, 0, &threshold), 0);
    test->threshold = threshold;
    for (char name = 'a'; name <= 'j'; name++)
        watch(purgatory_case_waiter(test, name), name < 'e' ? MS : HTW_NEVER_NS, "k", "l");
    struct waiter *y = purgatory_case_waiter(test, 'y'), *z = purgatory_case_waiter(test, 'z');
    assert_int_equal(waiter_await(y, 10, 2 * MS), HTW_WATCHED);
    z->ready = true;
    assert_int_equal(submit(z, MS, "k"), HTW_FINISHED);
    assert_int_equal(submit(y, MS, "k"), -EBUSY);
    assert_waiting(test, 11, 20, 2, 5);
    struct waiter *w = test->waiters;
    w[0].ready = w[5].ready = true;
    assert_int_equal(check_key(test, "k"), 2);
    assert_true(complete(&w[6]));
    assert_true(cancel(&w[7]));
    assert_waiting(test, 7, 12, 2, 4);
    purgatory_case_advance(test, MS); /* b, c, d */
    assert_waiting(test, 4, 6, 2, 1);
    struct htw_purgatory_stats stats = purgatory_case_stats(test);
    assert_int_equal(stats.submitted, 12);
    assert_int_equal(stats.completed, 4);
    assert_int_equal(stats.expired, 3);
    assert_int_equal(stats.cancelled, 1);
    assert_int_equal(stats.closed, 0);
    assert_int_equal(htw_threshold_advance(threshold, 10), 1);
    assert_int_equal(cancel_key(test, "l"), 3);
    assert_waiting(test, 0, 0, 0, 0);
    w[0].ready = false;
    watch(&w[0], MS, "other");
    assert_waiting(test, 1, 1, 1, 1);
}

/* holds: purgatory-6 */
PURGATORY_TEST(purgatory_memory_is_back_at_its_beginning_when_all_have_ended) {
    static struct waiter waiters[4000];
    uint64_t before = purgatory_case_stats(test).memory_bytes;
    assert_true(before > 0);
    char names[3][40];
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 4000; i++) {
            waiter_init(&waiters[i], test, '\0');
            snprintf(names[0], sizeof(names[0]), "%u", i);
            snprintf(names[1], sizeof(names[1]), "a key that is longer than sixteen %u", i / 2);
            snprintf(names[2], sizeof(names[2]), "%u", i % 50);
            watch(&waiters[i], MS, names[0], names[1], names[2]);
        }
        assert_waiting(test, 4000, 12000 - 50, 4000 + 2000, 4000);
        assert_true(purgatory_case_stats(test).memory_bytes > before + 4000 * 64);
        if (round == 0)
            purgatory_case_advance(test, MS);
        for (unsigned i = 0; i < 4000 && round == 1; i++)
            assert_true(i % 2 == 0 ? complete(&waiters[i]) : cancel(&waiters[i]));
        for (unsigned i = 0; i < 50 && round == 2; i++) {
            snprintf(names[2], sizeof(names[2]), "%u", i);
            assert_int_equal(cancel_key(test, names[2]), 80);
        }
        assert_waiting(test, 0, 0, 0, 0);
        assert_int_equal(purgatory_case_stats(test).memory_bytes, before);
    }
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
    assert_in_range(bytes, (20000 - 4096) * HTW__SLOT_BYTES, 20000 * (HTW__SLOT_BYTES + 16));
    for (unsigned i = 0; i < 10000; i++)
        if (i % 3 == 0)
            assert_true(cancel(&waiters[i]));
    assert_true(purgatory_case_stats(test).memory_bytes - before <= bytes);
}

PURGATORY_TEST(purgatory_stats_given_wrongly_are_refused) {
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    assert_int_equal(htw_purgatory_get_stats(NULL, &stats), -EINVAL);
    assert_int_equal(htw_purgatory_get_stats(test->purgatory, NULL), -EINVAL);
    static const size_t sizes[] = { 0, 1, sizeof(stats) - 1, sizeof(stats) + 1, SIZE_MAX };
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        stats = (struct htw_purgatory_stats) { .struct_size = sizes[i], .pending = 77 };
        assert_int_equal(htw_purgatory_get_stats(test->purgatory, &stats), -EINVAL);
        assert_int_equal(stats.pending, 77);
    }
    assert_int_equal(htw_purgatory_watched(NULL), 0);
    assert_int_equal(htw_purgatory_delayed(NULL), 0);
}

/* ---- Prometheus */

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
}

PURGATORY_TEST(purgatory_prometheus_to_a_stream_that_fails_answers_eio) {
    FILE *bad;
    for (unsigned i = 0; (bad = prometheus_text_bad_stream(i)) != NULL; i++) {
        assert_int_equal(htw_purgatory_prometheus(test->purgatory, bad), -EIO);
        fclose(bad);
    }
    assert_int_equal(htw_purgatory_prometheus(NULL, stdout), -EINVAL);
    assert_int_equal(htw_purgatory_prometheus(test->purgatory, NULL), -EINVAL);
}

/* Whether the dump of the scheduler has a line that ends so. */
static bool dump_has(struct htw_scheduler *scheduler, const char *end) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(htw_scheduler_dump(scheduler, stream), 0);
    fclose(stream);
    bool has = strstr(text, end) != NULL;
    free(text);
    return has;
}

PURGATORY_TEST(purgatory_timers_have_its_name_in_a_dump) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    struct htw_purgatory *named;
    struct htw_request request = { 0 };
    struct htw_key key = { "k", 1 };
    options.on_complete = never_complete;
    options.name = "fetches whose name is too long for it";
    assert_int_equal(htw_purgatory_create(&named, test->scheduler, &options), 0);
    watch(purgatory_case_waiter(test, 'a'), HTW_SECOND, "k");
    assert_int_equal(
        htw_purgatory_try_complete_else_watch(named, &request, &key, 1, 2 * HTW_SECOND),
        HTW_WATCHED);
    assert_int_equal(check_key_later(test, "k"), 0);
    assert_true(dump_has(test->scheduler, "  purgatory timeouts()\n"));
    assert_true(dump_has(test->scheduler, "  purgatory checks()\n"));
    assert_true(dump_has(test->scheduler, "  fetches whose name is too long  timeouts()\n"));
    assert_true(dump_has(test->scheduler, "  1.00  purgatory\n"));
    assert_true(dump_has(test->scheduler, "  1.00  fetches whose name is too long \n"));
    purgatory_case_advance(test, 2 * HTW_SECOND);
    assert_int_equal(htw_purgatory_destroy(named), 0);
    assert_false(dump_has(test->scheduler, "fetches"));
}

static void find_fetches(void *context, const struct htw_site_stats *stats) {
    if (stats->site != NULL && stats->site->name != NULL &&
        strcmp(stats->site->name, "fetches") == 0)
        *(struct htw_site_stats *)context = *stats;
}

/* What was counted has its name when the purgatory has gone, and goes on with another one of that name. */
PURGATORY_TEST(purgatory_site_outlives_it) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    struct htw_site_stats seen[2] = { { .armed = 0 } };
    options.on_complete = never_complete;
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
        assert_int_equal(htw_scheduler_visit_sites(test->scheduler, find_fetches, &seen[i]), 0);
        assert_int_equal(seen[i].pending, 0);
    }
    assert_ptr_equal(seen[0].address, seen[1].address);
    assert_true(seen[0].armed > 0 && seen[1].armed > seen[0].armed);
}
