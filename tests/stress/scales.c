/* SPDX-License-Identifier: MIT */
/*
 * scales.c - the scales of groups change while eight threads arm, move and cancel timers with a span,
 * pause groups and destroy them, and the timers expire.
 *
 * Every argument comes back to exactly one owner, and no callback comes before the least delay. In the
 * second part threads sleep until timers of an hour, and a smaller scale must wake them.
 */
/* holds: scheduler-29, scheduler-30 */
#include "stress.h"

#define THREADS 8u
#define SLOTS 32u
#define GROUPS 3u
#define SLEEPERS 500u

struct slot {
    htw_handle handle;
    struct stress_item *item; /* NULL: the timer has a hook */
};

struct scene {
    struct htw_scheduler *scheduler;
    struct htw_group *groups[GROUPS];
    _Atomic uint64_t scheduled, cancelled, ran;
    _Atomic int64_t scaled_ns; /* when the scale was set last */
};

static struct scene scene;

/* The tag of an item is the earliest instant at which it may come. */
static void expired(void *arg, const struct htw_expiration *expiration) {
    stress_check_firing(expiration);
    uint64_t tag = stress_item_tag(arg);
    CHECK(htw_scheduler_now(expiration->scheduler) >= (int64_t)(tag & ~STRESS_HOOKED));
    if (!(tag & STRESS_HOOKED))
        stress_item_release(arg);
}

static double some_scale(struct random_source *random) {
    static const double scales[] = { 0, 0, 1, 0.3, 0.001 };
    return scales[random_below(random, sizeof(scales) / sizeof(scales[0]))];
}

static void cancel(struct slot *slot) {
    int result = htw_cancel(scene.scheduler, slot->handle);
    CHECK(result == HTW_CANCELLED || result == HTW_RUNNING || result == HTW_GONE);
    if (result == HTW_CANCELLED) {
        atomic_fetch_add_explicit(&scene.cancelled, 1, memory_order_relaxed);
        if (slot->item != NULL)
            stress_item_release(slot->item);
    }
    slot->handle = 0;
}

static void schedule(struct random_source *random, struct slot *slot, struct htw_group *group) {
    static const int64_t spans[] = { 1, HTW_MILLISECOND, 5 * HTW_MILLISECOND, HTW_SECOND,
                                     HTW_HOUR };
    bool hooked = random_one_in(random, 4);
    struct htw_spec spec = HTW_SPEC_INIT;
    cancel(slot);
    spec.callback = expired;
    spec.group = group;
    spec.when_ns = (int64_t)random_below(random, (uint64_t)HTW_MILLISECOND);
    if (random_one_in(random, 16))
        spec.when_ns = HTW_NEVER_NS;
    spec.span_ns = spans[random_below(random, sizeof(spans) / sizeof(spans[0]))];
    spec.release = hooked ? stress_item_hook : NULL;
    int64_t least_ns =
        htw_scheduler_now(scene.scheduler) + (spec.when_ns == HTW_NEVER_NS ? 0 : spec.when_ns);
    struct stress_item *item =
        stress_item_create((uint64_t)least_ns | (hooked ? STRESS_HOOKED : 0));
    slot->item = hooked ? NULL : item;
    spec.arg = item;
    CHECK_EQUAL(htw_schedule_spec(scene.scheduler, &spec, &slot->handle, NULL), 0);
    atomic_fetch_add_explicit(&scene.scheduled, 1, memory_order_relaxed);
}

/* A group of the thread's own, whose timers outlive it. */
static void use_group_of_its_own(struct random_source *random, struct slot *slots) {
    struct htw_group *group;
    CHECK_EQUAL(htw_group_create(scene.scheduler, &group), 0);
    for (unsigned i = 0; i < 4; i++)
        schedule(random, &slots[random_below(random, SLOTS)], group);
    CHECK_EQUAL(htw_group_set_scale(group, some_scale(random)), 0);
    htw_group_destroy(group);
}

static void act(struct stress_thread *thread) {
    struct random_source *random = &thread->random;
    struct slot slots[SLOTS] = { { 0, NULL } };
    while (stress_goes_on()) {
        struct slot *slot = &slots[random_below(random, SLOTS)];
        struct htw_group *group = scene.groups[random_below(random, GROUPS)];
        int64_t deadline_ns;
        switch (random_below(random, 16)) {
        case 0:
        case 1:
            CHECK_EQUAL(htw_group_set_scale(group, some_scale(random)), 0);
            break;
        case 2:
            cancel(slot);
            break;
        case 3: { /* with a longer least delay than before */
            int result = htw_reschedule(scene.scheduler, slot->handle, 2 * HTW_MILLISECOND);
            CHECK(result == HTW_MOVED || result == HTW_RUNNING || result == HTW_GONE);
            break;
        }
        case 4:
            if (thread->index == 0)
                CHECK_EQUAL(htw_group_pause(group), 0);
            CHECK_EQUAL(htw_group_resume(group), 0);
            break;
        case 5:
            if (htw_deadline(scene.scheduler, slot->handle, &deadline_ns) == 0 &&
                slot->item != NULL)
                CHECK(deadline_ns > 0);
            break;
        case 6:
            use_group_of_its_own(random, slots);
            break;
        default:
            schedule(random, slot, group);
        }
    }
}

static void change_while_they_expire(unsigned shards, unsigned workers) {
    stress_part("scales: %u shards, %u workers", shards, workers);
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.shards = shards;
    options.workers = workers;
    options.tick_ns = 100 * HTW_MICROSECOND;
    stress_items_reset();
    scene = (struct scene) { .scheduler = stress_create(&options) };
    for (unsigned i = 0; i < GROUPS; i++)
        CHECK_EQUAL(htw_group_create(scene.scheduler, &scene.groups[i]), 0);
    stress_run(THREADS, act, NULL);
    for (unsigned i = 0; i < GROUPS; i++)
        htw_group_destroy(scene.groups[i]);
    struct htw_scheduler_stats stats = stress_finish(scene.scheduler);
    CHECK_EQUAL(stats.scheduled, scene.scheduled);
    CHECK_EQUAL(stats.cancelled, scene.cancelled);
}

/* ---- a smaller scale wakes up who sleeps */

static void wake_up(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    CHECK(expiration->deadline_ns >= atomic_load(&scene.scaled_ns));
    atomic_fetch_add(&scene.ran, 1);
}

static void wake_sleepers(bool wall_clock) {
    stress_part("scales: sleepers%s", wall_clock ? " by the wall clock" : "");
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    scene = (struct scene) { .scheduler = stress_create(&options) };
    CHECK_EQUAL(htw_group_create(scene.scheduler, &scene.groups[0]), 0);
    while (stress_goes_on()) {
        struct htw_spec spec = HTW_SPEC_INIT;
        spec.callback = wake_up;
        spec.group = scene.groups[0];
        spec.clock = wall_clock ? HTW_CLOCK_REALTIME : HTW_CLOCK_DEFAULT;
        atomic_store(&scene.ran, 0);
        CHECK_EQUAL(htw_group_set_scale(scene.groups[0], 1), 0);
        for (unsigned i = 0; i < SLEEPERS; i++) {
            spec.span_ns = HTW_HOUR + i % 9 * HTW_HOUR;
            CHECK_EQUAL(htw_schedule_spec(scene.scheduler, &spec, NULL, NULL), 0);
        }
        CHECK_EQUAL(atomic_load(&scene.ran), 0);
        stress_sleep_ns(HTW_MILLISECOND);
        atomic_store(&scene.scaled_ns, htw_scheduler_now_by(scene.scheduler, spec.clock));
        CHECK_EQUAL(htw_group_set_scale(scene.groups[0], 0), 0);
        stress_await(&scene.ran, SLEEPERS);
    }
    htw_group_destroy(scene.groups[0]);
    CHECK_EQUAL(htw_scheduler_destroy(scene.scheduler), 0);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 4);
    change_while_they_expire(1, 2);
    change_while_they_expire(2, 0);
    wake_sleepers(false);
    wake_sleepers(true);
    return 0;
}
