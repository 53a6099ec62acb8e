/* SPDX-License-Identifier: MIT */
/* pass.c - jobs that some clients put and others reserve and delete: how long it takes until they have them. */
#include "client.h"
#include "options.h"

#define LATENESS_CLIENTS 16
#define WAITING_RATE 1000

static struct clients clients;
static unsigned producers; /* the first ones; the others are workers */
static unsigned next_producer;
static bool is_closed; /* a producer waits for its answer, and goes on at once */
static unsigned delay_s;
static uint64_t inserted, passed;
static struct histogram times;

static void take(struct client *worker, const char *reserved) {
    char command[64];
    snprintf(command, sizeof(command), "delete %llu\r\nreserve\r\n",
             strtoull(reserved + strlen("RESERVED "), NULL, 10));
    client_say(worker, command);
}

static void read_answer(struct client *client, const char *line) {
    if (client < clients.of + producers) {
        client_check(line, "INSERTED ");
        inserted++;
        if (is_closed)
            client_put(client, delay_s);
    } else if (strncmp(line, "RESERVED ", strlen("RESERVED ")) == 0) {
        take(client, line);
    } else if (line[0] >= '0' && line[0] <= '9') {
        histogram_record(&times, client_age_ns(line) - (int64_t)delay_s * 1000000000);
        passed++;
    } else {
        client_check(line, "DELETED");
    }
}

static void read_answers(int64_t until_ns) {
    const char *line;
    clients_wait(&clients, until_ns);
    for (unsigned i = 0; i < clients.ready_count; i++) {
        client_receive(clients.ready[i], false);
        while ((line = client_line(clients.ready[i])) != NULL)
            read_answer(clients.ready[i], line);
    }
}

/* Puts at a steady rate, whether or not the answers come. */
static void run_for(double seconds, double rate) {
    int64_t begin_ns = clock_now_ns(), end_ns = begin_ns + clock_ns(seconds), put_ns = begin_ns;
    for (uint64_t put = 0; clock_now_ns() < end_ns;) {
        for (; rate > 0 && put_ns <= clock_now_ns();
             put_ns = begin_ns + clock_ns((double)++put / rate))
            client_put(&clients.of[next_producer++ % producers], delay_s);
        read_answers(rate > 0 && put_ns < end_ns ? put_ns : end_ns);
    }
}

static void begin(const struct options *options, unsigned count, unsigned putting) {
    clients_connect(&clients, peer_start(options), count);
    producers = putting;
    for (unsigned i = putting; i < count; i++)
        client_say(&clients.of[i], "reserve\r\n");
}

static void measure(double seconds, double rate) {
    int64_t cpu_ns = server_cpu_ns();
    memset(&times, 0, sizeof(times));
    passed = 0;
    run_for(seconds, rate);
    report_number("jobs_per_s", (double)passed / seconds);
    report_number("cpu_us_per_job", (double)(server_cpu_ns() - cpu_ns) / 1e3 / (double)passed);
    if (times.early > 0)
        report_failure("%llu jobs came too early", (unsigned long long)times.early);
    report_percentiles("pass", &times);
    server_stop();
}

/* How many it passes when each producer goes on as soon as it has its answer. Then the jobs that are left go. */
static double saturate(double seconds) {
    is_closed = true;
    for (unsigned i = 0; i < producers; i++)
        client_put(&clients.of[i], 0);
    run_for(seconds, 0);
    double rate = (double)passed / seconds;
    is_closed = false;
    while (passed < inserted)
        run_for(0.05, 0);
    return rate;
}

static void run_hand(const struct options *options) {
    unsigned count = (unsigned)options->clients;
    begin(options, count < 2 ? 2 : count, count < 2 ? 1 : count / 2);
    double rate = (double)options->rate;
    if (rate == 0)
        rate = saturate(given.seconds / 2) / 2;
    run_for(given.warmup, rate);
    measure(given.seconds, rate);
}

static void run_lateness(const struct options *options) {
    double rate = options->rate == 0 ? (double)options->count : (double)options->rate;
    begin(options, LATENESS_CLIENTS, LATENESS_CLIENTS / 2);
    delay_s = 1;
    run_for(1.2, rate); /* the first are due */
    measure(given.seconds, rate);
}

static void run_waiting(const struct options *options) {
    struct client first;
    unsigned count = (unsigned)options->clients, port = peer_start(options);
    client_connect(&first, port);
    client_say(&first, "use default\r\n");
    client_expect(&first, "USING default");
    uint64_t before = server_resident_bytes();
    clients_connect(&clients, port, count + 1);
    producers = 1;
    for (unsigned i = 1; i <= count; i++)
        client_say(&clients.of[i], "reserve\r\n");
    run_for(given.warmup, 0);
    report_number("bytes_per_worker", (double)(server_resident_bytes() - before) / count);
    run_for(given.warmup, WAITING_RATE);
    measure(given.seconds, WAITING_RATE);
}

const struct workload workload_hand = {
    .name = "hand",
    .about = "from a put until a worker has the job, at half of what the server can do",
    .seconds = 2,
    .count = 16,
    .run = run_hand,
};

const struct workload workload_lateness = {
    .name = "lateness",
    .about = "how late workers get jobs with a delay of a second",
    .seconds = 5,
    .count = 10000,
    .quick_count = 1000,
    .run = run_lateness,
};

const struct workload workload_waiting = {
    .name = "waiting",
    .about = "many workers that wait: memory, and until one has a job that is put",
    .seconds = 2,
    .count = 10000,
    .quick_count = 200,
    .run = run_waiting,
};
