/* SPDX-License-Identifier: MIT */
/*
 * blpop.c - htw-bench-blpop: thousands of clients blocked in BLPOP on a server of the Redis
 * protocol on this machine. Prints a line of JSON for each metric.
 */
#include "load.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define SPARE_FILES 16
#define UNSET UINT32_MAX

enum { WORKLOAD = 1, PORT, SERVER, CLIENTS, KEYS, PUSHES, IDLE_S, TIMEOUT_MS, HELP };

static const struct option known[] = {
    { "workload", required_argument, NULL, WORKLOAD },
    { "port", required_argument, NULL, PORT },
    { "server", required_argument, NULL, SERVER },
    { "clients", required_argument, NULL, CLIENTS },
    { "keys", required_argument, NULL, KEYS },
    { "pushes", required_argument, NULL, PUSHES },
    { "idle-s", required_argument, NULL, IDLE_S },
    { "timeout-ms", required_argument, NULL, TIMEOUT_MS },
    { "help", no_argument, NULL, HELP },
    { NULL, 0, NULL, 0 },
};

static const char usage[] =
    "usage: htw-bench-blpop --port PORT --workload NAME [OPTION]...\n"
    "  --workload wake: an item is pushed to a random key, and its client blocks again;\n"
    "             timeouts: nothing is pushed; memory: nothing happens\n"
    "  --port     of the server, on 127.0.0.1\n"
    "  --server   of memory: its process\n"
    "  --clients  how many are blocked (10000)\n"
    "  --keys     on how many keys (as many)\n"
    "  --pushes   of wake (20000)\n"
    "  --idle-s   of memory: how long they stay blocked (15)\n"
    "  --timeout-ms LOW-HIGH\n"
    "             timeouts spread over this range (1000-3000); of the others: HIGH, 0 for\n"
    "             ever (600000)\n";

__attribute__((noreturn)) static void wrong(const char *what, const char *value) {
    fprintf(stderr, "htw-bench-blpop: %s: %s\n", what, value);
    exit(2);
}

static unsigned number_until(const char *text, char **ret_end, unsigned low, unsigned high) {
    errno = 0;
    unsigned long value = strtoul(text, ret_end, 10);
    if (*ret_end == text || *text == '-' || errno != 0 || value < low || value > high)
        wrong("not a number in the range", text);
    return (unsigned)value;
}

static unsigned number(const char *text, unsigned low, unsigned high) {
    char *end;
    unsigned value = number_until(text, &end, low, high);
    if (*end != '\0')
        wrong("not a number", text);
    return value;
}

static void set_timeout(struct load *load, const char *text) {
    char *end;
    load->low_ms = load->high_ms = number_until(text, &end, 0, 86400000);
    if (*end == '-')
        load->high_ms = number(end + 1, load->low_ms, 86400000);
    else if (*end != '\0')
        wrong("not a range of milliseconds", text);
}

static void set(struct load *load, int option) {
    switch (option) {
    case WORKLOAD:
        load->workload = optarg;
        break;
    case PORT:
        load->port = number(optarg, 1, 65535);
        break;
    case SERVER:
        load->server = (pid_t)number(optarg, 1, INT32_MAX);
        break;
    case CLIENTS:
        load->count = number(optarg, 1, 1000000);
        break;
    case KEYS:
        load->keys = number(optarg, 2, 1000000);
        break;
    case PUSHES:
        load->pushes = number(optarg, 1, 90000000);
        break;
    case IDLE_S:
        load->idle_s = number(optarg, 0, 86400);
        break;
    case TIMEOUT_MS:
        set_timeout(load, optarg);
        break;
    case HELP:
        fputs(usage, stdout);
        exit(0);
    default: /* getopt has printed the error */
        exit(2);
    }
}

static void allow_files(unsigned count) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < count + SPARE_FILES)
        load_fail("%u clients need more open files than the %llu that are allowed", count,
                  (unsigned long long)limit.rlim_max);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static const struct workload {
    const char *name;
    void (*run)(const struct load *load);
    unsigned low_ms, high_ms;
} workloads[] = {
    { "wake", wake_run, 600000, 600000 },
    { "timeouts", timeouts_run, 1000, 3000 },
    { "memory", memory_run, 600000, 600000 },
};

static const struct workload *workload_named(const char *name) {
    for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++)
        if (strcmp(workloads[i].name, name) == 0)
            return &workloads[i];
    wrong("no such workload", name);
}

static const struct workload *complete(struct load *load) {
    const struct workload *workload = workload_named(load->workload);
    if (load->port == 0)
        wrong("a port is needed", "--port");
    if (load->keys == 0)
        load->keys = load->count;
    if (load->keys < 2 || load->keys > load->count)
        wrong("at least two keys are needed, and a client for each", "--keys");
    if (load->low_ms == UNSET) {
        load->low_ms = workload->low_ms;
        load->high_ms = workload->high_ms;
    }
    if (workload->run == timeouts_run && load->low_ms == 0)
        wrong("a timeout of 0 never expires", "--timeout-ms");
    return workload;
}

int main(int argc, char **argv) {
    struct load load = {
        .workload = "", .count = 10000, .pushes = 20000, .idle_s = 15, .low_ms = UNSET
    };
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
        set(&load, option);
    if (optind != argc)
        wrong("not an option", argv[optind]);
    const struct workload *workload = complete(&load);
    allow_files(load.count);
    workload->run(&load);
    return 0;
}
