/* SPDX-License-Identifier: MIT */
/* test_sites.c - sites, wake-ups, herds, groups, queues and events: what a monitor says of them, and what it leaves out. */
#include "../../../src/monitor/server.h"
#include "../../support/manual_time.h"
#include "../../support/prometheus_text.h"
#include "monitor_fixture.h"

#include <htw/group.h>
#include <htw/journal_inspect.h>
#include <htw/timer.h>

#define MS HTW_MILLISECOND

#ifdef __GLIBC__
#define STACKS HTW_OBSERVE_STACKS
#define FILE_OF_CODE "test_monitor_sites"
#else /* musl has no stacks, and knows no files in a program that is linked by -static */
#define STACKS 0u
#define FILE_OF_CODE ""
#endif

static void expire(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
}

static struct htw_scheduler *show_scheduler(struct monitor_fixture *f, const char *name) {
    struct htw_scheduler_options options = manual_options(0);
    struct htw_scheduler *scheduler;
    options.allocator = &f->allocator;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    assert_int_equal(htw_monitor_add_scheduler(f->monitor, name, scheduler, NULL), 0);
    return scheduler;
}

static void end(struct monitor_fixture *f, struct htw_scheduler *scheduler) {
    monitor_close(f);
    htw_scheduler_destroy(scheduler);
}

static void arm(struct htw_scheduler *scheduler, int64_t delay_ns, const struct htw_site *site) {
    htw_handle handle;
    assert_int_equal(htw_schedule_here(scheduler, delay_ns, site, NULL, &handle), 0);
}

static unsigned count(const char *answer, const char *text) {
    unsigned found = 0;
    for (; (answer = strstr(answer, text)) != NULL; answer += strlen(text))
        found++;
    return found;
}

/* Those of sites or queues are as the format wants it. */
static void read_metrics(const char *metrics) {
    const char *of_sites = strstr(metrics, "# HELP htw_site_");
    fputs(of_sites != NULL ? of_sites : metrics, prometheus_text_begin());
    prometheus_text_end();
}

MONITOR_TEST(monitor_tells_sites_on_request_only) {
    struct htw_scheduler *scheduler = show_scheduler(f, "s");
    htw_handle handle;
    static const struct htw_site site = { expire, "idle", "src/a.c", "accept_one", 12 };
    arm(scheduler, 5 * MS, &site);
    arm(scheduler, 7 * MS, &site);
    assert_int_equal(htw_schedule(scheduler, 5 * MS, expire, NULL, &handle), 0);
    assert_null(strstr(client_ask(f->path, "json\n"), "accept_one"));
    assert_says(client_ask(f->path, "json\n"), "\"shards\":[{\"scheduled\":3,");
    const char *answer = client_ask(f->path, "json sites\n");
    assert_says(answer, "\"observed\":[]");
    assert_says(answer, "\"sites\":[{\"name\":\"idle\",\"file\":\"src/a.c\",\"line\":12,"
                        "\"function\":\"accept_one\",\"symbol\":\"");
    assert_says(answer,
                "\"next_ns\":5000000,\"pending\":2,\"armed\":0,\"cancelled\":0,\"expired\":0,"
                "\"late\":0,\"callback_ns\":0,\"wakeups\":0}");
    assert_says(answer, "{\"name\":null,\"file\":null,\"line\":0,\"function\":null,"
                        "\"symbol\":\"" FILE_OF_CODE);
    assert_says(answer, "\"next_wakeups\":[{\"left_ns\":5000000,\"timers\":2,");
    assert_says(answer, "\"herds\":[]");
    assert_null(strstr(answer, "others"));
    end(f, scheduler);
}

MONITOR_TEST(monitor_tells_what_is_counted_by_site_while_it_is_observed) {
    struct htw_scheduler *scheduler = show_scheduler(f, "s");
    static const struct htw_site site = { expire, "tick", "b.c", "f", 3 };
    arm(scheduler, MS, &site);
    assert_string_equal(client_ask(f->path, "observe s sites\n"),
                        "{\"schedulers\":[{\"name\":\"s\",\"observed\":[\"sites\"]}]}\n");
    arm(scheduler, MS, &site);
    arm(scheduler, MS, &site);
    assert_int_equal(htw_scheduler_advance(scheduler, MS), 0);
    const char *answer = client_ask(f->path, "json sites\n");
    assert_says(answer, "\"pending\":0,\"armed\":2,\"cancelled\":0,\"expired\":3,");
    assert_says(answer, "\"next_ns\":-1,");
    assert_says(answer, "\"herds\":[{\"ago_ns\":0,\"timers\":3,\"name\":\"tick\",");
    const char *metrics = client_ask(f->path, "metrics\n");
    assert_says(metrics, "# TYPE htw_site_armed_total counter\n"
                         "htw_site_armed_total{scheduler=\"s\",site=\"tick\",function=\"f\","
                         "file=\"b.c\",line=\"3\",callback=\"" FILE_OF_CODE);
    assert_says(metrics, "# TYPE htw_site_callback_seconds_total counter\n");
    assert_string_equal(client_ask(f->path, "observe * off\n"),
                        "{\"schedulers\":[{\"name\":\"s\",\"observed\":[]}]}\n");
    assert_null(strstr(client_ask(f->path, "metrics\n"), "htw_site_"));
    end(f, scheduler);
}

/* holds: monitor-4b */
MONITOR_TEST(monitor_switches_what_a_client_asks_for_and_nothing_else) {
    struct htw_scheduler *one = show_scheduler(f, "one"), *two = show_scheduler(f, "two");
    static const char *const refused[] = {
        "observe",        "observe ",         "observe one",         "observe one ",
        "observe one x",  "observe one +off", "observe one sites x", "observe none sites",
        "observe on off", "observe ones off", "observe *x sites",    "observe one -",
    };
    static const struct {
        const char *line;
        uint32_t one, two;
    } changes[] = {
        { "observe one sites\n", HTW_OBSERVE_SITES, 0 },
        { "observe two events\n", HTW_OBSERVE_SITES, HTW_OBSERVE_EVENTS },
        { "observe * +sites\n", HTW_OBSERVE_SITES, HTW_OBSERVE_SITES | HTW_OBSERVE_EVENTS },
        { "observe * -sites +events\n", HTW_OBSERVE_EVENTS, HTW_OBSERVE_EVENTS },
        { "observe two sites events\n", HTW_OBSERVE_EVENTS,
          HTW_OBSERVE_SITES | HTW_OBSERVE_EVENTS },
        { "observe two +stacks\n", HTW_OBSERVE_EVENTS,
          HTW_OBSERVE_SITES | HTW_OBSERVE_EVENTS | STACKS },
        { "observe two off\n", HTW_OBSERVE_EVENTS, 0 },
        { "observe * off\n", 0, 0 },
    };
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        char line[64];
        snprintf(line, sizeof(line), "%s\n", refused[i]);
        if (strncmp(client_ask(f->path, line), "error: ", 7) != 0)
            fail_msg("%s", line);
        assert_int_equal(htw_scheduler_observed(one) | htw_scheduler_observed(two), 0);
    }
    assert_non_null(
        strstr(client_ask(f->path, "GET /observe%20*%20sites HTTP/1.0\r\n\r\n"), " 404 "));
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        assert_memory_equal(client_ask(f->path, changes[i].line), "{\"schedulers\":[", 15);
        assert_int_equal(htw_scheduler_observed(one), changes[i].one);
        assert_int_equal(htw_scheduler_observed(two), changes[i].two);
    }
    monitor_close(f);
    htw_scheduler_destroy(one);
    htw_scheduler_destroy(two);
}

/* holds: monitor-4a */
MONITOR_TEST(monitor_tells_64_sites_of_any_number_and_adds_up_the_rest) {
    enum { SITES = 100 };
    static struct htw_site sites[SITES];
    static char names[SITES][16];
    struct htw_scheduler *scheduler = show_scheduler(f, "s");
    assert_int_equal(htw_scheduler_observe(scheduler, HTW_OBSERVE_SITES), 0);
    for (unsigned i = 0; i < SITES; i++) {
        snprintf(names[i], sizeof(names[i]), "site-%u-", i);
        sites[i] = (struct htw_site) { expire, names[i], "c.c", "f", i };
        for (unsigned timers = 0; timers <= i; timers++)
            arm(scheduler, MS, &sites[i]);
    }
    const char *answer = client_ask(f->path, "json sites\n");
    assert_int_equal(count(answer, "\"name\":\"site-"),
                     64 + 1); /* and the first of the next wake-up */
    assert_says(answer, "\"sites\":[{\"name\":\"site-99-\"");
    assert_says(answer, "\"others\":{\"sites\":36,\"pending\":666,\"armed\":666,");
    const char *metrics = client_ask(f->path, "metrics\n");
    assert_int_equal(count(metrics, "\nhtw_site_armed_total{"), 65);
    read_metrics(metrics);
    assert_int_equal(prometheus_text_value("htw_site_armed_total"), SITES * (SITES + 1) / 2);
    assert_says(metrics, "htw_site_armed_total{scheduler=\"s\",site=\"other\"} 666\n");
    assert_null(strstr(metrics, "site=\"site-35-\""));
    assert_non_null(strstr(metrics, "site=\"site-36-\""));
    end(f, scheduler);
}

/* Prometheus refuses two samples with the same labels. */
/* holds: monitor-4b */
MONITOR_TEST(monitor_adds_up_sites_that_a_reader_cannot_tell_apart) {
    static const struct htw_site twins[2] = { { expire, "twin", "d.h", "f", 4 },
                                              { expire, "twin", "d.h", "f", 4 } };
    struct htw_scheduler *scheduler = show_scheduler(f, "s");
    assert_int_equal(htw_scheduler_observe(scheduler, HTW_OBSERVE_SITES), 0);
    arm(scheduler, MS, &twins[0]);
    arm(scheduler, MS, &twins[1]);
    assert_says(client_ask(f->path, "json sites\n"), "\"pending\":2,\"armed\":2,");
    assert_int_equal(count(client_ask(f->path, "metrics\n"), "\nhtw_site_armed_total{"), 1);
    end(f, scheduler);
}

/* holds: monitor-4b */
MONITOR_TEST(monitor_escapes_what_a_site_is_called) {
    static const struct htw_site site = { expire, "a\"b\\c\nd\x1b[2J\xff", "\t", "\"", 1 };
    struct htw_scheduler *scheduler = show_scheduler(f, "s");
    assert_int_equal(htw_scheduler_observe(scheduler, HTW_OBSERVE_SITES), 0);
    arm(scheduler, MS, &site);
    assert_says(client_ask(f->path, "json sites\n"),
                "\"name\":\"a\\\"b\\\\c?d?[2J?\",\"file\":\"?\",\"line\":1,\"function\":\"\\\"\"");
    read_metrics(client_ask(f->path, "metrics\n"));
    assert_says(client_ask(f->path, "metrics\n"),
                "site=\"a\\\"b\\\\c?d?[2J?\",function=\"\\\"\",file=\"?\"");
    end(f, scheduler);
}

/* holds: monitor-4a */
MONITOR_TEST(monitor_tells_groups) {
    struct htw_scheduler *scheduler = show_scheduler(f, "s");
    struct htw_group *groups[70];
    htw_handle handle;
    for (size_t i = 0; i < COUNT_OF(groups); i++) {
        struct htw_spec spec = HTW_SPEC_INIT;
        assert_int_equal(htw_group_create(scheduler, &groups[i]), 0);
        spec.callback = expire;
        spec.when_ns = MS;
        spec.group = groups[i];
        assert_int_equal(htw_schedule_spec(scheduler, &spec, &handle, NULL), 0);
    }
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = expire;
    spec.when_ns = MS;
    spec.group = groups[69];
    assert_int_equal(htw_schedule_spec(scheduler, &spec, &handle, NULL), 0);
    assert_int_equal(htw_group_set_name(groups[69], "se\"ssions"), 0);
    assert_int_equal(htw_group_pause(groups[69]), 0);
    const char *answer = client_ask(f->path, "json sites\n");
    assert_says(answer, "\"groups\":[{\"name\":\"se\\\"ssions\",\"address\":\"0x");
    assert_says(answer, "\"paused\":true,\"pending\":2}");
    assert_says(answer, "\"other_groups\":{\"groups\":6,\"pending\":6}");
    monitor_close(f);
    for (size_t i = 0; i < COUNT_OF(groups); i++)
        htw_group_destroy(groups[i]);
    htw_scheduler_destroy(scheduler);
}

static int no_stats(struct htw_journal *journal, struct htw_journal_stats *stats) {
    (void)journal, (void)stats;
    return 0;
}

static int list_queues(struct htw_journal *journal, htw_queue_visit *visit, void *context) {
    const int *queues = (const int *)(const void *)journal;
    for (int i = 0; i < *queues; i++) {
        struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
        char name[16];
        snprintf(name, sizeof(name), "q\"%d", i);
        stats.name = i == 0 ? NULL : name;
        stats.ready = (uint64_t)i;
        stats.paused_until_ns = i == 1 ? INT64_MAX : INT64_MIN;
        if (!visit(context, &stats))
            return 0;
    }
    return 0;
}

/* holds: monitor-4a */
MONITOR_TEST(monitor_tells_the_queues_of_a_journal) {
    int queues = 2;
    struct htw_journal *journal = (struct htw_journal *)(void *)&queues;
    assert_int_equal(
        htw_monitor_add_journal(f->monitor, "mail", journal, no_stats, list_queues, NULL), 0);
    assert_says(client_ask(f->path, "json sites\n"),
                "\"queue_list\":[{\"name\":\"q\\\"1\",\"paused\":true,\"delayed\":0,\"ready\":1,"
                "\"leased\":0,\"buried\":0,\"waiting\":0},{\"name\":null,\"paused\":false,"
                "\"delayed\":0,\"ready\":0,\"leased\":0,\"buried\":0,\"waiting\":0}]");
    queues = 100;
    const char *answer = client_ask(f->path, "json sites\n");
    assert_int_equal(count(answer, "\"name\":\"q"), 64);
    assert_says(answer, "\"other_queues\":{\"queues\":36,\"delayed\":0,\"ready\":630,");
    const char *metrics = client_ask(f->path, "metrics\n");
    assert_says(metrics, "htw_journal_queues_left_out{journal=\"mail\"} 36\n");
    assert_says(
        metrics,
        "\nhtw_journal_queue_jobs{journal=\"mail\",queue=\"q\\\"99\",state=\"ready\"} 99\n");
    assert_int_equal(count(metrics, "\nhtw_journal_queue_waiting{"), 64);
    read_metrics(metrics);
}

MONITOR_TEST(monitor_writes_what_the_flight_recorder_has) {
    struct htw_scheduler *scheduler = show_scheduler(f, "s");
    static const struct htw_site site = { expire, "tick", "b.c", "f", 3 };
    htw_handle handle;
    assert_says(client_ask(f->path, "events\n"), "]}\n{\"events\":0,\"lost\":0}\n");
    assert_int_equal(htw_scheduler_observe(scheduler, HTW_OBSERVE_EVENTS), 0);
    arm(scheduler, MS, &site);
    assert_int_equal(htw_schedule_here(scheduler, 5 * MS, &site, NULL, &handle), 0);
    assert_int_equal(htw_cancel(scheduler, handle), HTW_CANCELLED);
    assert_int_equal(htw_scheduler_advance(scheduler, 2 * MS), 0);
    const char *answer = client_ask(f->path, "events\n");
    assert_says(answer, "\"kind\":\"events\",\"schedulers\":[{\"name\":\"s\",\"tick_ns\":1000000,"
                        "\"wheel_size\":256,\"observed\":[\"events\"]}]}\n"
                        "{\"site\":0,\"name\":\"tick\",\"file\":\"b.c\",\"line\":3,");
    assert_says(answer, "\"}\n[0,\"armed\",0,0,");
    assert_says(answer, ",1000000]\n");
    assert_says(answer, "\n[0,\"cancelled\",0,0,");
    assert_says(answer, ",\"started\",0,0,");
    assert_says(answer, ",\"ended\",0,0,");
    assert_int_equal(count(answer, "{\"site\":"), 1);
    assert_says(answer, ",\"lost\":0}\n");
    end(f, scheduler);
}

/* holds: monitor-4a */
MONITOR_TEST(monitor_pauses_nine_times_as_long_as_an_answer_took) {
    (void)f;
    assert_int_equal(htw__clients_pause_ns(0), 10 * MS);
    assert_int_equal(htw__clients_pause_ns(MS), 10 * MS);
    assert_int_equal(htw__clients_pause_ns(20 * MS), 180 * MS);
    assert_int_equal(htw__clients_pause_ns(10 * HTW_SECOND), 2 * HTW_SECOND);
}
