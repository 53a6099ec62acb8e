/* SPDX-License-Identifier: MIT */
/*
 * purgatory_items.c - one item wakes one waiter.
 *
 * Producers put items into queues, one queue a key, and report each with
 * htw_purgatory_check_at_most(). A waiter takes an item in its try_complete, from the first of its
 * keys that has one. Every item is taken once or still there. When all is quiet no key has both an
 * item and a waiter.
 *
 * With one key a waiter, one check for each item is enough. With several it is not: the waiter
 * that is woken may take an item of another key, and with it what that key's check was for. There
 * a producer goes on until its queue is empty or its check has ended no request.
 */
/* holds: purgatory-3 */
#include "request.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 9u /* four produce, four consume, and one disturbs */
#define KEYS 6u
#define KEYS_MAX 3u
#define PLACES 16u /* waiters of a thread */
#define QUEUE 64u
#define ROUND_NS (30 * HTW_MILLISECOND)

struct queue {
    pthread_mutex_t mutex;
    uint64_t put, taken;
    uint64_t items[QUEUE];
};

struct waiter {
    struct stress_request base;
    struct waiter *_Atomic *place;
    uint64_t keys[KEYS_MAX];
    size_t key_count;
    uint64_t item; /* that it has taken; 0: none */
};

struct scene {
    struct stress_purgatory home;
    struct queue queues[KEYS];
    struct waiter *_Atomic places[THREADS][PLACES];
    _Atomic int64_t round_end;
    _Atomic uint64_t produced, consumed; /* items */
    _Atomic uint64_t produced_sum, consumed_sum;
    _Atomic uint64_t next;
    size_t key_count; /* at most so many a waiter */
    bool later;
};

static struct scene scene;

/* ---- queues */

static bool put(struct queue *queue, uint64_t item) {
    pthread_mutex_lock(&queue->mutex);
    bool fits = queue->put - queue->taken < QUEUE;
    if (fits)
        queue->items[queue->put++ % QUEUE] = item;
    pthread_mutex_unlock(&queue->mutex);
    return fits;
}

static uint64_t take(struct queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    uint64_t item = queue->put == queue->taken ? 0 : queue->items[queue->taken++ % QUEUE];
    pthread_mutex_unlock(&queue->mutex);
    return item;
}

static bool is_empty(struct queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    bool empty = queue->put == queue->taken;
    pthread_mutex_unlock(&queue->mutex);
    return empty;
}

/* ---- hooks */

static bool ask(struct stress_request *base) {
    struct waiter *waiter = (struct waiter *)base;
    CHECK_EQUAL(waiter->item, 0);
    stress_dawdle();
    for (size_t i = 0; i < waiter->key_count && waiter->item == 0; i++)
        waiter->item = take(&scene.queues[waiter->keys[i]]);
    stress_dawdle();
    return waiter->item != 0;
}

static void end(struct stress_request *base, enum htw_reason reason) {
    struct waiter *waiter = (struct waiter *)base;
    CHECK_EQUAL(waiter->item != 0, reason == HTW_REASON_COMPLETED);
    if (waiter->item == 0)
        return;
    atomic_fetch_add_explicit(&scene.consumed, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&scene.consumed_sum, waiter->item, memory_order_relaxed);
}

static void release(struct stress_request *base) {
    struct waiter *waiter = (struct waiter *)base;
    struct waiter *_Atomic *place = waiter->place;
    stress_request_free(base);
    atomic_store(place, NULL);
}

/* ---- threads */

static void produce(struct random_source *random) {
    uint64_t key = random_below(random, KEYS);
    uint64_t item = atomic_fetch_add_explicit(&scene.next, 1, memory_order_relaxed) + 1;
    if (!put(&scene.queues[key], item))
        return;
    atomic_fetch_add_explicit(&scene.produced, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&scene.produced_sum, item, memory_order_relaxed);
    stress_dawdle();
    if (scene.later && random_one_in(random, 2)) {
        CHECK_EQUAL(stress_check_later(&scene.home, key), 0);
        return;
    }
    while (stress_check(&scene.home, key, 1) > 0 && scene.key_count > 1 &&
           !is_empty(&scene.queues[key]))
        ;
}

static int64_t some_timeout(struct random_source *random) {
    if (random_one_in(random, 3))
        return HTW_NEVER_NS;
    return (int64_t)random_below(random, 2 * (uint64_t)HTW_MILLISECOND);
}

static void consume(struct random_source *random, struct waiter *_Atomic *place) {
    if (atomic_load(place) != NULL)
        return;
    struct waiter *waiter = stress_request_create(&scene.home, sizeof(*waiter));
    waiter->place = place;
    waiter->key_count = 1 + (size_t)random_below(random, scene.key_count);
    for (size_t i = 0; i < waiter->key_count; i++)
        waiter->keys[i] = random_below(random, KEYS);
    atomic_store(place, waiter);
    CHECK(stress_submit(&waiter->base, waiter->keys, waiter->key_count, some_timeout(random)) >= 0);
}

/* Checks that no item is the reason of, and cancels. */
static void disturb(struct random_source *random) {
    uint64_t key = random_below(random, KEYS);
    stress_sleep_ns((int64_t)random_below(random, 100 * (uint64_t)HTW_MICROSECOND));
    if (random_one_in(random, 16))
        stress_cancel_key(&scene.home, key);
    else
        stress_check(&scene.home, key, random_one_in(random, 2) ? 1 : STRESS_ALL);
}

static void work(struct stress_thread *thread) {
    while (stress_now_ns() < atomic_load(&scene.round_end))
        for (unsigned i = 0; i < 8; i++)
            if (thread->index == 0)
                disturb(&thread->random);
            else if (thread->index % 2 == 0)
                produce(&thread->random);
            else
                consume(&thread->random,
                        &scene.places[thread->index][random_below(&thread->random, PLACES)]);
}

/* ---- when all is quiet */

static void check_no_one_starves(void) {
    stress_scheduler_quiet(&scene.home); /* those that remain have no timeout */
    bool waited_for[KEYS] = { false };
    for (unsigned i = 0; i < THREADS; i++)
        for (unsigned j = 0; j < PLACES; j++) {
            const struct waiter *waiter = atomic_load(&scene.places[i][j]);
            for (size_t k = 0; waiter != NULL && k < waiter->key_count; k++)
                waited_for[waiter->keys[k]] = true;
        }
    for (unsigned key = 0; key < KEYS; key++)
        if (waited_for[key] && !is_empty(&scene.queues[key]))
            stress_fail(__FILE__, __LINE__, "key %u has an item and a waiter", key);
}

static void check_items(void) {
    uint64_t left = 0, left_sum = 0, item;
    for (unsigned key = 0; key < KEYS; key++)
        while ((item = take(&scene.queues[key])) != 0) {
            left++;
            left_sum += item;
        }
    CHECK_EQUAL(scene.produced, scene.consumed + left);
    CHECK_EQUAL(scene.produced_sum, scene.consumed_sum + left_sum);
    CHECK_EQUAL(scene.consumed, scene.home.ended[HTW_REASON_COMPLETED]);
}

static void play_round(struct htw_scheduler *scheduler, uint32_t shards) {
    static const struct stress_hooks hooks = { ask, end, release };
    stress_purgatory_open(&scene.home, scheduler, &hooks, shards);
    scene.produced = scene.consumed = scene.produced_sum = scene.consumed_sum = 0;
    atomic_store(&scene.round_end, stress_now_ns() + ROUND_NS);
    stress_run(THREADS, work, NULL);
    check_no_one_starves();
    for (uint64_t key = 0; key < KEYS; key++)
        stress_cancel_key(&scene.home, key);
    stress_purgatory_quiet(&scene.home);
    check_items();
    stress_purgatory_end(&scene.home);
}

static void part(size_t key_count, uint32_t workers, uint32_t shards, bool later) {
    stress_part("items: at most %zu keys, %u workers, %u shards%s", key_count, workers, shards,
                later ? ", checked later" : "");
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers;
    options.tick_ns = 50 * HTW_MICROSECOND;
    struct htw_scheduler *scheduler = stress_create(&options);
    scene.key_count = key_count;
    scene.later = later;
    uint64_t rounds = 0;
    do {
        play_round(scheduler, shards);
        rounds++;
    } while (stress_goes_on());
    printf("  %llu rounds; in the last %llu items, %llu taken\n", (unsigned long long)rounds,
           (unsigned long long)scene.produced, (unsigned long long)scene.consumed);
    stress_finish(scheduler);
}

int main(int argc, char **argv) {
    for (unsigned key = 0; key < KEYS; key++)
        pthread_mutex_init(&scene.queues[key].mutex, NULL);
    stress_begin(argc, argv, 5);
    part(1, 1, 0, false);
    part(1, 0, 1, false);
    part(KEYS_MAX, 1, 0, false);
    part(KEYS_MAX, 4, 2, false);
    part(KEYS_MAX, 0, 0, true);
    return 0;
}
