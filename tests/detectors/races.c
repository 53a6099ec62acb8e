/* SPDX-License-Identifier: MIT */
/* races.c - races of a user, one a run: a race detector must report each. usage: races NAME */
#define _GNU_SOURCE
#include "parcel.h"

static long shared; /* nothing orders the two threads that write to it */

static struct htw_scheduler *create(void) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    options.workers = 3;
    REQUIRE(htw_scheduler_create(&scheduler, &options) == 0);
    return scheduler;
}

static void write_shared(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    (void)expiration;
    shared++;
    sleep_ms(100); /* so that another worker runs the next timer */
}

static void never(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    (void)expiration;
    REQUIRE(false);
}

/* Two callbacks, in two workers. */
static void callbacks(void) {
    struct htw_scheduler *scheduler = create();
    REQUIRE(htw_schedule(scheduler, 0, write_shared, NULL, NULL) == 0);
    REQUIRE(htw_schedule(scheduler, 20 * HTW_MILLISECOND, write_shared, NULL, NULL) == 0);
    wait_until_none_is_pending(scheduler);
    REQUIRE(htw_scheduler_destroy(scheduler) == 0);
}

/* The argument is changed after it was handed over. */
static void argument(void) {
    struct htw_scheduler *scheduler = create();
    REQUIRE(htw_schedule(scheduler, 0, write_shared, NULL, NULL) == 0);
    sleep_ms(50);
    shared++;
    REQUIRE(htw_scheduler_destroy(scheduler) == 0);
}

/* A call about one timer orders nothing after the callback of another. */
static void another_timer(void) {
    struct htw_scheduler *scheduler = create();
    htw_handle handle;
    REQUIRE(htw_schedule(scheduler, HTW_SECOND, never, NULL, &handle) == 0);
    REQUIRE(htw_schedule(scheduler, 0, write_shared, NULL, NULL) == 0);
    sleep_ms(50);
    REQUIRE(htw_reschedule(scheduler, handle, HTW_SECOND) == HTW_MOVED);
    REQUIRE(htw_cancel(scheduler, handle) == HTW_CANCELLED);
    shared++;
    REQUIRE(htw_scheduler_destroy(scheduler) == 0);
}

/* HTW_RUNNING does not give the argument back. */
static void running(void) {
    struct htw_scheduler *scheduler = create();
    htw_handle handle;
    REQUIRE(htw_schedule(scheduler, 0, write_shared, NULL, &handle) == 0);
    sleep_ms(50);
    int outcome = htw_cancel(scheduler, handle);
    REQUIRE(outcome == HTW_RUNNING);
    shared++;
    REQUIRE(htw_scheduler_destroy(scheduler) == 0);
}

/* ---- hooks of two requests */

static void on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    (void)request;
    (void)reason;
    shared++;
}

static void *complete(void *arg) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static int started;
    struct htw_request request;
    htw_request_init(&request);
    pthread_mutex_lock(&mutex);
    int number = started++;
    pthread_mutex_unlock(&mutex);
    struct htw_key key = { &number, sizeof(number) };
    sleep_ms(50 * number);
    REQUIRE(htw_purgatory_try_complete_else_watch(arg, &request, &key, 1, HTW_SECOND) ==
            HTW_WATCHED);
    REQUIRE(htw_request_complete(arg, &request));
    sleep_ms(150 - 50 * number); /* pthread_join() would order one thread after the other */
    return NULL;
}

static void hooks(void) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    struct htw_scheduler *scheduler = create();
    struct htw_purgatory *purgatory;
    pthread_t threads[2];
    options.on_complete = on_complete;
    REQUIRE(htw_purgatory_create(&purgatory, scheduler, &options) == 0);
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_create(&threads[i], NULL, complete, purgatory) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    REQUIRE(htw_purgatory_destroy(purgatory) == 0);
    REQUIRE(htw_scheduler_destroy(scheduler) == 0);
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(void);
    } races[] = {
        { "callbacks", callbacks }, { "argument", argument }, { "another_timer", another_timer },
        { "running", running },     { "hooks", hooks },
    };
    for (size_t i = 0; i < sizeof(races) / sizeof(races[0]); i++)
        if (count == 2 && strcmp(arguments[1], races[i].name) == 0) {
            races[i].run();
            return 0;
        }
    fprintf(stderr, "usage: races NAME\n");
    return 2;
}
