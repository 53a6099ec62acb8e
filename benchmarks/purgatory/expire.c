/* SPDX-License-Identifier: MIT */
/* expire.c - 10 000 requests a second for which no event comes: how late they expire. */
#include "keys.h"
#include "options.h"
#include "service.h"

#include "../common/histogram.h"
#include "../common/process.h"
#include "../common/random.h"

#define KEYS 1000
#define PER_REQUEST 2
#define PERIOD_NS HTW_MILLISECOND
#define REQUESTS_A_PERIOD 10
#define SHORTEST_MS 1
#define LONGEST_MS 200 /* in whole milliseconds, because Kafka has no others */

struct waiter {
    struct htw_request request;
    int64_t deadline_ns;
};

static struct service service;
static struct histogram histogram; /* written by the thread that runs callbacks */

static bool never(void *context, struct htw_request *request) {
    (void)context, (void)request;
    return false;
}

static void note(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    if (reason == HTW_REASON_EXPIRED)
        histogram_record(&histogram, clock_now_ns() - ((struct waiter *)request)->deadline_ns);
}

static void submit(struct waiter *waiter, struct random *random) {
    uint64_t draw = random_draw(random), other = random_draw(random);
    struct key_name names[PER_REQUEST];
    struct htw_key on[PER_REQUEST] = {
        keys_write(&names[0], (uint32_t)random_scale(random_low(draw), KEYS)),
        keys_write(&names[1], (uint32_t)random_scale(random_high(draw), KEYS)),
    };
    int64_t timeout_ns =
        (int64_t)(SHORTEST_MS + random_scale(random_low(other), LONGEST_MS - SHORTEST_MS + 1)) *
        HTW_MILLISECOND;
    waiter->deadline_ns = clock_now_ns() + timeout_ns;
    int result = htw_purgatory_try_complete_else_watch(service.purgatory, &waiter->request, on,
                                                       PER_REQUEST, timeout_ns);
    if (result != HTW_WATCHED)
        report_failure("a request was not watched: %d", result);
}

static void run(const struct options *options) {
    static const struct hooks hooks = { never, note, service_count_release };
    service_start(&service, options, &hooks);
    int64_t periods = clock_ns(given.seconds) / PERIOD_NS;
    uint64_t waiters = (uint64_t)periods * REQUESTS_A_PERIOD;
    struct waiter *all = calloc(waiters, sizeof(*all));
    if (all == NULL)
        report_out_of_memory();
    struct random random;
    random_init(&random, 1);
    int64_t cpu_ns = process_cpu_ns(), start_ns = clock_now_ns();
    for (int64_t i = 0; i < periods; i++) {
        clock_sleep_until(start_ns + i * PERIOD_NS);
        for (int64_t j = 0; j < REQUESTS_A_PERIOD; j++)
            submit(&all[i * REQUESTS_A_PERIOD + j], &random);
    }
    service_await_releases(waiters);
    cpu_ns = process_cpu_ns() - cpu_ns;
    report_percentiles("late", &histogram);
    report_count("early", histogram.early);
    report_number("cpu_ns_per_operation", (double)cpu_ns / (double)waiters);
    service_check(&service, waiters, waiters);
}

const struct workload workload_expire = {
    .name = "expire",
    .about = "10 000 requests a second for which no event comes: how late they expire",
    .seconds = 2,
    .run = run,
};
