/* SPDX-License-Identifier: MIT */
/* options.c - the options of htw-bench-serve. */
#include "options.h"

#include "../common/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Workloads whose `count` are clients. */
#define OF_CLIENTS "put cycle hand waiting"

static struct options given;
static bool is_quick;

static const char *set_peer(const char *name) {
    given.peer = name;
    return strcmp(name, "htw") == 0 || strcmp(name, "beanstalkd") == 0 ? NULL : "no such peer";
}

static const char *set_program(const char *path) {
    return realpath(path, given.program) == NULL ? strerror(errno) : NULL;
}

static const char *set_folder(const char *path) {
    return realpath(path, given.folder) == NULL ? strerror(errno) : NULL;
}

static struct bench_option table[] = {
    OPTION_SET("peer", NULL, set_peer, "htw or beanstalkd"),
    OPTION_SET("serve", NULL, set_program, "the program htw-serve"),
    OPTION_SET("folder", NULL, set_folder, "an empty folder for all files"),
    OPTION_FLAG("durable", NULL, &given.is_durable, "what is answered is on the disk"),
    OPTION_COUNT("clients", OF_CLIENTS, &given.clients, 1, 20000,
                 "connections (1; hand 16, waiting 10000)"),
    OPTION_COUNT("count", "delayed beside", &given.count, 1, 100e6,
                 "jobs, or commands of the pipeline (1000000)"),
    OPTION_COUNT("rate", "hand lateness", &given.rate, 1, 10e6,
                 "jobs a second (hand: half of what it can do; lateness 10000)"),
    OPTION_NUMBER("seconds", "put cycle hand lateness waiting", &given.seconds, 0.01, 3600,
                  "measured time (2; lateness 5)"),
    OPTION_NUMBER("warmup", "put cycle hand waiting", &given.warmup, 0.01, 3600,
                  "seconds before the measured time (0.5)"),
    OPTION_FLAG("quick", NULL, &is_quick, "a fifth of the times, and fewer jobs"),
    { 0 },
};

void options_read(struct options *options, int argc, char **argv) {
    given.workload = options_parse(table, NULL, argc, argv);
    if (given.peer == NULL)
        options_wrong("--peer is missing", "htw or beanstalkd");
    if (given.program[0] == '\0' && strcmp(given.peer, "htw") == 0)
        options_wrong("--serve is missing", "the program htw-serve");
    if (given.folder[0] == '\0')
        options_wrong("--folder is missing", "an empty folder for all files");
    if (chdir(given.folder) != 0)
        options_wrong("--folder", strerror(errno));
    uint64_t count = is_quick ? given.workload->quick_count : given.workload->count;
    if (given.clients == 0)
        given.clients = strstr(OF_CLIENTS, given.workload->name) == NULL ? 1 : count;
    if (given.count == 0)
        given.count = count;
    if (given.seconds == 0)
        given.seconds = given.workload->seconds / (is_quick ? 5 : 1);
    if (given.warmup == 0)
        given.warmup = is_quick ? 0.1 : 0.5;
    *options = given;
}
