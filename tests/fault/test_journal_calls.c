/* SPDX-License-Identifier: MIT */
/*
 * test_journal_calls.c - each system call that a journal makes itself fails in turn (-Wl,--wrap).
 *
 * A run opens a journal, makes each kind of change (round_change()), copies the log and closes, while one call fails,
 * once or from then on. journal_round.h judges it. What SQLite calls fails in test_journal_disk.c.
 *
 * usage: fault_journal_calls [--all]: each call, with more errors; otherwise, of the calls of one
 * name, the first ones and fewer behind them
 */
/* holds: journal-4 */
#include "../../src/journal/database/database.h"
#include "../support/failing_calls.h"
#include "../support/process.h"
#include "journal_round.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

/* By the names that the C library has for files of any size. A call that is repeated where a signal has interrupted it has
   not failed then; without one that is needed no journal is made. */
#define CALLS(CALL)                                                                           \
    CALL(int, access, -1, (const char *path, int mode), (path, mode))                         \
    CALL(char *, realpath, NULL, (const char *path, char *resolved), (path, resolved))        \
    CALL(int, lstat64, -1, (const char *path, struct stat *status), (path, status))           \
    CALL(int, stat64, -1, (const char *path, struct stat *status), (path, status))            \
    CALL(int, fstat64, -1, (int fd, struct stat *status), (fd, status))                       \
    CALL(int, mknod, -1, (const char *path, mode_t mode, dev_t device), (path, mode, device)) \
    CALL(int, fsync, -1, (int fd), (fd))

#define NAME(type, name, failure, parameters, arguments) name##_CALL,
enum call { CALLS(NAME) close_CALL, fcntl64_CALL, open64_CALL, CALL_COUNT };
#undef NAME

#define NAME(type, name, failure, parameters, arguments) #name,
static const char *const names[CALL_COUNT] = { CALLS(NAME) "close", "fcntl64", "open64" };

#define WRAP(type, name, failure, parameters, arguments) \
    FAILING_WRAP(name##_CALL, failure, type, name, parameters, arguments)
CALLS(WRAP)
FAILING_WRAP_CLOSE(close_CALL)
FAILING_WRAP_OPEN64(open64_CALL)

int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *arg = va_arg(arguments, void *);
    va_end(arguments);
    return failing_call(fcntl64_CALL) ? -1 : __real_fcntl64(fd, command, arg);
}

static bool is_repeated(unsigned call) {
    return call == open64_CALL || call == fsync_CALL;
}

static bool is_needed(unsigned call) {
    return call == realpath_CALL || call == mknod_CALL || call == fsync_CALL || call == open64_CALL;
}

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
             names[call], nth, strerror(error), is_lasting ? " for good" : "");
    round_begin(1);
    if (!is_new)
        round_leave(IS_KILLED, FAULT_NONE);
    unsigned files = entries_of("/proc/self/fd");
    failing_calls_plan(call, nth, error, is_lasting);
    bool has_worked = use();
    round_stop(CLOSES);
    bool was_hit = failing_calls_relent();
    if (error == EINTR && is_repeated(call) && !has_worked)
        round_fail("an interrupted call is not repeated", 0, 0);
    if (nth == 1 && is_new && is_needed(call) && !was_hit)
        round_fail("the call is not made", 0, 0);
    if (nth == 1 && is_new && is_needed(call) && error != EINTR && has_worked)
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
    round_init(folder, false);
    htw__log_checkpoint_pages = 10;
    for (unsigned call = 0; call < CALL_COUNT; call++)
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
    return !test_folder_remove(folder) || refused_opens < 20;
}
