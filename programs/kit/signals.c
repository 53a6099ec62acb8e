/* SPDX-License-Identifier: MIT */
/* signals.c - turns signals into something to poll for. */
#include "signals.h"

#include "../../src/base/clock.h"
#include "times.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t stop_signal;
static volatile sig_atomic_t dump_wanted;
static volatile sig_atomic_t is_saving;
static volatile int64_t saving_since_ns; /* the handler reads it only while `is_saving` */
static bool pipe_was_ignored;
static int wake_pipe[2] = { -1, -1 };

static const int watched[] = { SIGTERM, SIGUSR1, SIGINT, SIGHUP };

static void note_stop(int number) {
    if (stop_signal == 0)
        stop_signal = number;
    if (is_saving != 0 && htw__clock_monotonic_ns() - saving_since_ns >= HTW_SECOND) {
        signal(number, SIG_DFL);
        raise(number); /* when this has returned */
    }
}

static void handle(int number) {
    int saved_errno = errno;
    if (number == SIGUSR1)
        dump_wanted = 1;
    else
        note_stop(number);
    /* If the pipe is full, it is readable, which is enough. */
    ssize_t written = write(wake_pipe[1], "", 1);
    (void)written;
    errno = saved_errno;
}

/* Those that were ignored from the start, by nohup or by the shell for the background of a script, stay so. */
static bool is_ignored(int number) {
    struct sigaction before;
    return (number == SIGINT || number == SIGHUP) && sigaction(number, NULL, &before) == 0 &&
           before.sa_handler == SIG_IGN;
}

static int watch_all(int flags) {
    struct sigaction action = { .sa_handler = handle, .sa_flags = flags };
    sigfillset(&action.sa_mask); /* the handler does not interrupt itself */
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
        if (!is_ignored(watched[i]) && sigaction(watched[i], &action, NULL) != 0)
            return -errno;
    return 0;
}

int htw__signals_install(void) {
    if (pipe2(wake_pipe, O_NONBLOCK | O_CLOEXEC) != 0)
        return -errno;
    /* The write that causes them fails as well, and is reported. */
    pipe_was_ignored = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
    signal(SIGXFSZ, SIG_IGN);
    return watch_all(
        0); /* without SA_RESTART, so that a signal also interrupts a write that blocks */
}

bool htw__signals_pipe_was_ignored(void) {
    return pipe_was_ignored;
}

void htw__signals_restore(void) {
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
        if (!is_ignored(watched[i]))
            signal(watched[i], watched[i] == SIGUSR1 ? SIG_IGN : SIG_DFL);
}

void htw__signals_begin_saving(void) {
    saving_since_ns = htw__clock_monotonic_ns();
    is_saving = 1;
    (void)watch_all(SA_RESTART);
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
