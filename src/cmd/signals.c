/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include "../clock.h"
#include "nanos.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t stop_signal;
static volatile sig_atomic_t dump_wanted;
static volatile sig_atomic_t stop_came_again;
static int64_t stopped_ns; /* when the first stop signal came; used by the handler alone */
static bool pipe_was_ignored;
static int wake_pipe[2] = { -1, -1 };

static void note_stop(int number) {
    int64_t now_ns = htw__clock_monotonic_ns();
    if (stop_signal == 0) {
        stopped_ns = now_ns;
        stop_signal = number;
    } else if (now_ns - stopped_ns >= HTW__NS_PER_S) {
        stop_came_again = 1;
    }
}

static void handle(int number) {
    int saved_errno = errno;
    if (number == SIGUSR1)
        dump_wanted = 1;
    else
        note_stop(number);
    /* If the pipe is full, it is readable, and that is all that is wanted. */
    ssize_t written = write(wake_pipe[1], "", 1);
    (void)written;
    errno = saved_errno;
}

/* Without SA_RESTART: a write that blocks against all expectations is interrupted too. */
static int watch(int number) {
    struct sigaction action = { .sa_handler = handle };
    sigfillset(&action.sa_mask); /* the handler does not interrupt itself */
    return sigaction(number, &action, NULL) == 0 ? 0 : -errno;
}

/* Ignored from the start: by nohup, or by the shell for the background of a script. */
static int watch_unless_ignored(int number) {
    struct sigaction before;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_IGN)
        return 0;
    return watch(number);
}

int htw__signals_install(void) {
    if (pipe2(wake_pipe, O_NONBLOCK | O_CLOEXEC) != 0)
        return -errno;
    /* The write that they come from fails as well, and is reported. */
    pipe_was_ignored = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
    signal(SIGXFSZ, SIG_IGN);
    int error = watch(SIGTERM);
    if (error == 0)
        error = watch(SIGUSR1);
    if (error == 0)
        error = watch_unless_ignored(SIGINT);
    if (error == 0)
        error = watch_unless_ignored(SIGHUP);
    return error;
}

static const int watched[] = { SIGTERM, SIGUSR1, SIGINT, SIGHUP };

bool htw__signals_pipe_was_ignored(void) {
    return pipe_was_ignored;
}

void htw__signals_let_go(void) {
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++) {
        struct sigaction action;
        if (sigaction(watched[i], NULL, &action) == 0 && action.sa_handler == handle)
            signal(watched[i], watched[i] == SIGUSR1 ? SIG_IGN : SIG_DFL);
    }
}

bool htw__signals_gives_up(void) {
    return stop_came_again != 0;
}

void htw__signals_go_on(void) {
    stop_came_again = 0;
}

int htw__signals_fd(void) {
    return wake_pipe[0];
}

void htw__signals_clear(void) {
    char bytes[64];
    while (read(wake_pipe[0], bytes, sizeof(bytes)) > 0)
        continue;
}

int htw__signals_stop(void) {
    return stop_signal;
}

bool htw__signals_take_dump(void) {
    if (dump_wanted == 0) /* and not cleared, since the signal may come just now */
        return false;
    dump_wanted = 0;
    return true;
}
