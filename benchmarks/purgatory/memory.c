/* SPDX-License-Identifier: MIT */
/*
 * memory.c - the memory of a pending request, with its `struct htw_request`; and
 * what is left when all are completed. The user's own struct is just the request here.
 */
#include "keys.h"
#include "options.h"
#include "service.h"

#include "../common/process.h"
#include "../common/random.h"

#define TIMEOUT_NS (3600 * HTW_SECOND)
#define SETTLE_NS 300000000 /* the scheduler has released pages by then */

static struct service service;
static bool event_has_come; /* read by this thread alone: nothing expires */
static uint64_t released;

static bool is_ready(void *context, struct htw_request *request) {
    (void)context, (void)request;
    return event_has_come;
}

static void ignore(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context, (void)request, (void)reason;
}

static void count(void *context, struct htw_request *request) {
    (void)context, (void)request;
    released++;
}

static void submit_all(const struct options *options, struct htw_request *requests) {
    struct random random;
    random_init(&random, 1);
    uint64_t next = 0;
    event_has_come = false;
    for (uint64_t i = 0; i < options->requests; i++) {
        struct key_name names[KEYS_PER_REQUEST_MAX];
        struct htw_key on[KEYS_PER_REQUEST_MAX];
        for (uint64_t j = 0; j < options->per_request; j++) {
            uint64_t key = options->distinct
                               ? next++
                               : random_scale(random_low(random_draw(&random)), options->keys);
            on[j] = keys_write(&names[j], (uint32_t)key);
        }
        int result = htw_purgatory_try_complete_else_watch(
            service.purgatory, &requests[i], on, (unsigned)options->per_request, TIMEOUT_NS);
        if (result != HTW_WATCHED)
            report_failure("a request was not watched: %d", result);
    }
}

static void complete_all(const struct options *options) {
    event_has_come = true;
    for (uint64_t i = 0; i < options->keys; i++) {
        struct key_name name;
        struct htw_key key = keys_write(&name, (uint32_t)i);
        int64_t completed = htw_purgatory_check(service.purgatory, key.bytes, key.size);
        if (completed < 0)
            report_failure("htw_purgatory_check: %s", strerror((int)-completed));
    }
}

struct held {
    uint64_t purgatory, resident;
};

static struct held measure(void) {
    return (struct held) {
        .purgatory = service_stats(&service).memory_bytes,
        .resident = process_resident_bytes(),
    };
}

static double each(uint64_t now, uint64_t before, const struct options *options) {
    return ((double)now - (double)before) / (double)options->requests;
}

static void report_pending(const struct options *options, const struct held *before) {
    struct held full = measure();
    double own = (double)sizeof(struct htw_request);
    double purgatory = each(full.purgatory, before->purgatory, options);
    report_number("request_bytes", own);
    report_number("purgatory_bytes", purgatory);
    report_number("bytes_per_request", own + purgatory);
    report_number("resident_bytes_per_request", each(full.resident, before->resident, options));
}

static void report_left(const struct held *before, uint64_t submitted) {
    struct htw_purgatory_stats stats = service_stats(&service);
    /* At once, before the library releases anything later. */
    report_count("retained_requests", stats.pending + submitted - released);
    report_count("retained_watches", stats.watched);
    report_count("retained_keys", stats.keys);
    clock_sleep_until(clock_now_ns() + SETTLE_NS);
    struct held after = measure();
    report_number("retained_purgatory_bytes", (double)after.purgatory - (double)before->purgatory);
}

static void run(const struct options *options) {
    static const struct hooks hooks = { is_ready, ignore, count };
    service_start(&service, options, &hooks);

    /* So that what is allocated for a first request is not measured. */
    struct htw_request first;
    htw_request_init(&first);
    struct key_name name;
    struct htw_key key = keys_write(&name, 0);
    int result =
        htw_purgatory_try_complete_else_watch(service.purgatory, &first, &key, 1, TIMEOUT_NS);
    if (result != HTW_WATCHED || !htw_request_complete(service.purgatory, &first))
        report_failure("the first request: %d", result);
    clock_sleep_until(clock_now_ns() + SETTLE_NS);

    struct held before = measure();
    struct htw_request *requests = calloc(options->requests, sizeof(*requests));
    if (requests == NULL)
        report_out_of_memory();
    submit_all(options, requests);
    report_pending(options, &before);
    complete_all(options);
    report_left(&before, options->requests + 1);
    service_check(&service, options->requests + 1, 0);
}

const struct workload workload_memory = {
    .name = "memory",
    .about = "so many requests are pending; then all are completed",
    .count = 1000000,
    .quick_count = 100000,
    .run = run,
};
