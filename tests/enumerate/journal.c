/* SPDX-License-Identifier: MIT */
/*
 * journal.c - every short history of a journal, cut off at every write of its last step.
 *
 *     enumerate_journal DEPTH           all histories of up to DEPTH steps
 *     enumerate_journal TEXT N HOW      one history, which ends at the N-th write of its last step, as a failure
 *                                       prints it
 *
 * A step is a change, an advance of time, a restart, or a crash. HOW it ends: the power is cut, and the disk has all of
 * what was not synced, or some sectors, or nothing; or a sync fails, the journal is opened again and makes one more
 * change, and then the power is cut. After that it is opened on a disk that works, and judged (journal_round.h).
 * As each history is cut off in its last step, all its beginnings were cut off before.
 */
#include "../fault/faulty_vfs.h"
#include "../fault/journal_round.h"

#include <time.h>

enum { DEPTH_MAX = 8, SIZE = 100 };

/* The steps, by their texts. Jobs are numbered by the order of their puts. */
static const char *const steps[] = {
    "put",       /* due in a minute */
    "put far",   /* beyond what is held in memory */
    "put key",   /* in place of the one before */
    "advance",   /* a minute: what is due is delivered, and stays in flight */
    "end first", /* of the jobs that wait or are in flight */
    "end last",  "cancel first", "replace first", "restart", /* closed and opened */
    "crash", /* the power is cut, and the journal opened */
};
enum {
    PUT,
    PUT_FAR,
    PUT_KEY,
    ADVANCE,
    END_FIRST,
    END_LAST,
    CANCEL_FIRST,
    REPLACE_FIRST,
    RESTART,
    CRASH,
    STEPS
};

static unsigned history[DEPTH_MAX], length;
static long cut_at;  /* the write of the last step that is not made; 0: all are */
static unsigned how; /* an enum loss, or FAILED_SYNC */
static uint64_t histories, rounds;

enum { FAILED_SYNC = LOSE_ALL + 1, HOWS };
static const char *const hows[] = { "nothing-lost", "some-lost", "all-lost", "failed-sync" };

void round_fail(const char *what, uint64_t id, int result) {
    printf("enumerate: a difference: %s: job %llx, result %d: %s\n", what, (unsigned long long)id,
           result, htw_journal_error());
    printf("enumerate: its steps: ./dev enumerate journal \"");
    for (unsigned i = 0; i < length; i++)
        printf("%s%s", i == 0 ? "" : ", ", steps[history[i]]);
    printf("\" %ld %s\n", cut_at, hows[how]);
    fflush(stdout);
    exit(1);
}

/* ---- steps */

static struct fact *find_waiting(bool last) {
    struct fact *found = NULL;
    for (size_t i = 0; i < journal_round->ledger.count && (last || found == NULL); i++)
        if (journal_round->ledger.facts[i].expected == MUST)
            found = &journal_round->ledger.facts[i];
    return found;
}

/* It may fail where the disk does. */
static void open_again(void) {
    long failures = faulty_vfs_failures();
    int error = round_open();
    if (error != 0 && faulty_vfs_has_power() && faulty_vfs_failures() == failures)
        round_fail("the journal cannot be opened", 0, error);
}

/* False: the step is the same as none. */
static bool is_useful(unsigned step) {
    if (step == END_LAST)
        return find_waiting(false) != find_waiting(true);
    return (step != END_FIRST && step != CANCEL_FIRST && step != REPLACE_FIRST) ||
           find_waiting(false) != NULL;
}

static void take_step(unsigned step) {
    int64_t soon_ns = journal_round->now_ns + HTW_MINUTE;
    switch (step) {
    case PUT:
        round_put(soon_ns, SIZE);
        break;
    case PUT_FAR:
        round_put_later(soon_ns + HTW_HOUR, SIZE);
        break;
    case PUT_KEY:
        round_put_under_key(soon_ns + HTW_MILLISECOND, SIZE);
        break;
    case ADVANCE:
        round_advance(HTW_MINUTE);
        break;
    case END_FIRST:
    case END_LAST:
        round_end(find_waiting(step == END_LAST), false);
        break;
    case CANCEL_FIRST:
        round_end(find_waiting(false), true);
        break;
    case REPLACE_FIRST:
        round_replace(find_waiting(false), soon_ns, SIZE);
        break;
    case RESTART:
        round_stop(CLOSES);
        open_again();
        break;
    case CRASH: /* the power was cut before faults were planned */
        open_again();
        break;
    }
    if (journal_round->journal != NULL)
        (void)!htw_journal_sync(journal_round->journal); /* so that the next step begins in rest */
}

/* ---- rounds */

enum outcome { USELESS, CUT, WHOLE };

/* Runs the history, and judges it. WHOLE: its last step has less writes than would have been cut off. */
static enum outcome run_round(void) {
    rounds++;
    round_begin(rounds);
    int error = round_open();
    if (error != 0)
        round_fail("the journal cannot be opened", 0, error);
    enum outcome outcome = USELESS;
    for (unsigned i = 0; i < length; i++) {
        if (!is_useful(history[i]))
            break;
        if (history[i] == CRASH)
            round_stop(IS_CUT);
        if (i + 1 == length) {
            outcome = WHOLE;
            if (cut_at > 0)
                faulty_vfs_plan(how == FAILED_SYNC ? FAULT_SYNC : FAULT_POWER,
                                faulty_vfs_operations() + cut_at, 1);
        }
        take_step(history[i]);
    }
    if (outcome == WHOLE && faulty_vfs_failures() > 0)
        outcome = CUT;
    faulty_vfs_relent();
    if (how == FAILED_SYNC) {
        round_stop(CLOSES);
        open_again();
        round_put(journal_round->now_ns, SIZE);
    }
    faulty_vfs_lose(how == FAILED_SYNC ? LOSE_ALL : (enum loss)how);
    round_stop(IS_CUT);
    round_judge();
    return outcome;
}

/* Cuts the history off everywhere. False: its last step is the same as none. */
static bool run_history(bool is_quick) {
    enum outcome outcome = CUT;
    histories++;
    for (cut_at = 1; outcome == CUT; cut_at++)
        for (how = 0; how < HOWS && outcome != USELESS; how++) {
            if (is_quick && (long)how != cut_at % HOWS)
                continue;
            enum outcome found = run_round();
            outcome = found == CUT ? outcome : found;
        }
    return outcome != USELESS;
}

static void run_all(unsigned depth, bool is_quick) {
    if (length > 0 && !run_history(is_quick))
        return;
    if (length == depth)
        return;
    length++;
    for (unsigned step = 0; step < STEPS; step++) {
        history[length - 1] = step;
        run_all(depth, is_quick);
    }
    length--;
}

static bool read_history(const char *text) {
    for (length = 0; *text != '\0' && length < DEPTH_MAX; length++) {
        size_t size = strcspn(text, ",");
        unsigned step = 0;
        while (step < STEPS &&
               (strlen(steps[step]) != size || memcmp(steps[step], text, size) != 0))
            step++;
        if (step == STEPS)
            return false;
        history[length] = step;
        text += size;
        text += strspn(text, ", ");
    }
    return *text == '\0';
}

static bool read_how(const char *text) {
    for (how = 0; how < HOWS; how++)
        if (strcmp(text, hows[how]) == 0)
            return true;
    return false;
}

int main(int argc, char *argv[]) {
    char folder[TEST_FOLDER_SIZE], *rest = NULL;
    bool is_one = argc == 4;
    unsigned depth = argc < 2 ? 0 : (unsigned)strtoul(argv[1], &rest, 10);
    if (is_one ? !read_history(argv[1]) || !read_how(argv[3])
               : argc < 2 || *rest != '\0' || depth == 0 || depth > DEPTH_MAX) {
        fprintf(stderr,
                "usage: enumerate_journal DEPTH [--quick]\n"
                "       enumerate_journal TEXT N nothing-lost|some-lost|all-lost|failed-sync\n");
        return 2;
    }
    if (!test_folder_create(folder))
        return 1;
    round_init(folder, true);
    if (is_one) {
        cut_at = strtol(argv[2], NULL, 10);
        run_round();
    } else {
        run_all(depth, argc > 2 && strcmp(argv[2], "--quick") == 0);
    }
    printf("enumerate: journal: depth %u, %llu histories, %llu cuts, %.1f s, 0 differences\n",
           is_one ? length : depth, (unsigned long long)histories, (unsigned long long)rounds,
           (double)clock() / CLOCKS_PER_SEC);
    return test_folder_remove(folder) ? 0 : 1;
}
