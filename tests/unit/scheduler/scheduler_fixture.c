/* SPDX-License-Identifier: MIT */
/* scheduler_fixture.c - a scheduler with probes; see scheduler_fixture.h. */
#include "scheduler_fixture.h"

#include "../../support/manual_time.h"
#include "../../support/timer_info.h"

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
    return manual_options(0);
}

/* Takes options, count and index_bits from the fixture, and sets all else anew. */
static void open_as_told(struct scheduler_fixture *self) {
    *self = (struct scheduler_fixture) {
        .options = self->options,
        .count = self->count,
        .create = self->create,
        .index_bits = self->index_bits,
        .gate = GATE_INIT,
    };
    pthread_mutex_init(&self->mutex, NULL);
    failing_allocator_init(&self->memory);
    self->allocator = (struct htw_allocator) { allocate, release, self };
    self->probes = calloc(self->count + 1, sizeof(*self->probes));
    assert_non_null(self->probes);
    for (size_t i = 0; i < self->count; i++) {
        self->probes[i].fixture = self;
        self->probes[i].number = (unsigned)i;
    }
    struct htw_scheduler_options counted = self->options;
    counted.allocator = &self->allocator;
    int error = self->create == NULL ? htw_scheduler_create(&self->scheduler, &counted)
                                     : self->create(&self->scheduler, &counted, self->index_bits);
    assert_int_equal(error, 0);
}

void scheduler_open(struct scheduler_fixture *self, const struct htw_scheduler_options *options,
                    size_t probes) {
    self->options = options == NULL ? scheduler_options() : *options;
    self->count = probes;
    self->create = NULL;
    open_as_told(self);
}

struct htw_scheduler_stats scheduler_stats(struct scheduler_fixture *self) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    assert_int_equal(htw_scheduler_get_stats(self->scheduler, &stats), 0);
    assert_int_equal(stats.running, 0);
    assert_int_equal(stats.scheduled,
                     stats.fired + stats.cancelled + stats.handed_back + stats.pending);
    assert_int_equal(stats.pending, htw_pending(self->scheduler));
    assert_int_equal(stats.lateness.count, stats.runs);
    assert_int_equal(stats.callback.count, stats.runs);
    return stats;
}

static void count_unexpired(void *context, const struct htw_unexpired *unexpired) {
    uint64_t *count = context;
    (void)unexpired;
    ++*count;
}

static void check_and_destroy(struct scheduler_fixture *self) {
    struct htw_scheduler_stats before = scheduler_stats(self);
    uint64_t unexpired = 0;
    assert_int_equal(htw_scheduler_stop(self->scheduler, count_unexpired, &unexpired), 0);
    struct htw_scheduler_stats after = scheduler_stats(self);
    assert_int_equal(unexpired, before.pending);
    assert_int_equal(after.handed_back, before.handed_back + unexpired);
    assert_int_equal(after.pending, 0);
    assert_int_equal(after.runs, self->runs);
    htw_group_destroy(self->group);
    assert_int_equal(htw_scheduler_destroy(self->scheduler), 0);
}

void scheduler_close(struct scheduler_fixture *self) {
    if (self->is_advancing) /* the test has failed */
        advance_past_gate(self);
    if (self->scheduler != NULL)
        check_and_destroy(self);
    assert_false(self->early);
    assert_all_released(&self->memory);
    pthread_mutex_destroy(&self->mutex);
    free(self->probes);
    free(self->log);
}

void scheduler_reopen(struct scheduler_fixture *self) {
    scheduler_close(self);
    open_as_told(self);
}

struct scheduler_fixture scheduler_fixture;

void scheduler_setup(void) {
    scheduler_open(&scheduler_fixture, NULL, PROBES);
}

void scheduler_setup_later(void) {
    struct htw_scheduler_options options = scheduler_options();
    options.manual_start_ns = START_NS;
    scheduler_open(&scheduler_fixture, &options, PROBES);
}

void scheduler_teardown(void) {
    scheduler_close(&scheduler_fixture);
}

/* ---- probes */

/* Under the mutex. */
static void note(struct scheduler_fixture *self, unsigned event) {
    if (self->log_count == self->log_room) {
        size_t room = self->log_room == 0 ? 64 : 2 * self->log_room;
        unsigned *log = realloc(self->log, room * sizeof(*log));
        if (log == NULL)
            abort();
        self->log = log;
        self->log_room = room;
    }
    self->log[self->log_count++] = event;
}

void probe_run(void *probe, const struct htw_expiration *expiration) {
    struct probe *self = probe;
    struct scheduler_fixture *fixture = self->fixture;
    pthread_mutex_lock(&fixture->mutex);
    self->runs++;
    self->last = *expiration;
    self->ran_ns = htw_scheduler_now_by(expiration->scheduler, expiration->clock);
    fixture->runs++;
    if (self->ran_ns < expiration->deadline_ns || expiration->late_ns < 0)
        fixture->early = true;
    note(fixture, self->number);
    pthread_mutex_unlock(&fixture->mutex);
    if (self->act != NULL)
        self->act(self);
}

void probe_release(void *probe) {
    struct probe *self = probe;
    pthread_mutex_lock(&self->fixture->mutex);
    self->releases++;
    note(self->fixture, self->number | EVENT_RELEASED);
    pthread_mutex_unlock(&self->fixture->mutex);
    if (self->on_release != NULL)
        self->on_release(self);
}

void probe_visit(void *context, const struct htw_unexpired *unexpired) {
    struct probe *self = unexpired->arg;
    (void)context;
    pthread_mutex_lock(&self->fixture->mutex);
    self->visits++;
    self->unexpired_ns = unexpired->deadline_ns;
    note(self->fixture, self->number | EVENT_VISITED);
    pthread_mutex_unlock(&self->fixture->mutex);
}

void act_stay(struct probe *self) {
    gate_enter(&self->fixture->gate);
}

struct htw_spec probe_spec(struct scheduler_fixture *self, unsigned number, int64_t delay_ns) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = probe_run;
    spec.arg = &self->probes[number];
    spec.when_ns = delay_ns;
    spec.latest_ns = delay_ns;
    return spec;
}

struct htw_spec hooked_spec(struct scheduler_fixture *self, unsigned number, int64_t delay_ns) {
    struct htw_spec spec = probe_spec(self, number, delay_ns);
    spec.release = probe_release;
    return spec;
}

struct htw_spec grouped_spec(struct scheduler_fixture *self, unsigned number, int64_t delay_ns) {
    struct htw_spec spec = probe_spec(self, number, delay_ns);
    spec.group = self->group;
    return spec;
}

struct htw_spec keyed_spec(struct scheduler_fixture *self, unsigned number, int64_t delay_ns,
                           const char *key) {
    struct htw_spec spec = probe_spec(self, number, delay_ns);
    spec.key = key;
    spec.key_size = strlen(key);
    return spec;
}

int schedule_numbered(struct scheduler_fixture *self, unsigned number, int64_t delay_ns,
                      struct htw_unexpired *ret_replaced) {
    struct htw_spec spec = probe_spec(self, number, delay_ns);
    spec.key = &number;
    spec.key_size = sizeof(number);
    return htw_schedule_spec(self->scheduler, &spec, &self->probes[number].handle, ret_replaced);
}

void assert_each_schedule_call_answers(struct htw_scheduler *scheduler, htw_callback *callback,
                                       int expected) {
    struct htw_spec spec = HTW_SPEC_INIT;
    htw_handle handle = 77;
    spec.callback = callback;
    assert_int_equal(htw_schedule(scheduler, 0, callback, NULL, &handle), expected);
    assert_int_equal(htw_schedule_at(scheduler, 0, callback, NULL, &handle), expected);
    assert_int_equal(htw_schedule_within(scheduler, 0, 1, callback, NULL, &handle), expected);
    assert_int_equal(htw_schedule_every(scheduler, 0, 1, HTW_REPEAT_SKIP, callback, NULL, &handle),
                     expected);
    for (unsigned with_key = 0; with_key < 2; with_key++) {
        assert_int_equal(htw_schedule_spec(scheduler, &spec, &handle, NULL), expected);
        spec.key = "spare";
        spec.key_size = 5;
    }
    assert_int_equal(htw_find_key(scheduler, NULL, "spare", 5), 0);
    assert_int_equal(handle, 77);
}

int64_t deadline_of(const struct scheduler_fixture *self, unsigned number) {
    int64_t deadline_ns = 0;
    assert_int_equal(timer_deadline_of(self->scheduler, self->probes[number].handle, &deadline_ns),
                     0);
    return deadline_ns;
}

void destroy_group(struct scheduler_fixture *self) {
    htw_group_destroy(self->group);
    self->group = NULL;
}

char *scheduler_dump(struct htw_scheduler *scheduler) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(htw_scheduler_dump(scheduler, stream), 0);
    fclose(stream);
    return text;
}

/* ---- the log */

static void show_event(unsigned event) {
    const char *what = event & EVENT_RELEASED  ? "released "
                       : event & EVENT_VISITED ? "visited "
                                               : "";
    print_error(" %s%u", what, event & ~(EVENT_RELEASED | EVENT_VISITED));
}

static void show(const char *what, const unsigned *events, size_t count) {
    print_error("%s:", what);
    for (size_t i = 0; i < count; i++)
        show_event(events[i]);
    print_error("\n");
}

void scheduler_assert_ran(struct scheduler_fixture *self, const unsigned *numbers, size_t count,
                          const char *file, int line) {
    bool same = self->log_count == count;
    for (size_t i = 0; same && i < count; i++)
        same = self->log[i] == numbers[i];
    if (!same) {
        show("called", self->log, self->log_count);
        show("expected", numbers, count);
        unit_fail(file, line, "not what was expected");
    }
    self->log_count = 0;
}

void scheduler_assert_log(struct scheduler_fixture *self, const char *text, const char *file,
                          int line) {
    unsigned events[64];
    size_t count = 0;
    for (const char *at = text; *at != '\0'; at++)
        if (*at == '!')
            events[count++] = (unsigned)(*++at - 'a') | EVENT_VISITED;
        else if (*at < 'a')
            events[count++] = (unsigned)(*at - 'A') | EVENT_RELEASED;
        else
            events[count++] = (unsigned)(*at - 'a');
    scheduler_assert_ran(self, events, count, file, line);
}

/* ---- gates and advancers */

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

static void *advance_in_thread(void *arg) {
    struct advancer *advancer = arg;
    advancer->result = htw_scheduler_advance(advancer->scheduler, advancer->delta_ns);
    return NULL;
}

int advancer_join(struct advancer *advancer) {
    assert_int_equal(pthread_join(advancer->thread, NULL), 0);
    return advancer->result;
}

void advance_to_gate(struct scheduler_fixture *self, int64_t delta_ns) {
    struct advancer *advancer = &self->advancer;
    *advancer = (struct advancer) { .scheduler = self->scheduler, .delta_ns = delta_ns };
    assert_int_equal(pthread_create(&advancer->thread, NULL, advance_in_thread, advancer), 0);
    self->is_advancing = true;
    assert_true(gate_await(&self->gate, 1));
}

void advance_past_gate(struct scheduler_fixture *self) {
    gate_open(&self->gate);
    self->is_advancing = false;
    assert_int_equal(advancer_join(&self->advancer), 0);
}
