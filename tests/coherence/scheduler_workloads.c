/* SPDX-License-Identifier: MIT */
/* scheduler_workloads.c - timers that are armed and cancelled: on the own shard, by another CPU, with a
   key, in a group. */
#include "cpus.h"
#include "memory.h"
#include "workloads.h"

#include "../../src/scheduler/expirer.h"
#include "../../src/scheduler/group.h"

#include <htw/group.h>

#include <stdalign.h>

#define CPUS_MAX 64u
#define PENDING 16u /* timers of each CPU that stay armed meanwhile, so that no shard is empty */
#define FREE_RECORDS 64u /* of a page, once most of it is used up */
#define KEYS 100u        /* of a CPU */

struct mailbox {
    alignas(64) _Atomic htw_handle handle; /* 0: empty */
};

static struct htw_scheduler *scheduler;
static unsigned cpu_count;
static struct htw_group *groups[CPUS_MAX];
static struct mailbox mailboxes[CPUS_MAX];

static void never_called(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
}

static void create(unsigned cpus) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.shards = cpus;
    options.clock = HTW_CLOCK_MANUAL;
    options.manual_start_ns = HTW_SECOND;
    options.allocator = &memory_allocator;
    workload_require(htw_scheduler_create(&scheduler, &options), "htw_scheduler_create");
    cpu_count = cpus;
}

static void create_with_group(unsigned cpus) {
    create(cpus);
    workload_require(htw_group_create(scheduler, &groups[0]), "htw_group_create");
}

static void destroy(void) {
    htw_scheduler_destroy(scheduler);
}

static int64_t draw_delay_ns(unsigned number) {
    return (int64_t)(1000 + workload_draw(number, 30000)) * HTW_MILLISECOND;
}

static htw_handle schedule(unsigned number) {
    htw_handle handle;
    workload_require(htw_schedule(scheduler, draw_delay_ns(number), never_called, NULL, &handle),
                     "htw_schedule");
    return handle;
}

static void cancel(htw_handle handle) {
    workload_require(htw_cancel(scheduler, handle) - HTW_CANCELLED, "htw_cancel");
}

static void arm_some(unsigned number) {
    for (unsigned i = 0; i < PENDING; i++)
        (void)schedule(number);
}

/* Uses up most of the page of the shard's records, so that records are soon used again. */
static void arm_many(unsigned number) {
    cpus_skip(true);
    for (unsigned i = 0; i < HTW__SLAB_PAGE_CELLS - FREE_RECORDS; i++)
        (void)schedule(number);
    cpus_skip(false);
}

static void pair(unsigned number) {
    cancel(schedule(number));
}

/* A timer for the next CPU, and one of the CPU before. All CPUs make the same number of operations. */
static void exchange(unsigned number) {
    struct mailbox *own = &mailboxes[number], *other = &mailboxes[(number + 1) % cpu_count];
    htw_handle handle = schedule(number);
    while (atomic_load(&own->handle) != 0)
        cpus_yield();
    cpus_touch(own, sizeof(*own), true);
    atomic_store(&own->handle, handle);
    while ((handle = atomic_load(&other->handle)) == 0)
        cpus_yield();
    cpus_touch(other, sizeof(*other), true);
    atomic_store(&other->handle, 0);
    cancel(handle);
}

static struct htw_spec spec_of(unsigned number) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = never_called;
    spec.when_ns = draw_delay_ns(number);
    return spec;
}

static htw_handle schedule_spec(const struct htw_spec *spec) {
    htw_handle handle;
    workload_require(htw_schedule_spec(scheduler, spec, &handle, NULL), "htw_schedule_spec");
    return handle;
}

static void pair_of_key(unsigned number) {
    struct htw_spec spec = spec_of(number);
    uint64_t key = number * KEYS + workload_draw(number, KEYS);
    spec.key = &key;
    spec.key_size = sizeof(key);
    (void)schedule_spec(&spec);
    int outcome = htw_cancel_key(scheduler, NULL, &key, sizeof(key), NULL);
    workload_require(outcome - HTW_CANCELLED, "htw_cancel_key");
}

static void create_own_group(unsigned number) {
    workload_require(htw_group_create(scheduler, &groups[number]), "htw_group_create");
}

static void pair_in_group(struct htw_group *group, unsigned number) {
    struct htw_spec spec = spec_of(number);
    spec.group = group;
    cancel(schedule_spec(&spec));
}

static void pair_in_own_group(unsigned number) {
    pair_in_group(groups[number], number);
}

static void pair_in_shared_group(unsigned number) {
    pair_in_group(groups[0], number);
}

static void destroy_own_group(unsigned number) {
    htw_group_destroy(groups[number]);
}

static void destroy_with_group(void) {
    htw_group_destroy(groups[0]);
    destroy();
}

const struct workload scheduler_workloads[] = {
    { "pair", "a timer is armed and cancelled by its CPU", 0, 200, create, arm_some, pair, NULL,
      destroy },
    { "exchange", "a timer is armed, and one of another CPU is cancelled", 3, 8000, create,
      arm_many, exchange, NULL, destroy },
    { "key", "a timer with a key is armed, and cancelled by the key", 33, 8000, create, arm_some,
      pair_of_key, NULL, destroy },
    { "group_own", "a timer is armed in a group of the CPU, and cancelled", 0, 200, create,
      create_own_group, pair_in_own_group, destroy_own_group, destroy },
    { "group_shared", "a timer is armed in a group of all CPUs, and cancelled", 65, 200,
      create_with_group, NULL, pair_in_shared_group, NULL, destroy_with_group },
    { .name = NULL },
};
