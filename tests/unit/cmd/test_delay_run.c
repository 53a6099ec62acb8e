/* SPDX-License-Identifier: MIT */
/*
 * test_delay_run.c - whole runs of `htw delay`: how long the loop sleeps, what wakes it, what it reports, and how it ends.
 *
 * Each is a process of its own, in a time that passes only in ppoll(): that and the clocks are replaced (-Wl,--wrap). A sleep takes
 * no time, and its length is exact.
 */
#include "../../../programs/delay/delay.h"
#include "../../../programs/kit/times.h"
#include "../../../programs/kit/command_line.h"

#include "../../support/child.h"
#include "../unit.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* No header declares what the linker or the compiler calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

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
    bool has_reader_gone, ignores_sigpipe;
};

/* What a run did. */
struct result {
    int status;
    const char *out, *err;
    int sleeps;
    int64_t sleep_ns[SLEEPS_MAX]; /* -1: no limit */
};

static int64_t now_ns;
static const struct event undisturbed = { ENDS, 0, NULL, 0 };
static const struct event *event; /* of the next sleep */
static struct result *shared;     /* with the process of a run */
static int input_end;

int64_t __wrap_htw__clock_monotonic_ns(void) {
    return now_ns;
}

int64_t __wrap_htw__clock_realtime_ns(void) {
    return now_ns;
}

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
    now_ns += sleep_ns + (present->kind == PASSES ? present->more_ns : 0);
    return 0;
}

static const char *content_of(int file, char *text, size_t size) {
    ssize_t length = pread(file, text, size - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    close(file);
    return text;
}

static void become_the_run(const struct run *run, int out, int err) {
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
    if (run->ignores_sigpipe)
        signal(SIGPIPE, SIG_IGN);
    dup2(ends[0], STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    event = run->events != NULL ? run->events : &undisturbed;
    exit(htw__delay_run(&run->options));
}

static const struct result *result_of(const struct run *run) {
    static char out_text[8192];
    static char err_text[8192];
    int out = memfd_create("out", MFD_CLOEXEC);
    int err = memfd_create("err", MFD_CLOEXEC);
    assert_true(out >= 0 && err >= 0);
    shared->sleeps = 0;
    fflush(NULL);
    pid_t process = fork();
    if (process == 0)
        become_the_run(run, out, err);
    shared->status = child_end(process);
    assert_true(shared->status >= 0);
    shared->out = content_of(out, out_text, sizeof(out_text));
    shared->err = content_of(err, err_text, sizeof(err_text));
    return shared;
}

/* The result of a run, with this status and these texts; NULL: any. */
static const struct result *assert_run(const struct run *run, int status, const char *out,
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

static struct run run_with(const char *input) {
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

static void assert_sleeps(const struct result *result, int count, const int64_t *sleep_ns) {
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

/* The first sleep is for the input: it is readable, and then it has ended. */
/* holds: delay-1 */
UNIT_TEST(delay_run_sleeps_until_each_deadline) {
    struct run run = run_with("30ms c\n10ms a\n20ms b\n10ms d\n");
    run.options.stats = true;
    const struct result *result = assert_run(&run, 0, "a\nd\nb\nc\n", NULL);
    SLEEPS(result, -1, 10 * MS, 10 * MS, 10 * MS, 10 * MS);
    assert_non_null(strstr(result->err, "read 4, bad 0, released 4, unreleased 0\n"
                                        "early 0, lateness min 0ns, p50 0ns, p99 0ns, max 0ns\n"));
    assert_non_null(strstr(result->err, "\npeak pending 4\n"));
}

UNIT_TEST(delay_run_goes_on_sleeping_after_what_is_no_deadline) {
    static const struct event events[] = {
        { .kind = PASSES },                 /* the input is there at once */
        { READS, 0, "5ms b\n", 2 * MS },    /* in the sleep for a */
        { .kind = FAILS, .number = EINTR }, /* in that for b, as all up to the next comment */
        { .kind = SIGNAL, .number = SIGUSR1 },
        { .kind = PASSES, .more_ns = 1 },
        { .kind = INPUT_ENDS }, /* in the second one for a */
        { .kind = ENDS },
    };
    struct run run = run_with("10ms a\n");
    run.is_open = true;
    run.events = events;
    const struct result *result = assert_run(&run, 0, "b\na\n", NULL);
    SLEEPS(result, -1, 10 * MS, 5 * MS, 5 * MS, 5 * MS, 3 * MS - 1, 3 * MS - 1);
    assert_non_null(strstr(result->err, "wheel")); /* as SIGUSR1 asked */
}

UNIT_TEST(delay_run_that_wakes_early_sleeps_again) {
    struct run run = run_with("10ms a\n");
    run.events = EVENTS({ .kind = PASSES }, { .kind = PASSES }, { .kind = PASSES, .more_ns = -1 });
    const struct result *result = assert_run(&run, 0, "a\n", NULL);
    SLEEPS(result, -1, 10 * MS, 10 * MS, 1);
}

UNIT_TEST(delay_run_simulated_never_sleeps) {
    struct run run = run_with("30d c\n10ms a\n");
    run.options.simulate = true;
    const struct result *result = assert_run(&run, 0, "a\nc\n", NULL);
    for (int i = 0; i < result->sleeps; i++)
        assert_true(result->sleep_ns[i] <= 0);
}

/* Nothing can be waited for longer at once; beyond the last tick, for ever. */
UNIT_TEST(delay_run_of_centuries_sleeps_in_pieces) {
    static const struct event events[] = { { .kind = PASSES },
                                           { .kind = SIGNAL, .number = SIGTERM },
                                           { .kind = ENDS } };
    static const struct {
        const char *input;
        int64_t sleep_s;
    } cases[] = { { "1000000000s a\n", 1000000000 },
                  { "1000000001s a\n", 1000000000 },
                  { "999999999s a\n", 999999999 } };
    for (size_t i = 0; i < 3; i++) {
        struct run run = run_with(cases[i].input);
        run.is_open = true;
        run.events = events;
        const struct result *result = assert_run(&run, HTW__EXIT_SIGNAL + SIGTERM, "", NULL);
        SLEEPS(result, -1, cases[i].sleep_s * HTW_SECOND);
        assert_string_equal(result->err,
                            "htw delay: stopped by a signal after -:1: 1 not released\n");
    }
}

UNIT_TEST(delay_run_with_bad_lines_reports_them_and_fails) {
    struct run run = run_with("x\n1ms a\n\n\x01\x7f~ b\n");
    const struct result *result = assert_run(&run, HTW__EXIT_FAILED, "a\n",
                                             "htw delay: -:1: number expected: x\n"
                                             "htw delay: -:3: empty line\n"
                                             "htw delay: -:4: number expected: \\x01\\x7f~\n");
    run.options.strict = true;
    result = result_of(&run);
    assert_int_equal(result->status, HTW__EXIT_FAILED);
    assert_string_equal(result->out, "");
    assert_non_null(strstr(result->err, "htw delay: -:1: number expected: x\n"));
}

UNIT_TEST(delay_run_with_a_limit_reads_no_further) {
    struct run run = run_with("10ms a\n10ms b\n10ms c\n");
    run.options.max_pending = 2;
    run.options.stats = true;
    const struct result *result = assert_run(&run, 0, "a\nb\nc\n", NULL);
    assert_non_null(strstr(result->err, "\npeak pending 2\n"));
}

UNIT_TEST(delay_run_from_start_counts_from_there) {
    struct run run = run_with("10ms a\n50ms c\n");
    run.is_open = true;
    run.events = EVENTS({ .kind = PASSES }, { .kind = PASSES }, { READS, 0, "15ms b\n", 1 * MS },
                        { .kind = INPUT_ENDS });
    run.options.from_start = true;
    const struct result *result = assert_run(&run, 0, "a\nb\nc\n", NULL);
    SLEEPS(result, -1, 10 * MS, 40 * MS, 4 * MS, 4 * MS, 35 * MS);
}

UNIT_TEST(delay_run_that_cannot_wait_reports_it_and_ends) {
    struct run run = run_with("10ms a\n20ms b\n");
    run.events = EVENTS({ .kind = PASSES }, { .kind = PASSES }, { .kind = PASSES },
                        { .kind = FAILS, .number = ENOMEM });
    assert_run(&run, HTW__EXIT_FAILED, "a\n",
               "htw delay: cannot wait: Cannot allocate memory\n"
               "htw delay: 1 not released\n");
}

UNIT_TEST(delay_run_to_a_closed_reader_fails_if_sigpipe_was_ignored) {
    struct run run = run_with("10ms a\n");
    run.has_reader_gone = true;
    run.ignores_sigpipe = true;
    assert_run(&run, HTW__EXIT_FAILED, NULL,
               "htw delay: standard output: Broken pipe\n"
               "htw delay: stopped after -:0: 1 not released\n");
}

/* A name that no other run of the tests has. */
static const char *unreleased_name(void) {
    static char name[64];
    snprintf(name, sizeof(name), "/tmp/htw-run-%ld", (long)getpid());
    return name;
}

static const char *taken_content_of(const char *path) {
    static char text[1024];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    unlink(path);
    return file < 0 ? "nothing there" : content_of(file, text, sizeof(text));
}

/* What was armed is in order of time; what was not is as it came, but for delays that run from the start. */
UNIT_TEST(delay_run_that_is_stopped_saves_what_it_has_read) {
    static const struct event events[] = { { .kind = PASSES },
                                           { SIGNAL, SIGTERM, NULL, 2 * HTW_SECOND },
                                           { .kind = ENDS } };
    static const struct {
        const char *input, *saved;
        size_t max_pending;
        bool from_start;
    } cases[] = {
        { "3 b\n2.500000001 a\n@1005.000000001 d\n3 c\n",
          "0.500000001 a\n1.000000000 b\n1.000000000 c\n@1005.000000001 d\n", SIZE_MAX, false },
        { "9 far\n7 i\nbad\n\n@9 j\n", "7.000000000 far\n7 i\nbad\n\n@9 j\n", 1, false },
        { "9 far\n7 i\n1 late\nbad x\n@9 j\n3\n",
          "7.000000000 far\n5.000000000 i\n0.000000000 late\nbad x\n@9 j\n1.000000000 \n", 1,
          true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run run = run_with(cases[i].input);
        run.is_open = true;
        run.events = events;
        run.options.max_pending = cases[i].max_pending;
        run.options.from_start = cases[i].from_start;
        run.options.unreleased_path = unreleased_name();
        assert_run(&run, HTW__EXIT_SIGNAL + SIGTERM, "", NULL);
        assert_string_equal(taken_content_of(unreleased_name()), cases[i].saved);
    }
}

UNIT_TEST(delay_run_that_cannot_save_does_not_start) {
    struct run run = run_with("1s a\n");
    run.options.unreleased_path = "/nowhere/at all";
    const struct result *result = assert_run(
        &run, HTW__EXIT_FAILED, NULL, "htw delay: /nowhere/at all: No such file or directory\n");
    assert_int_equal(result->sleeps, 0);
}

UNIT_TEST(delay_run_that_would_replace_its_input_does_not_start) {
    char wanted[256], name[64];
    char second[] = "/dev/null";
    char *const names[] = { second, name };
    snprintf(name, sizeof(name), "%s", unreleased_name());
    close(open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    struct run run = run_with("");
    run.options.names = names;
    run.options.name_count = 2;
    run.options.unreleased_path = unreleased_name();
    const struct result *result = result_of(&run);
    assert_string_equal(taken_content_of(name), "");
    assert_int_equal(result->status, HTW__EXIT_FAILED);
    snprintf(wanted, sizeof(wanted),
             "htw delay: %s: is to be read, and so cannot be the --unreleased file\n", name);
    assert_string_equal(result->err, wanted);
}
