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
 * scheduler is created, used and destroyed. A monitor at SOCKET shows the statistics. Timers and
 * requests have their places in tables, so that memory, descriptors and threads stay as many.
 *
 * LEAK is a mistake for the test of the judge. "memory": each thread leaks 176 bytes; "descriptor": one
 * thread in 256 leaks a descriptor.
 */
#include "../stress/stress.h"

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
#define LEAKED_BYTES 176u
#define LEAK_ONE_IN 256u

static struct htw_scheduler *threaded, *embedded;
static const char *leak = "";
static unsigned round_size;
static pthread_t round_threads[ROUND_MAX];
static unsigned long started; /* threads, so far */
static volatile sig_atomic_t is_told_to_end;

/* ---- a thread */

static void leak_something(uint64_t number) {
    if (strcmp(leak, "memory") == 0) {
        char *volatile lost = malloc(LEAKED_BYTES);
        REQUIRE(lost != NULL);
        memset(lost, 1, LEAKED_BYTES);
    }
    if (strcmp(leak, "descriptor") == 0 && number % LEAK_ONE_IN == 0)
        REQUIRE(open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
}

static void *run_thread(void *number) {
    unsigned owner = (unsigned)((uintptr_t)number % round_size);
    for (unsigned i = 0; i < OPERATIONS; i++)
        random_one_in(stage_random(), 2) ? timers_act(owner) : requests_act();
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
        REQUIRE(pthread_join(round_threads[i], NULL) == 0);
}

static void start_round(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
    join_round();
    for (unsigned i = 0; i < round_size; i++)
        REQUIRE(pthread_create(&round_threads[i], NULL, run_thread, (void *)++started) == 0);
}

/* A scheduler that lives for a moment. */
static void create_and_destroy(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.start_threads = true;
    struct htw_scheduler *scheduler;
    REQUIRE(htw_scheduler_create(&scheduler, &options) == 0);
    REQUIRE(htw_schedule(scheduler, HTW_HOUR, start_round, NULL, NULL) == 0);
    REQUIRE(htw_scheduler_destroy(scheduler) == 0);
}

static void every(int64_t period_ns, htw_callback *callback) {
    REQUIRE(htw_schedule_every(embedded, period_ns, period_ns, HTW_REPEAT_SKIP, callback, NULL,
                               NULL) == 0);
}

static void run(void) {
    struct pollfd readable = { .fd = htw_scheduler_fd(embedded), .events = POLLIN };
    every(HTW_SECOND / STARTS, start_round);
    every(HTW_SECOND / 4, create_and_destroy);
    while (stress_goes_on() && !is_told_to_end) {
        REQUIRE(poll(&readable, 1, 1000) >= 0 || errno == EINTR);
        REQUIRE(htw_scheduler_process(embedded, 0, NULL) >= 0);
    }
    join_round();
}

static struct htw_monitor *open_monitor(const char *path) {
    struct htw_monitor_options options = HTW_MONITOR_OPTIONS_INIT;
    struct htw_monitor *monitor;
    options.path = path;
    REQUIRE(htw_monitor_open(&monitor, &options) == 0);
    REQUIRE(htw_monitor_add_scheduler(monitor, "threaded", threaded, NULL) == 0);
    REQUIRE(htw_monitor_add_scheduler(monitor, "embedded", embedded, NULL) == 0);
    REQUIRE(htw_monitor_add_purgatory(monitor, "purgatory", requests.purgatory, NULL) == 0);
    return monitor;
}

static void end(void) {
    for (unsigned i = 0; i < round_size; i++)
        timers_cancel(i);
    requests_end();
    REQUIRE(htw_scheduler_stop(threaded, timers_take_back, NULL) == 0);
    struct htw_scheduler_stats stats = stress_check_stats(threaded);
    timers_close();
    REQUIRE(htw_scheduler_destroy(embedded) == 0);
    stress_destroy(threaded);
    printf("soak_program: %lu threads, %llu runs: ok\n", started, (unsigned long long)stats.runs);
}

int main(int argc, char **argv) {
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
    options.workers = 2;
    threaded = stress_create(&options, BY_THREADS);
    timers_open(threaded, options.workers, false);
    requests_open(threaded, 0, true);
    options.embedded = true;
    REQUIRE(htw_scheduler_create(&embedded, &options) == 0);
    struct htw_monitor *monitor = open_monitor(argv[3]);
    run();
    htw_monitor_close(monitor);
    end();
    return 0;
}
