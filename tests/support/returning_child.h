/* SPDX-License-Identifier: MIT */
/*
 * returning_child.h - a child that is forked in code of the user, and returns from it: it must end there,
 * by _exit(1), with a message that names the code, and run nothing else of its parent's.
 */
#ifndef TESTS_SUPPORT_RETURNING_CHILD_H
#define TESTS_SUPPORT_RETURNING_CHILD_H

#include "../unit/unit.h"
#include "child.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

struct returning_child {
    atomic_bool has_forked;
    bool is_child;
    int end;         /* how it has ended, as of child_end() */
    char text[1024]; /* what it has written to standard error */
};

/* What only the child does; it has but this thread, in which signals may be blocked. */
static inline void returning_child_begin(struct returning_child *self, int error) {
    sigset_t alarm_only;
    self->is_child = true;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
    alarm(60);
    dup2(error, STDERR_FILENO);
    close(error);
}

/* In code of the user: forks, once. The child returns, and must not come here again. The parent waits
   for its end. */
static inline void returning_child_fork(struct returning_child *self) {
    int ends[2];
    if (self->is_child)
        _exit(2);
    if (atomic_exchange(&self->has_forked, true) || pipe(ends) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        returning_child_begin(self, ends[1]);
        return;
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t count;
    while ((count = read(ends[0], self->text + length, sizeof(self->text) - 1 - length)) > 0)
        length += (size_t)count;
    self->text[length] = '\0';
    close(ends[0]);
    self->end = child_end(pid);
}

/* After the call in which it was forked. Another one may be forked then. */
static inline void returning_child_assert_ended(struct returning_child *self, const char *code) {
    if (self->is_child)
        _exit(3); /* it has come out of the call */
    if (!self->has_forked || self->end != 1 || strstr(self->text, code) == NULL)
        fail_msg("in %s: forked %d, ended by %d, and said: %s", code, (int)self->has_forked,
                 self->end, self->text);
    self->has_forked = false;
}

#endif /* TESTS_SUPPORT_RETURNING_CHILD_H */
