/* SPDX-License-Identifier: MIT */
/*
 * order_scenes.c - what is ordered by the library alone: the threads of these scenes have nothing else in common that
 * would order them, until one of them sees what it waits for.
 */
/* holds: scheduler-33, purgatory-12, purgatory-25 */
#include "scenes.h"

#include <htw/observe.h>
#include <htw/threshold.h>

#include "../../src/observe/herds.h"

static const struct htw_key key = { "k", 1 };

static struct {
    _Atomic uint64_t handle; /* relaxed */
    struct htw_purgatory *purgatory;
    struct htw_threshold *threshold;
    struct htw_request *request;
    unsigned ends; /* plain, as what belongs to a request */
    bool
        schedules; /* hooks do; then they may be of two requests at once, and `scene.stage` counts the ends */
} at;

/* ---- a cancel that finds nothing comes behind the callback */

static void cancel_and_look(void) {
    if (htw_cancel(scene.scheduler, scene.timers[0].handle) == HTW_GONE)
        REQUIRE(scene.timers[0].runs == 1);
}

static void play_gone(void) {
    scene_open(2, 0, NULL);
    scene_arm(0, 0, scene_count);
    scene_start(1, cancel_and_look);
    scene_join();
}

/* ---- a handle may reach another thread without order */

static void cancel_relaxed(void) {
    htw_handle handle = atomic_load_explicit(&at.handle, memory_order_relaxed);
    scene.timers[0].result = HTW_RUNNING;
    if (handle != 0)
        scene.timers[0].result = htw_cancel(scene.scheduler, handle);
}

/* Memory that is new looks as if there were timers in it, so that no cell may be read before it is initialized. */
static void *allocate_written(void *context, size_t size, size_t alignment) {
    uint64_t *words = explore_allocator.allocate(context, size, alignment);
    for (size_t i = 0; i < size / sizeof(*words); i++)
        words[i] = UINT64_C(1) << 32 | HTW__PENDING;
    return words;
}

static void release(void *context, void *memory, size_t size, size_t alignment) {
    explore_allocator.release(context, memory, size, alignment);
}

static const struct htw_allocator writing_allocator = { .allocate = allocate_written,
                                                        .release = release };

static void write_memory(struct htw_scheduler_options *options) {
    options->allocator = &writing_allocator;
}

/* A cancel may find it, or none yet. */
static void play_handle(void) {
    memset(&at, 0, sizeof(at));
    scene_open(2, 0, write_memory);
    scene_start(1, cancel_relaxed);
    scene_arm(0, 5 * MS, scene_count);
    atomic_store_explicit(&at.handle, scene.timers[0].handle, memory_order_relaxed);
    scene_join();
    explore_sleep_ns(10 * MS);
    REQUIRE(scene.timers[0].runs == (scene.timers[0].result != HTW_CANCELLED));
}

/* ---- stale records are freed, and pages released */

static void cancel_two(void) {
    for (unsigned i = 0; i < 2; i++)
        REQUIRE(htw_cancel(scene.scheduler, scene.timers[i].handle) == HTW_CANCELLED);
}

static uint32_t stale_count(void) {
    return htw__shard_stale_count(&scene.scheduler->shards[0]);
}

static void play_cleanup(void) {
    scene_open(2, 0, NULL);
    scene_arm(0, HTW_NEVER_NS, scene_count);
    scene_arm(1, HTW_NEVER_NS, scene_count);
    explore_sleep_ns(100 * MS);
    scene_start(1, cancel_two);
    scene_join();
    explore_sleep_ns(200 * MS);
    REQUIRE(stale_count() == 0);
}

/* Another thread frees the first record, so the second one is pushed on an empty stack while the cleanup is planned
   already. */
static void cancel_one_by_one(void) {
    REQUIRE(htw_cancel(scene.scheduler, scene.timers[0].handle) == HTW_CANCELLED);
    scene_sleep_alone(20 * MS);
    REQUIRE(htw_cancel(scene.scheduler, scene.timers[1].handle) == HTW_CANCELLED);
}

static void play_cleanup_again(void) {
    scene_open(2, 0, NULL);
    scene_arm(0, HTW_NEVER_NS, scene_count);
    scene_arm(1, HTW_NEVER_NS, scene_count);
    explore_sleep_ns(100 * MS);
    struct htw__shard *shard = &scene.scheduler->shards[0];
    scene_start(1, cancel_one_by_one);
    scene_sleep_alone(10 * MS);
    htw__lock_acquire(&shard->lock);
    htw__shard_reclaim(shard);
    htw__lock_release(&shard->lock);
    scene_join();
    explore_sleep_ns(200 * MS);
    REQUIRE(stale_count() == 0);
}

static void embed(struct htw_scheduler_options *options) {
    options->embedded = true;
    options->allocator = &writing_allocator;
}

/* Timers that fill a page and begin the next one. */
#define CROWD (HTW__SLAB_PAGE_CELLS + 8u)

static htw_handle crowd[CROWD];

static void arm_crowd(unsigned count) {
    for (unsigned i = 0; i < count; i++)
        REQUIRE(htw_schedule(scene.scheduler, HTW_NEVER_NS, scene_count, NULL, &crowd[i]) == 0);
}

static void cancel_crowd(void) {
    for (unsigned i = 0; i < CROWD; i++)
        REQUIRE(htw_cancel(scene.scheduler, crowd[i]) == HTW_CANCELLED);
}

static void cancel_old(void) {
    for (unsigned i = 0; i < 2; i++)
        REQUIRE(htw_cancel(scene.scheduler, scene.timers[i].handle) == HTW_GONE);
}

static void require_pages(unsigned count) {
    REQUIRE(scene.scheduler->shards[0].slab.present_count == count);
}

/* Before: no second thread, so that little of it is played. */
static void open_crowd(void) {
    scene_open(2, 0, embed);
    arm_crowd(CROWD);
    cancel_crowd();
    scene.timers[0].handle = crowd[5];
    scene.timers[1].handle = crowd[HTW__SLAB_PAGE_CELLS + 5];
    require_pages(2);
}

/* The cleanup releases the memory of one of two pages while another thread looks for old timers. */
static void play_release_pages(void) {
    open_crowd();
    scene_start(1, cancel_old);
    REQUIRE(htw_scheduler_process(scene.scheduler, 0, NULL) == HTW_DONE);
    scene_join();
    require_pages(1);
}

/* Or the page gets memory again. */
static void play_add_page(void) {
    open_crowd();
    REQUIRE(htw_scheduler_process(scene.scheduler, 0, NULL) == HTW_DONE);
    require_pages(1);
    arm_crowd(HTW__SLAB_PAGE_CELLS);
    scene_start(1, cancel_old);
    scene_arm(2, HTW_NEVER_NS, scene_count);
    scene_join();
    require_pages(2);
}

/* ---- what threads create for others: their statistics, the wheel of another clock */

/* What each thread that runs callbacks has counted, without the thousands of words of histograms. */
static void read_stats(void) {
    REQUIRE(htw_pending(scene.scheduler) <= 1);
}

static void play_stats(void) {
    scene_open(1, 1, NULL);
    scene_start(0, read_stats);
    scene_arm(0, 0, scene_count);
    scene_join();
    scene_settle();
    REQUIRE(scene.timers[0].runs == 1);
}

/* ---- what is observed: one thread creates it, one writes, one reads */

static struct htw__observer seen;

static void open_observer(void) {
    scene_open(1, 0, NULL);
    seen = (struct htw__observer) { .allocator = &scene.scheduler->allocator };
}

static const struct htw__event_ring *ring_of_seen(void) {
    return htw__observer_table(&seen, HTW__TABLE_EVENTS);
}

static void record_event(uint64_t n) {
    htw__observer_record(&seen, &(struct htw__event) { .kind = HTW_EVENT_ARMED,
                                                       .origin = n,
                                                       .time_ns = (int64_t)n,
                                                       .deadline_ns = (int64_t)n,
                                                       .duration_ns = (int64_t)n,
                                                       .handle = n });
}

static void record_events(void) {
    for (unsigned n = 1; n <= 10; n++)
        record_event(n);
}

/* An event that is found is whole, and they follow one another up to the last that was there. */
static void play_ring(void) {
    open_observer();
    REQUIRE(htw__observer_add_ring(&seen, 8));
    scene_start(0, record_events);
    struct htw__event events[8];
    uint64_t lost;
    size_t count = htw__event_ring_copy(ring_of_seen(), events, &lost);
    for (size_t i = 0; i < count; i++) {
        const struct htw__event *event = &events[i];
        uint64_t n = lost + i + 1;
        REQUIRE(event->kind == HTW_EVENT_ARMED && event->origin == n && event->handle == n);
        REQUIRE(event->time_ns == (int64_t)n && event->deadline_ns == (int64_t)n &&
                event->duration_ns == (int64_t)n);
    }
    scene_join();
    REQUIRE(htw__event_ring_copy(ring_of_seen(), events, &lost) == 7 && lost == 3);
    htw__observer_fini(&seen);
}

static void observe_first(void) {
    htw__site_add(htw__observer_site(&seen, 2), HTW__SITE_ARMED, 1);
    record_event(1);
}

/* What the writer counts before it finds a table counts among the others. */
static void play_observe(void) {
    struct htw__event events[8];
    struct htw__herd list[HTW_HERDS_MAX];
    uint32_t herds = 0;
    uint64_t lost;
    open_observer();
    scene_start(0, observe_first);
    REQUIRE(htw__observer_add_sites(&seen) && htw__observer_add_ring(&seen, 8) &&
            htw__observer_add_herds(&seen));
    htw__herds_list(&seen, MS, list, &herds);
    scene_join();
    REQUIRE(herds == 0 && htw__event_ring_copy(ring_of_seen(), events, &lost) <= 1);
    REQUIRE(htw__counter_read(&htw__observer_site(&seen, 2)->numbers[HTW__SITE_ARMED]) +
                htw__counter_read(&seen.others.numbers[HTW__SITE_ARMED]) ==
            1);
    htw__observer_fini(&seen);
}

static void arm_by_wall_clock(unsigned i) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = scene_count;
    spec.arg = &scene.timers[i];
    spec.when_ns = 5 * MS;
    spec.clock = HTW_CLOCK_REALTIME;
    REQUIRE(htw_schedule_spec(scene.scheduler, &spec, &scene.timers[i].handle, NULL) == 0);
    explore_expect(&scene.timers[i].ran, explore_now_ns() + 7 * MS);
}

static void arm_1_by_wall_clock(void) {
    arm_by_wall_clock(1);
}

static void play_two_clocks(void) {
    scene_open(1, 0, NULL);
    scene_start(0, arm_1_by_wall_clock);
    arm_by_wall_clock(0);
    scene_join();
    scene_settle();
    REQUIRE(scene.timers[0].runs == 1 && scene.timers[1].runs == 1);
}

static int arm_now(unsigned number) {
    return htw_schedule(scene.scheduler, 0, scene_count, &scene.timers[number], NULL);
}

static void arm_one(void) {
    scene.timers[1].result = arm_now(1);
}

/* Two first timers: one thread starts the threads of the scheduler, which the other one stops at once. */
static void play_start(void) {
    scene_open(1, 1, NULL);
    scene_start(0, arm_one);
    REQUIRE(arm_now(0) == 0);
    REQUIRE(htw_scheduler_stop(scene.scheduler, NULL, NULL) == 0);
    scene_join();
    REQUIRE(scene.timers[1].result == 0 || scene.timers[1].result == -ESHUTDOWN);
}

/* ---- requests without a release hook, and what destruction waits for */

static bool try_complete(void *context, struct htw_request *request) {
    (void)context;
    if (!at.schedules)
        return at.ends == 0 && scene.stage > 0;
    (void)htw_request_set_timeout(at.purgatory, request, MS);
    return false;
}

static void on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context, (void)request;
    if (!at.schedules) {
        at.ends++;
        return;
    }
    atomic_fetch_add_explicit(&scene.stage, 1, memory_order_relaxed);
    if (reason == HTW_REASON_EXPIRED) {
        int error = htw_purgatory_check_later(at.purgatory, "k", 1);
        (void)error; /* while it is being destroyed */
    }
}

static void open_purgatory(void) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    scene_open(2, 0, NULL);
    memset(&at, 0, sizeof(at));
    options.try_complete = try_complete;
    options.on_complete = on_complete;
    options.shards = 1;
    options.allocator = &explore_allocator;
    REQUIRE(htw_purgatory_create(&at.purgatory, scene.scheduler, &options) == 0);
    at.request = explore_allocator.allocate(NULL, sizeof(struct htw_request), 8);
    htw_request_init(at.request);
}

static int submit(int64_t timeout_ns) {
    return htw_purgatory_try_complete_else_watch(at.purgatory, at.request, &key, 1, timeout_ns);
}

static void complete(void) {
    htw_request_complete(at.purgatory, at.request);
}

/* The user frees a request when it is not pending any more. */
static void play_free_request(void) {
    open_purgatory();
    REQUIRE(submit(HTW_NEVER_NS) == HTW_WATCHED);
    scene_start(1, complete);
    bool freed = !htw_request_is_pending(at.request);
    if (freed) {
        REQUIRE(at.ends == 1);
        memset(at.request, 0, sizeof(struct htw_request));
    }
    scene_join();
    REQUIRE(htw_purgatory_destroy(at.purgatory) == 0);
}

/* Or submits it again. */
static void play_submit_again(void) {
    open_purgatory();
    REQUIRE(submit(HTW_NEVER_NS) == HTW_WATCHED);
    scene_start(1, complete);
    int result = submit(HTW_NEVER_NS);
    REQUIRE(result == -EBUSY || (result == HTW_WATCHED && at.ends == 1));
    scene_join();
    REQUIRE(htw_purgatory_destroy(at.purgatory) == 0);
    REQUIRE(at.ends == (result == HTW_WATCHED ? 2 : 1));
}

/* Destruction waits for the callback of a deferred check. */
static void play_destroy(void) {
    open_purgatory();
    REQUIRE(submit(HTW_NEVER_NS) == HTW_WATCHED);
    scene.stage = 1;
    REQUIRE(htw_purgatory_check_later(at.purgatory, key.bytes, key.size) == 0);
    REQUIRE(htw_purgatory_destroy(at.purgatory) == 0);
    REQUIRE(at.ends == 1);
}

/* A hook in a callback of the purgatory is about to schedule another callback. */
static void play_destroy_hooks(void) {
    struct htw_request *second = explore_allocator.allocate(NULL, sizeof(struct htw_request), 8);
    open_purgatory();
    htw_request_init(second);
    at.schedules = true;
    REQUIRE(htw_purgatory_try_complete_else_watch(at.purgatory, second, &key, 1, HTW_SECOND) >= 0);
    REQUIRE(submit(0) >= 0);
    REQUIRE(htw_purgatory_check_later(at.purgatory, key.bytes, key.size) == 0);
    REQUIRE(htw_purgatory_destroy(at.purgatory) == 0);
    REQUIRE(scene.stage == 2);
}

/* And that of a threshold for the hooks of its requests. */
static void play_destroy_threshold(void) {
    open_purgatory();
    REQUIRE(htw_threshold_create(at.purgatory, 0, &at.threshold) == 0);
    REQUIRE(htw_threshold_await(at.threshold, at.request, 10, HTW_NEVER_NS) == HTW_WATCHED);
    scene_start(1, complete);
    REQUIRE(htw_threshold_destroy(at.threshold) >= 0);
    REQUIRE(at.ends == 1);
    scene_join();
    REQUIRE(htw_purgatory_destroy(at.purgatory) == 0);
}

const struct scene order_scenes[] = {
    { "gone", "a cancel that finds no timer comes behind its callback", play_gone, 2, 3, 0 },
    { "handle", "a handle may be passed to a thread without order", play_handle, 1, 2, 0 },
    { "cleanup", "no stale record is forgotten", play_cleanup, 2, 3, 0 },
    { "cleanup-again", "nor one that comes while the cleanup is planned", play_cleanup_again, 2, 3,
      0 },
    { "release-pages", "no thread reads a record of a page that is released", play_release_pages, 1,
      2, 0 },
    { "add-page", "nor one that is not initialized yet of a page that is added again",
      play_add_page, 2, 3, 0 },
    { "stats", "statistics may be read while threads start", play_stats, 1, 2, 0 },
    { "two-clocks", "two threads use another clock first", play_two_clocks, 1, 2, 0 },
    { "ring", "an event that is read is whole, and none is left out", play_ring, 3, 4, 0 },
    { "observe", "two threads need what is observed first", play_observe, 3, 4, 0 },
    { "start", "two threads arm the first timers", play_start, 1, 2, 0 },
    { "free-request", "a request that is not pending belongs to the user", play_free_request, 4, 5,
      0 },
    { "submit-again", "and may be submitted again", play_submit_again, 3, 4, 0 },
    { "destroy", "destruction waits for a callback of the purgatory", play_destroy, 2, 3, 0 },
    { "destroy-hooks", "also for one that schedules another", play_destroy_hooks, 1, 2, 0 },
    { "destroy-threshold", "and for the hooks of a threshold's requests", play_destroy_threshold, 3,
      4, 0 },
    { .name = NULL },
};
