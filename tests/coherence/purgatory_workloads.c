/* SPDX-License-Identifier: MIT */
/* purgatory_workloads.c - a request is submitted on two keys, and the oldest one of the CPU is completed
   by an event on one of its keys: the workload `pair` of the benchmark of the purgatory. */
#include "cpus.h"
#include "memory.h"
#include "workloads.h"

#include "../../src/purgatory/cpu.h"
#include "../../src/purgatory/state.h"
#include "../../src/purgatory/watch.h"

#include <stdalign.h>
#include <stdio.h>

#define CPUS_MAX 64u
#define PENDING 1000u /* requests of all CPUs */
#define SPARE 64u     /* places of a CPU: another CPU may release a request late */
#define KEYS 1000u
#define KEYS_PER_REQUEST 2
#define KEY_BYTES 14

struct operation {
    alignas(64) struct htw_request request;
    alignas(64) _Atomic bool ready;
    _Atomic bool taken;
    uint32_t key; /* the event comes there */
};

struct submitter {
    alignas(64) struct operation *places;
    uint32_t count, newest, oldest, first_key;
};

static struct htw_scheduler *scheduler;
static struct htw_purgatory *purgatory;
static struct submitter submitters[CPUS_MAX];

static bool is_ready(void *context, struct htw_request *request) {
    (void)context;
    struct operation *operation = (struct operation *)(void *)request;
    cpus_touch(&operation->ready, 1, false);
    return atomic_load_explicit(&operation->ready, memory_order_relaxed);
}

static void ignore(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context, (void)request, (void)reason;
}

static void release(void *context, struct htw_request *request) {
    (void)context;
    struct operation *operation = (struct operation *)(void *)request;
    cpus_touch(&operation->taken, 1, true);
    atomic_store_explicit(&operation->taken, false, memory_order_release);
}

static void create_submitter(struct submitter *submitter, unsigned cpus, uint32_t first_key) {
    uint32_t count = PENDING / cpus + SPARE;
    *submitter = (struct submitter) { .count = count, .first_key = first_key };
    submitter->places = memory_allocate(count * sizeof(struct operation));
}

static void create(unsigned cpus, bool own_keys) {
    struct htw_scheduler_options scheduler_options = HTW_SCHEDULER_OPTIONS_INIT;
    scheduler_options.shards = cpus;
    scheduler_options.clock = HTW_CLOCK_MANUAL;
    scheduler_options.manual_start_ns = HTW_SECOND;
    scheduler_options.allocator = &memory_allocator;
    workload_require(htw_scheduler_create(&scheduler, &scheduler_options), "htw_scheduler_create");
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    options.try_complete = is_ready;
    options.on_complete = ignore;
    options.release = release;
    options.allocator = &memory_allocator;
    workload_require(htw_purgatory_create(&purgatory, scheduler, &options), "htw_purgatory_create");
    for (unsigned i = 0; i < cpus; i++)
        create_submitter(&submitters[i], cpus, own_keys ? i * KEYS : 0);
}

static void create_own(unsigned cpus) {
    create(cpus, true);
}

static void create_shared(unsigned cpus) {
    create(cpus, false);
}

static void destroy(void) {
    workload_require(htw_purgatory_destroy(purgatory), "htw_purgatory_destroy");
    htw_scheduler_destroy(scheduler);
}

static struct htw_key write_key(char *text, uint32_t number) {
    snprintf(text, KEY_BYTES + 1, "key-%010u", (unsigned)number);
    return (struct htw_key) { text, KEY_BYTES };
}

static struct operation *next_place(struct submitter *submitter, uint32_t *place) {
    struct operation *operation = &submitter->places[*place];
    *place = *place + 1 == submitter->count ? 0 : *place + 1;
    return operation;
}

static void submit(unsigned number) {
    struct submitter *submitter = &submitters[number];
    struct operation *operation = next_place(submitter, &submitter->newest);
    while (atomic_load_explicit(&operation->taken, memory_order_acquire))
        cpus_yield();
    char texts[KEYS_PER_REQUEST][KEY_BYTES + 2];
    struct htw_key keys[KEYS_PER_REQUEST];
    for (unsigned i = 0; i < KEYS_PER_REQUEST; i++) {
        operation->key = submitter->first_key + workload_draw(number, KEYS);
        keys[i] = write_key(texts[i], operation->key);
    }
    cpus_touch(&operation->ready, 8, true);
    atomic_store_explicit(&operation->ready, false, memory_order_relaxed);
    atomic_store_explicit(&operation->taken, true, memory_order_relaxed);
    int result = htw_purgatory_try_complete_else_watch(purgatory, &operation->request, keys,
                                                       KEYS_PER_REQUEST, 30 * HTW_SECOND);
    workload_require(result - HTW_WATCHED, "htw_purgatory_try_complete_else_watch");
}

static void complete_oldest(unsigned number) {
    struct submitter *submitter = &submitters[number];
    struct operation *operation = next_place(submitter, &submitter->oldest);
    char text[KEY_BYTES + 2];
    struct htw_key key = write_key(text, operation->key);
    cpus_touch(&operation->ready, 1, true);
    atomic_store_explicit(&operation->ready, true, memory_order_relaxed);
    workload_require(htw_purgatory_check(purgatory, key.bytes, key.size) < 0,
                     "htw_purgatory_check");
}

static uint32_t pending_of(unsigned number) {
    return submitters[number].count - SPARE;
}

static void begin(unsigned number) {
    for (uint32_t i = 0; i < pending_of(number); i++)
        submit(number);
}

static void operate(unsigned number) {
    submit(number);
    complete_oldest(number);
}

static void end(unsigned number) {
    for (uint32_t i = 0; i < pending_of(number); i++)
        complete_oldest(number);
}

const struct workload purgatory_workloads[] = {
    { "purgatory_own", "a request is submitted and one completed, on keys of the CPU", 6, 60000,
      create_own, begin, operate, end, destroy },
    { "purgatory_shared", "the same on keys of all CPUs", 17, 60000, create_shared, begin, operate,
      end, destroy },
    { .name = NULL },
};
