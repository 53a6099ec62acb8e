/* SPDX-License-Identifier: MIT */
/*
 * cycle.c - so many jobs are in the store at any time: each is put, delivered when it is due, and
 * ended, and then the next one is put. How many a second.
 */
#include "options.h"

#include "../common/process.h"
#include "../common/thread.h"

struct client {
    const struct peer *peer;
    void *connection;
    struct load load;
    pthread_t thread;
};

static atomic_bool is_ending;

/* The first jobs in several rounds, as all that follow. */
static void *make_rounds(void *arg) {
    struct client *client = arg;
    struct load *load = &client->load;
    for (size_t first = load->put_next; !atomic_load(&is_ending);) {
        load->put_next = first < load->in_flight ? first : load->in_flight;
        first -= load->put_next;
        client->peer->round(client->connection, load);
    }
    return NULL;
}

static void client_init(struct client *client, const struct options *options, unsigned index,
                        unsigned clients) {
    client->peer = options->peer;
    client->connection = options->peer->connect();
    struct load *load = &client->load;
    load_init(load, index);
    load->delay_max_ns = clock_ns(options->delay);
    load->replaces = true;
    load->in_flight = ROUND_MAX / clients;
    load->put_next = options->jobs / clients;
}

static uint64_t sum_ended(const struct client *clients, unsigned count) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += load_ended(&clients[i].load);
    return sum;
}

static void begin(struct client *client) {
    if (client->peer->receive == NULL) {
        client->thread = thread_start(make_rounds, client);
        return;
    }
    client->peer->receive(&client->load);
    client->peer->round(client->connection, &client->load);
}

static void end(struct client *client) {
    if (client->peer->receive == NULL)
        pthread_join(client->thread, NULL);
    else
        client->peer->receive(NULL);
}

/* Nothing is lost, and nothing comes twice: the store has what was put and has not ended. */
static void check(const struct peer *peer, const struct client *clients, unsigned count) {
    uint64_t found = peer->count(), put = 0; /* waits for what is being written */
    for (unsigned i = 0; i < count; i++)
        put += clients[i].load.put;
    uint64_t ended = sum_ended(clients, count);
    if (found != put - ended)
        report_failure("%llu jobs were put, %llu have ended, but the store has %llu",
                       (unsigned long long)put, (unsigned long long)ended,
                       (unsigned long long)found);
}

static void run(const struct options *options) {
    const struct peer *peer = options->peer;
    unsigned count = peer->clients;
    peer->start(peer, ROUND_MAX);
    struct client *clients = thread_allocate(count, sizeof(*clients));
    for (unsigned i = 0; i < count; i++)
        client_init(&clients[i], options, i, count);
    for (unsigned i = 0; i < count; i++)
        begin(&clients[i]);

    clock_sleep_until(clock_now_ns() + clock_ns(given.warmup));
    int64_t begin_ns = clock_now_ns(), cpu_ns = process_cpu_ns();
    uint64_t ended = sum_ended(clients, count);
    clock_sleep_until(begin_ns + clock_ns(given.seconds));
    ended = sum_ended(clients, count) - ended;
    cpu_ns = process_cpu_ns() - cpu_ns;
    double seconds = (double)(clock_now_ns() - begin_ns) / 1e9;

    atomic_store(&is_ending, true);
    for (unsigned i = 0; i < count; i++)
        end(&clients[i]);
    check(peer, clients, count);
    report_number("jobs_per_s", (double)ended / seconds);
    if (peer->is_embedded)
        report_number("cpu_us_per_job", (double)cpu_ns / 1e3 / (double)ended);
    peer->stop();
}

const struct workload workload_cycle = {
    .name = "cycle",
    .about = "put, deliver and end jobs as fast as it goes",
    .seconds = 1.5,
    .count = 1000,
    .run = run,
};
