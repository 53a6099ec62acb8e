/* SPDX-License-Identifier: MIT */
/* put.c - clients that each send a command and wait for its answer: puts, or the whole life of a job. */
#include "client.h"
#include "options.h"

/* What a client waits for. */
enum { INSERTED, RESERVED, BODY, DELETED };

static struct histogram times;

static void begin(struct client *client) {
    client->sent_ns = clock_now_ns();
    client->state = INSERTED;
    client_put(client, 0);
}

static void delete_job(struct client *client, const char *reserved) {
    char command[64];
    snprintf(command, sizeof(command), "delete %llu\r\n", strtoull(reserved + 9, NULL, 10));
    client_say(client, command);
}

/* Returns whether the answer was the last one, and begins again. */
static bool go_on(struct client *client, const char *line, bool is_cycle) {
    static const char *const answers[] = { "INSERTED ", "RESERVED ", "", "DELETED" };
    client_check(line, answers[client->state]);
    switch (client->state++) {
    case INSERTED:
        if (is_cycle) {
            client_say(client, "reserve\r\n");
            return false;
        }
        break;
    case RESERVED:
        delete_job(client, line);
        return false;
    case BODY:
        return false;
    default:
        break;
    }
    histogram_record(&times, clock_now_ns() - client->sent_ns);
    begin(client);
    return true;
}

static void run_until(struct clients *clients, int64_t end_ns, bool is_cycle) {
    const char *line;
    while (clock_now_ns() < end_ns) {
        if (clients->count == 1) { /* that waits in recv(), as clients do */
            client_receive(&clients->of[0], true);
            clients->ready[0] = &clients->of[0];
            clients->ready_count = 1;
        } else {
            clients_wait(clients, INT64_MAX);
            for (unsigned i = 0; i < clients->ready_count; i++)
                client_receive(clients->ready[i], false);
        }
        for (unsigned i = 0; i < clients->ready_count; i++)
            while ((line = client_line(clients->ready[i])) != NULL)
                go_on(clients->ready[i], line, is_cycle);
    }
}

static void measure(const struct options *options, bool is_cycle) {
    struct clients clients;
    clients_connect(&clients, peer_start(options), (unsigned)options->clients);
    for (unsigned i = 0; i < clients.count; i++)
        begin(&clients.of[i]);
    run_until(&clients, clock_now_ns() + clock_ns(given.warmup), is_cycle);
    memset(&times, 0, sizeof(times));
    int64_t begin_ns = clock_now_ns(), cpu_ns = server_cpu_ns();
    run_until(&clients, begin_ns + clock_ns(given.seconds), is_cycle);
    double seconds = (double)(clock_now_ns() - begin_ns) / 1e9;
    cpu_ns = server_cpu_ns() - cpu_ns;
    report_number("jobs_per_s", (double)times.total / seconds);
    report_number("cpu_us_per_job", (double)cpu_ns / 1e3 / (double)times.total);
    report_percentiles("job", &times);
    server_stop();
}

static void run_put(const struct options *options) {
    measure(options, false);
}

static void run_cycle(const struct options *options) {
    measure(options, true);
}

const struct workload workload_put = {
    .name = "put",
    .about = "clients that put a job, and wait for INSERTED",
    .seconds = 2,
    .count = 1,
    .run = run_put,
};

const struct workload workload_cycle = {
    .name = "cycle",
    .about = "clients that put a job, reserve one and delete it",
    .seconds = 2,
    .count = 1,
    .run = run_cycle,
};
