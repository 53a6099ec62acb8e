/* SPDX-License-Identifier: MIT */
/* test_replay_record.c - what `htw replay` records of a run, and what it makes of it for Kafka's wheel. */
#include "../../../src/cmd/replay/kafka.h"
#include "../../../src/cmd/replay/page.h"
#include "../../../src/cmd/replay/record.h"

#include "../../support/failing_malloc.h"
#include "capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static struct htw__run_options options;
static struct htw__run run;
static struct htw__replay_record record, kafka;
static char text[4096];

static void setup(void) {
    htw__run_options_init(&options);
    options.wheel_size = 4; /* the wheel of the example in src/wheel/wheel.c */
    htw__record_init(&record);
    htw__record_init(&kafka);
}

static void teardown(void) {
    htw__record_fini(&record);
    htw__record_fini(&kafka);
    htw__run_fini(&run);
}

#define RECORD_TEST(name) UNIT_TEST_BETWEEN(setup, teardown, name)

/* Records both ways. */
static int try_lines(const char *lines) {
    static char path[64];
    static char *const names[] = { path };
    int file = memfd_create("lines", MFD_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(write(file, lines, strlen(lines)), strlen(lines));
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    options.names = names;
    int error = htw__record_run(&record, &run, &options);
    close(file);
    return error == 0 ? htw__kafka_record(&kafka, &record, 2) : error;
}

static void record_lines(const char *lines) {
    assert_int_equal(try_lines(lines), 0);
}

/* A word for each event: the tick, a letter, the timer as a letter, and the place. */
static const char *events_of(const struct htw__replay_record *events) {
    static const char letters[] = "+vmxe>";
    text[0] = '\0';
    for (size_t i = 0; i < events->count; i++) {
        const struct htw__event *event = &events->events[i];
        size_t length = strlen(text);
        snprintf(text + length, sizeof(text) - length, "%" PRIu64 "%c", event->tick,
                 letters[event->kind]);
        length = strlen(text);
        if (event->kind != HTW__EVENT_ADVANCED)
            snprintf(text + length, sizeof(text) - length, "%c", 'A' + (int)event->timer);
        length = strlen(text);
        if (event->kind <= HTW__EVENT_MOVED)
            snprintf(text + length, sizeof(text) - length, "%d", event->place);
        strcat(text, " ");
    }
    return text;
}

RECORD_TEST(record_of_the_worked_example_has_its_steps) {
    record_lines("2ms A\n7ms B\n21ms C\n23ms D\n61ms E\nwait 7ms\n3ms F\n5ms G\ncancel G\n"
                 "wait 14ms\nmove 69ms E\nwait 78ms\n");
    assert_string_equal(events_of(&record),
                        "0+A2 0+B5 0+C9 0+D9 0+E11 2> 2eA 7> 7eB 7+F2 7+G7 7xG 10> 10eF "
                        "21> 21vD3 21eC 21mE11 23> 23eD 61> 61vE9 90> 90eE ");
    assert_int_equal(record.end, 99);
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    assert_int_equal(htw_wheel_get_stats(run.wheel, &stats), 0);
    assert_int_equal(record.counts[HTW__EVENT_ARMED], stats.scheduled);
    assert_int_equal(record.counts[HTW__EVENT_MOVED], stats.moved);
    assert_int_equal(record.counts[HTW__EVENT_CANCELLED], stats.cancelled);
    assert_int_equal(record.counts[HTW__EVENT_EXPIRED], stats.expired);
    assert_int_equal(record.counts[HTW__EVENT_DEMOTED], stats.demoted);
    assert_int_equal(record.counts[HTW__EVENT_ADVANCED], stats.advances);
}

/* By hand. The clock stops at 4, where B's bucket begins, to demote B, and then at 7. G's bucket, from 12, is
   empty, and so is that from 48, which E has left; the clock stops there, too. */
RECORD_TEST(record_of_kafka_stops_where_buckets_begin) {
    record_lines("2ms A\n7ms B\n21ms C\n23ms D\n61ms E\nwait 7ms\n3ms F\n5ms G\ncancel G\n"
                 "wait 14ms\nmove 69ms E\nwait 78ms\n");
    assert_string_equal(
        events_of(&kafka),
        "0+A2 0+B5 0+C9 0+D9 0+E11 2> 2eA 4> 4vB3 7> 7eB 7+F2 7+G7 7xG 10> 10eF "
        "12> 16> 16vD5 16vC5 20> 20vC1 20vD3 21> 21eC 21mE13 23> 23eD 48> 64> 64vE9 80> "
        "80vE6 88> 88vE2 90> 90eE ");
}

/* In Kafka C goes through four levels at once: its clock is still at 0 when C is added. */
RECORD_TEST(record_has_timers_that_are_due_at_once_or_never) {
    options.tick_ns = 1000; /* so that B is beyond the last tick */
    record_lines("0 A\n300000000d B\nwait 1ms\n0 C\ncancel B\n");
    assert_string_equal(events_of(&record), "0+A-1 0+B-2 0eA 1000+C-1 1000xB 1000eC ");
    assert_string_equal(events_of(&kafka), "0+A-1 0eA 0+B-2 1000+C19 1000> 1000vC15 1000> 1000vC10 "
                                           "1000> 1000vC6 1000> 1000eC 1000xB ");
}

RECORD_TEST(record_of_a_move_to_the_same_deadline_is_a_move) {
    record_lines("9ms A\nmove 9ms A\nmove 1ms A\n");
    assert_string_equal(events_of(&record), "0+A6 0mA6 0mA1 1> 1eA ");
}

/* Both expire each timer at its deadline. */
RECORD_TEST(record_and_that_of_kafka_expire_the_same_timers_at_the_same_ticks) {
    static char lines[65536];
    uint64_t expired[2][500] = { { 0 } };
    size_t length = 0;
    unsigned seed = 5;
    for (int i = 0; i < 500; i++) {
        seed = seed * 1103515245u + 12345u;
        length += (size_t)snprintf(lines + length, sizeof(lines) - length, "%ums t%d\n",
                                   seed >> 8 & ((1u << (seed >> 4) % 18) - 1), i);
        if (i % 3 == 0)
            length += (size_t)snprintf(lines + length, sizeof(lines) - length, "wait %ums\n",
                                       (seed >> 20) % 40);
    }
    record_lines(lines);
    const struct htw__replay_record *const records[] = { &record, &kafka };
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(records[k]->counts[HTW__EVENT_EXPIRED], 500);
        for (size_t i = 0; i < records[k]->count; i++)
            if (records[k]->events[i].kind == HTW__EVENT_EXPIRED)
                expired[k][records[k]->events[i].timer] = records[k]->events[i].tick;
    }
    for (size_t i = 0; i < 500; i++) {
        assert_int_equal(expired[0][i], expired[1][i]);
        assert_int_equal(expired[0][i], htw_timer_deadline(&run.timers[i]->timer));
    }
    assert_true(record.counts[HTW__EVENT_ADVANCED] < kafka.counts[HTW__EVENT_ADVANCED]);
}

RECORD_TEST(record_on_the_page_is_escaped) {
    record_lines("1s </script><b>\"\\\n");
    char *page = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&page, &size);
    assert_non_null(stream);
    assert_int_equal(htw__page_write(stream, &(struct htw__page) { .title = "<i>&",
                                                                   .run = &run,
                                                                   .record = &record,
                                                                   .kafka = &kafka }),
                     0);
    fclose(stream);
    assert_non_null(strstr(page, "<title>&lt;i&gt;&amp;</title>"));
    assert_non_null(strstr(page, "\"\\u003c/script>\\u003cb>\\u0022\\u005c\""));
    assert_null(strstr(page, "<b>"));
    assert_non_null(strstr(page, "\"bits\":2,"));
    assert_non_null(strstr(page, "</html>"));
    free(page);
}

/* Enough timers for each table to grow. */
RECORD_TEST(record_without_memory_fails_at_each_allocation) {
    static char lines[32768];
    size_t length = 0;
    for (int i = 0; i < 1100; i++)
        length += (size_t)snprintf(lines + length, sizeof(lines) - length, "%dms t%d\n%s", i % 300,
                                   i, i == 500 ? "wait 9ms\ncancel t499\nmove 3ms t498\n" : "");
    int count = 0;
    for (int step = 1;; count += step) { /* all of the first, where each is another, then some */
        allocations_left = count;
        int error = try_lines(lines);
        bool has_failed = allocations_left < 0;
        allocations_left = -1;
        if (!has_failed) {
            assert_int_equal(error, 0);
            break;
        }
        assert_true(error == 0 || error == -ENOMEM);
        if (error == 0) /* without room for more buckets the table of names is slower */
            assert_int_equal(record.counts[HTW__EVENT_EXPIRED], 1099);
        htw__record_fini(&record);
        htw__record_fini(&kafka);
        htw__run_fini(&run);
        htw__record_init(&record);
        htw__record_init(&kafka);
        if (count == 60)
            step = 29;
    }
    assert_true(count > 1100);
}
