/* SPDX-License-Identifier: MIT */
/* test_executor.c - callbacks run by an executor of the user's. Time is the manual clock's; where the executor
   keeps tasks for later, another thread runs them, since advance and stop wait for that. */
#include "scheduler_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#define DELAY_NS (10 * MS)

enum { TASKS = 200 };

/* An executor that keeps tasks for another thread. */
static struct taker {
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    struct htw_task *kept[TASKS];
    size_t kept_count;
    bool over;
    pthread_t other;
} taker;

static void keep(void *context, struct htw_task *const *tasks, size_t count) {
    struct taker *self = context;
    pthread_mutex_lock(&self->mutex);
    for (size_t i = 0; i < count; i++)
        self->kept[self->kept_count++] = tasks[i];
    pthread_cond_signal(&self->arrived);
    pthread_mutex_unlock(&self->mutex);
}

/* The other thread: runs what is kept, one after the other, until the test ends. */
static void *run_kept(void *arg) {
    struct taker *self = arg;
    pthread_mutex_lock(&self->mutex);
    for (;;) {
        while (self->kept_count == 0 && !self->over)
            pthread_cond_wait(&self->arrived, &self->mutex);
        if (self->kept_count == 0)
            break;
        struct htw_task *task = self->kept[--self->kept_count];
        pthread_mutex_unlock(&self->mutex);
        htw_task_run(task);
        pthread_mutex_lock(&self->mutex);
    }
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

/* holds: scheduler-15 */
LATER_TEST(tasks_that_another_thread_runs_later_run_once) {
    struct htw_executor executor = { keep, &taker };
    pthread_mutex_init(&taker.mutex, NULL);
    pthread_cond_init(&taker.arrived, NULL);
    f->options.executor = &executor;
    f->count = TASKS;
    scheduler_reopen(f);
    executor = (struct htw_executor) { NULL, NULL }; /* it was copied */
    assert_int_equal(pthread_create(&taker.other, NULL, run_kept, &taker), 0);
    for (unsigned i = 0; i < TASKS; i++)
        arm(f, i, DELAY_NS);
    advance(f, DELAY_NS); /* waits until all tasks are over */
    pthread_mutex_lock(&taker.mutex);
    taker.over = true;
    pthread_cond_signal(&taker.arrived);
    pthread_mutex_unlock(&taker.mutex);
    pthread_join(taker.other, NULL);
    for (unsigned i = 0; i < TASKS; i++) {
        assert_int_equal(f->probes[i].runs, 1);
        assert_int_equal(cancel(f, i), HTW_GONE);
    }
    pthread_cond_destroy(&taker.arrived);
    pthread_mutex_destroy(&taker.mutex);
}

/* ---- stop */

/* An embedded scheduler on a real clock: process() hands over and does not wait. */
struct holder {
    struct htw_scheduler *scheduler;
    struct htw_task *tasks[8];
    size_t count;
    unsigned runs;
    _Atomic bool stopped;
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

static void count_release(void *arg) {
    *(unsigned *)arg += 10;
}

static void count_leftover(void *context, const struct htw_unexpired *unexpired) {
    (void)unexpired;
    ++*(unsigned *)context;
}

static void *stop(void *arg) {
    struct holder *holder = arg;
    int error = htw_scheduler_stop(holder->scheduler, count_leftover, &holder->handed_back);
    atomic_store(&holder->stopped, true);
    return error == 0 ? NULL : arg;
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

/* Tasks that are run once stop has set about it do nothing, and are handed back; a hook releases. */
UNIT_TEST(task_run_after_stop_began_is_handed_back) {
    struct holder holder;
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = count_run;
    spec.arg = &holder.runs;
    spec.release = count_release;
    hold_open(&holder);
    atomic_store(&gate, 0);
    assert_int_equal(htw_schedule(holder.scheduler, 0, wait_at_gate, &holder.runs, NULL), 0);
    assert_int_equal(htw_scheduler_process(holder.scheduler, 0, NULL), HTW_DONE);
    assert_int_equal(htw_schedule(holder.scheduler, 0, count_run, &holder.runs, NULL), 0);
    assert_int_equal(htw_schedule_spec(holder.scheduler, &spec, NULL, NULL), 0);
    assert_int_equal(htw_scheduler_process(holder.scheduler, 0, NULL), HTW_DONE);
    assert_int_equal(holder.count, 3);
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
    htw_task_run(holder.tasks[2]);
    assert_false(atomic_load(&holder.stopped));
    atomic_store(&gate, 2);
    pthread_join(runner, NULL);
    pthread_join(stopper, NULL);
    assert_int_equal(holder.runs, 1 + 10);
    assert_int_equal(holder.handed_back, 2);
    struct scheduler_fixture held = { .scheduler = holder.scheduler };
    (void)scheduler_stats(&held); /* adds up */
    assert_int_equal(htw_scheduler_destroy(holder.scheduler), 0);
}
