/* SPDX-License-Identifier: MIT */
/* workers.c - the threads that run callbacks. */
#include "workers.h"

#include "../base/clock.h"
#include "../port/system.h"
#include "clocks.h"
#include "run.h"

/* Enough that expirers and workers rarely wait for each other. */
#define BATCHES_PER_WORKER 4u

/* How long a callback may delay the rest of its batch, and an expirer run callbacks. */
#define PERIOD_NS HTW_MILLISECOND

/* In manual time expirers have no threads, and only workers run callbacks. */
static bool has_expirers(const struct htw_scheduler *scheduler) {
    return scheduler->work_queue.deputy.has_alarm;
}

int htw__workers_init(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    uint32_t threads = htw__thread_count(scheduler);
    scheduler->threads =
        htw__allocate(&scheduler->allocator, threads * sizeof(*scheduler->threads));
    if (scheduler->threads == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < threads; i++) {
        struct htw__thread *thread = &scheduler->threads[i];
        *thread = (struct htw__thread) { .scheduler = scheduler };
    }
    if (scheduler->worker_count == 0)
        return 0;
    scheduler->batch_count =
        BATCHES_PER_WORKER * scheduler->worker_count + scheduler->expirer_count;
    scheduler->batches =
        htw__allocate(&scheduler->allocator, scheduler->batch_count * sizeof(*scheduler->batches));
    if (scheduler->batches == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < scheduler->batch_count; i++) {
        struct htw__batch *batch = &scheduler->batches[i];
        *batch = (struct htw__batch) { 0 };
        htw__work_queue_put_spare(queue, batch);
    }
    return htw__is_manual(scheduler) ? 0 : htw__deputy_init(&queue->deputy);
}

void htw__workers_fini(struct htw_scheduler *scheduler) {
    uint32_t threads = htw__thread_count(scheduler);
    for (uint32_t i = 0; scheduler->threads != NULL && i < threads; i++)
        htw__run_stats_destroy(scheduler, htw__thread_run_stats(&scheduler->threads[i]));
    htw__release(&scheduler->allocator, scheduler->threads, threads * sizeof(*scheduler->threads));
    htw__release(&scheduler->allocator, scheduler->batches,
                 scheduler->batch_count * sizeof(*scheduler->batches));
}

int htw__thread_add_run_stats(struct htw__thread *thread) {
    uint32_t n = (uint32_t)(thread - thread->scheduler->threads);
    struct htw__run_stats *run_stats = htw__run_stats_create(thread->scheduler, n);
    if (run_stats == NULL)
        return -ENOMEM;
    /* order: A thread that reads statistics must see them initialized. [relaxed: `stats`] */
    atomic_store_explicit(&thread->run_stats, run_stats, memory_order_release);
    return 0;
}

struct htw__run_stats *htw__thread_run_stats(const struct htw__thread *thread) {
    /* order: The statistics must be seen initialized. [relaxed: `stats`] */
    return atomic_load_explicit(&thread->run_stats, memory_order_acquire);
}

/* ---- starting and waking threads, under the mutex of the work queue */

static int start_thread(struct htw__thread *thread, const char *role, unsigned index) {
    struct htw_scheduler *scheduler = thread->scheduler;
    if (!scheduler->has_executor && htw__thread_run_stats(thread) == NULL &&
        htw__thread_add_run_stats(thread) != 0)
        return -ENOMEM;
    return htw__thread_start(&thread->id, scheduler->thread_name, role, index, htw__run_thread,
                             thread);
}

static int start_one(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    int error = start_thread(&scheduler->threads[queue->started], "worker", queue->started);
    if (error == 0)
        queue->started++;
    return error;
}

/* Beside those that run, which do its work if it cannot be started. */
static void start_another(struct htw_scheduler *scheduler) {
    if (start_one(scheduler) != 0)
        htw__note(scheduler, HTW__NOTE_NO_WORKER, 0);
}

/* Workers that wait: for a batch, or as the deputy. */
static unsigned idle_workers(const struct htw__work_queue *queue) {
    return queue->idle + (queue->deputy.present ? 1 : 0);
}

/* Wakes a worker for the queue. An idle worker counts as idle until it runs, also if it was woken for another
   batch. So if there are fewer idle workers than batches, another worker is started. */
static void wake_worker(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    if (queue->idle > 0)
        htw__system_condition_signal(&queue->work);
    else
        htw__deputy_want(&queue->deputy, 0);
    if (idle_workers(queue) < queue->queued && queue->started < scheduler->worker_count &&
        !queue->stop)
        start_another(scheduler);
}

/* Whether a thread may run the first batch of the queue. During a stop any thread may, since that runs no
   callback. */
static bool can_run(const struct htw_scheduler *scheduler) {
    const struct htw__work_queue *queue = &scheduler->work_queue;
    return queue->first != NULL && (queue->running < scheduler->worker_count || queue->stop);
}

/* Whether a worker must be woken for the first batch. An expirer takes batches, too, when no more timers are
   due. So it counts as running one already. */
static bool needs_worker(const struct htw_scheduler *scheduler) {
    const struct htw__work_queue *queue = &scheduler->work_queue;
    return queue->first != NULL &&
           queue->running + has_expirers(scheduler) < scheduler->worker_count;
}

/* ---- the deputy, under the mutex of the work queue */

/* The expirer that runs the batch that began first; NULL: none runs one. */
static struct htw__thread *busy_expirer(const struct htw_scheduler *scheduler) {
    struct htw__thread *first = NULL;
    for (uint32_t i = 0; i < htw__thread_count(scheduler); i++) {
        struct htw__thread *thread = &scheduler->threads[i];
        if (thread->expirer != NULL && thread->batch != NULL &&
            (first == NULL || thread->since_ns < first->since_ns))
            first = thread;
    }
    return first;
}

/* When the deputy is to take over the role of an expirer; HTW_NEVER_NS: none runs callbacks. */
static int64_t take_over_ns(const struct htw_scheduler *scheduler) {
    const struct htw__thread *busy = busy_expirer(scheduler);
    return busy == NULL ? HTW_NEVER_NS : busy->since_ns + PERIOD_NS;
}

/* Sees to it that there is a deputy, if a worker is idle or can be started. */
static void want_deputy(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    if (queue->deputy.present)
        return;
    if (queue->idle > 0)
        htw__system_condition_signal(&queue->work);
    else if (queue->started < scheduler->worker_count && !queue->stop)
        start_another(scheduler);
}

/* Queues a batch again that is being run, unless all of its timers have started: another thread is
   to join in. */
static void share(struct htw_scheduler *scheduler, struct htw__batch *batch) {
    if (batch->queued || !htw__batch_has_next(batch))
        return;
    htw__work_queue_append(&scheduler->work_queue, batch);
    if (!has_expirers(scheduler))
        wake_worker(scheduler);
}

/* A worker takes over the role of an expirer that has been running a batch for long, and shares the
   batch. False: there is none. */
static bool take_over(struct htw__thread *thread) {
    struct htw_scheduler *scheduler = thread->scheduler;
    struct htw__thread *busy = scheduler->work_queue.stop ? NULL : busy_expirer(scheduler);
    if (busy == NULL || htw__clock_monotonic_ns() < busy->since_ns + PERIOD_NS)
        return false;
    share(scheduler, busy->batch);
    thread->expirer = busy->expirer;
    busy->expirer = NULL;
    want_deputy(scheduler);
    return true;
}

/* If the deputy would wake up before `before_ns`, lets it sleep until it has an expirer to replace. */
static void put_off_deputy(struct htw_scheduler *scheduler, int64_t before_ns) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    if (!htw__alarm_claim(&queue->deputy.alarm, before_ns))
        return;
    htw__mutex_lock(&queue->mutex);
    int64_t at_ns = queue->deputy.called ? 0 : take_over_ns(scheduler);
    htw__work_queue_unlock(queue);
    htw__alarm_put_off(&queue->deputy.alarm, at_ns);
}

/* ---- changes of the queue, under its mutex */

static void rebalance(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    int64_t now_ns = htw__clock_monotonic_ns();
    if (now_ns < queue->rebalanced_ns + PERIOD_NS)
        return;
    queue->rebalanced_ns = now_ns;
    for (uint32_t i = 0; i < scheduler->batch_count; i++) {
        struct htw__batch *batch = &scheduler->batches[i];
        if (batch->runners == 0)
            continue;
        /* order: A hint. */
        uint32_t next = atomic_load_explicit(&batch->next, memory_order_relaxed);
        if (next == batch->seen_next)
            share(scheduler, batch);
        batch->seen_next = next;
    }
    if (needs_worker(scheduler))
        wake_worker(scheduler);
}

/* Waits until a batch becomes spare, or a period is over. Then rebalances: a callback may be delaying the rest of
   its batch, while other batches come and go. */
static void wait_for_change(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    queue->waiting++;
    if (scheduler->worker_count < 2) {
        htw__mutex_wait(&queue->mutex, &queue->changed);
    } else {
        htw__mutex_wait_until(&queue->mutex, &queue->changed,
                              htw__clock_monotonic_ns() + PERIOD_NS);
        rebalance(scheduler);
        htw__work_queue_unlock(queue); /* that may want the deputy */
        htw__mutex_lock(&queue->mutex);
    }
    queue->waiting--;
}

/* Runs the first batch of the queue, and unlocks it meanwhile. Afterwards an expirer may be a
   worker. */
static void run_first(struct htw__thread *thread) {
    struct htw_scheduler *scheduler = thread->scheduler;
    struct htw__work_queue *queue = &scheduler->work_queue;
    struct htw__batch *batch = htw__work_queue_take_first(queue);
    thread->batch = batch;
    int64_t too_early_ns = INT64_MIN;
    if (thread->expirer != NULL) {
        thread->since_ns = htw__clock_monotonic_ns();
        too_early_ns = thread->since_ns + PERIOD_NS / 2;
        want_deputy(scheduler);
        htw__deputy_want(&queue->deputy, thread->since_ns + PERIOD_NS);
    }
    /* This thread may be the only one that was woken for two batches. */
    if (needs_worker(scheduler))
        wake_worker(scheduler);
    htw__work_queue_unlock(queue);
    put_off_deputy(scheduler, too_early_ns);
    htw__run_batch(htw__thread_run_stats(thread), batch);
    htw__mutex_lock(&queue->mutex);
    thread->batch = NULL;
    htw__work_queue_finish(queue, batch);
}

/* ---- the threads */

/* Waits for a batch, or as the deputy. */
static void wait_for_work(struct htw__thread *thread) {
    struct htw__work_queue *queue = &thread->scheduler->work_queue;
    if (queue->deputy.has_alarm && !queue->deputy.present) {
        htw__deputy_wait(&queue->deputy, &queue->mutex, take_over_ns(thread->scheduler));
    } else {
        queue->idle++;
        htw__mutex_wait(&queue->mutex, &queue->work);
        queue->idle--;
    }
}

/* Under the mutex. */
static bool work_once(struct htw__thread *thread) {
    const struct htw__work_queue *queue = &thread->scheduler->work_queue;
    while (!can_run(thread->scheduler) && !queue->stop) {
        wait_for_work(thread);
        if (take_over(thread))
            break;
    }
    if (thread->expirer != NULL || queue->first == NULL)
        return false;
    run_first(thread);
    return true;
}

void htw__workers_work(struct htw__thread *thread) {
    htw__mutex_lock(&thread->scheduler->work_queue.mutex);
    while (work_once(thread))
        ;
    htw__work_queue_unlock(&thread->scheduler->work_queue);
}

int htw__workers_start(struct htw_scheduler *scheduler, bool all) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    unsigned target = all ? scheduler->worker_count : 1;
    int error = 0;
    if (scheduler->worker_count == 0)
        return 0;
    htw__mutex_lock(&queue->mutex);
    while (error == 0 && queue->started < target)
        error = start_one(scheduler);
    htw__work_queue_unlock(queue);
    return error;
}

int htw__workers_start_expirer(struct htw_scheduler *scheduler, uint32_t index) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    htw__mutex_lock(&queue->mutex);
    int error = start_thread(htw__first_thread_of(scheduler, index), "expirer", index);
    htw__work_queue_unlock(queue);
    return error;
}

void htw__workers_join(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    for (unsigned i = 0; i < queue->started; i++)
        htw__thread_join(scheduler->threads[i].id);
    /* A batch may have been queued after the workers had ended. */
    while (queue->first != NULL) {
        struct htw__batch *batch = htw__work_queue_take_first(queue);
        htw__put_back_unstarted(batch);
        htw__work_queue_finish(queue, batch);
    }
    htw__mutex_lock(&queue->mutex);
    while (queue->outstanding > 0)
        wait_for_change(scheduler);
    htw__work_queue_unlock(queue);
}

/* ---- for the expirers */

static bool was_replaced(const struct htw__thread *thread) {
    return thread != NULL && thread->expirer == NULL;
}

struct htw__batch *htw__workers_wait_for_batch(struct htw_scheduler *scheduler,
                                               struct htw__thread *thread) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    struct htw__batch *batch = NULL;
    htw__mutex_lock(&queue->mutex);
    while (!queue->stop && !was_replaced(thread) &&
           (batch = htw__work_queue_take_spare(queue)) == NULL) {
        if (thread == NULL || !can_run(scheduler))
            wait_for_change(scheduler);
        else
            run_first(thread);
    }
    htw__work_queue_unlock(queue);
    return batch;
}

void htw__workers_submit(struct htw_scheduler *scheduler, struct htw__thread *thread,
                         struct htw__batch *batch, int64_t busy_since_ns) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    htw__mutex_lock(&queue->mutex);
    if (batch->count == 0) {
        htw__work_queue_put_spare(queue, batch);
    } else {
        htw__work_queue_append(queue, batch);
        if (thread == NULL) {
            /* To wake a worker costs more than most batches. So a single batch is left to a worker that is
               awake. If that is busy for long, rebalance() wakes another one. */
            if (queue->queued > 1 || queue->started == queue->idle)
                wake_worker(scheduler);
        } else if (htw__clock_monotonic_ns() - busy_since_ns >= PERIOD_NS) {
            if (needs_worker(scheduler) && 2 * queue->queued >= scheduler->batch_count)
                wake_worker(scheduler);
        } else if (can_run(scheduler)) {
            run_first(thread);
        }
    }
    htw__work_queue_unlock(queue);
}

void htw__workers_finish(struct htw__thread *thread) {
    struct htw_scheduler *scheduler = thread->scheduler;
    htw__mutex_lock(&scheduler->work_queue.mutex);
    while (!was_replaced(thread) && can_run(scheduler) && !scheduler->work_queue.stop)
        run_first(thread);
    htw__work_queue_unlock(&scheduler->work_queue);
}

void htw__workers_dismiss_deputy(struct htw_scheduler *scheduler, int64_t left_ns) {
    if (!has_expirers(scheduler))
        return;
    int64_t awake_ns = htw__after_ns(left_ns, PERIOD_NS / 4); /* and runs callbacks again */
    put_off_deputy(scheduler, htw__after_ns(htw__clock_monotonic_ns(), awake_ns));
}

bool htw__workers_need_rebalance(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    if (scheduler->worker_count < 2)
        return false;
    htw__mutex_lock(&queue->mutex);
    bool needed = queue->first != NULL;
    for (uint32_t i = 0; i < htw__thread_count(scheduler) && !needed; i++) {
        const struct htw__batch *batch = scheduler->threads[i].batch;
        needed = batch != NULL && htw__batch_has_next(batch);
    }
    htw__work_queue_unlock(queue);
    return needed;
}

void htw__workers_rebalance(struct htw_scheduler *scheduler) {
    if (scheduler->worker_count < 2)
        return;
    htw__mutex_lock(&scheduler->work_queue.mutex);
    rebalance(scheduler);
    htw__work_queue_unlock(&scheduler->work_queue);
}

bool htw__workers_wait_until_idle(struct htw_scheduler *scheduler) {
    struct htw__work_queue *queue = &scheduler->work_queue;
    htw__mutex_lock(&queue->mutex);
    while (queue->outstanding > 0 && !queue->stop)
        wait_for_change(scheduler);
    bool idle = !queue->stop;
    htw__work_queue_unlock(queue);
    return idle;
}
