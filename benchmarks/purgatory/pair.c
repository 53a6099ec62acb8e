/* SPDX-License-Identifier: MIT */
/*
 * pair.c - an operation submits a request, and completes the oldest pending one by an event on one
 * of its keys. Each thread has its share of the pending requests. Threads share the keys, so that
 * an event of one finds requests of others, or have their own.
 */
#include "keys.h"
#include "options.h"
#include "service.h"

#include "../common/process.h"
#include "../common/random.h"
#include "../common/thread.h"

#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>

#define TIMEOUT_NS (30 * HTW_SECOND)
#define LAP 1000 /* operations between two readings of the clock */
/* More places than pending requests: another thread may release a request some time after it has
   completed it, and the place must not be needed before. */
#define SPARE 64

enum place { FREE, TAKEN };
enum phase { WARMING, MEASURING, STOPPING };

struct operation {
    struct htw_request request;
    atomic_bool ready;
    atomic_uchar place;
    unsigned char reason;
    uint32_t key; /* one of its keys: the event comes there */
};

struct submitter {
    alignas(64) _Atomic uint64_t operations; /* written by its thread */
    const struct options *options;
    uint32_t first_key; /* of the keys that it draws from */
    struct random random;
    struct operation *places;
    uint32_t place_count, newest, oldest;
    uint64_t submitted, awaited;
    pthread_t thread;
    struct histogram laps; /* of the measured time */
};

static struct service service;
static struct submitter *submitters;
static _Atomic int phase;

static bool is_ready(void *context, struct htw_request *request) {
    (void)context;
    struct operation *operation = (struct operation *)request;
    return atomic_load_explicit(&operation->ready, memory_order_relaxed);
}

static void note_reason(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    ((struct operation *)request)->reason = (unsigned char)reason;
}

static void free_place(void *context, struct htw_request *request) {
    (void)context;
    struct operation *operation = (struct operation *)request;
    atomic_store_explicit(&operation->place, FREE, memory_order_release);
}

static void await_place(struct submitter *submitter, struct operation *operation) {
    while (atomic_load_explicit(&operation->place, memory_order_acquire) != FREE) {
        submitter->awaited++;
        sched_yield();
    }
    if (operation->reason != HTW_REASON_COMPLETED)
        report_failure("a request has ended for another reason: %d", operation->reason);
}

static uint32_t after(const struct submitter *submitter, uint32_t place) {
    return place + 1 == submitter->place_count ? 0 : place + 1;
}

static void submit(struct submitter *submitter) {
    struct operation *operation = &submitter->places[submitter->newest];
    submitter->newest = after(submitter, submitter->newest);
    await_place(submitter, operation);
    unsigned count = (unsigned)submitter->options->per_request;
    struct key_name names[KEYS_PER_REQUEST_MAX];
    struct htw_key keys[KEYS_PER_REQUEST_MAX];
    uint64_t draw = 0;
    for (unsigned i = 0; i < count; i++) {
        draw = i % 2 == 0 ? random_draw(&submitter->random) : draw >> 32;
        operation->key = submitter->first_key +
                         (uint32_t)random_scale(random_low(draw), submitter->options->keys);
        keys[i] = keys_write(&names[i], operation->key);
    }
    atomic_store_explicit(&operation->ready, false, memory_order_relaxed);
    atomic_store_explicit(&operation->place, TAKEN, memory_order_relaxed);
    int result = htw_purgatory_try_complete_else_watch(service.purgatory, &operation->request, keys,
                                                       count, TIMEOUT_NS);
    if (result != HTW_WATCHED)
        report_failure("a request was not watched: %d", result);
    submitter->submitted++;
}

static void complete_oldest(struct submitter *submitter) {
    struct operation *operation = &submitter->places[submitter->oldest];
    submitter->oldest = after(submitter, submitter->oldest);
    struct key_name name;
    struct htw_key key = keys_write(&name, operation->key);
    /* From here on an event of another thread may complete it first. */
    atomic_store_explicit(&operation->ready, true, memory_order_relaxed);
    int64_t completed = htw_purgatory_check(service.purgatory, key.bytes, key.size);
    if (completed < 0 || (submitter->options->threads == 1 && completed != 1))
        report_failure("an event has completed %lld requests", (long long)completed);
}

static void lap(struct submitter *submitter) {
    for (int i = 0; i < LAP; i++) {
        submit(submitter);
        complete_oldest(submitter);
    }
    atomic_store_explicit(&submitter->operations, submitter->operations + LAP,
                          memory_order_relaxed);
}

static void *work(void *context) {
    struct submitter *submitter = context;
    uint64_t pending = submitter->options->requests / submitter->options->threads;
    for (uint64_t i = 0; i < pending; i++)
        submit(submitter);
    int64_t before_ns = clock_now_ns();
    for (int now = WARMING; now != STOPPING; now = atomic_load(&phase)) {
        lap(submitter);
        int64_t after_ns = clock_now_ns();
        if (now == MEASURING)
            histogram_record(&submitter->laps, after_ns - before_ns);
        thread_let_others_run(after_ns);
        before_ns = after_ns;
    }
    for (uint64_t i = 0; i < pending; i++)
        complete_oldest(submitter);
    return NULL;
}

static void prepare(struct submitter *submitter, const struct options *options, uint64_t number) {
    submitter->options = options;
    submitter->first_key = options->own_keys ? (uint32_t)(number * options->keys) : 0;
    random_init(&submitter->random, number);
    submitter->place_count = (uint32_t)(options->requests / options->threads) + SPARE;
    submitter->places = thread_allocate(submitter->place_count, sizeof(*submitter->places));
}

static uint64_t operations(uint64_t threads) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < threads; i++)
        sum += atomic_load_explicit(&submitters[i].operations, memory_order_relaxed);
    return sum;
}

static void measure(uint64_t threads) {
    clock_sleep_until(clock_now_ns() + clock_ns(given.warmup));
    atomic_store(&phase, MEASURING);
    uint64_t before = operations(threads), done;
    int64_t now_ns, start_ns = clock_now_ns(), cpu_before_ns = process_cpu_ns();
    int64_t end_ns = start_ns + clock_ns(given.seconds);
    do {
        clock_sleep_until(end_ns);
        now_ns = clock_now_ns();
        end_ns = now_ns + HTW_MILLISECOND;
        done = operations(threads) - before;
    } while (done < threads * LAP * 2);
    int64_t cpu_ns = process_cpu_ns() - cpu_before_ns;
    atomic_store(&phase, STOPPING);
    report_number("operations_per_s", (double)done / ((double)(now_ns - start_ns) / 1e9));
    report_number("cpu_ns_per_operation", (double)cpu_ns / (double)done);
}

static void run(const struct options *options) {
    uint64_t threads = options->threads;
    static const struct hooks hooks = { is_ready, note_reason, free_place };
    service_start(&service, options, &hooks);
    submitters = thread_allocate(threads, sizeof(*submitters));
    for (uint64_t i = 0; i < threads; i++) {
        prepare(&submitters[i], options, i);
        submitters[i].thread = thread_start(work, &submitters[i]);
    }
    measure(threads);
    static struct histogram laps;
    uint64_t submitted = 0;
    for (uint64_t i = 0; i < threads; i++) {
        pthread_join(submitters[i].thread, NULL);
        histogram_merge(&laps, &submitters[i].laps);
        submitted += submitters[i].submitted;
    }
    for (uint64_t i = 0; i < threads; i++)
        for (uint32_t j = 0; j < submitters[i].place_count; j++)
            await_place(&submitters[i], &submitters[i].places[j]);
    if (laps.total != 0)
        report_number("ns_per_operation_p50", (double)histogram_quantile_ns(&laps, 0.5) / LAP);
    service_check(&service, submitted, 0);
}

const struct workload workload_pair = {
    .name = "pair",
    .about = "submit a request and complete the oldest one by an event on one of its keys",
    .seconds = 2,
    .count = 1000,
    .run = run,
};
