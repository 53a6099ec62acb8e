/* SPDX-License-Identifier: MIT */
/*
 * journal_fixture.h - what the unit tests of the journal start from: a folder of its own, a scheduler
 * in manual time, and a log of what was delivered.
 *
 * With no worker, callbacks run in the thread that advances the time, and htw_scheduler_advance()
 * returns after the last one. Callbacks never assert; they record what they see.
 */
#ifndef TESTS_JOURNAL_FIXTURE_H
#define TESTS_JOURNAL_FIXTURE_H

#include "../../support/failing_allocator.h"
#include "../../support/journal_structs.h"
#include "../../support/test_folder.h"
#include "../unit.h"

#include <htw/journal_guest.h>
#include <htw/journal_inspect.h>
#include <htw/loop.h>

#include <pthread.h>
#include <unistd.h>

/* A whole minute of 2023. */
#define START_NS (INT64_C(28333333) * HTW_MINUTE)
#define SEEN_MAX 20000

struct seen {
    uint64_t id;
    int64_t deadline_ns;
    int64_t at_ns; /* the clock when it was delivered */
    int64_t late_ns;
    size_t payload_size, key_size;
    bool has_key;
    char payload[16], key[16]; /* their beginnings */
};

struct journal_fixture {
    char folder[TEST_FOLDER_SIZE], path[128];
    struct failing_allocator memory;
    struct htw_scheduler *scheduler;
    struct htw_journal *journal;
    struct htw_journal_options options; /* for the next open */
    bool keeps;                         /* jobs are not done when they are delivered */
    void (*act)(struct journal_fixture *self, const struct htw_delivery *delivery);
    pthread_mutex_t mutex;
    size_t seen_count;
    struct seen seen[SEEN_MAX];
    size_t early;
};

/** The fixture of the tests that follow. */
extern struct journal_fixture journal_fixture;

/** A folder and a scheduler; no journal. */
void journal_setup(void);

/** Closes all, removes the folder, and checks that all memory was given back. */
void journal_teardown(void);

/** Opens the journal at `path`, which must succeed. Or returns the error. */
void journal_open(struct journal_fixture *self);
int journal_try_open(struct journal_fixture *self);

/** Closes it, which must succeed, and checks the file. */
void journal_close(struct journal_fixture *self);

/** It has stopped, and says so with this part; closes it. */
void journal_expect_stopped(struct journal_fixture *self, const char *part);

/** Puts a job with a text, so long after START_NS, which must succeed. */
uint64_t journal_put(struct journal_fixture *self, int64_t after_ns, const char *text);

/** Puts a job by its struct, which must succeed. Its payload is a text. */
uint64_t journal_put_struct(struct journal_fixture *self, struct htw_job job);

/** Makes a step of a job. */
int journal_update(struct journal_fixture *self, uint64_t id, enum htw_job_step step,
                   int64_t deadline_ns);

/** Waits for all that was called before. */
void journal_sync(struct journal_fixture *self);

/** Sets the clock to so long after START_NS, and waits for what is written because of that. */
void journal_advance_to(struct journal_fixture *self, int64_t after_ns);

/** The texts of the jobs that were delivered since the last call, in order, with spaces. */
const char *journal_texts(struct journal_fixture *self);

/** Statistics. */
struct htw_journal_stats journal_stats(struct journal_fixture *self);

/** Runs SQL on the file, which no journal has open. */
void journal_execute(const struct journal_fixture *self, const char *text);

#define JOURNAL_TEST(name) \
    UNIT_TEST_ON(struct journal_fixture *f, &journal_fixture, journal_setup, journal_teardown, name)

#endif /* TESTS_JOURNAL_FIXTURE_H */
