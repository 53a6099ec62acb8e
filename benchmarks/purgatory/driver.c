/* SPDX-License-Identifier: MIT */
/* driver.c - submits requests as they arrive, and completes them after their latency. */
#include "driver.h"

#include <stdatomic.h>

#define BATCH 256  /* arrivals between two readings of the clock */
#define CHUNK 1024 /* arrivals that are allocated together */
#define PATIENCE_NS 5000000000

struct arrival {
    struct htw_request request;
    struct arrival *next; /* in the ring or in the free list */
    bool expires;         /* its timeout is shorter than its latency */
    atomic_bool released;
};

static bool never(void *context, struct htw_request *request) {
    (void)context, (void)request;
    return false;
}

static void ignore(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context, (void)request, (void)reason;
}

static void note_release(void *context, struct htw_request *request) {
    (void)context;
    atomic_store_explicit(&((struct arrival *)request)->released, true, memory_order_release);
}

const struct hooks driver_hooks = { never, ignore, note_release };

static void allocate_chunk(struct driver *driver) {
    struct arrival *chunk = calloc(CHUNK, sizeof(*chunk));
    if (chunk == NULL)
        report_out_of_memory();
    for (int i = 0; i < CHUNK; i++) {
        chunk[i].next = driver->free;
        driver->free = &chunk[i];
    }
}

static struct arrival *pop_free(struct driver *driver) {
    if (driver->free == NULL)
        allocate_chunk(driver);
    struct arrival *arrival = driver->free;
    driver->free = arrival->next;
    return arrival;
}

/* The arrival is served in so many steps from now. */
static void put_in_ring(struct driver *driver, struct arrival *arrival, unsigned steps) {
    struct arrival **list = &driver->ring[(driver->step + steps) % DRIVER_RING];
    arrival->next = *list;
    *list = arrival;
}

static void arrive(struct driver *driver, uint64_t draw) {
    struct arrival *arrival = pop_free(driver);
    unsigned latency_ms = samples_latency_ms(driver->samples, draw);
    arrival->expires = latency_ms >= DRIVER_TIMEOUT_MS;
    atomic_store_explicit(&arrival->released, false, memory_order_relaxed);
    /* Rounded up, because this step has been served. */
    put_in_ring(driver, arrival, 1 + (arrival->expires ? DRIVER_TIMEOUT_MS : latency_ms));
    uint64_t two = random_draw(&driver->random);
    uint32_t bits[DRIVER_KEYS_A_REQUEST] = { random_high(draw), random_low(two), random_high(two) };
    struct key_name names[DRIVER_KEYS_A_REQUEST];
    struct htw_key keys[DRIVER_KEYS_A_REQUEST];
    for (int i = 0; i < DRIVER_KEYS_A_REQUEST; i++)
        keys[i] = keys_write(&names[i], (uint32_t)random_scale(bits[i], DRIVER_KEYS));
    int result = htw_purgatory_try_complete_else_watch(
        driver->service->purgatory, &arrival->request, keys, DRIVER_KEYS_A_REQUEST,
        DRIVER_TIMEOUT_MS * HTW_MILLISECOND);
    if (result != HTW_WATCHED)
        report_failure("a request was not watched: %d", result);
    driver->submitted++;
}

static bool is_released(const struct arrival *arrival) {
    return atomic_load_explicit(&arrival->released, memory_order_acquire);
}

/* Completes an arrival or, if it has expired, only frees its place. If another thread has not yet
 * released it, the arrival is served again in the next step. */
static void serve(struct driver *driver, struct arrival *arrival) {
    bool completed = !arrival->expires && !is_released(arrival) &&
                     htw_request_complete(driver->service->purgatory, &arrival->request);
    driver->completed += completed;
    if (!is_released(arrival)) {
        arrival->expires = true;
        put_in_ring(driver, arrival, 1);
        return;
    }
    driver->served++;
    arrival->next = driver->free;
    driver->free = arrival;
}

static void serve_list(struct driver *driver, struct arrival *arrival) {
    while (arrival != NULL) {
        struct arrival *next = arrival->next;
        serve(driver, arrival);
        arrival = next;
    }
}

static void serve_ring(struct driver *driver, int64_t now_ns) {
    int64_t step = (now_ns - driver->start_ns) / HTW_MILLISECOND;
    while (driver->step < step) {
        struct arrival **list = &driver->ring[++driver->step % DRIVER_RING];
        struct arrival *due = *list;
        *list = NULL;
        if (now_ns >= driver->half_ns && due != NULL)
            histogram_record(&driver->late,
                             now_ns - driver->start_ns - driver->step * HTW_MILLISECOND);
        serve_list(driver, due);
    }
}

/* The arrivals that are due, BATCH at most. */
static void serve_arrivals(struct driver *driver, int64_t now_ns) {
    double since_ns = (double)(now_ns - driver->start_ns);
    for (int i = 0; i < BATCH && driver->next_ns <= since_ns; i++) {
        uint64_t draw = random_draw(&driver->random);
        driver->next_ns += samples_interval(driver->samples, draw) * 1e9 / driver->rate;
        arrive(driver, draw);
    }
}

static double late_ns(const struct driver *driver, int64_t now_ns) {
    double late = (double)(now_ns - driver->start_ns) - driver->next_ns;
    return late > 0 ? late : 0;
}

static void note_lateness(struct driver *driver, int64_t now_ns) {
    driver->end_late_ns = late_ns(driver, now_ns);
    if (now_ns < driver->half_ns)
        driver->half_late_ns = driver->end_late_ns;
}

void *driver_work(void *context) {
    struct driver *driver = context;
    int64_t now_ns = clock_now_ns();
    while (now_ns < driver->end_ns) {
        note_lateness(driver, now_ns);
        serve_ring(driver, now_ns);
        serve_arrivals(driver, now_ns);
        if (late_ns(driver, now_ns) == 0)
            clock_sleep_until(driver->start_ns + (driver->step + 1) * HTW_MILLISECOND);
        now_ns = clock_now_ns();
    }
    driver->submitting_ns = now_ns - driver->start_ns;
    int64_t last_ns = now_ns + PATIENCE_NS;
    while (driver->served < driver->submitted && now_ns < last_ns) {
        clock_sleep_until(now_ns + HTW_MILLISECOND);
        now_ns = clock_now_ns();
        serve_ring(driver, now_ns);
    }
    return NULL;
}
