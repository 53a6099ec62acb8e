/* SPDX-License-Identifier: MIT */
/*
 * test_delay.c - each system call of `htw delay` fails in turn.
 *
 * The test runs the command again and again, each time in a process of its own in which another
 * call fails, until a run makes fewer calls. After each run every message must be released, or
 * saved, or counted as lost, and the exit status must say which.
 */
#include "delay_faults.h"

#include "../../programs/delay/delay.h"
#include "../../programs/delay/options.h"
#include "../../programs/kit/command_line.h"

#include "../support/child.h"
#include "../support/test_folder.h"
#include "../unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#endif

#define MESSAGES 8
#define TEXT_SIZE 262144
#define EARLIER "1h earlier\n"

/* A run that takes longer hangs. */
#define PATIENCE_MS 100000

enum target { TARGET_NEW, TARGET_OLD, TARGET_LINK };

/* What a run does when nothing fails. The last record of an input may lack its end. */
struct scenario {
    const char *name;
    const char *input; /* messages m0, m1, … */
    const char *options[4];
    enum target target;
    bool is_piped;   /* the input and the output, and the input goes on after what is there */
    bool is_full;    /* standard output is /dev/full */
    bool is_stopped; /* SIGTERM comes when nothing is left but to sleep */
    int status;
};

#define FAR "1h m2\n@4000000000.5 m3\n@0 m4\n0 m5\n2h m6\n3h m7\n"

static const struct scenario scenarios[] = {
    { "file to file", "0 m0\n0 m1\n" FAR, { NULL }, TARGET_OLD, false, false, true, 143 },
    { "through pipes", "0 m0\n0 m1\n" FAR, { NULL }, TARGET_NEW, true, false, true, 143 },
    { "room for one", "0 m0\n1h m1\n" FAR, { "-m1", "-f" }, TARGET_LINK, true, false, true, 143 },
    { "on a full disk", "0 m0\n0 m1\n" FAR, { "-T" }, TARGET_OLD, false, true, false, 1 },
    { "to the end",
      "0 m0\n0 m1\n0 m2\n0 m3\n0 m4\n0 m5\n1ms m6\n0 m7",
      { NULL },
      TARGET_OLD,
      false,
      false,
      false,
      0 },
};

/* Where a run works; made anew for each. In memory if there is such a place, as each run waits until its
 * files are on the disk. */
static char folder[TEST_FOLDER_SIZE];
static char elsewhere[64], input_path[64], output_path[64], error_path[64], rest_path[64],
    target_path[64];

/* What a run left. */
struct outcome {
    int status; /* -1: it was ended by a signal or had to be */
    char out[TEXT_SIZE], err[TEXT_SIZE];
    char rest[TEXT_SIZE];  /* of the file that was asked for */
    char other[TEXT_SIZE]; /* of all files besides */
    mode_t rest_mode;
    bool is_all_named; /* the error output names all files besides */
};

static struct outcome outcome;

static void write_file(const char *path, const char *text) {
    assert_true(test_file_write(path, text));
}

/* Appends what can be read without waiting. */
static void read_into(char *text, int fd) {
    size_t used = strlen(text);
    ssize_t size;
    while (fd >= 0 && used < TEXT_SIZE - 1 &&
           (size = read(fd, text + used, TEXT_SIZE - 1 - used)) > 0)
        used += (size_t)size;
    text[used] = '\0';
}

static void read_file(char *text, const char *path) {
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    read_into(text, fd);
    if (fd >= 0)
        close(fd);
}

/* Reads and deletes all files of a folder but those of each run. */
static void take_files_of(const char *path) {
    DIR *stream = opendir(path);
    assert_non_null(stream);
    struct dirent *entry;
    while ((entry = readdir(stream)) != NULL) {
        char name[512];
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.' || strcmp(name, elsewhere) == 0 ||
            strcmp(name, input_path) == 0 || strcmp(name, output_path) == 0 ||
            strcmp(name, error_path) == 0 || strcmp(name, rest_path) == 0 ||
            strcmp(name, target_path) == 0)
            continue;
        read_file(outcome.other, name);
        outcome.is_all_named = outcome.is_all_named && strstr(outcome.err, name) != NULL;
        unlink(name);
    }
    closedir(stream);
}

static void make_target(enum target target) {
    unlink(rest_path);
    unlink(target_path);
    if (target == TARGET_OLD)
        write_file(rest_path, EARLIER);
    if (target == TARGET_OLD)
        assert_int_equal(chmod(rest_path, 0640), 0);
    if (target == TARGET_LINK) {
        write_file(target_path, EARLIER);
        assert_int_equal(symlink(target_path, rest_path), 0);
    }
}

/* The child: runs the command, and does not return. */
static void run_command(const struct scenario *scenario, int in, int out) {
    static char name[] = "htw delay";
    static char unreleased[] = "-u";
    char *arguments[16] = { name, unreleased, rest_path };
    int count = 3;
    for (int i = 0; scenario->options[i] != NULL; i++)
        arguments[count++] = (char *)(uintptr_t)scenario->options[i];
    if (!scenario->is_piped)
        arguments[count++] = input_path;
    int err = open(error_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    struct htw__options options;
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 ||
        htw__options_parse(count, arguments, &options) != HTW__WISH_RUN)
        _exit(99);
    close(in);
    close(out);
    close(err);
    failing_calls_plan(fault_plan->call, fault_plan->number, fault_plan->error,
                       fault_plan->is_lasting);
    int status = htw__delay_run(&options);
    failing_calls_relent();
#ifdef HAS_ASAN
    _exit(status); /* looking for leaks takes longer than the run; others look for them */
#else
    exit(status);
#endif
}

static int status_of(pid_t child, int life) {
    struct pollfd wanted = { .fd = life, .events = POLLIN };
    if (poll(&wanted, 1, PATIENCE_MS) == 0)
        kill(child, SIGKILL);
    return child_end(child);
}

static void run(const struct scenario *scenario) {
    int in[2], out[2], life[2];
    memset(&outcome, 0, sizeof(outcome));
    fault_plan->has_created_readable = false;
    fault_plan->clock_shift_ns = 0;
    fault_plan->stops_asleep = scenario->is_stopped;
    make_target(scenario->target);
    write_file(input_path, scenario->input);
    unlink(output_path);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(pipe2(life, O_CLOEXEC), 0);
    if (scenario->is_piped)
        assert_int_equal(write(in[1], scenario->input, strlen(scenario->input)),
                         strlen(scenario->input));
    int to = open(scenario->is_full ? "/dev/full" : output_path, O_WRONLY | O_CREAT, 0600);
    fcntl(out[1], F_SETFL, 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(in[1]);
        close(out[0]);
        close(life[0]);
        run_command(scenario, in[0], scenario->is_piped ? out[1] : to);
    }
    close(life[1]);
    close(in[0]);
    close(out[1]);
    close(to);
    outcome.status = status_of(child, life[0]);
    outcome.is_all_named = true;
    read_file(outcome.err, error_path);
    if (scenario->is_piped)
        read_into(outcome.out, out[0]);
    else
        read_file(outcome.out, output_path);
    read_file(outcome.rest, rest_path);
    struct stat status;
    outcome.rest_mode = stat(rest_path, &status) == 0 ? status.st_mode & 07777 : 0;
    take_files_of(folder);
    take_files_of(elsewhere);
    close(in[1]);
    close(out[0]);
    close(life[0]);
}

static bool was_hit(void) {
    return failing_calls->kinds[fault_plan->call].failed > 0;
}

static unsigned count_in(const char *text, const char *part) {
    unsigned count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

/* How many messages the run says to be lost, of those that it read. */
static unsigned count_lost(void) {
    const char *text = strstr(outcome.err, " not released, and lost");
    if (text == NULL)
        return 0;
    while (text > outcome.err && text[-1] >= '0' && text[-1] <= '9')
        text--;
    return (unsigned)strtoul(text, NULL, 10);
}

/* The first message that was perhaps never read: the error output says where reading ended. */
static unsigned first_unread(void) {
    static const char *const places[] = { "after -:", "/input:" };
    static const char *const failures[] = { "/input: ", "cannot start: ", ": no more is read: ",
                                            "htw delay: -: " };
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
        if (strstr(outcome.err, failures[i]) != NULL)
            return 0;
    /* It did not start, which the file is to blame for. */
    if (strstr(outcome.err, "/rest: ") != NULL && outcome.status == HTW__EXIT_FAILED &&
        outcome.out[0] == '\0')
        return 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const char *place = strstr(outcome.err, places[i]);
        if (place != NULL)
            return (unsigned)strtoul(place + strlen(places[i]), NULL, 10);
    }
    return MESSAGES;
}

/* Each message once: released, or in a file. */
static void count_messages(unsigned *ret_missing, unsigned *ret_doubled) {
    unsigned unread = first_unread();
    *ret_missing = *ret_doubled = 0;
    for (unsigned i = 0; i < MESSAGES; i++) {
        char message[16];
        snprintf(message, sizeof(message), "m%u\n", i);
        unsigned count = count_in(outcome.out, message) + count_in(outcome.rest, message) +
                         count_in(outcome.other, message);
        *ret_missing += count == 0 && i < unread;
        *ret_doubled += count > 1;
    }
}

/* Whether a file of records has only whole ones. */
static bool is_whole(const char *text) {
    return *text == '\0' || text[strlen(text) - 1] == '\n';
}

/* Whether a signal may interrupt the call, which is then no failure. While all is saved, calls go on after a signal. */
static bool is_repeated(enum fault_call call) {
    return call == FAULT_close || call == FAULT_poll || call == FAULT_ppoll || call == FAULT_read ||
           call == FAULT_writev;
}

static const char *why_wrong(const struct scenario *scenario) {
    unsigned missing;
    unsigned doubled;
    count_messages(&missing, &doubled);
    bool is_replaced = strcmp(outcome.rest, EARLIER) != 0;
    switch (outcome.status) {
    case 0:
        if (missing > 0 || strlen(outcome.err) > 0)
            return "a success that was none";
        break;
    case HTW__EXIT_FAILED:
    case HTW__EXIT_UNSAVED:
    case HTW__EXIT_SIGNAL + SIGTERM:
        if (strlen(outcome.err) == 0)
            return "no word about the failure";
        break;
    default:
        return "a status that no table has";
    }
    if (fault_plan->error == EINTR && was_hit() && is_repeated(fault_plan->call) &&
        outcome.status != scenario->status)
        return "an interrupted call is not repeated";
    if (!fault_plan->is_lasting && was_hit() && count_lost() > 0)
        return "one failure is enough to lose messages";
    if (missing > count_lost())
        return "messages are missing, and not named as lost";
    if (doubled > 0)
        return "messages came twice";
    if (!outcome.is_all_named)
        return "a file that was not named is left";
    if (!is_whole(outcome.other) || !is_whole(outcome.rest))
        return "a record is torn";
    if (is_replaced && strstr(outcome.rest, "earlier") != NULL)
        return "the earlier file is torn";
    if (fault_plan->has_created_readable)
        return "others could read the file";
    if (is_replaced && (scenario->target == TARGET_OLD) && (outcome.rest_mode & ~0640U) != 0)
        return "the mode was widened";
    return NULL;
}

static void describe(const struct scenario *scenario, const char *why) {
    fail_msg("%s: %s: %s %u fails with %s%s: status %d\nout: %s\nrest: %s\nother: %s\nerr: %s",
             scenario->name, why, fault_names[fault_plan->call], fault_plan->number,
             fault_plan->error == FAULT_SHORT ? "a part" : strerror(fault_plan->error),
             fault_plan->is_lasting ? " for good" : "", outcome.status, outcome.out, outcome.rest,
             outcome.other, outcome.err);
}

/* Each call of a name, from the first to the last that is made; returns how many failed. */
static unsigned fail_each(const struct scenario *scenario, enum fault_call call, int error,
                          bool is_lasting) {
    fault_plan->call = call;
    fault_plan->error = error;
    fault_plan->is_lasting = is_lasting;
    for (fault_plan->number = 1;; fault_plan->number++) {
        run(scenario);
        const char *why = why_wrong(scenario);
        if (why != NULL)
            describe(scenario, why);
        if (!was_hit())
            return fault_plan->number - 1;
    }
}

static bool can_be_short(enum fault_call call) {
    return call == FAULT_fwrite || call == FAULT_writev;
}

static void fail_all_of(const struct scenario *scenario) {
    static const int errors[] = { EINTR, EMFILE, EIO }; /* which stands for all others */
    unsigned made[FAULT_COUNT];
    run(scenario);
    for (enum fault_call call = 0; call < FAULT_COUNT; call++)
        made[call] = failing_calls->kinds[call].made;
    for (enum fault_call call = 0; call < FAULT_COUNT; call++) {
        if (made[call] == 0)
            continue;
        if (call == FAULT_malloc || call == FAULT_realloc || call == FAULT_strdup) {
            fail_each(scenario, call, ENOMEM, false);
            fail_each(scenario, call, ENOMEM, true);
            continue;
        }
        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
            fail_each(scenario, call, errors[i], false);
            if (errors[i] != EINTR) /* which comes of a signal, and these do not come for ever */
                fail_each(scenario, call, errors[i], true);
        }
        if (can_be_short(call)) {
            fail_each(scenario, call, FAULT_SHORT, false);
            fail_each(scenario, call, FAULT_SHORT, true);
        }
    }
}

static void set_up(void) {
    fault_plan =
        mmap(NULL, sizeof(*fault_plan), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(fault_plan != MAP_FAILED && test_folder_create(folder));
    failing_calls = &fault_plan->calls;
    snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", folder);
    snprintf(input_path, sizeof(input_path), "%s/input", folder);
    snprintf(output_path, sizeof(output_path), "%s/output", folder);
    snprintf(error_path, sizeof(error_path), "%s/errors", folder);
    snprintf(rest_path, sizeof(rest_path), "%s/rest", folder);
    snprintf(target_path, sizeof(target_path), "%s/target", folder);
    fault_plan->call = FAULT_COUNT; /* none */
    setenv("TMPDIR", elsewhere, 1);
    assert_int_equal(mkdir(elsewhere, 0700), 0);
}

static void tear_down(void) {
    munmap(fault_plan, sizeof(*fault_plan));
    fault_plan = NULL;
    unlink(input_path);
    unlink(output_path);
    unlink(error_path);
    unlink(rest_path);
    unlink(target_path);
    rmdir(elsewhere);
    assert_int_equal(rmdir(folder), 0);
}

/* holds: delay-6 */
UNIT_TEST_BETWEEN(set_up, tear_down, delay_stopped_again_while_it_saves_ends_at_once) {
    const struct scenario scenario = {
        .name = "to save", .input = "1h m0\n1h m1\n", .target = TARGET_OLD, .is_stopped = true
    };
    fault_plan->stop_at_fwrite = 2;
    run(&scenario);
    fault_plan->stop_at_fwrite = 0;
    assert_int_equal(outcome.status, -SIGTERM);
    assert_string_equal(outcome.rest, EARLIER);
}

/* More than one step takes out of the wheel. */
UNIT_TEST_BETWEEN(set_up, tear_down, delay_stopped_releases_all_that_is_due) {
    static char input[40000];
    size_t used = 0;
    for (int i = 0; i < 5000; i++)
        used += (size_t)snprintf(input + used, sizeof(input) - used, "5s x\n");
    for (int i = 0; i < MESSAGES; i++)
        used += (size_t)snprintf(input + used, sizeof(input) - used, "5s m%d\n", i);
    const struct scenario scenario = { .name = "all due", .input = input, .is_stopped = true };
    fault_plan->shift_at_stop_ns = 6 * INT64_C(1000000000);
    run(&scenario);
    fault_plan->shift_at_stop_ns = 0;
    assert_null(why_wrong(&scenario));
    assert_int_equal(outcome.status, HTW__EXIT_SIGNAL + SIGTERM);
    assert_int_equal(count_in(outcome.out, "\n"), 5000 + MESSAGES);
    assert_non_null(strstr(outcome.err, "0 not released\n"));
}

/* What was read before is saved. */
/* holds: delay-12 */
UNIT_TEST_BETWEEN(set_up, tear_down, delay_without_memory_for_a_long_line_goes_on) {
    static char input[600000];
    snprintf(input, sizeof(input), "1h m0\n0 m1\n1h %0500000dm2\n", 0);
    const struct scenario scenario = { .name = "a long line", .input = input, .is_stopped = true };
    fault_plan->call = FAULT_realloc;
    fault_plan->number = 1;
    fault_plan->error = ENOMEM;
    run(&scenario);
    assert_true(was_hit());
    fault_plan->call = FAULT_COUNT;
    assert_int_equal(outcome.status, HTW__EXIT_SIGNAL + SIGTERM);
    assert_string_equal(outcome.out, "m1\n");
    assert_int_equal(count_in(outcome.rest, "m0\n"), 1);
    assert_non_null(strstr(outcome.err, "/input:3: no more is read: Cannot allocate memory\n"));
    assert_non_null(strstr(outcome.err, "/input:3: read in part only, and left out\n"));
}

UNIT_TEST_BETWEEN(set_up, tear_down, delay_that_meets_no_fault_ends_as_planned) {
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        run(&scenarios[i]);
        if (outcome.status != scenarios[i].status)
            fail_msg("%s: status %d: %s", scenarios[i].name, outcome.status, outcome.err);
        assert_null(why_wrong(&scenarios[i]));
    }
}

/* holds: delay-12 */
UNIT_TEST_BETWEEN(set_up, tear_down, delay_that_meets_any_fault_reports_every_loss) {
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
        fail_all_of(&scenarios[i]);
}
