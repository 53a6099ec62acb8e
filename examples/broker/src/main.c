/* SPDX-License-Identifier: MIT */
/* main.c - the broker: a small in-memory server of the Redis protocol. See README.md. */
#include "broker.h"
#include "loop.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* File descriptors that are not clients: five for each thread, and some more. */
#define OTHER_FILES(threads) (32 + 8 * (threads))

/* Raises the limit on open files as far as allowed, and lowers max_clients if it is still too low.
   */
static void raise_file_limit(struct options *options) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    rlim_t others = OTHER_FILES(options->threads);
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < options->max_clients + others) {
        options->max_clients = limit.rlim_max > others ? (unsigned)(limit.rlim_max - others) : 1;
        fprintf(stderr, "broker: at most %u clients, because of the limit on open files\n",
                options->max_clients);
    }
}

static void *run_thread(void *arg) {
    loop_run(arg);
    return NULL;
}

/* Runs all loops, the first one in this thread. Returns false if a thread cannot be created. */
static bool run(struct broker *broker) {
    unsigned started = 1;
    int error = 0;
    for (; started < broker->options.threads && error == 0; started++)
        error = pthread_create(&broker->loops[started].thread, NULL, run_thread,
                               &broker->loops[started]);
    if (error == 0) {
        printf("ready on %s:%u\n", broker->options.bind, broker->port);
        fflush(stdout);
    } else {
        fprintf(stderr, "broker: cannot start a thread: %s\n", strerror(error));
        started--;
        raise(SIGTERM); /* ends the loops that run */
    }
    loop_run(&broker->loops[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(broker->loops[i].thread, NULL);
    return error == 0;
}

int main(int argc, char **argv) {
    struct options options;
    static struct broker broker; /* static: after a failed start, its memory counts as reachable */
    sigset_t signals;
    int status;
    if (!options_parse(&options, argc, argv, &status))
        return status;
    raise_file_limit(&options);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&signals); /* in all threads: they inherit the mask */
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    if (!broker_init(&broker, &options))
        return 1;
    bool is_well = run(&broker);
    broker_fini(&broker);
    return is_well ? 0 : 1;
}
