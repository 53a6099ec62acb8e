/* SPDX-License-Identifier: MIT */
/*
 * test_delay_journal.c - each system call of `htw delay --journal` fails in turn.
 *
 * A run reads a file or a pipe, in a process of its own, in which one call fails. A second run on the
 * same journal, in which none fails, must end well. Then each line of the file, or each line of the
 * pipe that was acknowledged, must have been released, always with the same id.
 *
 * Besides, the journal stops while the run sleeps, and a signal comes together with a failure.
 *
 * usage: fault_delay_journal [--all]: each call, with more errors; otherwise, of the calls of one
 * name, the first ones and fewer behind them
 */
#include "delay_faults.h"

#include "../../src/cmd/delay/delay.h"
#include "../../src/cmd/delay/durable_state.h"
#include "../../src/cmd/delay/options.h"
#include "../../src/cmd/status.h"
#include "../support/test_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MESSAGES 8
#define LINES "0 m0\n0 m1\n2ms m2\n0 m3\n1ms m4\n0 m5\n0 m6\n3ms m7\n"
#define PATIENCE_MS 60000

static char folder[TEST_FOLDER_SIZE], input_path[64], journal_path[64], error_path[64];
static struct fault_plan *plan; /* only the process that runs the command has it as `fault_plan` */
static bool is_piped;
static const char *lines = LINES; /* of the pipe */
static bool stays_open;           /* the pipe, during the first run */
static unsigned runs, failed_runs;

/* What the runs on one journal have left. */
static struct {
    int status; /* of the first run */
    char out[4096];
    char acknowledged[256];
    char err[8192];
} outcome;

static void fail(const char *why) {
    fprintf(stderr,
            "%s, %s: %s %u fails with %s%s: status %d\nout: %s\nacknowledged: %s\nerr: %s\n",
            is_piped ? "a pipe" : "a file", why, fault_names[plan->call], plan->number,
            plan->error == FAULT_SHORT ? "a part" : strerror(plan->error),
            plan->is_lasting ? " for good" : "", outcome.status, outcome.out, outcome.acknowledged,
            outcome.err);
    exit(1);
}

static void expect(bool condition, const char *why) {
    if (!condition)
        fail(why);
}

static void append(char *text, size_t size, int fd) {
    size_t used = strlen(text);
    ssize_t got;
    while (used < size - 1 && (got = read(fd, text + used, size - 1 - used)) > 0)
        used += (size_t)got;
    text[used] = '\0';
}

static _Noreturn void run_command(int in, int out, int acknowledge, bool has_fault) {
    char fd[16];
    snprintf(fd, sizeof(fd), "%d", acknowledge);
    const char *arguments[] = { "htw delay", "-i", "-j", journal_path, "-a", fd, input_path, NULL };
    int err = open(error_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    struct htw__options options;
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 ||
        htw__options_parse(is_piped ? 6 : 7, (char **)(uintptr_t)arguments, &options) !=
            HTW__WISH_RUN)
        _exit(99);
    close(in);
    close(out);
    close(err);
    fault_plan = plan;
    plan->is_active = has_fault;
    int status = htw__durable_run(&options);
    plan->is_active = false;
    _exit(status);
}

static int status_of(pid_t child, int out) {
    struct pollfd ended = { out, POLLIN, 0 };
    while (poll(&ended, 1, PATIENCE_MS) > 0) {
        size_t before = strlen(outcome.out);
        append(outcome.out, sizeof(outcome.out), out);
        if (strlen(outcome.out) == before)
            break;
    }
    int status = 0;
    for (int i = 0; i < PATIENCE_MS && waitpid(child, &status, WNOHANG) == 0; i++)
        usleep(1000);
    if (kill(child, 0) == 0 && waitpid(child, &status, WNOHANG) == 0) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        expect(false, "it hangs");
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static int run(bool has_fault) {
    int in[2], out[2], acknowledge[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe(acknowledge) != 0)
        exit(1);
    if (is_piped && has_fault && write(in[1], lines, strlen(lines)) < 0)
        exit(1);
    if (!stays_open || !has_fault)
        close(in[1]);
    pid_t child = fork();
    if (child == 0) {
        close(out[0]);
        close(acknowledge[0]);
        run_command(in[0], out[1], acknowledge[1], has_fault);
    }
    close(in[0]);
    close(out[1]);
    close(acknowledge[1]);
    int status = status_of(child, out[0]);
    if (stays_open && has_fault)
        close(in[1]);
    if (has_fault)
        append(outcome.acknowledged, sizeof(outcome.acknowledged), acknowledge[0]);
    close(out[0]);
    close(acknowledge[0]);
    return status;
}

/* The last number that was written whole. */
static int count_acknowledged(void) {
    char *last = strrchr(outcome.acknowledged, '\n');
    if (last == NULL)
        return 0;
    while (last > outcome.acknowledged && last[-1] != '\n')
        last--;
    return atoi(last);
}

/* Each message has one id. A line whose writing has failed may be cut, and is written again. */
static void judge(void) {
    char ids[MESSAGES][32] = { "" };
    for (char *line = outcome.out; *line != '\0';) {
        char id[32];
        unsigned number;
        char *end = strchr(line, '\n');
        expect(end != NULL, "the last line is cut");
        *end = '\0';
        if (sscanf(line, "%31s m%u", id, &number) == 2 && number < MESSAGES) {
            expect(ids[number][0] == '\0' || strcmp(ids[number], id) == 0, "a message has two ids");
            strcpy(ids[number], id);
        }
        *end = '\n';
        line = end + 1;
    }
    int wanted = is_piped ? count_acknowledged() : MESSAGES;
    expect(wanted <= MESSAGES, "more is acknowledged than there is");
    for (int i = 0; i < wanted; i++)
        expect(ids[i][0] != '\0', "a message is lost");
}

static bool is_repeated(enum fault_call call) {
    return call == FAULT_poll || call == FAULT_ppoll || call == FAULT_read || call == FAULT_write ||
           call == FAULT_writev || call == FAULT_fsync;
}

/* A run with a new journal. */
static void run_first(struct fault_plan with) {
    char log_path[128];
    snprintf(log_path, sizeof(log_path), "%s-wal", journal_path);
    unlink(log_path);
    unlink(journal_path);
    unlink(error_path);
    memset(&outcome, 0, sizeof(outcome));
    *plan = with;
    outcome.status = run(true);
    int fd = open(error_path, O_RDONLY);
    append(outcome.err, sizeof(outcome.err), fd);
    close(fd);
}

/* Returns whether a call has failed. */
static bool run_both(enum fault_call call, unsigned number, int error, bool is_lasting) {
    run_first((struct fault_plan) {
        .call = call, .number = number, .error = error, .is_lasting = is_lasting });
    bool was_hit = plan->was_hit;
    runs++;
    failed_runs += outcome.status != 0;
    expect(outcome.status == 0 || outcome.status == HTW__EXIT_FAILED ||
               outcome.status == HTW__EXIT_SIGNAL + SIGPIPE,
           "a status that no table has");
    expect(was_hit || outcome.status == 0, "it fails without a fault");
    expect(outcome.status != HTW__EXIT_FAILED || outcome.err[0] != '\0',
           "no word about the failure");
    expect(error != EINTR || !was_hit || !is_repeated(call) || outcome.status == 0,
           "an interrupted call is not repeated");
    if (outcome.status == 0)
        for (int i = 0; i < MESSAGES; i++) {
            char message[8];
            snprintf(message, sizeof(message), " m%d\n", i);
            expect(strstr(outcome.out, message) != NULL, "a success that was none");
        }
    size_t used = strlen(outcome.out);
    if (used > 0 && outcome.out[used - 1] != '\n') /* what a reader does with a line that is cut */
        strcpy(outcome.out + used, "\n");
    expect(run(false) == 0, "the second run fails");
    judge();
    return was_hit;
}

static void fail_each(enum fault_call call, int error, bool is_lasting, bool all) {
    for (unsigned number = 1; run_both(call, number, error, is_lasting);)
        number += all || number < 3 ? 1 : 2 * number;
}

/* ---- what no call that fails shows */

static struct htw_journal_options journal_options;

int __real_htw_journal_open(struct htw_journal **ret_journal, struct htw_scheduler *scheduler,
                            const char *path, const struct htw_journal_options *options);
int __wrap_htw_journal_open(struct htw_journal **ret_journal, struct htw_scheduler *scheduler,
                            const char *path, const struct htw_journal_options *options);

int __wrap_htw_journal_open(struct htw_journal **ret_journal, struct htw_scheduler *scheduler,
                            const char *path, const struct htw_journal_options *options) {
    journal_options = *options;
    return __real_htw_journal_open(ret_journal, scheduler, path, options);
}

/* As its thread does after a failure with which no change has to do. */
static void stop_journal(void) {
    const struct htw__durable *self = journal_options.context;
    if (self->delay.is_busy)
        return;
    plan->asleep = NULL;
    journal_options.stopped(journal_options.context, "the disk is gone");
}

static void journal_that_stops_ends_the_run(const char *read, const char *wanted) {
    lines = read;
    run_first((struct fault_plan) { .asleep = stop_journal });
    lines = LINES;
    expect(plan->asleep == NULL, "it has not slept");
    expect(outcome.status == HTW__EXIT_FAILED, "the status");
    expect(strstr(outcome.err, "the disk is gone\n") != NULL, "no word about the journal");
    expect(strstr(outcome.err, wanted) != NULL, "no word about the jobs");
}

/* Nothing more is written to an output that has failed. */
static void signal_that_comes_with_a_failure_of_the_output(void) {
    run_first((struct fault_plan) {
        .call = FAULT_writev, .number = 1, .error = EIO, .is_stopped = true });
    expect(outcome.status == HTW__EXIT_SIGNAL + SIGTERM, "the status");
    expect(strstr(outcome.err, "standard output: Input/output error\n") != NULL,
           "no word about the failure");
    expect(outcome.out[0] == '\0', "an output that has failed is written to");
    expect(run(false) == 0, "the second run fails");
    judge();
}

int main(int argc, char **argv) {
    static const int errors[] = { EIO, EINTR, ENOSPC, EPIPE, EMFILE };
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    plan = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (plan == MAP_FAILED || !test_folder_create(folder))
        return 1;
    snprintf(input_path, sizeof(input_path), "%s/input", folder);
    snprintf(journal_path, sizeof(journal_path), "%s/journal", folder);
    snprintf(error_path, sizeof(error_path), "%s/errors", folder);
    FILE *input = fopen(input_path, "w");
    if (input == NULL || fputs(LINES, input) < 0 || fclose(input) != 0)
        return 1;
    for (int piped = 0; piped < 2; piped++) {
        is_piped = piped == 1;
        for (enum fault_call call = 0; call < FAULT_COUNT; call++) {
            if (call == FAULT_malloc || call == FAULT_realloc || call == FAULT_strdup) {
                fail_each(call, ENOMEM, false, all);
                fail_each(call, ENOMEM, true, all);
                continue;
            }
            for (size_t e = 0; e < (all ? sizeof(errors) / sizeof(errors[0]) : 2); e++)
                fail_each(call, errors[e], false, all);
            fail_each(call, EIO, true, all);
            if (call == FAULT_write || call == FAULT_writev) {
                fail_each(call, FAULT_SHORT, false, all);
                fail_each(call, EPIPE, false, all);
            }
        }
    }
    is_piped = true;
    journal_that_stops_ends_the_run("1h a\n", "1 not released, kept in");
    stays_open = true; /* with no job, only what was not read is left */
    journal_that_stops_ends_the_run("", "stopped after -:0: 0 not released");
    stays_open = false;
    signal_that_comes_with_a_failure_of_the_output();
    printf("%u runs, %u of which failed\n", runs, failed_runs);
    return !test_folder_remove(folder) || failed_runs < 20;
}
