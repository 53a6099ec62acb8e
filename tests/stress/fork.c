/* SPDX-License-Identifier: MIT */
/*
 * fork.c - processes fork while timers are armed, cancelled and run, so that a child may inherit
 * any lock of the scheduler.
 *
 * In the child every call returns -EOWNERDEAD at once, and a scheduler of its own works. The
 * parent is not affected.
 */
#include "../support/child.h"
#include "../support/inert.h"
#include "stress.h"

#include <htw/group.h>

#define THREADS 4u

struct scene {
    struct htw_scheduler *scheduler;
    struct htw_group *group;
    struct htw_scope scope;
    _Atomic bool over;
    _Atomic uint64_t forks;
};

static struct scene scene;

static void nothing(void *arg, const struct htw_expiration *expiration) {
    REQUIRE(expiration->late_ns >= 0);
    if (arg != NULL)
        atomic_fetch_add((_Atomic uint64_t *)arg, 1);
}

/* Not under ThreadSanitizer, where a child of a process with threads must not start any, nor under
   AddressSanitizer, whose allocator a child may inherit locked. */
static void expect_own_scheduler(void) {
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    struct htw_scheduler *own;
    _Atomic uint64_t count = 0;
    EXPECT(htw_scheduler_create(&own, NULL) == 0);
    EXPECT(htw_schedule(own, HTW_MILLISECOND, nothing, &count, NULL) == 0);
    stress_await(&count, 1);
    EXPECT(htw_scheduler_destroy(own) == 0);
#endif
}

static void live(void *objects) {
    inert_expect(objects);
    expect_own_scheduler();
}

static void fork_one(void) {
    struct inert objects = { scene.scheduler, scene.group, 1, &scene.scope, NULL };
    REQUIRE(child_run(live, &objects, NULL, 0) == 0);
    atomic_fetch_add(&scene.forks, 1);
}

static void fork_inside(void *arg, const struct htw_expiration *expiration) {
    nothing(NULL, expiration);
    fork_one();
    atomic_store((_Atomic bool *)arg, true);
}

static void use(struct random_source *random) {
    uint64_t key = random_below(random, 4);
    htw_handle handle;
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = nothing;
    spec.when_ns = (int64_t)random_below(random, (uint64_t)HTW_MILLISECOND);
    spec.key = &key;
    spec.key_size = sizeof(key);
    spec.group = key % 2 == 0 ? scene.group : NULL;
    REQUIRE(htw_schedule_spec(scene.scheduler, &spec, NULL, NULL) >= 0);
    REQUIRE(htw_schedule(scene.scheduler, spec.when_ns, nothing, NULL, &handle) == 0);
    REQUIRE(htw_cancel_wait(scene.scheduler, handle) >= 0);
}

static void work(unsigned number) {
    _Atomic bool forked = true;
    while (number == 0 && stress_goes_on()) {
        fork_one();
        if (atomic_exchange(&forked, false))
            REQUIRE(htw_schedule(scene.scheduler, 0, fork_inside, (void *)&forked, NULL) == 0);
    }
    while (number == 0 && !atomic_load(&forked))
        stage_sleep_ns(HTW_MILLISECOND);
    if (number == 0)
        atomic_store(&scene.over, true);
    while (!atomic_load(&scene.over))
        use(stage_random());
}

static void part(uint32_t workers) {
    stress_part("fork: %u workers", workers);
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers > 0 ? workers : HTW_NO_WORKERS;
    options.shards = 2;
    scene = (struct scene) { .scheduler = stress_create(&options, BY_THREADS) };
    REQUIRE(htw_group_create(scene.scheduler, &scene.group) == 0);
    REQUIRE(htw_scope_enter(&scene.scope, scene.scheduler, NULL, HTW_SECOND, NULL) == 0);
    stress_run(THREADS, work);
    REQUIRE(scene.forks > 0);
    htw_group_destroy(scene.group);
    REQUIRE(htw_scope_exit(&scene.scope) >= 0);
    REQUIRE(htw_scheduler_stop(scene.scheduler, NULL, NULL) == 0);
    stress_check_stats(scene.scheduler);
    REQUIRE(htw_scheduler_destroy(scene.scheduler) == 0);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 2);
    part(0);
    part(2);
    return 0;
}
