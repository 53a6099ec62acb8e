/* SPDX-License-Identifier: MIT */
/*
 * wake.c - one thread makes a request ready, and calls htw_purgatory_check_later(): how long it
 * takes from there to on_complete in another thread.
 */
#include "keys.h"
#include "options.h"
#include "service.h"

#include "../common/histogram.h"

#include <stdatomic.h>

#define KEYS 1000
#define PERIOD_NS 200000
#define TIMEOUT_NS (30 * HTW_SECOND)

struct waiter {
    struct htw_request request;
    atomic_bool ready;
    int64_t asked_ns;
};

static struct service service;
static struct histogram histogram; /* written by the thread that runs callbacks */

static bool is_ready(void *context, struct htw_request *request) {
    (void)context;
    return atomic_load_explicit(&((struct waiter *)request)->ready, memory_order_acquire);
}

static void note(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    if (reason == HTW_REASON_COMPLETED)
        histogram_record(&histogram, clock_now_ns() - ((struct waiter *)request)->asked_ns);
}

static void wake(struct waiter *waiter, uint32_t number) {
    struct key_name name;
    struct htw_key key = keys_write(&name, number);
    int result = htw_purgatory_try_complete_else_watch(service.purgatory, &waiter->request, &key, 1,
                                                       TIMEOUT_NS);
    if (result != HTW_WATCHED)
        report_failure("a request was not watched: %d", result);
    waiter->asked_ns = clock_now_ns();
    atomic_store_explicit(&waiter->ready, true, memory_order_release);
    result = htw_purgatory_check_later(service.purgatory, key.bytes, key.size);
    if (result != 0)
        report_failure("htw_purgatory_check_later: %s", strerror(-result));
}

static void run(const struct options *options) {
    static const struct hooks hooks = { is_ready, note, service_count_release };
    service_start(&service, options, &hooks);
    uint64_t waiters = (uint64_t)(given.seconds * 1e9) / PERIOD_NS;
    struct waiter *all = calloc(waiters, sizeof(*all));
    if (all == NULL)
        report_out_of_memory();
    int64_t start_ns = clock_now_ns();
    for (uint64_t i = 0; i < waiters; i++) {
        clock_sleep_until(start_ns + (int64_t)i * PERIOD_NS);
        wake(&all[i], (uint32_t)(i % KEYS));
    }
    service_await_releases(waiters);
    report_percentiles("wake", &histogram);
    service_check(&service, waiters, 0);
}

const struct workload workload_wake = {
    .name = "wake",
    .about = "from htw_purgatory_check_later() to on_complete in another thread",
    .seconds = 2,
    .run = run,
};
