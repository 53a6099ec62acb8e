/* SPDX-License-Identifier: MIT */
/* stress.c - threads, memory and schedulers of the stress tests. */
#include "stress.h"

#include "../support/aligned.h"

#include <htw/executor.h>
#include <htw/loop.h>

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t stress_seed;
static int64_t part_ns;
static _Atomic int64_t part_end_ns;
static _Atomic bool is_stopping;

void stage_fail(const char *condition, const char *file, int line) {
    fprintf(stderr, "%s:%d: failed (seed %" PRIu64 "): %s\n", file, line, stress_seed, condition);
    abort();
}

/* ---- life of a program */

int64_t stress_now_ns(void) {
    return stage_now_ns(HTW_CLOCK_MONOTONIC);
}

void stage_sleep_ns(int64_t delay_ns) {
    struct timespec time = { (time_t)(delay_ns / HTW_SECOND), (long)(delay_ns % HTW_SECOND) };
    nanosleep(&time, NULL);
}

void stress_begin(int argc, char **argv, unsigned parts) {
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 2;
    stress_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)stress_now_ns();
    part_ns = (int64_t)(seconds * (double)HTW_SECOND / parts);
    printf("seed %" PRIu64 "\n", stress_seed);
}

void stress_part(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
    fflush(stdout); /* nothing is printed twice if a part forks */
    atomic_store(&part_end_ns, stress_now_ns() + part_ns);
}

bool stress_goes_on(void) {
    return stress_now_ns() < atomic_load_explicit(&part_end_ns, memory_order_relaxed);
}

/* Threads of the library have one, too. */
struct random_source *stage_random(void) {
    static _Thread_local struct random_source source;
    static _Atomic uint64_t threads;
    if (source.state == 0) {
        source.state = stress_seed ^ ++threads * UINT64_C(0xd1342543de82ef95);
        source.state = random_next(&source);
    }
    return &source;
}

void stage_require_in_time(enum htw_clock clock, int64_t deadline_ns) {
    if (clock != HTW_CLOCK_REALTIME && deadline_ns != HTW_NEVER_NS)
        REQUIRE(htw_scheduler_now_by(timers.scheduler, clock) < deadline_ns + STRESS_LIMIT_NS);
}

bool stage_is_late(int64_t due_ns) {
    return due_ns < stress_now_ns() - STRESS_LIMIT_NS;
}

int64_t stage_now_ns(enum htw_clock clock) {
    struct timespec now;
    clock_gettime(clock == HTW_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * HTW_SECOND + now.tv_nsec;
}

bool stage_disk_was_full_since(int64_t from_ns) {
    (void)from_ns;
    return false;
}

void stage_note(const char *what, uint64_t number, int64_t result) {
    (void)what, (void)number, (void)result;
}

/* ---- threads */

struct start {
    unsigned number;
    void (*main)(unsigned number);
};

static void *run(void *arg) {
    struct start *start = arg;
    start->main(start->number);
    return NULL;
}

void stress_run(unsigned count, void (*main)(unsigned number)) {
    pthread_t threads[STRESS_THREADS_MAX];
    struct start starts[STRESS_THREADS_MAX];
    REQUIRE(count <= STRESS_THREADS_MAX);
    for (unsigned i = 0; i < count; i++) {
        starts[i] = (struct start) { i, main };
        REQUIRE(pthread_create(&threads[i], NULL, run, &starts[i]) == 0);
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

void stress_await(const _Atomic uint64_t *counter, uint64_t value) {
    int64_t limit_ns = stress_now_ns() + STRESS_LIMIT_NS;
    while (atomic_load(counter) < value) {
        REQUIRE(stress_now_ns() < limit_ns);
        stage_sleep_ns(50 * HTW_MICROSECOND);
    }
}

/* ---- memory: counted, filled, and refused at random where that is wanted */

#define HEADER 64u /* keeps the alignment, which is at most that */

struct header {
    size_t size, alignment;
};

static _Atomic uint64_t blocks, fail_one_in;

static void *allocate(void *context, size_t size, size_t alignment) {
    uint64_t one_in = atomic_load_explicit(&fail_one_in, memory_order_relaxed);
    (void)context;
    REQUIRE(size > 0 && alignment > 0 && alignment <= HEADER);
    if (one_in > 0 && random_one_in(stage_random(), one_in))
        return NULL;
    void *start = allocate_aligned(HEADER + size);
    REQUIRE(start != NULL);
    *(struct header *)start = (struct header) { size, alignment };
    memset((char *)start + HEADER, 0xa5, size);
    atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
    return (char *)start + HEADER;
}

static void release(void *context, void *memory, size_t size, size_t alignment) {
    struct header *header = (struct header *)((char *)memory - HEADER);
    (void)context;
    REQUIRE(header->size == size && header->alignment == alignment);
    header->size = 0;
    memset(memory, 0x5a, size);
    free_aligned(header);
    atomic_fetch_sub_explicit(&blocks, 1, memory_order_relaxed);
}

const struct htw_allocator stage_allocator = { allocate, release, NULL };

void stress_fail_memory(uint64_t one_in) {
    atomic_store(&fail_one_in, one_in);
}

void stress_require_no_memory(void) {
    REQUIRE(atomic_load(&blocks) == 0);
}

bool stage_excuses(int result) {
    return (result == -ENOMEM && atomic_load(&fail_one_in) > 0) ||
           (result == -EAGAIN && timers.has_limit) ||
           (result == -ESHUTDOWN && atomic_load(&is_stopping));
}

/* ---- runners */

#define QUEUE 65536u

static struct {
    enum stress_runners by;
    pthread_t threads[STRESS_RUNNERS];
    _Atomic bool over;
    pthread_mutex_t mutex;
    struct htw_task *tasks[QUEUE];
    uint64_t put, taken;
} runners = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static void execute(void *context, struct htw_task *const *tasks, size_t count) {
    REQUIRE(context == &runners && count >= 1 && count <= 64);
    pthread_mutex_lock(&runners.mutex);
    for (size_t i = 0; i < count; i++) {
        REQUIRE(runners.put - runners.taken < QUEUE);
        runners.tasks[runners.put++ % QUEUE] = tasks[i];
    }
    pthread_mutex_unlock(&runners.mutex);
}

static bool run_task(void) {
    struct htw_task *task = NULL;
    pthread_mutex_lock(&runners.mutex);
    if (runners.put != runners.taken)
        task = runners.tasks[runners.taken++ % QUEUE];
    pthread_mutex_unlock(&runners.mutex);
    htw_task_run(task);
    return task != NULL;
}

static bool process(struct htw_scheduler *scheduler) {
    size_t count = 0;
    int result = htw_scheduler_process(scheduler, 5, &count);
    REQUIRE(result >= 0 || result == -EBUSY || stage_excuses(result));
    return count > 0;
}

static void *run_callbacks(void *scheduler) {
    bool has_run = true;
    while (has_run || !atomic_load(&runners.over)) {
        has_run = runners.by == BY_EXECUTOR ? run_task() : process(scheduler);
        if (!has_run)
            sched_yield();
    }
    return NULL;
}

struct htw_scheduler *stress_create(const struct htw_scheduler_options *wanted,
                                    enum stress_runners by) {
    const struct htw_executor executor = { execute, &runners };
    struct htw_scheduler_options options = *wanted;
    struct htw_scheduler *scheduler;
    options.executor = by == BY_EXECUTOR ? &executor : NULL;
    options.embedded = by == BY_PROCESSING;
    options.allocator = &stage_allocator;
    atomic_store(&is_stopping, false);
    REQUIRE(htw_scheduler_create(&scheduler, &options) == 0);
    runners.by = by;
    atomic_store(&runners.over, false);
    for (unsigned i = 0; i < STRESS_RUNNERS && by != BY_THREADS; i++)
        REQUIRE(pthread_create(&runners.threads[i], NULL, run_callbacks, scheduler) == 0);
    return scheduler;
}

void stress_expect_stop(void) {
    atomic_store(&is_stopping, true);
}

/* A stop waits for what the runners have been given. */
void stress_destroy(struct htw_scheduler *scheduler) {
    stress_expect_stop();
    REQUIRE(htw_scheduler_stop(scheduler, NULL, NULL) == 0);
    atomic_store(&runners.over, true);
    for (unsigned i = 0; i < STRESS_RUNNERS && runners.by != BY_THREADS; i++)
        pthread_join(runners.threads[i], NULL);
    REQUIRE(htw_scheduler_destroy(scheduler) == 0);
    stress_require_no_memory();
}

struct htw_scheduler_stats stress_check_stats(struct htw_scheduler *scheduler) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    REQUIRE(htw_scheduler_get_stats(scheduler, &stats) == 0);
    REQUIRE(stats.scheduled == stats.fired + stats.cancelled + stats.handed_back + stats.pending);
    REQUIRE(stats.pending == htw_pending(scheduler) && stats.lateness.count == stats.runs);
    return stats;
}
