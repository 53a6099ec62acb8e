/* SPDX-License-Identifier: MIT */
/* test_executor.c - callbacks run by an executor of the user's. Time is the manual clock's; where the executor
   keeps tasks for later, another thread runs them, since advance and stop wait for that. */
#include "scheduler_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define DELAY_NS (10 * MS)

enum { ROOM = 1024 };

/* Takes tasks as `mode` says. */
struct taker {
    enum { RUN, DROP, KEEP, MIXED } mode;
    struct scheduler_fixture *f;
    /* Under the mutex, for KEEP. */
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    struct htw_task *kept[ROOM];
    size_t kept_count;
    bool over;
    void *dropped[ROOM];
    size_t drop_count;
    int drop_outcome; /* of the last */
    size_t calls, most, least;
    void (*before)(struct taker *taker); /* called in execute(), before anything is done */
    pthread_t other;
};

static void drop(struct taker *taker, struct htw_task *task) {
    void **ret_arg = &taker->dropped[taker->drop_count++];
    *ret_arg = NULL;
    taker->drop_outcome = htw_task_drop(task, ret_arg);
}

static void execute(void *context, struct htw_task *const *tasks, size_t count) {
    struct taker *taker = context;
    taker->calls++;
    taker->most = count > taker->most ? count : taker->most;
    taker->least = count < taker->least ? count : taker->least;
    if (taker->before != NULL)
        taker->before(taker);
    if (taker->mode == KEEP) {
        pthread_mutex_lock(&taker->mutex);
        for (size_t i = 0; i < count && taker->kept_count < ROOM; i++)
            taker->kept[taker->kept_count++] = tasks[i];
        pthread_cond_signal(&taker->arrived);
        pthread_mutex_unlock(&taker->mutex);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (taker->mode == DROP || (taker->mode == MIXED && i % 2 == 0))
            drop(taker, tasks[i]);
        else
            htw_task_run(tasks[i]);
}

/* The other thread: runs what is kept, one after the other, until the test ends. */
static void *run_kept(void *arg) {
    struct taker *taker = arg;
    pthread_mutex_lock(&taker->mutex);
    for (;;) {
        while (taker->kept_count == 0 && !taker->over)
            pthread_cond_wait(&taker->arrived, &taker->mutex);
        if (taker->kept_count == 0)
            break;
        struct htw_task *task = taker->kept[--taker->kept_count];
        pthread_mutex_unlock(&taker->mutex);
        htw_task_run(task);
        pthread_mutex_lock(&taker->mutex);
    }
    pthread_mutex_unlock(&taker->mutex);
    return NULL;
}

static struct taker taker;

static void begin(struct scheduler_fixture *f, int mode) {
    struct htw_executor executor = { execute, &taker };
    taker = (struct taker) { .least = SIZE_MAX, .f = f };
    taker.mode = (unsigned)mode;
    pthread_mutex_init(&taker.mutex, NULL);
    pthread_cond_init(&taker.arrived, NULL);
    f->options.executor = &executor;
    f->count = 200;
    scheduler_reopen(f);
    executor = (struct htw_executor) { NULL, NULL }; /* it was copied */
    if (mode == KEEP)
        assert_int_equal(pthread_create(&taker.other, NULL, run_kept, &taker), 0);
}

static void end(void) {
    if (taker.mode == KEEP) {
        pthread_mutex_lock(&taker.mutex);
        taker.over = true;
        pthread_cond_signal(&taker.arrived);
        pthread_mutex_unlock(&taker.mutex);
        pthread_join(taker.other, NULL);
    }
    pthread_cond_destroy(&taker.arrived);
    pthread_mutex_destroy(&taker.mutex);
}

static void schedule(struct scheduler_fixture *f, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        arm(f, i, DELAY_NS);
}

UNIT_TEST(executor_without_a_function_is_refused) {
    struct htw_scheduler *scheduler;
    struct htw_executor executor = { NULL, NULL };
    struct htw_scheduler_options options = scheduler_options();
    options.executor = &executor;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), -EINVAL);
    htw_task_run(NULL);
    assert_int_equal(htw_task_drop(NULL, NULL), -EINVAL);
}

LATER_TEST(tasks_run_inside_execute_run_at_once) {
    begin(f, RUN);
    schedule(f, 200);
    advance(f, DELAY_NS - 1);
    assert_int_equal(taker.calls, 0);
    advance(f, 1);
    for (size_t i = 0; i < 200; i++) {
        assert_int_equal(f->probes[i].runs, 1);
        assert_int_equal(f->probes[i].last.deadline_ns, START_NS + DELAY_NS);
        assert_int_equal(f->probes[i].last.late_ns, 0);
        assert_int_equal(f->probes[i].last.handle, f->probes[i].handle);
    }
    assert_true(taker.most <= 64);
    assert_true(taker.least >= 1);
    assert_true(taker.calls >= 4);
    end();
}

LATER_TEST(tasks_run_by_another_thread_are_waited_for_by_advance) {
    begin(f, KEEP);
    schedule(f, 200);
    advance(f, DELAY_NS);
    for (size_t i = 0; i < 200; i++)
        assert_int_equal(f->probes[i].runs, 1);
    end();
}

LATER_TEST(tasks_dropped_give_their_arguments_back) {
    begin(f, DROP);
    schedule(f, 100);
    advance(f, DELAY_NS);
    assert_int_equal(taker.drop_count, 100);
    for (size_t i = 0; i < 100; i++) {
        struct probe *probe = taker.dropped[i];
        assert_non_null(probe);
        probe->visits++;
    }
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(f->probes[i].visits, 1);
        assert_int_equal(f->probes[i].runs, 0);
        assert_int_equal(cancel(f, i), HTW_GONE);
    }
    assert_int_equal(scheduler_stats(f).cancelled, 100);
    end();
}

LATER_TEST(tasks_half_dropped_and_half_run_are_all_counted) {
    begin(f, MIXED);
    schedule(f, 100);
    advance(f, DELAY_NS);
    struct htw_scheduler_stats stats = scheduler_stats(f);
    assert_int_equal(stats.cancelled, taker.drop_count);
    assert_int_equal(stats.fired, 100 - taker.drop_count);
    end();
}

LATER_TEST(task_dropped_with_a_hook_gives_null_and_calls_it) {
    begin(f, DROP);
    struct htw_spec spec = hooked_spec(f, 0, DELAY_NS);
    spec.period_ns = DELAY_NS; /* dropping ends a repeating timer, too */
    arm_spec(f, 0, &spec);
    advance(f, 5 * DELAY_NS);
    assert_int_equal(taker.drop_count, 1);
    assert_int_equal(taker.drop_outcome, HTW_CANCELLED);
    assert_null(taker.dropped[0]);
    assert_log(f, "A");
    end();
}

/* ---- what happens to a timer while the executor has it */

static int outcome;

static void cancel_subject(struct taker *self) {
    outcome = htw_cancel(self->f->scheduler, self->f->probes[0].handle);
}

LATER_TEST(task_cancelled_before_it_runs_does_nothing) {
    for (int mode = RUN; mode <= DROP; mode++) {
        begin(f, mode);
        struct htw_spec spec = hooked_spec(f, 0, DELAY_NS);
        taker.before = cancel_subject;
        taker.drop_outcome = 77;

        arm(f, 0, DELAY_NS);
        advance(f, DELAY_NS);
        assert_int_equal(outcome, HTW_CANCELLED);
        arm_spec(f, 0, &spec);
        advance(f, DELAY_NS);
        assert_int_equal(outcome, HTW_CANCELLED);
        assert_log(f, "A");
        for (size_t i = 0; i < taker.drop_count; i++)
            assert_null(taker.dropped[i]);
        assert_int_equal(taker.drop_outcome, mode == DROP ? HTW_GONE : 77);
        assert_int_equal(scheduler_stats(f).cancelled, 2);
        end();
    }
}

static void move_subject(struct taker *self) {
    outcome = self->calls > 1
                  ? HTW_GONE
                  : htw_reschedule(self->f->scheduler, self->f->probes[0].handle, 5 * DELAY_NS);
}

LATER_TEST(task_moved_before_it_runs_is_executed_later) {
    begin(f, RUN);
    taker.before = move_subject;

    arm(f, 0, DELAY_NS);
    advance(f, DELAY_NS);
    assert_int_equal(outcome, HTW_MOVED);
    assert_int_equal(f->probes[0].runs, 0);
    assert_true(is_pending(f, 0));
    advance(f, 5 * DELAY_NS - 1);
    assert_int_equal(f->probes[0].runs, 0);
    advance(f, 1);
    assert_int_equal(f->probes[0].runs, 1);
    assert_int_equal(f->probes[0].last.deadline_ns, START_NS + 6 * DELAY_NS);
    end();
}

static void pause_subject(struct taker *self) {
    outcome = self->calls > 1 ? HTW_GONE : htw_group_pause(self->f->group);
}

LATER_TEST(task_of_a_paused_group_waits) {
    begin(f, RUN);
    create_group(f);
    struct htw_spec spec = hooked_spec(f, 0, DELAY_NS);
    spec.group = f->group;
    taker.before = pause_subject;
    arm_spec(f, 0, &spec);
    advance(f, HTW_SECOND);
    assert_int_equal(f->probes[0].runs, 0);
    resume_group(f);
    advance(f, MS);
    assert_log(f, "aA");
    end();
}

static int stop_answer, advance_answer, wait_answer;

static void stop_inside(struct taker *self) {
    stop_answer = htw_scheduler_stop(self->f->scheduler, NULL, NULL);
    advance_answer = htw_scheduler_advance(self->f->scheduler, 0);
    wait_answer = htw_cancel_wait(self->f->scheduler, self->f->probes[0].handle);
}

/* holds: scheduler-12 */
LATER_TEST(executor_that_would_wait_for_itself_gets_edeadlk) {
    begin(f, RUN);
    taker.before = stop_inside;

    arm(f, 0, DELAY_NS);
    advance(f, DELAY_NS);
    assert_int_equal(stop_answer, -EDEADLK);
    assert_int_equal(advance_answer, -EDEADLK);
    assert_int_equal(wait_answer, HTW_CANCELLED); /* it has not started: nothing to wait for */
    assert_int_equal(f->probes[0].runs, 0);
    end();
}

static void act_schedule_the_next(struct probe *self) {
    if (self->runs == 10)
        return;
    self->result = htw_schedule(self->fixture->scheduler, DELAY_NS, probe_run, self, NULL);
}

LATER_TEST(task_that_schedules_its_successor_runs_on) {
    for (int mode = RUN; mode <= KEEP; mode += KEEP - RUN) {
        begin(f, mode);
        f->probes[0].act = act_schedule_the_next;
        arm(f, 0, DELAY_NS);
        advance(f, 20 * DELAY_NS);
        assert_int_equal(f->probes[0].runs, 10);
        assert_int_equal(f->probes[0].ran_ns, START_NS + 10 * DELAY_NS);
        end();
    }
}

/* ---- stop */

/* An embedded scheduler on a real clock: process() hands over and does not wait. */
struct holder {
    struct htw_scheduler *scheduler;
    struct htw_task *tasks[8];
    size_t count;
    unsigned runs;
    _Atomic bool stopping, stopped;
    unsigned handed_back;
};

static void hold(void *context, struct htw_task *const *tasks, size_t count) {
    struct holder *holder = context;
    for (size_t i = 0; i < count; i++)
        holder->tasks[holder->count++] = tasks[i];
}

static void hold_open(struct holder *holder) {
    struct htw_executor executor = { hold, holder };
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    *holder = (struct holder) { .scheduler = NULL };
    options.embedded = true;
    options.shards = 1;
    options.executor = &executor;
    assert_int_equal(htw_scheduler_create(&holder->scheduler, &options), 0);
}

static void count_run(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    ++*(unsigned *)arg;
}

static void count_leftover(void *context, const struct htw_unexpired *unexpired) {
    (void)unexpired;
    ++*(unsigned *)context;
}

static void *stop(void *arg) {
    struct holder *holder = arg;
    atomic_store(&holder->stopping, true);
    int error = htw_scheduler_stop(holder->scheduler, count_leftover, &holder->handed_back);
    atomic_store(&holder->stopped, true);
    return error == 0 ? NULL : arg;
}

/* Until stop has begun, as can be told from outside. */
static void wait_for_shutdown(struct holder *holder) {
    static unsigned ignored;
    while (htw_schedule(holder->scheduler, HTW_NEVER_NS, count_run, &ignored, NULL) != -ESHUTDOWN)
        ;
}

UNIT_TEST(stop_waits_for_what_the_executor_holds) {
    struct holder holder;
    hold_open(&holder);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(htw_schedule(holder.scheduler, 0, count_run, &holder.runs, NULL), 0);
    size_t count = 0;
    assert_int_equal(htw_scheduler_process(holder.scheduler, 0, &count), HTW_DONE);
    assert_int_equal(count, 4);
    assert_int_equal(holder.count, 4);
    assert_int_equal(htw_pending(holder.scheduler), 4);
    htw_task_run(holder.tasks[0]);
    assert_int_equal(holder.runs, 1);
    pthread_t stopper;
    assert_int_equal(pthread_create(&stopper, NULL, stop, &holder), 0);
    wait_for_shutdown(&holder);
    assert_false(atomic_load(&holder.stopped)); /* three tasks are held */
    /* The threads are stopped after the shards are closed; a run before that is one, too. */
    htw_task_run(holder.tasks[1]);
    void *arg = NULL;
    assert_int_equal(htw_task_drop(holder.tasks[2], &arg), HTW_CANCELLED);
    assert_ptr_equal(arg, &holder.runs);
    assert_false(atomic_load(&holder.stopped));
    htw_task_run(holder.tasks[3]);
    void *failed;
    pthread_join(stopper, &failed);
    assert_null(failed);
    struct scheduler_fixture held = { .scheduler = holder.scheduler };
    struct htw_scheduler_stats stats = scheduler_stats(&held);
    assert_int_equal(stats.cancelled, 1);
    assert_int_equal(stats.handed_back, holder.handed_back);
    assert_int_equal(stats.fired, holder.runs);
    assert_int_equal(stats.pending, 0);
    assert_int_equal(htw_scheduler_destroy(holder.scheduler), 0);
}

/* With a callback that runs meanwhile, stop has surely begun when the tasks are run. */
static void *run_first(void *arg) {
    struct holder *holder = arg;
    htw_task_run(holder->tasks[0]);
    return NULL;
}

static _Atomic int gate; /* 1: the callback has begun; 2: it may end */

static void wait_at_gate(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    ++*(unsigned *)arg;
    atomic_store(&gate, 1);
    while (atomic_load(&gate) != 2)
        sched_yield();
}

/* Tasks that are run once stop has set about it do nothing, and are handed back. */
UNIT_TEST(task_run_after_stop_began_is_handed_back) {
    struct holder holder;
    hold_open(&holder);
    atomic_store(&gate, 0);
    assert_int_equal(htw_schedule(holder.scheduler, 0, wait_at_gate, &holder.runs, NULL), 0);
    assert_int_equal(htw_scheduler_process(holder.scheduler, 0, NULL), HTW_DONE);
    assert_int_equal(htw_schedule(holder.scheduler, 0, count_run, &holder.runs, NULL), 0);
    assert_int_equal(htw_scheduler_process(holder.scheduler, 0, NULL), HTW_DONE);
    assert_int_equal(holder.count, 2);
    pthread_t runner, stopper;
    assert_int_equal(pthread_create(&runner, NULL, run_first, &holder), 0);
    while (atomic_load(&gate) != 1)
        sched_yield();
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    assert_int_equal(htw_scheduler_get_stats(holder.scheduler, &stats), 0);
    assert_int_equal(stats.running, 1);
    assert_int_equal(pthread_create(&stopper, NULL, stop, &holder), 0);
    struct htw_group *group;
    int answer;
    while ((answer = htw_group_create(holder.scheduler, &group)) == 0)
        htw_group_destroy(group); /* -ESHUTDOWN: no callback starts any more */
    assert_int_equal(answer, -ESHUTDOWN);
    htw_task_run(holder.tasks[1]);
    assert_false(atomic_load(&holder.stopped));
    atomic_store(&gate, 2);
    pthread_join(runner, NULL);
    pthread_join(stopper, NULL);
    assert_int_equal(holder.runs, 1);
    assert_int_equal(holder.handed_back, 1);
    struct scheduler_fixture held = { .scheduler = holder.scheduler };
    (void)scheduler_stats(&held); /* adds up */
    assert_int_equal(htw_scheduler_destroy(holder.scheduler), 0);
}
