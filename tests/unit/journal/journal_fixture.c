/* SPDX-License-Identifier: MIT */
/* journal_fixture.c - what the unit tests of the journal start from. */
#include "journal_fixture.h"

#include "../../support/manual_time.h"

#include <sqlite3.h>

static void deliver(void *context, const struct htw_delivery *delivery) {
    struct journal_fixture *self = context;
    bool is_manual = htw_scheduler_clock(self->scheduler) == HTW_CLOCK_MANUAL;
    int64_t now = is_manual ? htw_scheduler_now(self->scheduler)
                            : htw_scheduler_now_by(self->scheduler, HTW_CLOCK_REALTIME);
    pthread_mutex_lock(&self->mutex);
    if (self->seen_count < SEEN_MAX) {
        struct seen *seen = &self->seen[self->seen_count++];
        *seen = (struct seen) {
            .id = delivery->id,
            .deadline_ns = delivery->deadline_ns,
            .at_ns = now,
            .late_ns = delivery->late_ns,
            .payload_size = delivery->payload_size,
            .key_size = delivery->key_size,
            .has_key = delivery->key != NULL,
        };
        size_t size = delivery->payload_size < 15 ? delivery->payload_size : 15;
        memcpy(seen->payload, delivery->payload, size);
        if (delivery->key != NULL)
            memcpy(seen->key, delivery->key, delivery->key_size < 15 ? delivery->key_size : 15);
    }
    if (now < delivery->deadline_ns || delivery->late_ns < 0)
        self->early++;
    pthread_mutex_unlock(&self->mutex);
    if (self->act != NULL)
        self->act(self, delivery);
    if (!self->keeps)
        htw_journal_done_later(delivery->journal, delivery->id, NULL, NULL);
}

struct journal_fixture journal_fixture;

void journal_setup(void) {
    struct journal_fixture *self = &journal_fixture;
    memset(self, 0, sizeof(*self));
    assert_true(test_folder_create(self->folder));
    snprintf(self->path, sizeof(self->path), "%.*s/journal", TEST_FOLDER_SIZE, self->folder);
    failing_allocator_init(&self->memory);
    pthread_mutex_init(&self->mutex, NULL);
    self->scheduler = manual_scheduler(START_NS);
    assert_non_null(self->scheduler);
    self->options = (struct htw_journal_options)HTW_JOURNAL_OPTIONS_INIT;
    self->options.deliver = deliver;
    self->options.context = self;
    self->options.allocator = &self->memory.allocator;
    self->options.synchronous = HTW_SYNCHRONOUS_NORMAL; /* what survives is tested elsewhere */
}

void journal_teardown(void) {
    struct journal_fixture *self = &journal_fixture;
    if (self->journal != NULL)
        journal_close(self);
    assert_int_equal(htw_scheduler_destroy(self->scheduler), 0);
    assert_int_equal(self->early, 0);
    assert_all_released(&self->memory);
    assert_true(test_folder_remove(self->folder));
}

int journal_try_open(struct journal_fixture *self) {
    return htw_journal_open(&self->journal, self->scheduler, self->path, &self->options);
}

void journal_open(struct journal_fixture *self) {
    int error = journal_try_open(self);
    if (error != 0)
        fail_msg("htw_journal_open: %d: %s", error, htw_journal_error());
}

void journal_close(struct journal_fixture *self) {
    struct htw_journal_stats stats = journal_stats(self);
    int error = htw_journal_close(self->journal);
    if (error != 0)
        fail_msg("htw_journal_close: %d: %s", error, htw_journal_error());
    self->journal = NULL;
    const char *problem = access(self->path, F_OK) == 0 ? journal_problem_of(self->path) : NULL;
    if (problem != NULL)
        fail_msg("%s", problem);
    /* Changes made later may have been written since. */
    if (stats.queued == 0)
        assert_int_equal(stats.found + stats.put,
                         stats.jobs + stats.done + stats.cancelled + stats.replaced);
}

void journal_expect_stopped(struct journal_fixture *self, const char *part) {
    assert_int_equal(htw_journal_sync(self->journal), -EIO);
    if (strstr(htw_journal_error(), part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", htw_journal_error(), part);
    (void)htw_journal_close(self->journal);
    self->journal = NULL;
}

uint64_t journal_put(struct journal_fixture *self, int64_t after_ns, const char *text) {
    uint64_t id = 0;
    int error = htw_journal_put(self->journal, START_NS + after_ns, text, strlen(text), &id);
    if (error != 0)
        fail_msg("htw_journal_put: %d: %s", error, htw_journal_error());
    return id;
}

uint64_t journal_put_struct(struct journal_fixture *self, struct htw_job job) {
    int error = journal_put_job(self->journal, &job);
    if (error != 0)
        fail_msg("htw_journal_apply: %d: %s", error, htw_journal_error());
    return job.id;
}

int journal_update(struct journal_fixture *self, uint64_t id, enum htw_job_step step,
                   int64_t deadline_ns) {
    return journal_step(self->journal, id, step, 0, deadline_ns);
}

void journal_sync(struct journal_fixture *self) {
    int error = htw_journal_sync(self->journal);
    if (error != 0)
        fail_msg("htw_journal_sync: %d: %s", error, htw_journal_error());
}

void journal_advance_to(struct journal_fixture *self, int64_t after_ns) {
    int64_t delta_ns = START_NS + after_ns - htw_scheduler_now(self->scheduler);
    assert_int_equal(htw_scheduler_advance(self->scheduler, delta_ns), 0);
    journal_sync(self);
}

const char *journal_texts(struct journal_fixture *self) {
    static char texts[SEEN_MAX * 16];
    char *end = texts;
    *end = '\0';
    for (size_t i = 0; i < self->seen_count; i++)
        end += sprintf(end, "%s%s", i == 0 ? "" : " ", self->seen[i].payload);
    self->seen_count = 0;
    return texts;
}

struct htw_journal_stats journal_stats(struct journal_fixture *self) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    assert_int_equal(htw_journal_get_stats(self->journal, &stats), 0);
    return stats;
}

void journal_execute(const struct journal_fixture *self, const char *text) {
    sqlite3 *connection;
    char *message = NULL;
    assert_int_equal(sqlite3_open(self->path, &connection), SQLITE_OK);
    if (sqlite3_exec(connection, text, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", text, message);
    sqlite3_close(connection);
}
