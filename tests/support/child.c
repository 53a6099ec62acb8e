/* SPDX-License-Identifier: MIT */
#include "child.h"

#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* A callback may be where signals are blocked. */
static void end_after_a_minute(void) {
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
    alarm(60);
}

int child_run(void (*run)(void *arg), void *arg, char *text, size_t size) {
    int ends[2];
    if (text != NULL && pipe(ends) != 0)
        return INT_MIN;
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit) { 0, 0 });
        end_after_a_minute();
        if (text != NULL) {
            dup2(ends[1], STDERR_FILENO);
            close(ends[0]);
            close(ends[1]);
        }
        run(arg);
        _exit(0);
    }
    if (text != NULL) {
        size_t length = 0;
        ssize_t count;
        close(ends[1]);
        while ((count = read(ends[0], text + length, size - 1 - length)) > 0)
            length += (size_t)count;
        text[length] = '\0';
        close(ends[0]);
    }
    return child_end(child);
}

int child_end(pid_t child) {
    int status;
    if (child <= 0 || waitpid(child, &status, 0) != child)
        return INT_MIN;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
