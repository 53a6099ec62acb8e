/* SPDX-License-Identifier: MIT */
/*
 * test_journal_calls.c - each system call of a journal, and of SQLite below it, fails in turn.
 *
 * A run opens a journal, makes each kind of change (round_change()), copies the log and closes, while one call fails,
 * once or from then on. journal_round.h judges it. fsync() of SQLite fails in test_journal_disk.c.
 *
 * usage: fault_journal_calls [--all]: each call, with more errors; otherwise, of the calls of one
 * name, the first ones and fewer behind them
 */
/* holds: journal-4 */
#include "../../src/journal/log.h"
#include "../support/failing_calls.h"
#include "../support/process.h"
#include "../support/test_folder.h"
#include "journal_calls.h"
#include "journal_round.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[TEST_FOLDER_SIZE], context[128]; /* the latter: which call fails */
static unsigned runs, refused_opens, stops;

void round_fail(const char *what, uint64_t id, int result) {
    failing_calls_relent();
    fprintf(stderr, "%s: %s: job %llx, result %d: %s\n", context, what, (unsigned long long)id,
            result, htw_journal_error());
    exit(1);
}

/* Whether all has worked. */
static bool use(void) {
    int error = round_open();
    if (error == 0) {
        round_change();
        return journal_round->refusals == 0;
    }
    refused_opens++;
    if (journal_round->journal != NULL)
        round_fail("a journal, though it is refused", 0, error);
    if (strstr(htw_journal_error(), folder) == NULL && error != -ENOMEM)
        round_fail("a refusal that does not name the file", 0, error);
    return false;
}

/* In which the n-th call fails. Returns whether there was one. */
static bool run(bool is_new, unsigned call, unsigned nth, int error, bool is_lasting) {
    snprintf(context, sizeof(context), "%s journal, %s %u fails with %s%s", is_new ? "new" : "old",
             journal_calls_name(call), nth, strerror(error), is_lasting ? " for good" : "");
    round_begin(1);
    if (!is_new)
        round_leave(IS_KILLED, FAULT_NONE);
    unsigned files = entries_of("/proc/self/fd");
    failing_calls_plan(call, nth, error, is_lasting);
    bool has_worked = use();
    round_stop(CLOSES);
    bool was_hit = failing_calls_relent();
    if (error == EINTR && journal_calls_is_repeated(call) && !has_worked)
        round_fail("an interrupted call is not repeated", 0, 0);
    if (nth == 1 && is_new && journal_calls_must_refuse(call) && !was_hit)
        round_fail("the call is not made", 0, 0);
    if (nth == 1 && is_new && journal_calls_must_refuse(call) && error != EINTR && has_worked)
        round_fail("a failure that must not be ignored", 0, 0);
    if (entries_of("/proc/self/fd") != files)
        round_fail("files are left open", 0, 0);
    stops += journal_round->stops;
    round_judge();
    runs++;
    return was_hit;
}

int main(int argc, char **argv) {
    static const int errors[] = { EIO, EINTR, ENOSPC, EACCES, EMFILE, ENOMEM };
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    if (!test_folder_create(folder))
        return 1;
    journal_calls_init();
    round_init(folder, false);
    htw__log_checkpoint_pages = 10;
    for (unsigned call = 0; call < journal_calls_count(); call++)
        for (size_t e = 0; e < (all ? sizeof(errors) / sizeof(errors[0]) : 3); e++)
            for (unsigned way = 0; way < 4; way++) {
                bool is_new = way % 2 == 1, is_lasting = way >= 2;
                if (is_lasting && errors[e] == EINTR)
                    continue; /* that comes of a signal, and these do not come for ever */
                for (unsigned nth = 1; run(is_new, call, nth, errors[e], is_lasting);)
                    nth = failing_next(nth, all ? 0 : 1);
            }
    printf("%u runs: %u times the journal was refused, and %u times it stopped\n", runs,
           refused_opens, stops);
    return !test_folder_remove(folder) || refused_opens < 100;
}
