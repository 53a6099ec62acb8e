/* SPDX-License-Identifier: MIT */
/*
 * blocking_queue.c - a bounded queue between threads: push and pop block, each with a timeout.
 *
 * A thread that has to wait submits a request to a purgatory: a consumer on the key "items", a
 * producer on the key "room". The request is on the stack of the thread, which sleeps until the
 * request has ended.
 *
 * No item is lost when a consumer times out while an item arrives. The hook try_complete moves the
 * item under the lock of the queue, and once it has answered true, the request always ends with
 * HTW_REASON_COMPLETED. So a consumer either has an item, or it has timed out and the item is still
 * in the queue, for the next consumer. The same holds for producers and room.
 *
 * Items leave in the order in which they came. Consumers that wait are served in order of arrival,
 * but a new consumer may take an item just before the one that waits is asked.
 */
#define _POSIX_C_SOURCE 200809L

#include <htw/purgatory.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ------------------------------------------------------------------ the queue */

struct queue {
    struct htw_purgatory *purgatory;
    pthread_mutex_t lock; /* guards what follows; not held while the purgatory is called */
    bool is_closed;
    size_t first, count, capacity;
    void *items[]; /* a ring */
};

/* A call of push or pop. */
struct waiter {
    bool is_producer;
    void *item;
    enum htw_reason reason;
    bool has_ended; /* guarded by the lock of the queue, as is the condition */
    pthread_cond_t ended;
    struct htw_request request;
};

static struct waiter *waiter_of(struct htw_request *request) {
    return HTW_CONTAINER_OF(request, struct waiter, request);
}

static bool put(struct queue *queue, void *item) {
    if (queue->is_closed || queue->count == queue->capacity)
        return false;
    queue->items[(queue->first + queue->count++) % queue->capacity] = item;
    return true;
}

static bool take(struct queue *queue, void **ret_item) {
    if (queue->count == 0)
        return false;
    *ret_item = queue->items[queue->first];
    queue->first = (queue->first + 1) % queue->capacity;
    queue->count--;
    return true;
}

/* The purgatory calls it when a request is submitted, and then for each check of its key. */
static bool try_complete(void *context, struct htw_request *request) {
    struct queue *queue = context;
    struct waiter *waiter = waiter_of(request);
    pthread_mutex_lock(&queue->lock);
    bool is_done = waiter->is_producer ? put(queue, waiter->item) : take(queue, &waiter->item);
    pthread_mutex_unlock(&queue->lock);
    return is_done;
}

static void on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    waiter_of(request)->reason = reason;
}

/* Here, and not in on_complete: only now may the thread return, which ends the request's life. It
   cannot return before the lock is free, so the condition is not destroyed while it is used. */
static void release(void *context, struct htw_request *request) {
    struct queue *queue = context;
    struct waiter *waiter = waiter_of(request);
    pthread_mutex_lock(&queue->lock);
    waiter->has_ended = true;
    pthread_cond_signal(&waiter->ended);
    pthread_mutex_unlock(&queue->lock);
}

/* Submits the request and sleeps until it has ended. */
static int wait_for_end(struct queue *queue, struct waiter *waiter, const char *name,
                        int64_t timeout_ns) {
    struct htw_key key = { name, strlen(name) };
    int result = htw_purgatory_try_complete_else_watch(queue->purgatory, &waiter->request, &key, 1,
                                                       timeout_ns);
    if (result < 0)
        return result;
    pthread_mutex_lock(&queue->lock);
    while (!waiter->has_ended)
        pthread_cond_wait(&waiter->ended, &queue->lock);
    pthread_mutex_unlock(&queue->lock);
    switch (waiter->reason) {
    case HTW_REASON_COMPLETED:
        return 0;
    case HTW_REASON_EXPIRED:
        return -ETIMEDOUT;
    default:
        return -ESHUTDOWN;
    }
}

/* One item has come, or one place has become free: one thread that waits for it can go on. */
static void wake_one(struct queue *queue, const char *name) {
    htw_purgatory_check_at_most(queue->purgatory, name, strlen(name), 1);
}

/* Returns 0; -ETIMEDOUT or -ESHUTDOWN: the item is still the caller's; -ENOMEM. */
static int queue_push(struct queue *queue, void *item, int64_t timeout_ns) {
    struct waiter waiter = { .is_producer = true, .item = item, .ended = PTHREAD_COND_INITIALIZER };
    int result = wait_for_end(queue, &waiter, "room", timeout_ns);
    pthread_cond_destroy(&waiter.ended);
    if (result == 0)
        wake_one(queue, "items");
    return result;
}

/* Returns 0; -ETIMEDOUT; -ESHUTDOWN: the queue is closed, and empty for ever; -ENOMEM. */
static int queue_pop(struct queue *queue, void **ret_item, int64_t timeout_ns) {
    struct waiter waiter = { .is_producer = false, .ended = PTHREAD_COND_INITIALIZER };
    int result = wait_for_end(queue, &waiter, "items", timeout_ns);
    pthread_cond_destroy(&waiter.ended);
    /* A closed purgatory asks no request any more, but the queue may still hold items. */
    if (result == -ESHUTDOWN && try_complete(queue, &waiter.request))
        result = 0;
    if (result != 0)
        return result;
    *ret_item = waiter.item;
    wake_one(queue, "room");
    return 0;
}

/* Ends all calls that wait. From now on push fails, and pop takes what is left. */
static void queue_close(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->is_closed = true;
    pthread_mutex_unlock(&queue->lock);
    htw_purgatory_close(queue->purgatory, NULL, NULL);
}

static int queue_create(struct queue **ret_queue, struct htw_scheduler *scheduler,
                        size_t capacity) {
    struct queue *queue = calloc(1, sizeof(*queue) + capacity * sizeof(queue->items[0]));
    if (queue == NULL)
        return -ENOMEM;
    queue->capacity = capacity;
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    options.try_complete = try_complete;
    options.on_complete = on_complete;
    options.release = release;
    options.context = queue;
    options.shards = 2; /* for two keys; the default is for thousands */
    int result = htw_purgatory_create(&queue->purgatory, scheduler, &options);
    if (result != 0) {
        free(queue);
        return result;
    }
    pthread_mutex_init(&queue->lock, NULL);
    *ret_queue = queue;
    return 0;
}

/* No other thread may be in a call on it. Items that are left are the caller's. */
static void queue_destroy(struct queue *queue) {
    htw_purgatory_destroy(queue->purgatory); /* first: waits for hooks in the scheduler's threads */
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

/* ------------------------------------------------------------------ a trial */

#define PRODUCERS 3
#define CONSUMERS 5
#define ITEMS 1000 /* of each producer */

static atomic_int times_popped[PRODUCERS * ITEMS]; /* an item is a pointer to its counter */
static atomic_int pop_timeouts, push_timeouts, errors;

/* Sleeps after every `burst` calls, for about as long as a timeout of 1 ms takes with ticks of 1
   ms: so that on the other side of the queue timeouts race with items, or with room. */
static void pause_after(int burst, int calls) {
    if (calls % burst == burst - 1)
        nanosleep(&(struct timespec) { .tv_nsec = 3 * HTW_MILLISECOND / 2 }, NULL);
}

struct producer {
    struct queue *queue;
    int first_item;
    pthread_t thread;
};

static void *produce(void *arg) {
    struct producer *producer = arg;
    for (int i = 0; i < ITEMS; i++) {
        atomic_int *item = &times_popped[producer->first_item + i];
        int result;
        while ((result = queue_push(producer->queue, item, HTW_MILLISECOND)) == -ETIMEDOUT)
            push_timeouts++;
        if (result != 0)
            errors++;
        pause_after(10, i);
    }
    return NULL;
}

static void *consume(void *arg) {
    struct queue *queue = arg;
    void *item;
    int result;
    for (int i = 0; (result = queue_pop(queue, &item, HTW_MILLISECOND)) != -ESHUTDOWN; i++) {
        if (result == 0)
            atomic_fetch_add((atomic_int *)item, 1);
        else if (result == -ETIMEDOUT)
            pop_timeouts++;
        else
            errors++;
        pause_after(10, i);
    }
    return NULL;
}

/* A full queue refuses an item in time, an empty one has none in time. */
static bool times_out(struct queue *queue) {
    int one = 1;
    void *item = NULL;
    bool is_well = queue_pop(queue, &item, 5 * HTW_MILLISECOND) == -ETIMEDOUT;
    while (queue->count < queue->capacity)
        is_well = queue_push(queue, &one, HTW_NEVER_NS) == 0 && is_well;
    is_well = queue_push(queue, &one, 5 * HTW_MILLISECOND) == -ETIMEDOUT && is_well;
    while (queue->count > 0)
        is_well = queue_pop(queue, &item, 0) == 0 && item == &one && is_well;
    return is_well;
}

/* Producers and consumers that time out often; the consumers end when the queue is closed. */
static bool passes_each_item_once(struct queue *queue) {
    struct producer producers[PRODUCERS];
    pthread_t consumers[CONSUMERS];
    for (int i = 0; i < CONSUMERS; i++)
        if (pthread_create(&consumers[i], NULL, consume, queue) != 0)
            exit(1);
    for (int i = 0; i < PRODUCERS; i++) {
        producers[i] = (struct producer) { .queue = queue, .first_item = i * ITEMS };
        if (pthread_create(&producers[i].thread, NULL, produce, &producers[i]) != 0)
            exit(1);
    }
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i].thread, NULL);
    queue_close(queue);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_join(consumers[i], NULL);
    int lost = 0, repeated = 0;
    for (int i = 0; i < PRODUCERS * ITEMS; i++) {
        lost += times_popped[i] == 0;
        repeated += times_popped[i] > 1;
    }
    printf("%d items: %d lost, %d repeated; %d pops and %d pushes timed out, %d failed\n",
           PRODUCERS * ITEMS, lost, repeated, pop_timeouts, push_timeouts, errors);
    return lost == 0 && repeated == 0 && errors == 0;
}

int main(void) {
    struct htw_scheduler *scheduler;
    struct queue *queue;
    int one = 1;
    if (htw_scheduler_create(&scheduler, NULL) != 0 || queue_create(&queue, scheduler, 4) != 0)
        return 1;
    bool is_well = times_out(queue);
    is_well = passes_each_item_once(queue) && is_well;
    is_well = queue_push(queue, &one, HTW_NEVER_NS) == -ESHUTDOWN && is_well;
    queue_destroy(queue);
    htw_scheduler_destroy(scheduler);
    return is_well ? 0 : 1;
}
