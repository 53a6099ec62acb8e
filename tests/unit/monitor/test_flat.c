/* SPDX-License-Identifier: MIT */
/* test_flat.c - each operation of a monitor again and again: its memory and its descriptors stay as they are. */
#include "../../support/manual_time.h"
#include "../../support/process.h"
#include "monitor_fixture.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CALLS 100000
#define CLIENTS 1000
#define PLACES 8 /* of clients that the thread has not dropped yet, with a block each */

int64_t __real_htw__clock_monotonic_ns(void);
int64_t __wrap_htw__clock_monotonic_ns(void);

static _Atomic int64_t ahead_ns;

/* So that the pause between two answers takes no time. */
int64_t __wrap_htw__clock_monotonic_ns(void) {
    return __real_htw__clock_monotonic_ns() + atomic_fetch_add(&ahead_ns, 10000000);
}

struct sources {
    struct monitor_fixture *f;
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    struct htw_wheel *wheel;
    struct htw_monitor_source *lent;
};

static void show_scheduler(struct sources *s) {
    struct htw_monitor_source *source;
    assert_int_equal(htw_monitor_add_scheduler(s->f->monitor, "x", s->scheduler, &source), 0);
    assert_int_equal(htw_monitor_add_scheduler(s->f->monitor, "x", s->scheduler, NULL), -EEXIST);
    htw_monitor_remove(source);
}

static void show_purgatory(struct sources *s) {
    struct htw_monitor_source *source;
    assert_int_equal(htw_monitor_add_purgatory(s->f->monitor, "x", s->purgatory, &source), 0);
    htw_monitor_remove(source);
}

static void show_wheel(struct sources *s) {
    struct htw_monitor_source *source;
    assert_int_equal(htw_monitor_add_wheel(s->f->monitor, "x", s->wheel, 1, &source), 0);
    htw_monitor_remove(source);
}

static void lend(struct sources *s) {
    htw_monitor_lend(s->lent);
    htw_monitor_take_back(s->lent);
}

static void ask_for_json(struct sources *s) {
    assert_non_null(strstr(client_ask(s->f->path, "json\n"), "]}\n"));
}

static void ask_for_metrics(struct sources *s) {
    assert_non_null(strstr(client_ask(s->f->path, "metrics\n"), "htw_wheel_pending"));
}

static void ask_by_http(struct sources *s) {
    assert_non_null(strstr(client_ask(s->f->path, "GET /json HTTP/1.0\r\n\r\n"), " 200 OK"));
}

static void ask_for_nothing_known(struct sources *s) {
    assert_memory_equal(client_ask(s->f->path, "x\n"), "error: ", 7);
}

static void connect_and_go(struct sources *s) {
    close(client_connect(s->f->path));
}

static void open_and_close(struct sources *s) {
    monitor_close(s->f);
    assert_int_equal(monitor_open(s->f), 0);
}

static void open_and_be_refused(struct sources *s) {
    struct htw_monitor *monitor = s->f->monitor;
    assert_int_equal(monitor_open(s->f), -EBUSY);
    s->f->monitor = monitor;
}

static const struct {
    void (*call)(struct sources *s);
    unsigned count;
} operations[] = {
    { show_scheduler, CALLS },   { show_purgatory, CALLS },
    { show_wheel, CALLS },       { lend, CALLS },
    { ask_for_json, CLIENTS },   { ask_for_metrics, CLIENTS },
    { ask_by_http, CLIENTS },    { ask_for_nothing_known, CLIENTS },
    { connect_and_go, CLIENTS }, { open_and_be_refused, CLIENTS },
    { open_and_close, CLIENTS }, /* the last: it removes what is lent */
};

static void on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context, (void)request, (void)reason;
}

static void create(struct sources *s) {
    struct htw_purgatory_options purgatory_options = HTW_PURGATORY_OPTIONS_INIT;
    purgatory_options.on_complete = on_complete;
    purgatory_options.shards = 1;
    s->scheduler = manual_scheduler(0);
    assert_non_null(s->scheduler);
    assert_int_equal(htw_purgatory_create(&s->purgatory, s->scheduler, &purgatory_options), 0);
    assert_int_equal(htw_wheel_create(&s->wheel, NULL), 0);
    assert_int_equal(htw_monitor_add_wheel(s->f->monitor, "lent", s->wheel, 1, &s->lent), 0);
}

/* holds: monitor-4 */
MONITOR_TEST(monitor_stays_as_it_is_whatever_is_called_how_often) {
    struct sources s = { .f = f };
    create(&s);
    for (size_t i = 0; i < COUNT_OF(operations); i++) {
        monitor_close(f);
        assert_int_equal(monitor_open(f), 0);
        assert_int_equal(htw_monitor_add_wheel(f->monitor, "lent", s.wheel, 1, &s.lent), 0);
        long live = f->live;
        unsigned descriptors = entries_of("/proc/self/fd");
        for (unsigned call = 0; call < operations[i].count; call++)
            operations[i].call(&s);
        assert_true(f->live <= live + PLACES &&
                    entries_of("/proc/self/fd") <= descriptors + PLACES);
        monitor_close(f); /* the clients have gone */
        assert_int_equal(monitor_open(f), 0);
        assert_int_equal(htw_monitor_add_wheel(f->monitor, "lent", s.wheel, 1, &s.lent), 0);
        assert_int_equal(f->live, live);
        assert_int_equal(entries_of("/proc/self/fd"), descriptors);
    }
    monitor_close(f);
    htw_wheel_destroy(s.wheel);
    htw_purgatory_destroy(s.purgatory);
    htw_scheduler_destroy(s.scheduler);
}
