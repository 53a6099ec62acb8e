/* SPDX-License-Identifier: MIT */
/* test_answers.c - what a monitor says of its sources: as JSON, for Prometheus, and by HTTP. */
#include "../../support/manual_time.h"
#include "monitor_fixture.h"

#include <htw/journal_inspect.h>

/* ---- sources */

static void run(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
}

static struct htw_scheduler *make_scheduler(void) {
    struct htw_scheduler_options options = manual_options(0);
    struct htw_scheduler *scheduler;
    options.shards = 2;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    return scheduler;
}

static void on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context, (void)request, (void)reason;
}

static struct htw_purgatory *make_purgatory(struct htw_scheduler *scheduler) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    struct htw_purgatory *purgatory;
    options.on_complete = on_complete;
    assert_int_equal(htw_purgatory_create(&purgatory, scheduler, &options), 0);
    return purgatory;
}

MONITOR_TEST(monitor_without_sources_answers) {
    const char *json = client_ask(f->path, "json\n");
    char expected[96];
    snprintf(expected, sizeof(expected), "{\"htw\":\"%s\",\"format\":1,\"pid\":%d,\"program\":\"",
             htw_version(), (int)getpid());
    assert_memory_equal(json, expected, strlen(expected));
    assert_says(json, ",\"counters\":[\"scheduled\",\"fired\",");
    assert_says(json, ",\"schedulers\":[],\"purgatories\":[],\"journals\":[],\"wheels\":[]}\n");
    const char *metrics = client_ask(f->path, "metrics\n");
    assert_memory_equal(metrics, "# HELP htw_info ", 16);
    assert_null(strstr(metrics, "htw_pending"));
    assert_says(client_ask(f->path, "events\n"), "\"schedulers\":[]}\n{\"events\":0,");
}

MONITOR_TEST(monitor_escapes_the_name_of_the_program) {
    char *before = program_invocation_short_name;
    program_invocation_short_name = (char[]) { "a \"b\\~\x7f\n\xc3" };
    const char *json = client_ask(f->path, "json\n");
    program_invocation_short_name = before;
    assert_says(json, "\"program\":\"a \\\"b\\\\~???\",\"uid\":");
}

/* holds: monitor-2 */
MONITOR_TEST(monitor_shows_the_numbers_of_a_scheduler) {
    struct htw_scheduler *scheduler = make_scheduler();
    struct htw_monitor_source *source;
    htw_handle handle;
    assert_int_equal(htw_monitor_add_scheduler(f->monitor, "a/b.c:d_e-9", scheduler, &source), 0);
    assert_int_equal(htw_monitor_add_scheduler(f->monitor, "b", scheduler, NULL), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(htw_schedule(scheduler, i * HTW_SECOND, run, NULL, &handle), 0);
    assert_int_equal(htw_cancel(scheduler, handle), HTW_CANCELLED);
    assert_int_equal(htw_scheduler_advance(scheduler, HTW_SECOND), 0);
    const char *json = client_ask(f->path, "json\n");
    assert_says(json, "\"schedulers\":[{\"name\":\"a/b.c:d_e-9\",\"scheduled\":5,\"fired\":2,"
                      "\"cancelled\":1,");
    assert_says(json, "\"pending\":2,");
    assert_says(json, "\"lateness\":{\"count\":2,");
    assert_says(json, "\"levels\":[{\"bucket_ns\":1000000,\"buckets\":256,\"clock\":");
    assert_says(json, "\"shards\":[{\"scheduled\":");
    const char *metrics = client_ask(f->path, "metrics\n");
    assert_says(metrics, "# TYPE htw_scheduled_total counter\n"
                         "htw_scheduled_total{scheduler=\"a/b.c:d_e-9\"} 5\n");
    assert_says(metrics, "# TYPE htw_pending gauge\n" /* the samples of a metric are together */
                         "htw_pending{scheduler=\"a/b.c:d_e-9\"} 2\n"
                         "htw_pending{scheduler=\"b\"} 2\n"
                         "# HELP ");
    assert_says(metrics, "htw_lateness_seconds_bucket{scheduler=\"a/b.c:d_e-9\",le=\"+Inf\"} 2\n");
    assert_says(metrics, "htw_callback_seconds_count{scheduler=\"a/b.c:d_e-9\"} 2\n");
    htw_monitor_remove(source);
    assert_null(strstr(client_ask(f->path, "json\n"), "a/b.c"));
    monitor_close(f);
    htw_scheduler_destroy(scheduler);
}

static int journal_stats(struct htw_journal *journal, struct htw_journal_stats *stats) {
    const int *error = (const int *)(const void *)journal;
    assert_int_equal(stats->struct_size, sizeof(*stats));
    stats->ready = 7;
    stats->put = 8;
    stats->oldest_ns = 1500 * HTW_MILLISECOND;
    stats->commit.p99_ns = 9;
    return *error;
}

/* As libhtw-journal tells them: the monitor is not linked with it. */
MONITOR_TEST(monitor_shows_the_numbers_of_a_journal) {
    int error = 0;
    struct htw_journal *journal = (struct htw_journal *)(void *)&error;
    struct htw_monitor_source *source;
    assert_int_equal(htw_monitor_add_journal(f->monitor, "mail", journal, NULL, NULL, &source),
                     -EINVAL);
    assert_int_equal(
        htw_monitor_add_journal(f->monitor, "mail", NULL, journal_stats, NULL, &source), -EINVAL);
    assert_int_equal(
        htw_monitor_add_journal(f->monitor, "mail", journal, journal_stats, NULL, &source), 0);
    assert_int_equal(
        htw_monitor_add_journal(f->monitor, "mail", journal, journal_stats, NULL, NULL), -EEXIST);
    const char *json = client_ask(f->path, "json\n");
    assert_says(json, "\"journals\":[{\"name\":\"mail\",\"put\":8,");
    assert_says(json, "\"ready\":7,");
    assert_says(json, "\"commit\":{\"count\":0,\"sum_ns\":0,\"p50_ns\":0,\"p90_ns\":0,"
                      "\"p99_ns\":9,\"p999_ns\":0,\"max_ns\":0}");
    const char *metrics = client_ask(f->path, "metrics\n");
    assert_says(metrics, "htw_journal_ready{journal=\"mail\"} 7\n");
    assert_says(metrics, "htw_journal_oldest_seconds{journal=\"mail\"} 1.500000000\n");
    error = -ESHUTDOWN;
    assert_says(client_ask(f->path, "json\n"), "\"journals\":[{\"name\":\"mail\",\"error\":\"");
    assert_null(strstr(client_ask(f->path, "metrics\n"), "htw_journal_"));
    htw_monitor_remove(source);
    assert_says(client_ask(f->path, "json\n"), "\"journals\":[]");
}

/* holds: monitor-2 */
MONITOR_TEST(monitor_shows_the_numbers_of_a_purgatory) {
    struct htw_scheduler *scheduler = make_scheduler();
    struct htw_purgatory *purgatory = make_purgatory(scheduler);
    struct htw_request request;
    struct htw_key key = { "k", 1 };
    htw_request_init(&request);
    assert_int_equal(htw_monitor_add_purgatory(f->monitor, "waits", purgatory, NULL), 0);
    assert_int_equal(
        htw_purgatory_try_complete_else_watch(purgatory, &request, &key, 1, HTW_SECOND),
        HTW_WATCHED);
    const char *json = client_ask(f->path, "json\n");
    assert_says(json, "\"purgatories\":[{\"name\":\"waits\",\"submitted\":1,");
    assert_says(json, "\"keys\":1,");
    assert_says(client_ask(f->path, "metrics\n"), "htw_purgatory_pending{purgatory=\"waits\"} 1\n");
    assert_true(htw_request_cancel(purgatory, &request));
    const char *metrics = client_ask(f->path, "metrics\n");
    assert_says(metrics, "htw_purgatory_ended_total{purgatory=\"waits\",reason=\"completed\"} 0\n"
                         "htw_purgatory_ended_total{purgatory=\"waits\",reason=\"expired\"} 0\n"
                         "htw_purgatory_ended_total{purgatory=\"waits\",reason=\"cancelled\"} 1\n");
    htw_request_init(&request);
    assert_int_equal(
        htw_purgatory_try_complete_else_watch(purgatory, &request, &key, 1, 2 * HTW_HOUR),
        HTW_WATCHED);
    assert_int_equal(htw_scheduler_advance(scheduler, 2 * HTW_HOUR), 0); /* above all bounds */
    assert_says(client_ask(f->path, "metrics\n"),
                "htw_purgatory_wait_seconds_bucket{purgatory=\"waits\",le=\"4194.304\"} 1\n"
                "htw_purgatory_wait_seconds_bucket{purgatory=\"waits\",le=\"+Inf\"} 2\n");
    monitor_close(f);
    htw_purgatory_destroy(purgatory);
    htw_scheduler_destroy(scheduler);
}

/* ---- wheels */

/* holds: monitor-3 */
MONITOR_TEST(monitor_reads_a_wheel_while_it_is_lent_and_asks_for_a_copy_otherwise) {
    struct htw_wheel *wheel;
    struct htw_timer timers[3] = { 0 };
    struct htw_monitor_source *source;
    assert_int_equal(htw_wheel_create(&wheel, NULL), 0);
    assert_int_equal(htw_monitor_add_wheel(f->monitor, "w", wheel, 1000000, &source), 0);
    assert_int_equal(htw_wheel_schedule(wheel, &timers[0], 5), 0);
    assert_says(client_ask(f->path, "json\n"), "\"pending\":0,"); /* as it was added */
    assert_int_equal(htw_wheel_schedule(wheel, &timers[1], 300), 0);
    htw_monitor_lend(source); /* makes the copy that was asked for */
    htw_monitor_take_back(source);
    assert_int_equal(htw_wheel_schedule(wheel, &timers[2], 300), 0);
    const char *json = client_ask(f->path, "json\n");
    assert_says(json, "\"pending\":2,");
    assert_says(json, "\"tick_ns\":1000000,\"clock\":0,");
    assert_says(json, "\"levels\":[{\"bucket_ns\":1000000,\"buckets\":256,\"clock\":0,"
                      "\"timers\":[0,1,0,");
    assert_says(json, "{\"bucket_ns\":256000000,\"buckets\":256,\"clock\":0,\"timers\":[1,0,");
    htw_monitor_lend(source);
    assert_says(client_ask(f->path, "json\n"), "\"pending\":3,");
    assert_says(client_ask(f->path, "metrics\n"), "htw_wheel_pending{wheel=\"w\"} 3\n");
    htw_monitor_take_back(source);
    htw_monitor_lend(NULL);
    htw_monitor_take_back(NULL);
    htw_monitor_remove(source);
    htw_wheel_destroy(wheel);
}

/* holds: monitor-2 */
MONITOR_TEST(monitor_shows_wheels_of_every_size) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    struct htw_timer timers[2] = { 0 };
    options.start = HTW_NEVER_TICK - 2; /* a clock that JSON readers cannot hold */
    for (options.size = HTW_WHEEL_SIZE_MIN; options.size <= HTW_WHEEL_SIZE_MAX; options.size *= 2) {
        struct htw_wheel *wheel;
        struct htw_monitor_source *source;
        assert_int_equal(htw_wheel_create(&wheel, &options), 0);
        assert_int_equal(htw_monitor_add_wheel(f->monitor, "w", wheel, INT64_MAX, &source), 0);
        assert_int_equal(htw_wheel_schedule(wheel, &timers[0], HTW_NEVER_TICK), 0);
        assert_int_equal(htw_wheel_schedule(wheel, &timers[1], HTW_NEVER_TICK - 1), 0);
        assert_int_equal(htw_wheel_reserve(wheel, HTW_NEVER_TICK), 0);
        htw_monitor_lend(source);
        const char *json = client_ask(f->path, "json\n");
        assert_says(json, "\"pending\":2,");
        assert_says(json, "\"clock\":9223372036854775807,");
        assert_null(strstr(json, "-"));
        htw_monitor_take_back(source);
        htw_monitor_remove(source);
        htw_wheel_destroy(wheel);
    }
}

/* ---- names */

MONITOR_TEST(monitor_sources_given_wrongly_are_refused) {
    struct htw_scheduler *scheduler = make_scheduler();
    struct htw_purgatory *purgatory = make_purgatory(scheduler);
    struct htw_wheel *wheel;
    struct htw_monitor_source *source = NULL;
    static const char *const names[] = { "", "a b", "\"", "\n", "\\", "{", "é" };
    char longest[HTW_MONITOR_NAME_MAX + 2];
    memset(longest, 'x', sizeof(longest));
    longest[HTW_MONITOR_NAME_MAX + 1] = '\0';
    assert_int_equal(htw_wheel_create(&wheel, NULL), 0);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_int_equal(htw_monitor_add_scheduler(f->monitor, names[i], scheduler, &source),
                         -EINVAL);
    assert_int_equal(htw_monitor_add_purgatory(f->monitor, longest, purgatory, &source), -EINVAL);
    longest[HTW_MONITOR_NAME_MAX] = '\0';
    assert_int_equal(htw_monitor_add_purgatory(f->monitor, longest, purgatory, NULL), 0);
    assert_int_equal(htw_monitor_add_purgatory(f->monitor, longest, purgatory, &source), -EEXIST);
    assert_int_equal(htw_monitor_add_scheduler(f->monitor, longest, scheduler, NULL), 0);
    assert_int_equal(htw_monitor_add_scheduler(f->monitor, NULL, scheduler, &source), -EINVAL);
    assert_int_equal(htw_monitor_add_scheduler(NULL, "x", scheduler, &source), -EINVAL);
    assert_int_equal(htw_monitor_add_scheduler(f->monitor, "x", NULL, &source), -EINVAL);
    assert_int_equal(htw_monitor_add_purgatory(f->monitor, "x", NULL, &source), -EINVAL);
    assert_int_equal(htw_monitor_add_wheel(f->monitor, "x", NULL, 1, &source), -EINVAL);
    assert_int_equal(htw_monitor_add_wheel(f->monitor, "x", wheel, -1, &source), -EINVAL);
    assert_int_equal(htw_monitor_add_wheel(f->monitor, "x", wheel, 0, NULL), -EINVAL);
    assert_null(source);
    monitor_close(f);
    htw_wheel_destroy(wheel);
    htw_purgatory_destroy(purgatory);
    htw_scheduler_destroy(scheduler);
}

MONITOR_TEST(monitor_has_as_many_sources_as_it_says) {
    struct htw_scheduler *scheduler = make_scheduler();
    char name[16];
    for (int i = 0; i < HTW_MONITOR_SOURCES_MAX; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        assert_int_equal(htw_monitor_add_scheduler(f->monitor, name, scheduler, NULL), 0);
    }
    assert_int_equal(htw_monitor_add_scheduler(f->monitor, "more", scheduler, NULL), -EAGAIN);
    const char *metrics = client_ask(f->path, "metrics\n");
    assert_says(metrics, "htw_pending{scheduler=\"n255\"} 0\n");
    monitor_close(f);
    htw_scheduler_destroy(scheduler);
}

/* ---- requests */

MONITOR_TEST(monitor_answers_http) {
    const char *answer = client_ask(f->path, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    unsigned long length = 0;
    assert_says(answer, "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4");
    const char *body = strstr(answer, "\r\n\r\n");
    assert_non_null(body);
    assert_int_equal(sscanf(strstr(answer, "Content-Length: "), "Content-Length: %lu", &length), 1);
    assert_int_equal(strlen(body + 4), length);
    answer = client_ask(f->path, "GET /json?x=1 HTTP/1.0\n\n");
    assert_says(answer, "Content-Type: application/json\r\n");
    static const struct {
        const char *request, *answer;
    } wrong[] = {
        { "GET / HTTP/1.0\r\n\r\n", "HTTP/1.0 404 " },
        { "GET /jsonx HTTP/1.0\r\n\r\n", "HTTP/1.0 404 " },
        { "POST /json HTTP/1.0\r\n\r\n", "HTTP/1.0 404 " },
        { "json HTTP/1.0\r\n\r\n", "HTTP/1.0 404 " },
        { "xml\n", "error: the requests are: json, json sites, events, metrics, observe\n" },
        { "\n", "error: " },
        { "JSON\n", "error: " },
        { " HTTP/\n", "error: " },
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        assert_says(client_ask(f->path, wrong[i].request), wrong[i].answer);
    assert_memory_equal(client_ask(f->path, "json\r\n"), "{", 1);
}
