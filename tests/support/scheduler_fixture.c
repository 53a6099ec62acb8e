/* SPDX-License-Identifier: MIT */
#include "scheduler_fixture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* For what must come, however slow the machine or the tool that it runs under. */
#define PATIENCE_S 300

static void *allocate(void *context, size_t size, size_t alignment) {
    struct scheduler_fixture *self = context;
    const struct htw_allocator *inner = &self->memory.allocator;
    pthread_mutex_lock(&self->mutex);
    void *memory = inner->allocate(inner->context, size, alignment);
    pthread_mutex_unlock(&self->mutex);
    return memory;
}

static void release(void *context, void *memory, size_t size, size_t alignment) {
    struct scheduler_fixture *self = context;
    const struct htw_allocator *inner = &self->memory.allocator;
    pthread_mutex_lock(&self->mutex);
    inner->release(inner->context, memory, size, alignment);
    pthread_mutex_unlock(&self->mutex);
}

struct htw_scheduler_options scheduler_options(void) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.clock = HTW_CLOCK_MANUAL;
    options.shards = 1;
    options.workers = 0;
    return options;
}

void scheduler_open(struct scheduler_fixture *self, const struct htw_scheduler_options *options,
                    size_t probes) {
    struct htw_scheduler_options mine = options == NULL ? scheduler_options() : *options;
    *self = (struct scheduler_fixture) { .count = probes };
    pthread_mutex_init(&self->mutex, NULL);
    failing_allocator_init(&self->memory);
    self->allocator = (struct htw_allocator) { allocate, release, self };
    self->probes = calloc(probes + 1, sizeof(*self->probes));
    assert_non_null(self->probes);
    for (size_t i = 0; i < probes; i++) {
        self->probes[i].fixture = self;
        self->probes[i].number = (unsigned)i;
    }
    mine.allocator = &self->allocator;
    assert_int_equal(htw_scheduler_create(&self->scheduler, &mine), 0);
}

struct htw_scheduler_stats scheduler_stats(struct scheduler_fixture *self) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    assert_int_equal(htw_scheduler_get_stats(self->scheduler, &stats), 0);
    assert_int_equal(stats.running, 0);
    assert_int_equal(stats.scheduled,
                     stats.fired + stats.cancelled + stats.handed_back + stats.pending);
    assert_int_equal(stats.pending, htw_pending(self->scheduler));
    return stats;
}

static void count_leftover(void *context, const struct htw_unexpired *unexpired) {
    uint64_t *count = context;
    (void)unexpired;
    ++*count;
}

void scheduler_close(struct scheduler_fixture *self) {
    struct htw_scheduler_stats before = scheduler_stats(self);
    uint64_t leftovers = 0;
    assert_int_equal(htw_scheduler_stop(self->scheduler, count_leftover, &leftovers), 0);
    struct htw_scheduler_stats after = scheduler_stats(self);
    assert_int_equal(leftovers, before.pending);
    assert_int_equal(after.handed_back, before.handed_back + leftovers);
    assert_int_equal(after.pending, 0);
    assert_int_equal(after.runs, self->runs);
    assert_int_equal(after.lateness.count, self->runs);
    assert_false(self->early);
    assert_int_equal(htw_scheduler_destroy(self->scheduler), 0);
    if (self->memory.error != NULL)
        fail_msg("%s", self->memory.error);
    assert_int_equal(self->memory.live_blocks, 0);
    failing_allocator_fini(&self->memory);
    pthread_mutex_destroy(&self->mutex);
    free(self->probes);
    free(self->log);
}

/* Under the mutex. */
static void note(struct scheduler_fixture *self, unsigned number) {
    if (self->log_count == self->log_room) {
        size_t room = self->log_room == 0 ? 64 : 2 * self->log_room;
        unsigned *log = realloc(self->log, room * sizeof(*log));
        if (log == NULL)
            abort();
        self->log = log;
        self->log_room = room;
    }
    self->log[self->log_count++] = number;
}

void probe_run(void *probe, const struct htw_expiration *expiration) {
    struct probe *self = probe;
    struct scheduler_fixture *fixture = self->fixture;
    pthread_mutex_lock(&fixture->mutex);
    self->runs++;
    self->last = *expiration;
    self->ran_ns = htw_scheduler_now(expiration->scheduler);
    fixture->runs++;
    if (self->ran_ns < expiration->deadline_ns || expiration->late_ns < 0)
        fixture->early = true;
    note(fixture, self->number);
    pthread_mutex_unlock(&fixture->mutex);
    if (self->act != NULL)
        self->act(self, expiration);
}

static void show(const char *what, const unsigned *numbers, size_t count) {
    print_error("%s:", what);
    for (size_t i = 0; i < count; i++)
        print_error(" %u", numbers[i]);
    print_error("\n");
}

void scheduler_assert_ran(struct scheduler_fixture *self, const unsigned *numbers, size_t count,
                          const char *file, int line) {
    bool same = self->log_count == count;
    for (size_t i = 0; same && i < count; i++)
        same = self->log[i] == numbers[i];
    if (!same) {
        show("there ran", self->log, self->log_count);
        show("and not", numbers, count);
        _fail(file, line);
    }
    self->log_count = 0;
}

/* ---- gates and drivers */

void gate_enter(struct gate *gate) {
    pthread_mutex_lock(&gate->mutex);
    gate->inside++;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
}

bool gate_await(struct gate *gate, unsigned count) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    int error = 0;
    pthread_mutex_lock(&gate->mutex);
    while (gate->inside < count && error == 0)
        error = pthread_cond_timedwait(&gate->changed, &gate->mutex, &until);
    bool here = gate->inside >= count;
    pthread_mutex_unlock(&gate->mutex);
    return here;
}

void gate_open(struct gate *gate) {
    pthread_mutex_lock(&gate->mutex);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

static void *drive(void *arg) {
    struct driver *driver = arg;
    driver->result = htw_scheduler_advance(driver->scheduler, driver->delta_ns);
    return NULL;
}

void driver_start(struct driver *driver, struct scheduler_fixture *fixture, int64_t delta_ns) {
    *driver = (struct driver) { .scheduler = fixture->scheduler, .delta_ns = delta_ns };
    assert_int_equal(pthread_create(&driver->thread, NULL, drive, driver), 0);
}

int driver_join(struct driver *driver) {
    assert_int_equal(pthread_join(driver->thread, NULL), 0);
    return driver->result;
}
