/* SPDX-License-Identifier: MIT */
/*
 * arrivals.c - the shape of Kafka's own purgatory benchmark: requests on three of 100 keys, with a
 * timeout of 200 ms; lognormal latencies with a median of 50 ms and a third quartile of 75 ms;
 * Poisson arrivals. How many a second can be sustained, and what each costs.
 *
 * First arrivals come faster than they can be served, which shows how many that is. Then the rate
 * is lowered until the drivers sustain it.
 */
#include "driver.h"

#include "../common/process.h"

#define TOO_FAST 1e8      /* a second */
#define COMMON_RATE 200e3 /* every peer sustains this */
#define STEP_DOWN 0.95
#define LOWEST 0.4         /* of the rate served when arrivals came too fast */
#define LATE_NS 10e6       /* a driver that ends later than this does not sustain its rate */
#define GROWTH_NS 2e6      /* nor one whose lateness grew by more than this since half time */
#define SETTLE_NS 20000000 /* the last requests have expired by then */

struct outcome {
    double served_per_s;
    double cpu_ns; /* of each request */
    bool sustained;
    uint64_t submitted, expired;
    struct histogram late;
};

static struct service service;
static struct samples samples;
static uint64_t submitted, expired; /* in all trials */

static void prepare(struct driver *driver, double rate, int64_t start_ns, double seconds,
                    uint64_t number) {
    memset(driver, 0, sizeof(*driver));
    driver->service = &service;
    driver->samples = &samples;
    driver->rate = rate;
    driver->start_ns = start_ns;
    driver->half_ns = start_ns + clock_ns(seconds / 2);
    driver->end_ns = start_ns + clock_ns(seconds);
    random_init(&driver->random, number);
}

static void add(struct outcome *outcome, struct driver *driver) {
    pthread_join(driver->thread, NULL);
    uint64_t gone = driver->submitted - driver->completed;
    outcome->submitted += driver->submitted;
    outcome->expired += gone;
    outcome->served_per_s += (double)driver->submitted / ((double)driver->submitting_ns / 1e9);
    if (driver->end_late_ns > LATE_NS || driver->end_late_ns > driver->half_late_ns + GROWTH_NS)
        outcome->sustained = false;
    histogram_merge(&outcome->late, &driver->late);
    if (driver->served != driver->submitted)
        report_failure("of %llu requests %llu were released", (unsigned long long)driver->submitted,
                       (unsigned long long)driver->served);
}

/* `rate` is of all threads together. */
static void try_rate(const struct options *options, double rate, double seconds,
                     struct outcome *outcome) {
    static struct driver *drivers;
    size_t threads = options->threads;
    if (drivers == NULL)
        drivers = thread_allocate(threads, sizeof(*drivers));
    memset(outcome, 0, sizeof(*outcome));
    outcome->sustained = true;
    int64_t cpu_ns = process_cpu_ns();
    int64_t start_ns = clock_now_ns();
    for (size_t i = 0; i < threads; i++) {
        prepare(&drivers[i], rate / (double)threads, start_ns, seconds, i);
        drivers[i].thread = thread_start(driver_work, &drivers[i]);
    }
    for (size_t i = 0; i < threads; i++)
        add(outcome, &drivers[i]);
    outcome->cpu_ns = (double)(process_cpu_ns() - cpu_ns) / (double)outcome->submitted;
    submitted += outcome->submitted;
    expired += outcome->expired;
    clock_sleep_until(clock_now_ns() + SETTLE_NS);
    service_check(&service, submitted, expired);
}

static void find_rate(const struct options *options, double most) {
    static struct outcome outcome;
    for (double rate = most; rate >= most * LOWEST; rate *= STEP_DOWN) {
        try_rate(options, rate, given.seconds, &outcome);
        if (!outcome.sustained)
            continue;
        report_number("sustained_per_s", outcome.served_per_s);
        report_number("cpu_ns_per_operation", outcome.cpu_ns);
        report_number("expired_percent", 100 * (double)outcome.expired / (double)outcome.submitted);
        report_percentiles("completed_late", &outcome.late);
        return;
    }
    report_number("not_sustained_per_s", most * LOWEST); /* a busy machine */
}

static void run(const struct options *options) {
    samples_init(&samples);
    service_start(&service, options, &driver_hooks);
    static struct outcome outcome;
    try_rate(options, TOO_FAST, given.warmup, &outcome); /* allocates memory, warms up */
    try_rate(options, COMMON_RATE, given.seconds, &outcome);
    report_number("cpu_ns_per_operation_at_200k", outcome.cpu_ns);
    try_rate(options, TOO_FAST, given.seconds, &outcome);
    report_number("served_per_s_at_most", outcome.served_per_s);
    find_rate(options, outcome.served_per_s);
}

const struct workload workload_arrivals = {
    .name = "arrivals",
    .about =
        "the shape of the benchmark of Kafka's purgatory: Poisson arrivals, lognormal latencies",
    .seconds = 1.5,
    .run = run,
};
