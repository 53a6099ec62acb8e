/* SPDX-License-Identifier: MIT */
#include "inert.h"

#include "child.h"
#include "timer_info.h"

#include <htw/executor.h>
#include <htw/group.h>
#include <htw/loop.h>
#include <htw/observe.h>
#include <htw/timer.h>

#include <errno.h>

/* Opened in the parent: a child of threads may find an allocator locked. */
static FILE *stream;

__attribute__((constructor)) static void open_stream(void) {
    stream = tmpfile();
}

static void must_not_run(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
    _exit(2);
}

static void must_not_visit(void *context, const struct htw_unexpired *unexpired) {
    (void)context, (void)unexpired;
    _exit(3);
}

static void expect_schedule(const struct inert *e) {
    struct htw_scheduler *s = e->scheduler;
    struct htw_spec spec = HTW_SPEC_INIT;
    htw_handle handle = 77;
    spec.callback = must_not_run;
    EXPECT(htw_schedule(s, 0, must_not_run, NULL, &handle) == -EOWNERDEAD);
    EXPECT(htw_schedule_at(s, 0, must_not_run, NULL, &handle) == -EOWNERDEAD);
    EXPECT(htw_schedule_within(s, 0, 1, must_not_run, NULL, &handle) == -EOWNERDEAD);
    EXPECT(htw_schedule_every(s, 0, 1, HTW_REPEAT_SKIP, must_not_run, NULL, &handle) ==
           -EOWNERDEAD);
    EXPECT(htw_schedule_spec(s, &spec, &handle, NULL) == -EOWNERDEAD);
    spec.key = "key";
    spec.key_size = 3;
    EXPECT(htw_schedule_spec(s, &spec, &handle, NULL) == -EOWNERDEAD);
    spec.group = e->group;
    EXPECT(htw_schedule_spec(s, &spec, &handle, NULL) == -EOWNERDEAD);
    EXPECT(handle == 77);
}

static void expect_timers(const struct inert *e) {
    struct htw_scheduler *s = e->scheduler;
    void *arg = NULL;
    int64_t deadline = 77;
    EXPECT(htw_cancel(s, e->handle) == -EOWNERDEAD);
    EXPECT(htw_cancel_wait(s, e->handle) == -EOWNERDEAD);
    EXPECT(htw_cancel_remaining(s, e->handle, &deadline) == -EOWNERDEAD && deadline == 77);
    EXPECT(htw_cancel_key(s, NULL, "key", 3, &arg) == -EOWNERDEAD && arg == NULL);
    EXPECT(htw_cancel_key(s, e->group, "key", 3, &arg) == -EOWNERDEAD);
    EXPECT(htw_find_key(s, NULL, "key", 3) == 0);
    EXPECT(htw_reschedule(s, e->handle, 0) == -EOWNERDEAD);
    EXPECT(htw_reschedule_at(s, e->handle, 0) == -EOWNERDEAD);
    EXPECT(htw_set_period(s, e->handle, 1) == -EOWNERDEAD);
    EXPECT(!htw_is_pending(s, e->handle));
    EXPECT(timer_deadline_of(s, e->handle, &deadline) == -EOWNERDEAD && deadline == 77);
    EXPECT(timer_clock_of(s, e->handle) == -EOWNERDEAD);
    EXPECT(htw_pending(s) == 0);
}

static void expect_groups(const struct inert *e) {
    struct htw_group *group = NULL;
    EXPECT(htw_group_create(e->scheduler, &group) == -EOWNERDEAD && group == NULL);
    EXPECT(htw_group_pause(e->group) == -EOWNERDEAD);
    EXPECT(htw_group_resume(e->group) == -EOWNERDEAD);
    EXPECT(htw_group_cancel(e->group, must_not_visit, NULL) == -EOWNERDEAD);
    EXPECT(htw_group_set_name(e->group, "name") == -EOWNERDEAD);
    EXPECT(htw_group_count(e->group) == 0);
    htw_group_destroy(e->group);
}

static void expect_scopes(const struct inert *e) {
    struct htw_scope scope;
    EXPECT(htw_scope_enter(&scope, e->scheduler, e->scope, 0, NULL) == -EOWNERDEAD);
    EXPECT(htw_scope_shorten(e->scope, 0) == -EOWNERDEAD);
    EXPECT(htw_scope_cancel(e->scope) == -EOWNERDEAD);
    EXPECT(htw_scope_exit(e->scope) == -EOWNERDEAD);
    EXPECT(htw_scope_left_ns(e->scope) == 0);
}

static void expect_scheduler(const struct inert *e) {
    struct htw_scheduler *s = e->scheduler;
    static const struct htw_site site = { .callback = must_not_run };
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    struct htw_scheduler_histograms histograms = HTW_SCHEDULER_HISTOGRAMS_INIT;
    size_t count = 77;
    EXPECT(htw_scheduler_now(s) == 0 && htw_scheduler_now_by(s, HTW_CLOCK_REALTIME) == 0);
    EXPECT(htw_scheduler_fd(s) == -EOWNERDEAD);
    EXPECT(htw_scheduler_next(s) == HTW_NEVER_NS); /* there is nothing to wait for */
    EXPECT(htw_scheduler_process(s, 0, &count) == -EOWNERDEAD && count == 77);
    EXPECT(htw_scheduler_advance(s, HTW_SECOND) == -EOWNERDEAD);
    EXPECT(htw_scheduler_set_clock(s, HTW_CLOCK_REALTIME, HTW_SECOND) == -EOWNERDEAD);
    EXPECT(htw_scheduler_get_stats(s, &stats) == -EOWNERDEAD && stats.scheduled == 0);
    EXPECT(htw_scheduler_get_histograms(s, &stats, &histograms) == -EOWNERDEAD);
    EXPECT(htw_scheduler_dump(s, stream) == -EOWNERDEAD);
    EXPECT(htw_scheduler_prometheus(s, stream) == -EOWNERDEAD && ftell(stream) == 0);
    EXPECT(htw_scheduler_keep_site(s, &site) == NULL);
    EXPECT(htw_scheduler_observe(s, HTW_OBSERVE_SITES) == -EOWNERDEAD);
    EXPECT(htw_scheduler_observed(s) == 0);
    EXPECT(htw_scheduler_visit(s, HTW_VISIT_SITES, 0, NULL, NULL) == -EOWNERDEAD);
    htw_task_run(e->task);
    EXPECT(htw_scheduler_stop(s, must_not_visit, NULL) == -EOWNERDEAD);
    EXPECT(htw_scheduler_destroy(s) == -EOWNERDEAD);
}

void inert_expect(const struct inert *e) {
    expect_schedule(e);
    expect_timers(e);
    expect_groups(e);
    expect_scopes(e);
    expect_scheduler(e);
}
