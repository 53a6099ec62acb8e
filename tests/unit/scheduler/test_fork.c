/* SPDX-License-Identifier: MIT */
/* test_fork.c - a child finds the scheduler of its parent inert. */
#include "scheduler_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a child finds; only objects of the parent's that it can reach. */
struct estate {
    struct htw_scheduler *scheduler;
    struct htw_group *group;
    htw_handle handle;
    struct htw_task *task;
};

/* In the child nothing can be asserted: the first line that does not hold goes to the parent. */
#define EXPECT(condition)    \
    do {                     \
        if (!(condition))    \
            return __LINE__; \
    } while (0)

static void must_not_run(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    (void)expiration;
    _exit(2);
}

static void must_not_visit(void *context, const struct htw_unexpired *unexpired) {
    (void)context;
    (void)unexpired;
    _exit(3);
}

static int schedule_in_child(const struct estate *e) {
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
    return 0;
}

static int ask_in_child(const struct estate *e) {
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
    EXPECT(htw_deadline(s, e->handle, &deadline) == -EOWNERDEAD && deadline == 77);
    EXPECT(htw_clock_of(s, e->handle) == -EOWNERDEAD);
    EXPECT(htw_pending(s) == 0);
    return 0;
}

static int group_in_child(const struct estate *e) {
    struct htw_group *group = NULL;
    EXPECT(htw_group_create(e->scheduler, &group) == -EOWNERDEAD && group == NULL);
    EXPECT(htw_group_pause(e->group) == -EOWNERDEAD);
    EXPECT(htw_group_resume(e->group) == -EOWNERDEAD);
    EXPECT(htw_group_cancel(e->group, must_not_visit, NULL) == -EOWNERDEAD);
    EXPECT(htw_group_count(e->group) == 0);
    htw_group_destroy(e->group);
    return 0;
}

static int process_in_child(const struct estate *e) {
    struct htw_scheduler *s = e->scheduler;
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    size_t count = 77;
    EXPECT(htw_scheduler_now(s) == 0);
    EXPECT(htw_scheduler_fd(s) == -EOWNERDEAD);
    EXPECT(htw_scheduler_next(s) == HTW_NEVER_NS); /* there is nothing to wait for */
    EXPECT(htw_scheduler_process(s, 0, &count) == -EOWNERDEAD && count == 77);
    EXPECT(htw_scheduler_advance(s, HTW_SECOND) == -EOWNERDEAD);
    EXPECT(htw_scheduler_set_time(s, HTW_SECOND) == -EOWNERDEAD);
    EXPECT(htw_scheduler_set_clock(s, HTW_CLOCK_REALTIME, HTW_SECOND) == -EOWNERDEAD);
    EXPECT(htw_scheduler_get_stats(s, &stats) == -EOWNERDEAD && stats.scheduled == 0);
    FILE *stream = tmpfile();
    EXPECT(stream != NULL);
    EXPECT(htw_scheduler_prometheus(s, stream) == -EOWNERDEAD && ftell(stream) == 0);
    fclose(stream);
    htw_task_run(e->task);
    EXPECT(htw_task_drop(e->task, NULL) == (e->task == NULL ? -EINVAL : -EOWNERDEAD));
    EXPECT(htw_scheduler_stop(s, must_not_visit, NULL) == -EOWNERDEAD);
    EXPECT(htw_scheduler_destroy(s) == -EOWNERDEAD);
    return 0;
}

static void count_run(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    ++*(unsigned *)arg;
}

/* The child's own, without threads: a child of a program with threads may have none. */
static int create_in_child(void) {
    struct htw_scheduler_options options = scheduler_options();
    struct htw_scheduler *mine;
    unsigned runs = 0;
    htw_handle handle;
    EXPECT(htw_scheduler_create(&mine, &options) == 0);
    EXPECT(htw_schedule(mine, MS, count_run, &runs, NULL) == 0);
    EXPECT(htw_schedule(mine, MS, count_run, &runs, &handle) == 0);
    EXPECT(htw_cancel(mine, handle) == HTW_CANCELLED);
    EXPECT(htw_scheduler_advance(mine, MS) == 0);
    EXPECT(runs == 1);
    EXPECT(htw_scheduler_destroy(mine) == 0);
    return 0;
}

static int live_in_child(const struct estate *estate) {
    int line = schedule_in_child(estate);
    if (line == 0)
        line = ask_in_child(estate);
    if (line == 0)
        line = group_in_child(estate);
    if (line == 0)
        line = process_in_child(estate);
    return line == 0 ? create_in_child() : line;
}

/* Forks. Returns the line at which the child failed; 0: none; negative: it came to an end. */
static int outlive_child(const struct estate *estate) {
    int channel[2], line = -1, status;
    if (pipe(channel) != 0)
        return -2;
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        line = live_in_child(estate);
        _exit(write(channel[1], &line, sizeof(line)) == sizeof(line) ? 0 : 1);
    }
    close(channel[1]);
    if (child < 0 || read(channel[0], &line, sizeof(line)) != sizeof(line))
        line = -3;
    close(channel[0]);
    if (child > 0 && (waitpid(child, &status, 0) != child || status != 0))
        line = -4;
    return line;
}

#define TIMERS 500u

static void arm_many(struct scheduler_fixture *f, struct estate *estate) {
    estate->scheduler = f->scheduler;
    assert_int_equal(htw_group_create(f->scheduler, &estate->group), 0);
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = probe_run;
    spec.when_ns = HTW_SECOND;
    for (unsigned i = 0; i < TIMERS; i++) {
        spec.arg = &f->probes[i];
        spec.key = i == 0 ? "key" : NULL;
        spec.key_size = 3;
        spec.group = i % 2 ? estate->group : NULL;
        arm_spec(f, i, &spec);
    }
    estate->handle = f->probes[0].handle;
}

static void fork_with(struct scheduler_fixture *f) {
    struct estate estate = { .task = NULL };
    f->count = TIMERS;
    scheduler_reopen(f);
    arm_many(f, &estate);
    struct htw_scheduler_stats before = scheduler_stats(f);
    assert_int_equal(outlive_child(&estate), 0);
    assert_int_equal(outlive_child(&estate), 0);
    struct htw_scheduler_stats after = scheduler_stats(f);
    assert_memory_equal(&before, &after, sizeof(before));
    assert_true(htw_is_pending(f->scheduler, estate.handle));
    assert_int_equal(htw_group_count(estate.group), TIMERS / 2);
    htw_group_destroy(estate.group);
    if (f->options.clock == HTW_CLOCK_MANUAL) {
        advance(f, HTW_SECOND);
        assert_int_equal(f->log_count, TIMERS);
    }
}

SCHEDULER_TEST(scheduler_after_fork_is_inert_in_the_child) {
    fork_with(f);
    f->options.shards = 4;
    f->options.max_pending = TIMERS;
    fork_with(f);
}

SCHEDULER_TEST(scheduler_with_threads_after_fork_is_inert_in_the_child) {
    f->options.workers = 2;
    f->options.start_threads = true;
    fork_with(f);
}

/* Nothing is due while this goes on: its clock is the real one. */
static void fork_embedded(struct scheduler_fixture *f, enum htw_clock clock) {
    struct estate estate = { .task = NULL };
    f->options.clock = clock;
    f->options.embedded = true;
    scheduler_reopen(f);
    estate.scheduler = f->scheduler;
    assert_int_equal(htw_group_create(f->scheduler, &estate.group), 0);
    arm(f, 0, 3600 * HTW_SECOND);
    estate.handle = f->probes[0].handle;
    assert_int_equal(outlive_child(&estate), 0);
    assert_true(htw_is_pending(f->scheduler, estate.handle));
    htw_group_destroy(estate.group);
}

SCHEDULER_TEST(scheduler_embedded_after_fork_is_inert_in_the_child) {
    fork_embedded(f, HTW_CLOCK_MONOTONIC);
    fork_embedded(f, HTW_CLOCK_REALTIME);
}

/* ---- with a lock taken, and from within */

static struct estate from_within;
static int line_within;

static void act_fork(struct probe *self) {
    (void)self;
    line_within = outlive_child(&from_within);
}

SCHEDULER_TEST(scheduler_after_fork_in_a_callback_is_inert_in_the_child) {
    f->count = TIMERS;
    scheduler_reopen(f);
    arm_many(f, &from_within);
    f->probes[7].act = act_fork;
    line_within = -1;
    advance(f, HTW_SECOND);
    assert_int_equal(line_within, 0);
    assert_int_equal(f->log_count, TIMERS);
    htw_group_destroy(from_within.group);
}

static void execute(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context;
    from_within.task = tasks[0];
    line_within = outlive_child(&from_within);
    for (size_t i = 0; i < count; i++)
        htw_task_run(tasks[i]);
}

SCHEDULER_TEST(scheduler_task_after_fork_is_inert_in_the_child) {
    struct htw_executor executor = { execute, NULL };
    f->options.executor = &executor;
    f->count = TIMERS;
    scheduler_reopen(f);
    arm_many(f, &from_within);
    line_within = -1;
    advance(f, HTW_SECOND);
    assert_int_equal(line_within, 0);
    assert_int_equal(f->log_count, TIMERS);
    htw_group_destroy(from_within.group);
}
