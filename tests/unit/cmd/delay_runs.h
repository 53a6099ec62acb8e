/* SPDX-License-Identifier: MIT */
/*
 * delay_runs.h - whole runs of `htw delay`, each in a process of its own, in a time that passes
 * only in ppoll(): that and the clocks are linked to those below (-Wl,--wrap), and
 * getrusage() too. A sleep takes no time, and its length is exact.
 */
#ifndef TESTS_UNIT_CMD_DELAY_RUNS_H
#define TESTS_UNIT_CMD_DELAY_RUNS_H

#include "../../../programs/delay/delay.h"
#include "../../../src/base/clock.h"
#include "../../../programs/kit/times.h"
#include "../../../programs/kit/command_line.h"

#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLEEPS_MAX 64
#define HANGS 99 /* the exit status of a run that would wait for ever */

/* What happens in a sleep. */
enum event_kind { ENDS, PASSES, SIGNAL, FAILS, READS, INPUT_ENDS };

struct event {
    enum event_kind kind; /* ENDS: this and all later sleeps pass undisturbed */
    int number;           /* of the signal, or of the error */
    const char *text;     /* that comes at the input */
    int64_t more_ns;      /* so much time passes before that; or, of PASSES, at its end */
};

/* How a run is made. */
struct run {
    struct htw__options options;
    const char *input;
    const struct event *events; /* of one sleep after the other; NULL: undisturbed */
    bool is_open;               /* the input does not end after `input` */
    bool has_reader_gone;
    bool ignores_sigpipe;
    bool is_full;    /* the disk of the output */
    int64_t read_ns; /* what passes at each reading of the clock */
};

/* What a run did. */
struct result {
    int status;
    const char *out;
    const char *err;
    int sleeps;
    int64_t sleep_ns[SLEEPS_MAX]; /* -1: no limit */
    int wakes;                    /* sleeps of some length that a deadline ended */
    int looks;                    /* sleeps of no length in which nothing happened */
};

static int64_t now_ns;
static const struct run *run_of; /* of this process, if it is one */
static const struct event undisturbed = { ENDS, 0, NULL, 0 };
static const struct event *event; /* of the next sleep */
static struct result *shared;     /* with the process of a run */
static int input_end;

int64_t __wrap_htw__clock_monotonic_ns(void);
int64_t __wrap_htw__clock_monotonic_ns(void) {
    if (run_of != NULL)
        now_ns += run_of->read_ns;
    return now_ns;
}

int64_t __wrap_htw__clock_realtime_ns(void);
int64_t __wrap_htw__clock_realtime_ns(void) {
    return now_ns;
}

int __wrap_getrusage(int who, struct rusage *usage);
int __wrap_getrusage(int who, struct rusage *usage) {
    (void)who;
    *usage = (struct rusage) { .ru_maxrss = 4096 };
    return 0;
}

int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *limit,
                 const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *limit,
                 const sigset_t *mask) {
    int64_t sleep_ns = limit != NULL ? limit->tv_sec * HTW_SECOND + limit->tv_nsec : -1;
    assert_null(mask);
    if (shared->sleeps == SLEEPS_MAX)
        _exit(HANGS);
    shared->sleep_ns[shared->sleeps++] = sleep_ns;
    const struct event *present = event;
    if (present->kind != ENDS)
        event++;
    if (present->kind != PASSES)
        now_ns += present->more_ns;
    if (present->kind == SIGNAL)
        raise(present->number);
    if (present->kind == READS && write(input_end, present->text, strlen(present->text)) < 0)
        _exit(HANGS);
    if (present->kind == INPUT_ENDS)
        close(input_end);
    if (present->kind == FAILS) {
        errno = present->number;
        return -1;
    }
    int ready = poll(fds, count, 0);
    if (ready != 0)
        return ready;
    if (sleep_ns < 0)
        _exit(HANGS);
    shared->wakes += sleep_ns > 0;
    shared->looks += sleep_ns == 0;
    now_ns += sleep_ns + (present->kind == PASSES ? present->more_ns : 0);
    return 0;
}

static inline const char *content_of(int file, char *text, size_t size) {
    ssize_t length = pread(file, text, size - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    close(file);
    return text;
}

static inline void become_the_run(const struct run *run, int out, int err) {
    int ends[2];
    now_ns = 1000 * HTW_SECOND;
    if (pipe(ends) != 0 ||
        (run->input != NULL && write(ends[1], run->input, strlen(run->input)) < 0))
        _exit(HANGS);
    input_end = ends[1];
    if (!run->is_open)
        close(ends[1]);
    if (run->has_reader_gone) {
        int gone[2];
        if (pipe(gone) != 0)
            _exit(HANGS);
        close(gone[0]);
        out = gone[1];
    }
    if (run->is_full)
        out = open("/dev/full", O_WRONLY);
    if (run->ignores_sigpipe)
        signal(SIGPIPE, SIG_IGN);
    dup2(ends[0], STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    event = run->events != NULL ? run->events : &undisturbed;
    run_of = run;
    exit(htw__delay_run(&run->options));
}

static inline const struct result *result_of(const struct run *run) {
    static char out_text[8192];
    static char err_text[8192];
    int out = memfd_create("out", MFD_CLOEXEC);
    int err = memfd_create("err", MFD_CLOEXEC);
    int status;
    assert_true(out >= 0 && err >= 0);
    shared->sleeps = shared->wakes = shared->looks = 0;
    fflush(NULL);
    pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0)
        become_the_run(run, out, err);
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status));
    shared->status = WEXITSTATUS(status);
    shared->out = content_of(out, out_text, sizeof(out_text));
    shared->err = content_of(err, err_text, sizeof(err_text));
    return shared;
}

/* The result of a run, with this status and these texts; NULL: any. */
static inline const struct result *assert_run(const struct run *run, int status, const char *out,
                                              const char *err) {
    const struct result *result = result_of(run);
    assert_int_equal(result->status, status);
    if (out != NULL)
        assert_string_equal(result->out, out);
    if (err != NULL)
        assert_string_equal(result->err, err);
    return result;
}

static char standard_input[] = "-";
static char *const only_standard_input[] = { standard_input };

static inline struct run run_with(const char *input) {
    return (struct run) {
        .options = { .tick_ns = HTW_MILLISECOND,
                     .wheel_size = 256,
                     .max_pending = SIZE_MAX,
                     .max_line = 1000,
                     .separator = '\n',
                     .names = only_standard_input,
                     .name_count = 1 },
        .input = input,
    };
}

static inline void assert_sleeps(const struct result *result, int count, const int64_t *sleep_ns) {
    assert_int_equal(result->sleeps, count);
    for (int i = 0; i < count; i++)
        assert_true(result->sleep_ns[i] == sleep_ns[i]);
}

#define SLEEPS(result, ...)                                                     \
    assert_sleeps(result, (int)(sizeof((const int64_t[]) { __VA_ARGS__ }) / 8), \
                  (const int64_t[]) { __VA_ARGS__ })

/* What happens in the sleeps of a run, one after the other; the last one ENDS. */
#define EVENTS(...) ((const struct event[]) { __VA_ARGS__, { .kind = ENDS } })

#define MS HTW_MILLISECOND

UNIT_SETUP(map_shared) {
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
}

#endif /* TESTS_UNIT_CMD_DELAY_RUNS_H */
