/* SPDX-License-Identifier: MIT */
/*
 * journal_round.h - a journal on a disk that fails (faulty_vfs.h), and what its answers say about each job.
 *
 * In a round a journal is opened, changed and cut off, again and again. At the end it is opened on a disk that
 * works, and all that it delivers is compared with the answers:
 *  - a put that has answered 0, and no end of the job that may have been made: it is delivered;
 *  - a put that has failed, or a done or cancel that has answered 0: it is not;
 *  - if the journal had stopped when it answered -EIO: either.
 * No job is delivered early, or twice in one run.
 */
#ifndef TESTS_FAULT_JOURNAL_ROUND_H
#define TESTS_FAULT_JOURNAL_ROUND_H

#include <htw/journal.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROUND_START_NS (INT64_C(28333333) * HTW_MINUTE)

enum { FACTS_MAX = 400 };

enum expected { MUST, MUST_NOT, MAY };

/* What is known of a job. */
struct fact {
    uint64_t id;
    enum expected expected;
    bool is_delivered; /* since the journal was opened */
    int result;        /* of a put with a notice */
};

extern struct journal_round {
    char path[64];
    struct htw_scheduler *scheduler;
    struct htw_journal *journal; /* NULL: it is not open */
    int64_t now_ns;
    struct fact facts[FACTS_MAX];
    size_t fact_count;
    uint64_t holder; /* the job of the key */
    bool is_judging;
    bool may_mark[256], marks; /* values that the mark may have; whether it was ever set */
    unsigned char next_mark;
} journal_round;

/** Of the program: says that something is wrong, and how to see it again. */
_Noreturn void round_fail(const char *what, uint64_t id, int result);

/** Once, before the rounds: the file is in this folder, on the disk that fails, and the log begins again often. */
void round_init(const char *folder);

/** Begins a round: no file, the clock at ROUND_START_NS. `seed`: what a power cut leaves. */
void round_begin(uint64_t seed);

/** Opens the journal. */
int round_open(void);

/* Changes. Payloads have 8 bytes or more. */
void round_put(int64_t deadline_ns, size_t size);
void round_put_later(int64_t deadline_ns, size_t size);
void round_put_under_key(int64_t deadline_ns, size_t size);
void round_end(struct fact *fact, bool is_cancel);

/** One job ends and another is put, with a mark. `old`: NULL: none ends. */
void round_replace(struct fact *old, int64_t deadline_ns, size_t size);

void round_advance(int64_t delta_ns);

/** The process ends, and the journal is closed as it can be. With `is_cut`, nothing of that gets to the disk, and
    the power cut leaves what it leaves. Time goes on where it was. */
void round_stop(bool is_cut);

/** Opens the journal a last time, and judges all that it delivers in a day. */
void round_judge(void);

#endif /* TESTS_FAULT_JOURNAL_ROUND_H */
