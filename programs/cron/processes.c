/* SPDX-License-Identifier: MIT */
/* processes.c - the processes of `htw cron`: starts commands, and notes how they end. */
#include "cron.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child, of which a report of coverage knows nothing. */
static _Noreturn void become(struct htw__cron_job *job) {
    sigset_t none;
    setpgid(0, 0);
    for (int number = 1; number < NSIG; number++) /* what was ignored stays so over exec() */
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close(STDIN_FILENO);
    (void)!open("/dev/null", O_RDONLY); /* in its place, which is free whatever the limit is */
    /* uncovered: in the child */
    const char *shell = "/bin/sh";
    bool is_set = true;
    for (char *variable = job->text; *variable != '\0'; variable += strlen(variable) + 1) {
        is_set = putenv(variable) == 0 && is_set;
        if (strncmp(variable, "SHELL=", 6) == 0)
            shell = variable + 6;
    }
    if (is_set)
        execl(shell, shell, "-c", "--", job->command, (char *)NULL);
    htw__cron_complain(job->cron->path, job->line, "%s: %s", shell, strerror(errno));
    _exit(127);
}

/* The process that runs the command; negative: none, and errno says why. */
static pid_t start_command(struct htw__cron_job *job) {
    pid_t pid = fork();
    if (pid == 0) /* uncovered: the child leaves no report */
        become(job);
    if (pid > 0)
        setpgid(pid, pid); /* the child does so, too: either may be first */
    return pid;
}

static bool reserve_child(struct htw__cron *cron) {
    size_t count = cron->child_count;
    if (count > 0 && (count & (count - 1)) != 0) /* it doubles at powers of two */
        return true;
    void *children =
        reallocarray(cron->children, count == 0 ? 1 : 2 * count, sizeof(*cron->children));
    if (children != NULL)
        cron->children = children;
    return children != NULL;
}

void htw__cron_start(struct htw__cron *cron, struct htw__cron_job *job) {
    pid_t pid = reserve_child(cron) ? start_command(job) : -1;
    if (pid < 0) {
        htw__cron_complain(cron->path, job->line, "not started: %s", strerror(errno));
        return;
    }
    cron->children[cron->child_count++] = (struct htw__cron_child) { job, pid };
    job->running++;
    if (cron->is_verbose)
        htw__cron_complain(cron->path, job->line, "started, process %d: %s", (int)pid,
                           job->command);
}

static void report_end(const struct htw__cron_child *child, int status) {
    const struct htw__cron_job *job = child->job;
    const char *path = job->cron->path;
    if (WIFSIGNALED(status))
        htw__cron_complain(path, job->line, "ended by signal %d (%s): %s", WTERMSIG(status),
                           strsignal(WTERMSIG(status)), job->command);
    else if (WEXITSTATUS(status) != 0)
        htw__cron_complain(path, job->line, "ended with status %d: %s", WEXITSTATUS(status),
                           job->command);
    else if (job->cron->is_verbose)
        htw__cron_complain(path, job->line, "ended, process %d", (int)child->pid);
}

/* Forgets a process. */
static void remove_child(struct htw__cron *cron, size_t index) {
    struct htw__cron_job *job = cron->children[index].job;
    cron->children[index] = cron->children[--cron->child_count];
    job->running--;
    htw__cron_job_free_if_unused(job);
}

/* Processes that it does not know were adopted: this is the first process of a container. */
void htw__cron_reap(struct htw__cron *cron) {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (size_t i = 0; i < cron->child_count; i++)
            if (cron->children[i].pid == pid) {
                report_end(&cron->children[i], status);
                remove_child(cron, i);
                break;
            }
}

void htw__cron_kill(const struct htw__cron *cron, int signal_number) {
    for (size_t i = 0; i < cron->child_count; i++)
        kill(-cron->children[i].pid, signal_number);
}
