/* SPDX-License-Identifier: MIT */
/*
 * program.c - a program that uses the scheduler and the purgatory for as long as it is told, for
 * ./dev soak to watch.
 *
 *     soak_program SECONDS SEED SOCKET THREADS [LEAK]
 *
 * It ends sooner by SIGTERM.
 *
 * Its main loop waits for an embedded scheduler, whose timers start THREADS threads a second. Each of them
 * makes some operations on a second scheduler and on a purgatory, and ends. Now and then a third
 * scheduler is created, used and destroyed. A monitor at SOCKET shows the statistics. All that is submitted or
 * scheduled ends within seconds, so that memory, descriptors and threads stay as many.
 *
 * LEAK is a mistake for the test of the judge. "memory": each thread leaks 176 bytes; "descriptor": one
 * thread in 256 leaks a descriptor.
 */
#include "../stress/request.h"

#include <htw/monitor.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STARTS 50u /* rounds of starting threads, in a second */
#define ROUND_MAX 64u
#define OPERATIONS 24u
#define HELD 4u
#define KEYS 40u
#define LEAKED_BYTES 176u
#define LEAK_ONE_IN 256u

static struct htw_scheduler *threaded, *embedded;
static struct stress_purgatory home;
static struct htw_group *group;
static const char *leak = "";
static unsigned round_size;
static pthread_t round_threads[ROUND_MAX];
static unsigned long started; /* threads, so far */
static volatile sig_atomic_t is_told_to_end;

/* ---- timers */

static void expired(void *arg, const struct htw_expiration *expiration) {
    stress_check_firing(expiration);
    stress_item_release(arg);
}

static int64_t some_delay(struct random_source *random) {
    return (int64_t)random_below(
        random, (uint64_t)(random_one_in(random, 4) ? 2 * HTW_SECOND : 20 * HTW_MILLISECOND));
}

struct timer {
    htw_handle handle;
    struct stress_item *item;
};

static void cancel(struct timer *timer) {
    if (timer->handle != 0 && htw_cancel_wait(threaded, timer->handle) == HTW_CANCELLED)
        stress_item_release(timer->item);
    timer->handle = 0;
}

static void schedule(struct random_source *random, struct timer *timer) {
    cancel(timer);
    timer->item = stress_item_create(0);
    CHECK_EQUAL(htw_schedule(threaded, some_delay(random), expired, timer->item, &timer->handle),
                0);
}

/* In a group, under one of few keys: it replaces the one before. */
static void schedule_key(struct random_source *random) {
    uint64_t key = random_below(random, KEYS);
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = expired;
    spec.arg = stress_item_create(0);
    spec.when_ns = some_delay(random);
    spec.clock = stress_some_clock(random);
    spec.key = &key;
    spec.key_size = sizeof(key);
    spec.group = group;
    struct htw_unexpired replaced = { 0 };
    CHECK_EQUAL(htw_schedule_spec(threaded, &spec, NULL, &replaced), 0);
    if (replaced.handle != 0)
        stress_item_release(replaced.arg);
}

/* ---- requests */

static bool ask(struct stress_request *request) {
    (void)request;
    return random_one_in(stress_own_random(), 3);
}

static void submit(struct random_source *random) {
    uint64_t keys[] = { random_below(random, KEYS), random_below(random, KEYS) };
    struct stress_request *request = stress_request_create(&home, sizeof(*request));
    CHECK(stress_submit(request, keys, 2, some_delay(random)) >= 0);
}

/* ---- a thread */

static void operate(struct random_source *random, struct timer *timers) {
    switch (random_below(random, 8)) {
    case 0:
    case 1:
    case 2:
        schedule(random, &timers[random_below(random, HELD)]);
        break;
    case 3:
        cancel(&timers[random_below(random, HELD)]);
        break;
    case 4:
        schedule_key(random);
        break;
    case 5:
        submit(random);
        break;
    case 6:
        stress_check(&home, random_below(random, KEYS), 2);
        break;
    default:
        CHECK_EQUAL(stress_check_later(&home, random_below(random, KEYS)), 0);
    }
}

static void leak_something(uint64_t number) {
    if (strcmp(leak, "memory") == 0) {
        char *volatile lost = malloc(LEAKED_BYTES);
        CHECK(lost != NULL);
        memset(lost, 1, LEAKED_BYTES);
    }
    if (strcmp(leak, "descriptor") == 0 && number % LEAK_ONE_IN == 0)
        CHECK(open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
}

static void *run_thread(void *number) {
    struct random_source random = stress_random((uintptr_t)number);
    struct timer timers[HELD] = { { 0, NULL } };
    for (unsigned i = 0; i < OPERATIONS; i++)
        operate(&random, timers);
    for (unsigned i = 0; i < HELD / 2; i++)
        cancel(&timers[i]); /* the others expire */
    leak_something((uintptr_t)number);
    return NULL;
}

/* ---- the main loop */

static void tell_to_end(int signal) {
    (void)signal;
    is_told_to_end = 1;
}

static void join_round(void) {
    for (unsigned i = 0; started > 0 && i < round_size; i++)
        CHECK_EQUAL(pthread_join(round_threads[i], NULL), 0);
}

static void start_round(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
    join_round();
    for (unsigned i = 0; i < round_size; i++)
        CHECK_EQUAL(pthread_create(&round_threads[i], NULL, run_thread, (void *)++started), 0);
}

/* A scheduler that lives for a moment. */
static void create_and_destroy(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.start_threads = true;
    struct htw_scheduler *scheduler = stress_create(&options);
    struct stress_item *item = stress_item_create(0);
    CHECK_EQUAL(htw_schedule(scheduler, HTW_HOUR, expired, item, NULL), 0);
    CHECK_EQUAL(htw_scheduler_stop(scheduler, stress_item_visit, NULL), 0);
    CHECK_EQUAL(htw_scheduler_destroy(scheduler), 0);
}

static void every(int64_t period_ns, htw_callback *callback) {
    CHECK_EQUAL(
        htw_schedule_every(embedded, period_ns, period_ns, HTW_REPEAT_SKIP, callback, NULL, NULL),
        0);
}

static void run(void) {
    struct pollfd readable = { .fd = htw_scheduler_fd(embedded), .events = POLLIN };
    every(HTW_SECOND / STARTS, start_round);
    every(HTW_SECOND / 4, create_and_destroy);
    while (stress_goes_on() && !is_told_to_end) {
        CHECK(poll(&readable, 1, 1000) >= 0 || errno == EINTR);
        CHECK(htw_scheduler_process(embedded, 0, NULL) >= 0);
    }
    join_round();
}

static struct htw_monitor *open_monitor(const char *path) {
    struct htw_monitor_options options = HTW_MONITOR_OPTIONS_INIT;
    struct htw_monitor *monitor;
    options.path = path;
    CHECK_EQUAL(htw_monitor_open(&monitor, &options), 0);
    CHECK_EQUAL(htw_monitor_add_scheduler(monitor, "threaded", threaded, NULL), 0);
    CHECK_EQUAL(htw_monitor_add_scheduler(monitor, "embedded", embedded, NULL), 0);
    CHECK_EQUAL(htw_monitor_add_purgatory(monitor, "purgatory", home.purgatory, NULL), 0);
    return monitor;
}

static void end(void) {
    CHECK(htw_group_cancel(group, stress_item_visit, NULL) >= 0);
    htw_group_destroy(group);
    stress_close(&home);
    stress_await(&home.released, atomic_load(&home.submitted));
    stress_purgatory_end(&home);
    CHECK_EQUAL(htw_scheduler_destroy(embedded), 0);
    struct htw_scheduler_stats stats = stress_finish(threaded);
    printf("soak_program: %lu threads, %llu runs: ok\n", started, (unsigned long long)stats.runs);
}

int main(int argc, char **argv) {
    static const struct stress_hooks hooks = { .ask = ask, .release = stress_request_free };
    if (argc < 5) {
        fprintf(stderr, "usage: soak_program SECONDS SEED SOCKET THREADS [LEAK]\n");
        return 2;
    }
    signal(SIGTERM, tell_to_end);
    stress_begin(argc, argv, 1);
    stress_part("soak");
    round_size = (unsigned)strtoul(argv[4], NULL, 10) / STARTS;
    round_size = round_size < 1 ? 1 : round_size > ROUND_MAX ? ROUND_MAX : round_size;
    leak = argc > 5 ? argv[5] : "";
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    threaded = stress_create(&options);
    options.embedded = true;
    embedded = stress_create(&options);
    CHECK_EQUAL(htw_group_create(threaded, &group), 0);
    stress_purgatory_open(&home, threaded, &hooks, 0);
    struct htw_monitor *monitor = open_monitor(argv[3]);
    run();
    htw_monitor_close(monitor);
    end();
    return 0;
}
