/* SPDX-License-Identifier: MIT */
/* races.c - races of a user, one a run: a race detector must report each. usage: races NAME */
#define _GNU_SOURCE
#include "parcel.h"

#include <stdatomic.h>

static long shared; /* nothing orders the two threads that write to it */

/* A worker counts as running before the callback begins, and may stop in between: what it takes up then, it takes
   after the other thread has written. So that one waits until the callbacks have written. ThreadSanitizer knows
   that a relaxed access orders nothing; helgrind and DRD would report it in place of the race. */
#if defined(__SANITIZE_THREAD__)
#define COUNTS_WRITERS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COUNTS_WRITERS 1
#endif
#endif
#ifdef COUNTS_WRITERS
static atomic_uint writers;
#endif

/* Stays in its worker until no timer is pending, which orders nothing. */
static void write_shared(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    shared++;
#ifdef COUNTS_WRITERS
    atomic_fetch_add_explicit(&writers, 1, memory_order_relaxed);
#endif
    wait_until_none_is_pending(expiration->scheduler);
}

static void never(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
    REQUIRE(false);
}

static htw_handle schedule(struct htw_scheduler *scheduler, int64_t delay_ns,
                           htw_callback *callback) {
    htw_handle handle;
    REQUIRE(htw_schedule(scheduler, delay_ns, callback, NULL, &handle) == 0);
    return handle;
}

static void wait_until_running(struct htw_scheduler *scheduler, uint64_t callbacks) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    while (htw_scheduler_get_stats(scheduler, &stats) == 0 && stats.running < callbacks)
        sleep_ms(1);
#ifdef COUNTS_WRITERS
    while (atomic_load_explicit(&writers, memory_order_relaxed) < callbacks)
        sleep_ms(1);
#endif
}

static void cancel(struct htw_scheduler *scheduler, htw_handle handle) {
    int outcome = htw_cancel(scheduler, handle);
    REQUIRE(outcome == HTW_CANCELLED);
}

/* Two callbacks, in two workers. */
static void callbacks(void) {
    struct htw_scheduler *scheduler = create_scheduler();
    htw_handle far = schedule(scheduler, HTW_HOUR, never);
    schedule(scheduler, 0, write_shared);
    schedule(scheduler, 20 * HTW_MILLISECOND, write_shared);
    wait_until_running(scheduler, 2);
    cancel(scheduler, far);
    destroy_scheduler(scheduler);
}

/* A call about one timer orders nothing after the callback of another. */
static void another_timer(void) {
    struct htw_scheduler *scheduler = create_scheduler();
    htw_handle far = schedule(scheduler, HTW_HOUR, never);
    schedule(scheduler, 0, write_shared);
    wait_until_running(scheduler, 1);
    REQUIRE(htw_reschedule(scheduler, far, 2 * HTW_HOUR) == HTW_MOVED);
    cancel(scheduler, far);
    shared++;
    destroy_scheduler(scheduler);
}

/* HTW_RUNNING does not give the argument back. */
static void running(void) {
    struct htw_scheduler *scheduler = create_scheduler();
    htw_handle far = schedule(scheduler, HTW_HOUR, never);
    htw_handle handle = schedule(scheduler, 0, write_shared);
    wait_until_running(scheduler, 1);
    int outcome = htw_cancel(scheduler, handle);
    REQUIRE(outcome == HTW_RUNNING);
    shared++;
    cancel(scheduler, far);
    destroy_scheduler(scheduler);
}

/* ---- hooks of two requests */

/* Sleeps until the other hook runs, too, which orders nothing. Once this one has ended, locks that both
   threads take may order what follows. */
static void on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context, (void)request, (void)reason;
    shared++;
    sleep_ms(200);
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
    REQUIRE(htw_purgatory_try_complete_else_watch(arg, &request, &key, 1, HTW_SECOND) ==
            HTW_WATCHED);
    REQUIRE(htw_request_complete(arg, &request));
    return NULL;
}

static void hooks(void) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    struct htw_scheduler *scheduler = create_scheduler();
    struct htw_purgatory *purgatory;
    pthread_t threads[2];
    options.on_complete = on_complete;
    REQUIRE(htw_purgatory_create(&purgatory, scheduler, &options) == 0);
    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_create(&threads[i], NULL, complete, purgatory) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    REQUIRE(htw_purgatory_destroy(purgatory) == 0);
    destroy_scheduler(scheduler);
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(void);
    } races[] = {
        { "callbacks", callbacks },
        { "another_timer", another_timer },
        { "running", running },
        { "hooks", hooks },
    };
    for (size_t i = 0; i < sizeof(races) / sizeof(races[0]); i++)
        if (count == 2 && strcmp(arguments[1], races[i].name) == 0) {
            races[i].run();
            return 0;
        }
    fprintf(stderr, "usage: races NAME\n");
    return 2;
}
