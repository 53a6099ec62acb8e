/* SPDX-License-Identifier: MIT */
/* options.c - the options of htw-bench-journal. */
#include "options.h"

#include "../common/options.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

static struct options given = { .threads = 1, .payload_size = PAYLOAD_MIN, .in_flight = 1000 };
static bool is_quick;

static const char *set_peer(const char *name) {
    given.peer = peer_named(name);
    return given.peer == NULL ? "no such peer" : NULL;
}

static const char *set_folder(const char *path) {
    struct statfs found;
    if (chdir(path) != 0 || getcwd(given.folder, sizeof(given.folder)) == NULL ||
        statfs(".", &found) != 0)
        return strerror(errno);
    strcpy(given.place, found.f_type == TMPFS_MAGIC ? "tmpfs" : "disk");
    return NULL;
}

static struct bench_option table[] = {
    OPTION_SET("peer", NULL, set_peer, "one of the list below"),
    OPTION_SET("folder", NULL, set_folder, "an empty folder for all files"),
    OPTION_COUNT("threads", "put queue queue-durable", &given.threads, 1, 1024, "that put (1)"),
    OPTION_COUNT("jobs", NULL, &given.jobs, 1, 100e6,
                 "pending (cycle 1000; space, restart 1000000); of lateness: a second (10000)"),
    OPTION_COUNT("in-flight", "cycle", &given.in_flight, 1, 1e6,
                 "jobs delivered and not done, at most (1000)"),
    OPTION_NUMBER("delay", "cycle", &given.delay, 0, 3600,
                  "of each job: at random up to so many seconds (0: due at once)"),
    OPTION_COUNT("payload", "space", &given.payload_size, PAYLOAD_MIN, PAYLOAD_MAX, "bytes (32)"),
    OPTION_FLAG("random", "space", &given.is_random,
                "deadlines at random in an hour (in order, in a day)"),
    OPTION_COUNT("log", "restart", &given.log_mib, 0, 65536,
                 "MiB of log at the kill; of htw (as it comes)"),
    OPTION_NUMBER("seconds", "cycle put queue queue-durable latency lateness", &given.seconds, 0.01,
                  3600, "measured time (1.5; latency, lateness 2)"),
    OPTION_NUMBER("warmup", "cycle put queue queue-durable lateness", &given.warmup, 0.01, 3600,
                  "seconds before the measured time (1)"),
    OPTION_FLAG("quick", NULL, &is_quick,
                "a fifth of the measured time and of the warm-up, fewer jobs"),
    { 0 },
};

static void print_peers(void) {
    puts("\npeers:");
    for (size_t i = 0; peers[i] != NULL; i++)
        options_print_named(peers[i]->name, peers[i]->about);
}

static void name_case(void) {
    const char *workload = given.workload->name;
    char *name = given.case_name;
    size_t size = sizeof(given.case_name);
    if (strcmp(workload, "cycle") == 0 && given.delay > 0)
        snprintf(name, size, "%llu jobs, up to %g s", (unsigned long long)given.jobs, given.delay);
    else if (strcmp(workload, "cycle") == 0)
        snprintf(name, size, "%llu jobs, due at once", (unsigned long long)given.jobs);
    else if (strcmp(workload, "space") == 0)
        snprintf(name, size, "%llu bytes, %s", (unsigned long long)given.payload_size,
                 given.is_random ? "at random" : "in order");
    else if (strcmp(workload, "restart") == 0 && given.log_mib > 0)
        snprintf(name, size, "%llu jobs, log of %llu MiB", (unsigned long long)given.jobs,
                 (unsigned long long)given.log_mib);
    else if (strcmp(workload, "restart") == 0)
        snprintf(name, size, "%llu jobs", (unsigned long long)given.jobs);
}

void options_read(struct options *options, int argc, char **argv) {
    given.workload = options_parse(table, print_peers, argc, argv);
    if (given.peer == NULL)
        options_wrong("--peer is missing", "--help lists the peers");
    if (given.folder[0] == '\0')
        options_wrong("--folder is missing", "an empty folder for all files");
    if (given.log_mib > 0 && given.peer->hold_log == NULL)
        options_wrong("--log: the peer has no such log", given.peer->name);
    if (given.jobs == 0)
        given.jobs = is_quick ? given.workload->quick_count : given.workload->count;
    if (given.seconds == 0)
        given.seconds = given.workload->seconds / (is_quick ? 5 : 1);
    if (given.warmup == 0)
        given.warmup = is_quick ? 0.2 : 1;
    name_case();
    *options = given;
}
