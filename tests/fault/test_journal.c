/* SPDX-License-Identifier: MIT */
/*
 * test_journal.c - random rounds of a journal on a disk that fails, judged by journal_round.h.
 *
 * A round opens a journal, changes it at random while faults of random kinds come at random
 * operations, and notes what each call has answered. In most rounds the power is cut at some point,
 * also while the journal is opened again.
 *
 * usage: as that of a model (arguments.h); a history is a round
 */
/* holds: journal-1, journal-2, journal-3, journal-4, journal-5, journal-10, journal-10h, journal-11,
   journal-19 */
#include "../model/arguments.h"
#include "faulty_vfs.h"
#include "journal_round.h"

enum { JOBS_MAX = 400 };

static struct random_source source;
static struct model_arguments arguments;
static uint64_t round_number;

void round_fail(const char *what, uint64_t id, int result) {
    fprintf(stderr, "--seed %llu --first %llu --histories 1: %s: job %llx, result %d: %s\n",
            (unsigned long long)arguments.seed, (unsigned long long)round_number, what,
            (unsigned long long)id, result, htw_journal_error());
    exit(1);
}

/* ---- the changes */

static int64_t random_deadline(void) {
    return journal_round->now_ns + (int64_t)random_below(&source, 6 * 60) * HTW_SECOND -
           60 * HTW_SECOND;
}

static size_t random_size(void) {
    return random_one_in(&source, 8) ? 8 + random_below(&source, 400000 - 8)
                                     : 8 + random_below(&source, 100);
}

static void put(void) {
    if (random_one_in(&source, 2))
        round_put(random_deadline(), random_size());
    else
        round_put_later(random_deadline(), random_size());
}

/* A job that is ended may be one that was not put, too. */
static void end(bool is_cancel) {
    if (journal_round->ledger.count > 0)
        round_end(&journal_round->ledger.facts[random_below(&source, journal_round->ledger.count)],
                  is_cancel);
}

static void replace(void) {
    struct fact *old = NULL;
    for (size_t i = 0; i < journal_round->ledger.count && old == NULL; i++)
        if (journal_round->ledger.facts[i].expected == MUST)
            old = &journal_round->ledger.facts[i];
    round_replace(old, random_deadline(), random_size());
}

static void advance(void) {
    round_advance((int64_t)random_below(&source, 40) * HTW_SECOND);
}

static void change(unsigned steps) {
    for (unsigned i = 0; i < steps && journal_round->ledger.count + 2 < JOBS_MAX; i++)
        switch (random_below(&source, 11)) {
        case 0:
            advance();
            break;
        case 1:
            end(true);
            break;
        case 2:
            end(false);
            break;
        case 3:
            replace();
            break;
        case 4:
            round_put_under_key(random_deadline(), random_size());
            break;
        case 5:
            if (journal_round->rule_ns == 0)
                round_set_rule();
            break;
        default:
            put();
            break;
        }
}

/* ---- a round */

static void plan_faults(void) {
    static const enum fault faults[] = { FAULT_REFUSED, FAULT_TORN,  FAULT_FULL, FAULT_GROWTH,
                                         FAULT_QUOTA,   FAULT_LIMIT, FAULT_SYNC, FAULT_SYNC_FULL };
    long from = (long)(random_below(&source, 2) == 0 ? random_below(&source, 40)
                                                     : random_below(&source, 600));
    if (!random_one_in(&source, 5))
        faulty_vfs_plan(faults[random_below(&source, 8)], from,
                        random_one_in(&source, 3) ? 1000000 : 1 + (long)random_below(&source, 3));
    if (random_one_in(&source, 2))
        faulty_vfs_plan(FAULT_POWER, from + (long)random_below(&source, 100), 1);
}

/* The process ends, before the power does or with it. */
static void cut(void) {
    if (random_one_in(&source, 2))
        round_stop(CLOSES);
    round_stop(IS_CUT);
}

/* The process starts anew; the kernel goes on, with what it takes for the content of the files. */
static void restart(void) {
    round_stop(CLOSES);
    if (faulty_vfs_has_power() && round_open() == 0)
        change(5 + (unsigned)random_below(&source, 20));
}

static long run_round(uint64_t number) {
    round_number = number;
    source.state = arguments.seed * UINT64_C(1000003) + number;
    round_begin(random_next(&source));
    plan_faults();
    int error = round_open();
    if (error == 0)
        change(10 + (unsigned)random_below(&source, 60));
    else if (error != -EIO && error != -ENOSPC && error != -ENOENT && error != -EACCES)
        round_fail("an unexpected error of the first open", 0, error);
    while (journal_round->journal != NULL && random_one_in(&source, 2))
        restart();
    long failures = faulty_vfs_failures();
    cut();
    while (random_one_in(&source, 3)) { /* the power fails again, while the journal is opened */
        faulty_vfs_plan(FAULT_POWER, (long)random_below(&source, 30), 1);
        error = round_open();
        if (error == 0)
            advance();
        cut();
    }
    round_judge();
    return failures;
}

int main(int argc, char **argv) {
    char folder[TEST_FOLDER_SIZE];
    arguments = (struct model_arguments) { .seed = 1, .histories = 300 };
    if (!model_arguments_parse(&arguments, argc, argv))
        return 2;
    if (!test_folder_create(folder))
        return 1;
    round_init(folder, true);
    uint64_t faulty = 0;
    for (uint64_t i = 0; i < arguments.histories; i++)
        faulty += run_round(arguments.first + i) > 0;
    if (!test_folder_remove(folder) ||
        (arguments.histories >= 30 && faulty < arguments.histories / 3))
        return 1;
    printf("%llu rounds, %llu of them with faults: nothing lost, nothing twice\n",
           (unsigned long long)arguments.histories, (unsigned long long)faulty);
    return 0;
}
