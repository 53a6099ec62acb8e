/* SPDX-License-Identifier: MIT */
/*
 * journal_round.h - rounds of a journal on a system that fails, judged by its answers (ledger.h).
 *
 * In a round a journal is opened, changed and cut off, again and again. At the end it is opened on a system that
 * works, and all that it delivers is compared with the ledger. A job recurs every five minutes, once for each
 * instant. In the database of a program, a transaction makes a row and puts a job: both are there, or neither. No job is
 * delivered early. A journal that has stopped answers each change with -EIO, delivers nothing and
 * writes nothing.
 */
#ifndef TESTS_FAULT_JOURNAL_ROUND_H
#define TESTS_FAULT_JOURNAL_ROUND_H

#include "../support/ledger.h"
#include "../support/test_folder.h"
#include "faulty_vfs.h"

#include <htw/journal_guest.h>
#include <htw/journal_inspect.h>

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_START_NS (INT64_C(28333333) * HTW_MINUTE)
#define ROUND_LAST_NS (2 * HTW_HOUR)

enum { ROUND_INSTANTS = 100 }; /* of a rule */
enum { ROUND_NOTES = 20 };

/* A row that a transaction of the program has made with a job. */
struct note {
    uint64_t job;
    bool is_committed; /* COMMIT has answered 0 */
};

struct journal_round {
    char path[64];
    struct htw_scheduler *scheduler;
    struct htw_journal *journal; /* NULL: it is not open */
    int64_t now_ns;
    struct ledger ledger;
    uint64_t holder; /* the job of the key */
    bool is_judging, has_stopped;
    long operations; /* of the disk, when it had stopped */
    unsigned refusals, stops, deliveries;
    enum expected rule;
    int64_t rule_ns; /* its first instant; 0: it was not set */
    unsigned runs;   /* opens */
    struct instant {
        unsigned run;     /* in which it came last; 0: in none */
        bool is_over;     /* its end is durable, ... */
        bool is_in_doubt; /* ... or may be, if the journal has stopped */
    } instants[ROUND_INSTANTS];
    struct note notes[ROUND_NOTES]; /* of a guest */
    size_t note_count;
};

/** Of this process, or in memory that it shares with others. */
extern struct journal_round *journal_round;

/** The name of the queue. */
extern const char *const round_queue;

/** Of the program: says that something is wrong, and how to see it again. */
_Noreturn void round_fail(const char *what, uint64_t id, int result);

/** Once, before the rounds: the file is in this folder, on the disk that fails (faulty_vfs.h) or that of the system. */
void round_init(const char *folder, bool is_on_faulty_disk);

/** From now on the journal is a guest in a database with this `journal_mode`, or with NULL in a file of its own. */
void round_use_guest(const char *mode);

/** Begins a round: no file, the clock at ROUND_START_NS. `seed`: what a power cut leaves. */
void round_begin(uint64_t seed);

/** A scheduler, at `now_ns`: of a process that was forked since. */
void round_start(void);

/** Opens the journal. */
int round_open(void);

/* Changes, and what they answer. Payloads have 8 bytes or more. */
int round_put(int64_t deadline_ns, size_t size);
void round_put_later(int64_t deadline_ns, size_t size);
void round_put_under_key(int64_t deadline_ns, size_t size);
int round_put_in_queue(size_t size);
int round_end(struct fact *fact, bool is_cancel);
void round_set_rule(void);

/** One job ends and another is put. `old`: NULL: none ends. */
void round_replace(struct fact *old, int64_t deadline_ns, size_t size);

/** A transaction of the program, by this connection, or by one of its own. Whether it was committed. */
bool round_put_in(sqlite3 *connection, int64_t deadline_ns);

/** Lets the guest take in what is in its inbox; an error. */
int round_take_in(void);

/** Leases the first job of the queue; the answer. `ret_delivery`: its id, its attempt. */
int round_lease(bool is_durable, struct htw_delivery *ret_delivery);

/** Makes a step of a job under its lease. */
int round_step(const struct htw_delivery *lease, enum htw_job_step step, int64_t deadline_ns);

void round_advance(int64_t delta_ns);

/** Each kind of change, in an open journal: of up to two jobs that were there before, some that are due in a minute, a
   queue, a key, a rule, jobs of many pages. Copies the log, if it may have 10 pages. */
void round_change(void);

/** How a journal ends. */
enum stop {
    CLOSES,    /* it is closed as it can be */
    IS_KILLED, /* what was written stays */
    IS_CUT     /* so does the power: what was not synced may be lost. Time goes on where it was */
};
void round_stop(enum stop stop);

/** Puts three jobs, of which a FAULT_SYNC or FAULT_LATE makes the last one fail, and ends so. */
void round_leave(enum stop stop, enum fault fault);

/** Opens the journal a last time, and judges all that it delivers in ROUND_LAST_NS, up to which all jobs are due. */
void round_judge(void);

#endif /* TESTS_FAULT_JOURNAL_ROUND_H */
