/* SPDX-License-Identifier: MIT */
/*
 * test_returns.c - callbacks, hooks, visitors, executors and the function of htw_set_log() return. What does not
 * ends the process, and says what it was; threads that are cancelled in a call end after it.
 */
/* holds: scheduler-22 */
#include "../../../src/base/assert.h"
#include "../../../src/base/log.h"
#include "../../support/child.h"
#include "../../support/throwing.h"
#include "scheduler_fixture.h"

#include <signal.h>
#include <unistd.h>

/* ---- ways to leave */

static void leave_by_exit(void) {
    pthread_exit(NULL);
}

static void leave_by_cancel(void) {
    pthread_cancel(pthread_self());
    pthread_testcancel();
}

static void (*const ways[])(void) = {
    leave_by_exit,
    leave_by_cancel,
#ifdef HAVE_THROWING
    throwing_throw,
#endif
};

/* What the code of the scene calls. */
static void (*leave)(void);

/* A scene is played in a child of its own. */
struct scene {
    void (*play)(void);
    const char *what;
    bool is_not_cancelled; /* the thread cannot be, there */
};

static void *play(void *scene) {
    ((const struct scene *)scene)->play();
    return NULL;
}

static void call_play(void *scene) {
    ((const struct scene *)scene)->play();
}

/* In the child: as a program whose thread catches what it can. */
static void play_to_the_end(void *scene) {
    pthread_t thread;
#ifdef HAVE_THROWING
    if (leave == throwing_throw)
        throwing_catch(call_play, scene);
#endif
    if (pthread_create(&thread, NULL, play, scene) == 0)
        pthread_join(thread, NULL);
    (void)call_play;
}

static void assert_aborts(const struct scene *scene, bool is_named) {
    char text[4096];
    int ended = child_run(play_to_the_end, (void *)(uintptr_t)scene, text, sizeof(text));
    if (ended != -SIGABRT || (is_named && strstr(text, scene->what) == NULL))
        fail_msg("%s: ended by %d, and said: %s", scene->what, ended, text);
}

/* ---- code of the user that leaves */

static void run_and_leave(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
    leave();
}

static void do_nothing(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
}

static void release_and_leave(void *arg) {
    (void)arg;
    leave();
}

static void visit_and_leave(void *context, const struct htw_unexpired *unexpired) {
    (void)context, (void)unexpired;
    leave();
}

static void execute_and_leave(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context, (void)tasks, (void)count;
    leave();
}

/* It also receives the message about its own end. A thread that is being cancelled cannot leave again: it returns then,
   and the library writes nothing. */
static void receive_and_leave(enum htw_log_level level, const char *subsystem,
                              const char *message) {
    (void)level, (void)subsystem;
    fputs(message, stderr);
    leave();
}

/* ---- where from: each in a child of its own, which has no scheduler yet */

static struct htw_scheduler *create(uint32_t workers, enum htw_clock clock,
                                    const struct htw_executor *executor) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    options.workers = workers > 0 ? workers : HTW_NO_WORKERS;
    options.clock = clock;
    options.executor = executor;
    return htw_scheduler_create(&scheduler, &options) == 0 ? scheduler : NULL;
}

static void arm_one(struct htw_scheduler *scheduler, htw_callback *callback,
                    htw_release_hook *release, struct htw_group *group) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = callback;
    spec.release = release;
    spec.group = group;
    spec.when_ns = callback == do_nothing && group == NULL ? HTW_HOUR : 0;
    if (htw_schedule_spec(scheduler, &spec, NULL, NULL) != 0)
        _exit(2);
}

static void in_callback(void) {
    struct htw_scheduler *scheduler = create(0, HTW_CLOCK_MANUAL, NULL);
    arm_one(scheduler, run_and_leave, NULL, NULL);
    htw_scheduler_advance(scheduler, 0);
}

static void in_hook(void) {
    struct htw_scheduler *scheduler = create(0, HTW_CLOCK_MANUAL, NULL);
    arm_one(scheduler, do_nothing, release_and_leave, NULL);
    htw_scheduler_advance(scheduler, HTW_HOUR);
}

static void in_visitor_of_stop(void) {
    struct htw_scheduler *scheduler = create(0, HTW_CLOCK_MANUAL, NULL);
    arm_one(scheduler, do_nothing, NULL, NULL);
    htw_scheduler_stop(scheduler, visit_and_leave, NULL);
}

static void in_visitor_of_group(void) {
    struct htw_scheduler *scheduler = create(0, HTW_CLOCK_MANUAL, NULL);
    struct htw_group *group;
    if (htw_group_create(scheduler, &group) != 0)
        _exit(2);
    arm_one(scheduler, do_nothing, NULL, group);
    htw_group_cancel(group, visit_and_leave, NULL);
}

static void in_executor(void) {
    const struct htw_executor executor = { execute_and_leave, NULL };
    struct htw_scheduler *scheduler = create(0, HTW_CLOCK_MANUAL, &executor);
    arm_one(scheduler, run_and_leave, NULL, NULL);
    htw_scheduler_advance(scheduler, 0);
}

static void in_report(void) {
    htw_set_log(receive_and_leave);
    htw__report(HTW_LOG_ERROR, "part", "news");
}

static void in_fatal(void) {
    htw_set_log(receive_and_leave);
    htw__fatal("it is wrong");
}

/* In a thread of the library. */
static void in_worker(void) {
    struct htw_scheduler *scheduler = create(1, HTW_CLOCK_MANUAL, NULL);
    arm_one(scheduler, run_and_leave, NULL, NULL);
    htw_scheduler_advance(scheduler, 0);
}

static void in_expirer(void) {
    struct htw_scheduler *scheduler = create(0, HTW_CLOCK_MONOTONIC, NULL);
    arm_one(scheduler, run_and_leave, NULL, NULL);
    for (;;)
        pause();
}

static const struct scene scenes[] = {
    { in_callback, "a callback", .is_not_cancelled = false },
    { in_hook, "a release hook", .is_not_cancelled = false },
    { in_visitor_of_stop, "a visitor", .is_not_cancelled = true },
    { in_visitor_of_group, "a visitor", .is_not_cancelled = false },
    { in_executor, "an executor", .is_not_cancelled = false },
    { in_report, "the function of htw_set_log()", .is_not_cancelled = false },
    { in_fatal, "htw: it is wrong\n", .is_not_cancelled = false },
};

static const struct scene threads[] = {
    { in_worker, "a callback", .is_not_cancelled = true },
    { in_expirer, "a callback", .is_not_cancelled = true },
};

UNIT_TEST(code_that_does_not_return_aborts_and_is_named) {
    for (size_t way = 0; way < COUNT_OF(ways); way++) {
        leave = ways[way];
        for (size_t i = 0; i < COUNT_OF(scenes); i++)
            if (leave != leave_by_cancel || !scenes[i].is_not_cancelled)
                assert_aborts(&scenes[i], true);
    }
}

/* There an exception meets no handler, so C++ ends the program at once. */
UNIT_TEST(callback_that_does_not_return_in_a_thread_of_the_library_aborts) {
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        leave = leave_by_exit;
        assert_aborts(&threads[i], true);
#ifdef HAVE_THROWING
        leave = throwing_throw;
        assert_aborts(&threads[i], false);
#endif
    }
}

/* ---- threads of the library are not cancelled */

static void act_cancel_thread(struct probe *self) {
    (void)self;
    pthread_cancel(pthread_self());
    pthread_testcancel();
}

SCHEDULER_TEST(callback_cannot_cancel_a_thread_of_the_library) {
    for (f->options.workers = 1; f->options.workers <= 2; f->options.workers++) {
        scheduler_reopen(f);
        for (unsigned i = 0; i < 4; i++) {
            f->probes[i].act = act_cancel_thread;
            arm(f, i, 0);
        }
        advance(f, 0);
        assert_int_equal(f->log_count, 4);
    }
}

/* ---- threads that are cancelled in a call: the request is there before */

static void cancelled_in_stop(struct scheduler_fixture *f) {
    pthread_cancel(pthread_self());
    htw_scheduler_stop(f->scheduler, NULL, NULL);
}

static void cancelled_in_advance(struct scheduler_fixture *f) {
    pthread_cancel(pthread_self());
    htw_scheduler_advance(f->scheduler, 0);
}

static void cancelled_in_process(struct scheduler_fixture *f) {
    pthread_cancel(pthread_self());
    htw_scheduler_process(f->scheduler, 0, NULL);
}

static void cancelled_in_cancel_wait(struct scheduler_fixture *f) {
    pthread_cancel(pthread_self());
    f->probes[0].result = htw_cancel_wait(f->scheduler, f->probes[0].handle);
}

static void count_visited(void *context, const union htw_visited *visited) {
    (void)visited;
    ++*(int *)context;
}

static void cancelled_in_visit(struct scheduler_fixture *f) {
    pthread_cancel(pthread_self());
    htw_scheduler_visit(f->scheduler, HTW_VISIT_SITES, 0, count_visited, &f->probes[0].result);
}

static FILE *sink;

static void cancelled_in_dump(struct scheduler_fixture *f) {
    pthread_cancel(pthread_self());
    f->probes[1].result = htw_scheduler_dump(f->scheduler, sink) == 0;
}

struct caller {
    struct scheduler_fixture *fixture;
    void (*call)(struct scheduler_fixture *f);
    bool returned;
};

static void *call_in_thread(void *arg) {
    struct caller *caller = arg;
    caller->call(caller->fixture);
    caller->returned = true;
    pthread_testcancel();
    return NULL;
}

/* Whether the call returned to the thread that made it, and the thread ended after that. */
static bool returns(struct caller *caller, pthread_t thread) {
    void *ended_by;
    assert_int_equal(pthread_join(thread, &ended_by), 0);
    return caller->returned && ended_by == PTHREAD_CANCELED;
}

static bool call_returns(struct scheduler_fixture *f, void (*call)(struct scheduler_fixture *f)) {
    struct caller caller = { f, call, false };
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, call_in_thread, &caller), 0);
    return returns(&caller, thread);
}

SCHEDULER_TEST(cancelled_thread_finishes_cancel_wait) {
    struct caller caller = { f, cancelled_in_cancel_wait, false };
    pthread_t thread;
    f->options.workers = 1;
    scheduler_reopen(f);
    arm(f, 0, 0);
    f->probes[0].act = act_stay;
    advance_to_gate(f, 0);
    int error = pthread_create(&thread, NULL, call_in_thread, &caller);
    advance_past_gate(f);
    assert_int_equal(error, 0);
    assert_true(returns(&caller, thread));
    assert_true(f->probes[0].result == HTW_RUNNING || f->probes[0].result == HTW_GONE);
}

SCHEDULER_TEST(cancelled_thread_finishes_stop_and_advance) {
    f->options.workers = 1;
    scheduler_reopen(f);
    arm(f, 0, 0);
    assert_true(call_returns(f, cancelled_in_advance));
    assert_ran(f, 0);
    arm(f, 1, HTW_NEVER_NS);
    assert_true(call_returns(f, cancelled_in_stop));
    assert_int_equal(scheduler_stats(f).handed_back, 1);
    assert_int_equal(htw_schedule(f->scheduler, 0, probe_run, &f->probes[0], NULL), -ESHUTDOWN);
}

SCHEDULER_TEST(cancelled_thread_finishes_visit_and_dump) {
    scheduler_reopen(f);
    arm(f, 0, MS);
    assert_true(call_returns(f, cancelled_in_visit));
    assert_int_equal(f->probes[0].result, 1);
    sink = fopen("/dev/null", "w");
    assert_true(call_returns(f, cancelled_in_dump));
    assert_int_equal(fclose(sink), 0);
    assert_true(f->probes[1].result);
    advance(f, MS);
}

SCHEDULER_TEST(cancelled_thread_finishes_process) {
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.embedded = true;
    scheduler_reopen(f);
    arm(f, 0, 0);
    assert_true(call_returns(f, cancelled_in_process));
    assert_ran(f, 0);
    assert_int_equal(htw_scheduler_process(f->scheduler, 0, NULL), HTW_DONE);
}
