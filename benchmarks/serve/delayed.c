/* SPDX-License-Identifier: MIT */
/* delayed.c - jobs that wait for hours: how fast they are put, their memory, and the start of a server that has them. */
#include "client.h"
#include "options.h"

#define BATCH 500 /* puts that are sent together */
#define DELAY_S 7200

static void put_batch(struct client *client, uint64_t first, uint64_t count) {
    static char commands[BATCH * 128];
    size_t size = 0;
    for (uint64_t i = 0; i < count; i++)
        size += client_write_put(commands + size, DELAY_S + (unsigned)((first + i) % DELAY_S));
    client_send(client, commands, size);
    for (uint64_t i = 0; i < count; i++)
        client_expect(client, "INSERTED ");
}

static void expect_delayed(struct client *client, uint64_t count) {
    static const char name[] = "current-jobs-delayed: ";
    const char *line;
    client_say(client, "stats-tube default\r\n");
    do {
        line = client_expect(client, "");
    } while (strncmp(line, name, strlen(name)) != 0);
    if (strtoull(line + strlen(name), NULL, 10) != count)
        report_failure("%llu jobs were put, but the server has %s", (unsigned long long)count,
                       line);
}

static double resident_mib(void) {
    return (double)server_resident_bytes() / (1 << 20);
}

static void run(const struct options *options) {
    struct client client;
    client_connect(&client, peer_start(options));
    double empty_mib = resident_mib();
    int64_t begin_ns = clock_now_ns();
    for (uint64_t put = 0; put < options->count; put += BATCH)
        put_batch(&client, put, options->count - put < BATCH ? options->count - put : BATCH);
    report_number("put_per_s", (double)options->count * 1e9 / (double)(clock_now_ns() - begin_ns));
    report_number("resident_mib", resident_mib() - empty_mib);
    expect_delayed(&client, options->count);
    server_stop();
    if (!options->is_durable)
        return;
    begin_ns = clock_now_ns();
    client_connect(&client, peer_start(options));
    client_say(&client, "use default\r\n");
    client_expect(&client, "USING default");
    report_number("start_ms", (double)(clock_now_ns() - begin_ns) / 1e6);
    expect_delayed(&client, options->count);
    report_number("started_mib", resident_mib());
    server_stop();
}

const struct workload workload_delayed = {
    .name = "delayed",
    .about = "a million jobs that wait for hours: memory, and the start of a server that has them",
    .count = 1000000,
    .quick_count = 20000,
    .run = run,
};
