/* SPDX-License-Identifier: MIT */
#include "child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void work(const struct child_task *task, int output) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* whoever ends the harness ends its measurement */
    struct run run = { 0 };
    run.implementation = task->implementation;
    run.n = task->n;
    run.operations = task->operations;
    run.has_end = task->has_end;
    run.output = output;
    random_init(&run.random, task->seed);
    task->workload->measure(&run);
    run_deliver(&run);
}

/* Waits until the child has something to say or is gone; false when time is up. */
static bool wait_for_output(int input, unsigned limit_s) {
    uint64_t end_ns = run_clock_ns() + (uint64_t)limit_s * 1000000000u;
    struct pollfd waited = { .fd = input, .events = POLLIN };
    for (uint64_t now_ns; (now_ns = run_clock_ns()) < end_ns;)
        if (poll(&waited, 1, (int)((end_ns - now_ns) / 1000000u) + 1) > 0)
            return true;
    return false;
}

static int reap(pid_t pid) {
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* What became of a child that did not deliver. */
static void describe_end(struct measurement *measurement, int status) {
    memset(measurement, 0, sizeof(*measurement));
    if (WIFSIGNALED(status))
        snprintf(measurement->failure, sizeof(measurement->failure), "crashed: %s",
                 strsignal(WTERMSIG(status)));
    else
        snprintf(measurement->failure, sizeof(measurement->failure),
                 "ended before its measurement, with status %d", WEXITSTATUS(status));
}

static enum child_end fail(struct measurement *measurement, const char *what) {
    memset(measurement, 0, sizeof(*measurement));
    snprintf(measurement->failure, sizeof(measurement->failure), "%s: %s", what, strerror(errno));
    return CHILD_FAILED;
}

enum child_end child_measure(const struct child_task *task, struct measurement *ret_measurement) {
    int ends[2];
    if (pipe(ends) != 0)
        return fail(ret_measurement, "pipe");
    fflush(NULL); /* or the child would write it once more */
    pid_t pid = fork();
    if (pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return fail(ret_measurement, "fork");
    }
    if (pid == 0) {
        close(ends[0]);
        work(task, ends[1]);
    }
    close(ends[1]);

    bool is_in_time = wait_for_output(ends[0], task->limit_s);
    ssize_t count = is_in_time ? read(ends[0], ret_measurement, sizeof(*ret_measurement)) : 0;
    close(ends[0]);
    if (!is_in_time)
        kill(pid, SIGKILL);
    int status = reap(pid);
    if (!is_in_time)
        return CHILD_TOO_SLOW;
    if (count != (ssize_t)sizeof(*ret_measurement))
        describe_end(ret_measurement, status);
    return ret_measurement->failure[0] == '\0' ? CHILD_DONE : CHILD_FAILED;
}
