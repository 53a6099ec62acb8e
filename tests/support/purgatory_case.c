/* SPDX-License-Identifier: MIT */
/* purgatory_case.c - the hooks, the log and the calls of the purgatory's unit tests. */
#include "purgatory_case.h"

#include "manual_time.h"

static struct waiter *waiter_of(struct htw_request *request) {
    return (struct waiter *)((char *)request - offsetof(struct waiter, request));
}

static void blame(struct purgatory_case *test, const char *error) {
    if (test->error == NULL)
        test->error = error;
}

static void note(struct waiter *self, char event) {
    struct purgatory_case *test = self->test;
    if (self->name == '\0')
        return;
    if (test->log_length + 4 > sizeof(test->log)) {
        blame(test, "the log is full");
        return;
    }
    if (test->log_length > 0)
        test->log[test->log_length++] = ' ';
    test->log[test->log_length++] = self->name;
    test->log[test->log_length++] = event;
    test->log[test->log_length] = '\0';
}

/* ---- hooks */

static bool try_complete(void *context, struct htw_request *request) {
    struct waiter *self = waiter_of(request);
    if (context != self->test)
        blame(self->test, "try_complete was given another context");
    if (self->life != WAITER_PENDING)
        blame(self->test, "try_complete was called after it had said yes, or after the end");
    self->asked++;
    note(self, '?');
    if (self->on_asked != NULL)
        self->on_asked(self);
    bool yes = self->ready || (self->yes_at != 0 && self->asked >= self->yes_at);
    if (yes)
        self->life = WAITER_SAID_YES;
    return yes;
}

static void on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    struct waiter *self = waiter_of(request);
    struct purgatory_case *test = self->test;
    if (context != test)
        blame(test, "on_complete was given another context");
    if (self->life != WAITER_PENDING && self->life != WAITER_SAID_YES)
        blame(test, "on_complete was called twice");
    if (self->life == WAITER_SAID_YES && reason != HTW_REASON_COMPLETED)
        blame(test, "try_complete had said yes, and the reason is another");
    if (!htw_request_is_pending(request))
        blame(test, "a request is not pending before its release");
    if (reason < HTW_REASON_COMPLETED || reason > HTW_REASON_CLOSED)
        blame(test, "there is no such reason");
    else
        test->ends[reason]++;
    self->life = WAITER_ENDED;
    self->reason = reason;
    if (reason == HTW_REASON_EXPIRED && htw_scheduler_now(test->scheduler) < self->not_before_ns)
        blame(test, "a request expired early");
    self->ended++;
    note(self, "CEXS"[reason & 3]);
    if (self->on_ended != NULL)
        self->on_ended(self);
}

static void release(void *context, struct htw_request *request) {
    struct waiter *self = waiter_of(request);
    if (context != self->test)
        blame(self->test, "release was given another context");
    if (self->life != WAITER_ENDED)
        blame(self->test, "release was not called once after on_complete");
    if (htw_request_is_pending(request))
        blame(self->test, "a request is pending in its release");
    self->life = WAITER_FREE;
    self->released++;
    note(self, '=');
    if (self->on_released != NULL)
        self->on_released(self);
}

void waiter_visit(void *context, struct htw_request *request) {
    struct waiter *self = waiter_of(request);
    if (context != self->test)
        blame(self->test, "a visitor was given another context");
    if (self->life != WAITER_PENDING)
        blame(self->test, "a visitor was given a request that has ended");
    self->visited++;
    note(self, '!');
    if (self->on_visited != NULL)
        self->on_visited(self);
}

/* ---- the case */

struct htw_scheduler_options purgatory_case_scheduler_options(void) {
    return manual_options(CASE_START_NS);
}

struct htw_purgatory_options purgatory_case_options(void) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    options.try_complete = try_complete;
    options.on_complete = on_complete;
    options.release = release;
    options.shards = 4;
    return options;
}

void purgatory_case_begin(struct purgatory_case *test,
                          const struct htw_scheduler_options *scheduler_options,
                          const struct htw_purgatory_options *options) {
    struct htw_scheduler_options timed =
        scheduler_options != NULL ? *scheduler_options : purgatory_case_scheduler_options();
    struct htw_purgatory_options own = options != NULL ? *options : purgatory_case_options();
    memset(test, 0, sizeof(*test));
    failing_allocator_init(&test->memory);
    failing_allocator_init(&test->scheduler_memory);
    timed.allocator = &test->scheduler_memory.allocator;
    own.context = test;
    if (own.allocator == NULL)
        own.allocator = &test->memory.allocator;
    assert_int_equal(htw_scheduler_create(&test->scheduler, &timed), 0);
    assert_int_equal(htw_purgatory_create(&test->purgatory, test->scheduler, &own), 0);
}

static void assert_counted(struct purgatory_case *test) {
    struct htw_purgatory_stats stats = purgatory_case_stats(test);
    assert_int_equal(stats.submitted, test->submitted);
    assert_int_equal(stats.completed, test->ends[HTW_REASON_COMPLETED]);
    assert_int_equal(stats.expired, test->ends[HTW_REASON_EXPIRED]);
    assert_int_equal(stats.cancelled, test->ends[HTW_REASON_CANCELLED]);
    assert_int_equal(stats.closed, test->ends[HTW_REASON_CLOSED]);
}

void purgatory_case_end(struct purgatory_case *test) {
    failing_allocator_relent(&test->memory);
    failing_allocator_relent(&test->scheduler_memory);
    assert_counted(test);
    assert_int_equal(htw_threshold_destroy(test->threshold), 0);
    int64_t left = (int64_t)purgatory_case_stats(test).pending;
    assert_int_equal(htw_purgatory_close(test->purgatory, NULL, NULL), left);
    assert_counted(test);
    assert_waiting(test, 0, 0, 0, 0);
    assert_int_equal(htw_purgatory_destroy(test->purgatory), 0);
    assert_int_equal(htw_pending(test->scheduler), 0);
    assert_int_equal(htw_scheduler_destroy(test->scheduler), 0);
    assert_all_released(&test->memory);
    assert_all_released(&test->scheduler_memory);
    if (test->error != NULL)
        fail_msg("%s", test->error);
}

struct purgatory_case purgatory_case;

void purgatory_case_setup(void) {
    purgatory_case_begin(&purgatory_case, NULL, NULL);
}

void purgatory_case_setup_threshold(void) {
    purgatory_case_setup();
    assert_int_equal(htw_threshold_create(purgatory_case.purgatory, 100, &purgatory_case.threshold),
                     0);
}

void purgatory_case_teardown(void) {
    purgatory_case_end(&purgatory_case);
}

void purgatory_case_advance(struct purgatory_case *test, int64_t delta_ns) {
    assert_int_equal(htw_scheduler_advance(test->scheduler, delta_ns), 0);
}

struct htw_purgatory_stats purgatory_case_stats(struct purgatory_case *test) {
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    assert_int_equal(htw_purgatory_get_stats(test->purgatory, &stats), 0);
    assert_int_equal(stats.submitted, stats.completed + stats.expired + stats.cancelled +
                                          stats.closed + stats.pending);
    assert_true(stats.delayed <= stats.pending);
    assert_true(stats.keys <= stats.watched);
    assert_int_equal(stats.memory_bytes, test->memory.live_bytes);
    return stats;
}

/* ---- waiters */

void waiter_init(struct waiter *self, struct purgatory_case *test, char name) {
    memset(self, 0, sizeof(*self));
    htw_request_init(&self->request);
    self->test = test;
    self->name = name;
}

struct waiter *purgatory_case_waiter(struct purgatory_case *test, char name) {
    struct waiter *self = &test->waiters[name - 'a'];
    assert_int_equal(self->life, WAITER_FREE);
    waiter_init(self, test, name);
    return self;
}

static void set_not_before(struct waiter *self, int64_t timeout_ns) {
    int64_t now_ns = htw_scheduler_now(self->test->scheduler);
    if (timeout_ns <= 0)
        self->not_before_ns = now_ns;
    else
        self->not_before_ns = timeout_ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + timeout_ns;
}

/* To be called before a submission: what it has become is known only when it has returned, and
   then the waiter may be gone. */
static enum waiter_life begin(struct waiter *self, int64_t timeout_ns) {
    enum waiter_life before = self->life;
    if (before == WAITER_FREE) {
        self->life = WAITER_PENDING;
        set_not_before(self, timeout_ns);
    }
    return before;
}

static int conclude(struct waiter *self, struct purgatory_case *test, enum waiter_life before,
                    int result) {
    if (result >= 0)
        test->submitted++;
    else
        self->life = before;
    return result;
}

int waiter_submit_keys(struct waiter *self, int64_t timeout_ns, const struct htw_key *keys,
                       size_t key_count) {
    struct purgatory_case *test = self->test;
    enum waiter_life before = begin(self, timeout_ns);
    return conclude(self, test, before,
                    htw_purgatory_try_complete_else_watch(test->purgatory, &self->request, keys,
                                                          key_count, timeout_ns));
}

int waiter_submit(struct waiter *self, int64_t timeout_ns, const char *const *keys) {
    struct htw_key own[64];
    size_t count = 0;
    for (; keys[count] != NULL; count++) {
        assert_true(count < sizeof(own) / sizeof(own[0]));
        own[count] = (struct htw_key) { keys[count], strlen(keys[count]) };
    }
    return waiter_submit_keys(self, timeout_ns, own, count);
}

int waiter_await(struct waiter *self, uint64_t value, int64_t timeout_ns) {
    struct purgatory_case *test = self->test;
    enum waiter_life before = begin(self, timeout_ns);
    return conclude(self, test, before,
                    htw_threshold_await(test->threshold, &self->request, value, timeout_ns));
}

struct waiter *await_value(struct purgatory_case *test, char name, uint64_t value) {
    struct waiter *self = purgatory_case_waiter(test, name);
    assert_int_equal(waiter_await(self, value, HTW_SECOND), HTW_WATCHED);
    return self;
}

int64_t advance_to(struct purgatory_case *test, uint64_t value) {
    return htw_threshold_advance(test->threshold, value);
}

int64_t check_key(struct purgatory_case *test, const char *key) {
    return htw_purgatory_check(test->purgatory, key, strlen(key));
}

int64_t check_key_at_most(struct purgatory_case *test, const char *key, uint64_t max) {
    return htw_purgatory_check_at_most(test->purgatory, key, strlen(key), max);
}

int check_key_later(struct purgatory_case *test, const char *key) {
    return htw_purgatory_check_later(test->purgatory, key, strlen(key));
}

int64_t cancel_key(struct purgatory_case *test, const char *key) {
    return htw_purgatory_cancel_key(test->purgatory, key, strlen(key), waiter_visit, test);
}

bool complete(struct waiter *self) {
    return htw_request_complete(self->test->purgatory, &self->request);
}

bool cancel(struct waiter *self) {
    return htw_request_cancel(self->test->purgatory, &self->request);
}

int set_timeout(struct waiter *self, int64_t timeout_ns) {
    int result = htw_request_set_timeout(self->test->purgatory, &self->request, timeout_ns);
    if (result == 0)
        set_not_before(self, timeout_ns);
    return result;
}

struct waiter *purgatory_case_watch(struct purgatory_case *test, const char *names,
                                    int64_t timeout_ns, const char *const *keys) {
    for (const char *name = names; *name != '\0'; name++) {
        char letter = (char)(*name | 0x20);
        struct waiter *self = purgatory_case_waiter(test, letter);
        assert_int_equal(waiter_submit(self, timeout_ns, keys), HTW_WATCHED);
        self->ready = *name != letter;
    }
    purgatory_case_forget_log(test);
    return test->waiters;
}

void assert_same_stats(struct purgatory_case *test, const struct htw_purgatory_stats *before) {
    struct htw_purgatory_stats now = purgatory_case_stats(test);
    assert_memory_equal(before, &now, sizeof(now));
}

/* ---- the log */

/* Only the events of ends, in place: each event has two characters and a blank behind it. */
static void keep_ends(char *log) {
    char *to = log;
    for (const char *from = log; *from != '\0'; from += from[2] == '\0' ? 2 : 3) {
        if (strchr("CEXS", from[1]) == NULL)
            continue;
        if (to != log)
            *to++ = ' ';
        *to++ = from[0];
        *to++ = from[1];
    }
    *to = '\0';
}

void purgatory_case_forget_log(struct purgatory_case *test) {
    test->log[0] = '\0';
    test->log_length = 0;
}

void purgatory_case_assert_log(struct purgatory_case *test, const char *expected, bool ends_only,
                               const char *file, int line) {
    if (ends_only)
        keep_ends(test->log);
    _assert_string_equal(test->log, expected, file, line);
    purgatory_case_forget_log(test);
}
