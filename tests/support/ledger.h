/* SPDX-License-Identifier: MIT */
/*
 * ledger.h - the life of each job by the answers of a journal: what MUST be delivered, MUST NOT, or MAY.
 *
 *  - A put that has answered 0, and no end that may have been made: it MUST be delivered, after any failure and crash.
 *  - A put that has failed, or an end that has answered 0: it MUST NOT be delivered any more.
 *  - An answer -EIO of a journal that has stopped says neither: MAY.
 * No job is delivered twice in one run, and no id is given twice.
 *
 * A function returns what is wrong, or NULL.
 */
#ifndef TESTS_LEDGER_H
#define TESTS_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEDGER_MAX = 4000 };

enum expected { MUST_NOT, MUST, MAY };

struct fact {
    uint64_t id;
    enum expected expected;
    bool is_delivered; /* since the journal was opened */
};

struct ledger {
    size_t count;
    struct fact facts[LEDGER_MAX]; /* in the order of the puts */
};

/** What an answer says about a change: it was made, was not, or may have been. */
enum expected ledger_outcome(int result, bool has_stopped);

/** The fact of a job, or NULL. */
struct fact *ledger_find(struct ledger *ledger, uint64_t id);

/** A put. 0: none was given an id. */
const char *ledger_put(struct ledger *ledger, uint64_t id, enum expected outcome);

/** An end has answered `result`. NULL is no job. */
const char *ledger_end(struct fact *fact, int result, bool has_stopped);

/** The journal is open, and nothing was delivered yet. */
void ledger_open(struct ledger *ledger);

/** A job is delivered. `is_last`: the journal works, and all that is delivered is judged. */
const char *ledger_deliver(struct ledger *ledger, uint64_t id, bool is_last);

/** All must have been delivered. `ret_id`: of one that is lost. */
const char *ledger_close(const struct ledger *ledger, uint64_t *ret_id);

#endif /* TESTS_LEDGER_H */
