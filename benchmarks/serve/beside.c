/* SPDX-License-Identifier: MIT */
/* beside.c - one client beside another one that sends a million commands and does not wait for the answers. */
#include "client.h"
#include "options.h"

#include "../common/thread.h"

#include <poll.h>
#include <sys/socket.h>

#define CHUNK 512 /* commands of a write */

static struct client pipeline, other;
static struct histogram times;
static uint64_t count;
static const char *command;
static size_t command_size;

/* Reads answers meanwhile, and does not look at them: the server stops where they are not read. */
static void *push(void *context) {
    static char answers[65536];
    char *chunk = malloc(CHUNK * command_size);
    uint64_t sent = 0, size = count * command_size, lines = 0;
    for (unsigned i = 0; chunk != NULL && i < CHUNK; i++)
        memcpy(chunk + i * command_size, command, command_size);
    while (chunk != NULL && lines < count) {
        struct pollfd ready = { .fd = pipeline.socket,
                                .events = (short)(POLLIN | (sent < size ? POLLOUT : 0)) };
        poll(&ready, 1, -1);
        if ((ready.revents & POLLOUT) != 0) {
            uint64_t at = sent % (CHUNK * command_size), left = size - sent;
            size_t now = CHUNK * command_size - at < left ? CHUNK * command_size - at : left;
            ssize_t done = send(pipeline.socket, chunk + at, now, MSG_DONTWAIT | MSG_NOSIGNAL);
            sent += done > 0 ? (uint64_t)done : 0;
        }
        if ((ready.revents & ~POLLOUT) != 0) {
            ssize_t got = recv(pipeline.socket, answers, sizeof(answers), MSG_DONTWAIT);
            if (got == 0)
                report_failure("the pipeline was closed");
            for (const char *at = answers, *end = answers + (got > 0 ? got : 0);
                 at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
                lines++;
        }
    }
    free(chunk);
    return context;
}

/* Both clients share a CPU, and the one that is measured goes first, where that is permitted. */
static void go_first(void) {
    const struct sched_param first = { .sched_priority = 1 };
    (void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
}

static void measure(const struct options *options, const char *what) {
    unsigned port = peer_start(options);
    client_connect(&other, port);
    client_connect(&pipeline, port);
    memset(&times, 0, sizeof(times));
    pthread_t pusher = thread_start(push, NULL);
    go_first();
    int64_t begin_ns = clock_now_ns();
    while (pthread_tryjoin_np(pusher, NULL) == EBUSY) {
        int64_t sent_ns = clock_now_ns();
        client_say(&other, "list-tube-used\r\n");
        client_expect(&other, "USING default");
        histogram_record(&times, clock_now_ns() - sent_ns);
        clock_sleep_until(clock_now_ns() + 200000);
    }
    char name[64];
    snprintf(name, sizeof(name), "%s_per_s", what);
    report_number(name, (double)count * 1e9 / (double)(clock_now_ns() - begin_ns));
    report_percentiles(what, &times);
    server_stop();
}

static void run(const struct options *options) {
    char put[128];
    count = options->count;
    command = "touch 1\r\n";
    command_size = strlen(command);
    measure(options, "touch");
    command_size = client_write_put(put, 0);
    command = put;
    measure(options, "put");
}

const struct workload workload_beside = {
    .name = "beside",
    .about = "a client beside another one with a pipeline of a million commands",
    .count = 1000000,
    .quick_count = 20000,
    .run = run,
};
