/* SPDX-License-Identifier: MIT */
/*
 * purgatory_missed.c - no event is missed.
 *
 * Requests without a timeout become ready at one moment, and there is one event for it. It comes
 * while they are being submitted, or while another thread is in their try_complete because of an
 * event that came too early. When all calls have returned, every request must have ended.
 *
 * In each round two threads submit, two make requests ready and check their keys, and two check
 * keys without a reason. All go through the same requests at the same time.
 */
/* holds: purgatory-2 */
#include "request.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#define THREADS 6u
#define TARGETS 48u
#define GROUPS 4u /* keys on which many requests wait */

/* How a thread that makes a request ready checks its key. */
enum checking { CHECK_ALL, CHECK_ONE, CHECK_LATER, CHECK_IN_A_CHAIN };

struct target {
    struct stress_request base;
    _Atomic bool ready;
    uint64_t number;
};

struct scene {
    struct stress_purgatory home;
    pthread_barrier_t barrier;
    struct target *targets[TARGETS];
    _Atomic bool over;
    _Atomic uint64_t submitting[2]; /* where the two threads are that submit */
    enum checking checking;
    uint64_t round, asked;
    _Atomic uint64_t watched; /* requests whose submission did not end them */
};

static struct scene scene;

static uint64_t own_key(uint64_t target) {
    return target;
}

static uint64_t group_key(uint64_t target) {
    return TARGETS + target % GROUPS;
}

/* Reads `ready`, and then takes its time to answer: another thread checks the key meanwhile. */
static bool ask(struct stress_request *request) {
    struct target *target = (struct target *)request;
    stress_dawdle();
    bool ready = atomic_load_explicit(&target->ready, memory_order_relaxed);
    stress_dawdle();
    return ready;
}

/* Relaxed: the lock of the key orders it, if nothing else does. */
static void make_ready(uint64_t number) {
    atomic_store_explicit(&scene.targets[number]->ready, true, memory_order_relaxed);
}

static void end(struct stress_request *request, enum htw_reason reason) {
    struct target *target = (struct target *)request;
    CHECK_EQUAL(reason, HTW_REASON_COMPLETED);
    CHECK(target->ready);
    if (scene.checking != CHECK_IN_A_CHAIN || target->number % 8 == 7)
        return;
    make_ready(target->number + 1);
    stress_check(&scene.home, own_key(target->number + 1), STRESS_ALL);
}

static void release(struct stress_request *request) {
    (void)request; /* they all stay for the next round */
}

static void submit(uint64_t number) {
    struct target *target = scene.targets[number];
    uint64_t keys[] = { own_key(number), group_key(number), own_key(number), 1000 + number };
    size_t count = 1 + number % 4; /* the own key twice, too */
    int result = stress_submit(&target->base, keys, count, HTW_NEVER_NS);
    CHECK(result >= 0);
    if (result == HTW_WATCHED)
        atomic_fetch_add_explicit(&scene.watched, 1, memory_order_relaxed);
}

/* Waits a short while for the thread that submits this request. */
static void await_submission(uint64_t number) {
    for (unsigned i = 0; i < 50 && atomic_load_explicit(&scene.submitting[number % 2],
                                                        memory_order_relaxed) < number;
         i++)
        sched_yield();
}

static void make_ready_and_check(uint64_t number) {
    if (scene.checking == CHECK_IN_A_CHAIN && number % 8 != 0)
        return;
    make_ready(number);
    switch (scene.checking) {
    case CHECK_ONE:
        stress_check(&scene.home, own_key(number), 1);
        break;
    case CHECK_LATER:
        CHECK_EQUAL(stress_check_later(&scene.home, own_key(number)), 0);
        break;
    default:
        stress_check(&scene.home, own_key(number), STRESS_ALL);
        break;
    }
}

static void disturb(struct random_source *random, uint64_t number) {
    if (random_one_in(random, 4))
        stress_check(&scene.home, group_key(number), STRESS_ALL);
    else if (random_one_in(random, 8))
        stress_check_later(&scene.home, own_key(number));
    else
        stress_check(&scene.home, own_key(number), 1 + random_below(random, 3));
}

static void check_round(void) {
    stress_scheduler_quiet(&scene.home);
    for (unsigned i = 0; i < TARGETS; i++)
        if (htw_request_is_pending(&scene.targets[i]->base.request))
            stress_fail(__FILE__, __LINE__, "request %u of round %u has missed its event", i,
                        (unsigned)scene.round);
    stress_purgatory_quiet(&scene.home);
    for (unsigned i = 0; i < TARGETS; i++) {
        scene.asked += scene.targets[i]->base.asked;
        atomic_store(&scene.targets[i]->ready, false);
    }
    atomic_store(&scene.submitting[0], 0);
    atomic_store(&scene.submitting[1], 0);
    scene.round++;
    atomic_store(&scene.over, !stress_goes_on());
    stress_progress();
}

static void visit(struct stress_thread *thread, uint64_t number) {
    if (thread->index < 2) {
        atomic_store_explicit(&scene.submitting[number % 2], number, memory_order_relaxed);
        submit(number);
        return;
    }
    await_submission(number);
    stress_dawdle();
    if (thread->index < 4)
        make_ready_and_check(number);
    else
        disturb(&thread->random, number);
}

static void work(struct stress_thread *thread) {
    do {
        pthread_barrier_wait(&scene.barrier);
        for (uint64_t i = thread->index % 2; i < TARGETS; i += 2)
            visit(thread, i);
        pthread_barrier_wait(&scene.barrier);
        if (thread->index == 0)
            check_round();
        pthread_barrier_wait(&scene.barrier);
    } while (!atomic_load(&scene.over));
}

static void part(const char *name, enum checking checking, uint32_t workers, uint32_t shards) {
    stress_part("missed: checked %s, %u workers, %u shards", name, workers, shards);
    static const struct stress_hooks hooks = { ask, end, release };
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers;
    options.tick_ns = 10 * HTW_MICROSECOND;
    scene.checking = checking;
    scene.round = scene.asked = 0;
    atomic_store(&scene.watched, 0);
    stress_purgatory_open(&scene.home, stress_create(&options), &hooks, shards);
    for (unsigned i = 0; i < TARGETS; i++) {
        scene.targets[i] = stress_request_create(&scene.home, sizeof(struct target));
        scene.targets[i]->number = i;
    }
    CHECK_EQUAL(pthread_barrier_init(&scene.barrier, NULL, THREADS), 0);
    stress_watchdog_begin(&scene.home);
    stress_run(THREADS, work, NULL);
    stress_watchdog_end();
    pthread_barrier_destroy(&scene.barrier);
    printf("  %llu rounds, %llu submitted, %llu of them watched, asked %llu times\n",
           (unsigned long long)scene.round, (unsigned long long)scene.home.submitted,
           (unsigned long long)scene.watched, (unsigned long long)scene.asked);
    stress_purgatory_end(&scene.home);
    for (unsigned i = 0; i < TARGETS; i++)
        stress_request_free(&scene.targets[i]->base);
    stress_finish(scene.home.scheduler);
}

/* ---- one request, and two threads that are as near to each other as they can */

struct duel {
    struct target *target;
    _Atomic uint64_t arrived;
    _Atomic bool over;
    uint64_t rounds;
};

static struct duel duel;

/* Waits for the other one, mostly without losing the processor. */
static void meet(uint64_t *meetings) {
    *meetings += 2;
    atomic_fetch_add(&duel.arrived, 1);
    for (unsigned spins = 0; atomic_load(&duel.arrived) < *meetings; spins++)
        if (spins % 256 == 255)
            sched_yield();
}

static bool ask_at_once(struct stress_request *request) {
    return atomic_load_explicit(&((struct target *)request)->ready, memory_order_relaxed);
}

static void check_duel(void) {
    if (htw_request_is_pending(&duel.target->base.request))
        stress_fail(__FILE__, __LINE__, "the request of round %llu has missed its event",
                    (unsigned long long)duel.rounds);
    atomic_store_explicit(&duel.target->ready, false, memory_order_relaxed);
    duel.rounds++;
    if (duel.rounds % 64 == 0) {
        atomic_store(&duel.over, !stress_goes_on());
        stress_progress();
    }
}

/* One submits, and then checks the key without a reason; the other makes the request ready, and
   checks once. */
static void fight(struct stress_thread *thread) {
    const uint64_t keys[] = { 1, 2 };
    uint64_t meetings = 0;
    do {
        meet(&meetings);
        if (thread->index == 0) {
            CHECK(stress_submit(&duel.target->base, keys, 2, HTW_NEVER_NS) >= 0);
            for (uint64_t i = random_below(&thread->random, 4); i > 0; i--)
                stress_check(&scene.home, 1, STRESS_ALL);
        } else {
            uint64_t spins = random_below(&thread->random, 400);
            for (volatile uint64_t i = 0; i < spins; i++)
                ;
            atomic_store_explicit(&duel.target->ready, true, memory_order_relaxed);
            stress_check(&scene.home, 2, 1);
        }
        meet(&meetings);
        if (thread->index == 0)
            check_duel();
        meet(&meetings);
    } while (!atomic_load(&duel.over));
}

static void part_of_two(void) {
    stress_part("missed: a duel");
    static const struct stress_hooks hooks = { ask_at_once, NULL, release };
    stress_purgatory_open(&scene.home, stress_create(NULL), &hooks, 0);
    duel = (struct duel) { .target = stress_request_create(&scene.home, sizeof(struct target)) };
    stress_watchdog_begin(&scene.home);
    stress_run(2, fight, NULL);
    stress_watchdog_end();
    stress_purgatory_quiet(&scene.home);
    printf("  %llu rounds\n", (unsigned long long)duel.rounds);
    stress_purgatory_end(&scene.home);
    stress_request_free(&duel.target->base);
    stress_finish(scene.home.scheduler);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 7);
    part("all", CHECK_ALL, 1, 0);
    part("all", CHECK_ALL, 0, 1);
    part("one", CHECK_ONE, 1, 0);
    part("later", CHECK_LATER, 0, 4);
    part("later", CHECK_LATER, 4, 1);
    part("in a chain", CHECK_IN_A_CHAIN, 1, 0);
    part_of_two();
    return 0;
}
