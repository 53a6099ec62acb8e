/* SPDX-License-Identifier: MIT */
/*
 * purgatory_locks.c - locks of the user, held around calls and taken again in hooks.
 *
 * The locks are one recursive mutex for everything; a recursive one for each key, taken in the
 * order of the keys, where the hooks of a request take that of the last of its keys; or a plain
 * one, under which threads call only htw_purgatory_check_later(). Nothing may deadlock, and no
 * request may wait for a token that is there.
 */
/* holds: purgatory-5 */
#include "request.h"

#include <pthread.h>

#define THREADS 8u
#define KEYS 8u
#define KEYS_MAX 3u
#define PLACES 32u /* requests that a thread has outstanding */
#define TOKENS_MAX 20u
#define ROUND_NS (40 * HTW_MILLISECOND)

enum locking { ONE_RECURSIVE, ORDERED, PLAIN };

struct request {
    struct stress_request base;
    _Atomic bool *place;
    uint64_t keys[KEYS_MAX]; /* in ascending order */
    size_t key_count;
};

struct scene {
    struct stress_purgatory home;
    enum locking locking;
    pthread_mutex_t mutexes[KEYS]; /* only the first, unless they are ordered */
    uint64_t tokens[KEYS];         /* under the mutex of the key */
    uint64_t ended[KEYS];          /* the same */
};

static struct scene scene;

static struct {
    _Atomic bool places[THREADS][PLACES]; /* taken */
    _Atomic uint64_t waiting[KEYS];       /* for a token of the key */
    _Atomic int64_t round_end;
} shared;

static pthread_mutex_t *mutex_of(uint64_t key) {
    return &scene.mutexes[scene.locking == ORDERED ? key : 0];
}

static void lock(uint64_t key) {
    CHECK_EQUAL(pthread_mutex_lock(mutex_of(key)), 0);
}

static void unlock(uint64_t key) {
    CHECK_EQUAL(pthread_mutex_unlock(mutex_of(key)), 0);
}

static uint64_t last_key(const struct request *request) {
    return request->keys[request->key_count - 1];
}

/* Which of its keys have tokens for a request: with ordered locks only the last, as the others'
   come before the lock that its hooks take. */
static size_t first_of_interest(const struct request *request) {
    return scene.locking == ORDERED ? request->key_count - 1 : 0;
}

static void count_waiting(const struct request *request, uint64_t change) {
    for (size_t i = first_of_interest(request); i < request->key_count; i++)
        atomic_fetch_add_explicit(&shared.waiting[request->keys[i]], change, memory_order_relaxed);
}

/* ---- hooks */

static bool ask(struct stress_request *base) {
    struct request *request = (struct request *)base;
    bool taken = false;
    lock(last_key(request));
    stress_dawdle();
    for (size_t i = first_of_interest(request); i < request->key_count && !taken; i++)
        if ((taken = scene.tokens[request->keys[i]] > 0))
            scene.tokens[request->keys[i]]--;
    unlock(last_key(request));
    stress_dawdle();
    return taken;
}

/* Adds a token, and checks the key in the way that the locks allow. The lock is held. */
static void put_token(uint64_t key) {
    if (scene.tokens[key] >= TOKENS_MAX)
        return;
    scene.tokens[key]++;
    if (scene.locking == PLAIN)
        CHECK_EQUAL(stress_check_later(&scene.home, key), 0);
    else
        stress_check(&scene.home, key, STRESS_ALL);
}

/* From a hook, which holds the lock of the key before. */
static void put_next_token(uint64_t key) {
    if (scene.locking != PLAIN) /* that would be the one which is held */
        lock(key);
    put_token(key);
    if (scene.locking != PLAIN)
        unlock(key);
}

static void end(struct stress_request *base, enum htw_reason reason) {
    struct request *request = (struct request *)base;
    uint64_t key = last_key(request);
    lock(key);
    scene.ended[key]++;
    stress_dawdle();
    if (reason == HTW_REASON_COMPLETED && stress_depth() < 6 && key + 1 < KEYS &&
        random_one_in(stress_own_random(), 4))
        put_next_token(key + 1);
    unlock(key);
}

static void release(struct stress_request *base) {
    struct request *request = (struct request *)base;
    _Atomic bool *place = request->place;
    count_waiting(request, UINT64_MAX); /* one less */
    stress_request_free(base);
    atomic_store(place, false);
}

/* ---- threads */

static void submit(struct random_source *random, uint64_t from, _Atomic bool *place) {
    if (atomic_load(place))
        return;
    struct request *request = stress_request_create(&scene.home, sizeof(*request));
    atomic_store(place, true);
    request->place = place;
    request->keys[request->key_count++] = from;
    while (request->key_count < KEYS_MAX && last_key(request) + 1 < KEYS &&
           random_one_in(random, 2)) {
        uint64_t step = 1 + random_below(random, KEYS - 1 - last_key(request));
        request->keys[request->key_count] = last_key(request) + step;
        request->key_count++;
    }
    count_waiting(request, 1);
    int64_t timeout_ns = random_one_in(random, 3)
                             ? HTW_NEVER_NS
                             : (int64_t)random_below(random, 3 * (uint64_t)HTW_MILLISECOND);
    CHECK(stress_submit(&request->base, request->keys, request->key_count, timeout_ns) >= 0);
}

static void act_with_lock(struct random_source *random, uint64_t key, _Atomic bool *place) {
    bool twice = random_one_in(random, 4);
    lock(key);
    if (twice)
        lock(key);
    switch (random_below(random, 8)) {
    case 0:
    case 1:
    case 2:
        put_token(key);
        break;
    case 3:
        stress_check(&scene.home, key, STRESS_ALL);
        break;
    case 4:
        if (random_one_in(random, 8))
            stress_cancel_key(&scene.home, key);
        break;
    default:
        submit(random, key, place);
        break;
    }
    if (twice)
        unlock(key);
    unlock(key);
}

static void act_with_plain_lock(struct random_source *random, uint64_t key, _Atomic bool *place) {
    if (random_one_in(random, 2)) {
        submit(random, key, place);
        return;
    }
    lock(key);
    put_token(key);
    stress_dawdle();
    unlock(key);
    if (random_one_in(random, 16))
        stress_cancel_key(&scene.home, key);
    else if (random_one_in(random, 4))
        stress_check(&scene.home, key, STRESS_ALL);
}

static void work(struct stress_thread *thread) {
    struct random_source *random = &thread->random;
    while (stress_now_ns() < atomic_load(&shared.round_end)) {
        for (unsigned i = 0; i < 8; i++) {
            uint64_t key = random_below(random, KEYS);
            _Atomic bool *place = &shared.places[thread->index][random_below(random, PLACES)];
            if (scene.locking == PLAIN)
                act_with_plain_lock(random, key, place);
            else
                act_with_lock(random, key, place);
        }
        stress_progress();
    }
}

/* ---- rounds */

static void check_no_one_starves(void) {
    for (uint64_t key = 0; key < KEYS; key++) {
        lock(key);
        if (scene.tokens[key] > 0 && atomic_load(&shared.waiting[key]) > 0)
            stress_fail(__FILE__, __LINE__, "key %u has a token and a waiter", (unsigned)key);
        unlock(key);
    }
}

static void play_round(struct htw_scheduler *scheduler, uint32_t shards) {
    static const struct stress_hooks hooks = { ask, end, release };
    stress_purgatory_open(&scene.home, scheduler, &hooks, shards);
    for (unsigned key = 0; key < KEYS; key++)
        scene.tokens[key] = scene.ended[key] = 0;
    atomic_store(&shared.round_end, stress_now_ns() + ROUND_NS);
    stress_watchdog_begin(&scene.home);
    stress_run(THREADS, work, NULL);
    stress_scheduler_quiet(&scene.home); /* those that remain have no timeout */
    check_no_one_starves();
    for (uint64_t key = 0; key < KEYS; key++)
        stress_cancel_key(&scene.home, key);
    stress_purgatory_quiet(&scene.home);
    stress_watchdog_end();
    uint64_t ended = 0;
    for (uint64_t key = 0; key < KEYS; key++)
        ended += scene.ended[key];
    CHECK_EQUAL(ended, scene.home.submitted);
    stress_purgatory_end(&scene.home);
}

static void part(const char *name, enum locking locking, uint32_t workers, uint32_t shards) {
    stress_part("locks: %s, %u workers, %u shards", name, workers, shards);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, locking == PLAIN ? PTHREAD_MUTEX_ERRORCHECK
                                                            : PTHREAD_MUTEX_RECURSIVE);
    for (unsigned key = 0; key < KEYS; key++)
        CHECK_EQUAL(pthread_mutex_init(&scene.mutexes[key], &attributes), 0);
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers;
    options.tick_ns = 50 * HTW_MICROSECOND;
    struct htw_scheduler *scheduler = stress_create(&options);
    scene.locking = locking;
    struct stress_totals totals = { .rounds = 0 };
    do {
        play_round(scheduler, shards);
        stress_totals_add(&totals, &scene.home);
    } while (stress_goes_on());
    stress_totals_print(&totals);
    stress_finish(scheduler);
    for (unsigned key = 0; key < KEYS; key++)
        pthread_mutex_destroy(&scene.mutexes[key]);
    pthread_mutexattr_destroy(&attributes);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 6);
    part("one recursive", ONE_RECURSIVE, 1, 0);
    part("one recursive", ONE_RECURSIVE, 0, 1);
    part("ordered", ORDERED, 4, 0);
    part("plain", PLAIN, 0, 0);
    part("plain", PLAIN, 1, 1);
    part("plain", PLAIN, 4, 0);
    return 0;
}
