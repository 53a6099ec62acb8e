/* SPDX-License-Identifier: MIT */
/* program.c - htw-bench-journal: its workloads, peers and options. */
#include "options.h"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

extern const struct workload workload_cycle, workload_put, workload_queue, workload_queue_durable,
    workload_latency, workload_lateness, workload_space, workload_restart;
extern const struct peer peer_htw, peer_htw_normal, peer_sqlite, peer_sqlite_normal, peer_redis,
    peer_redis_everysec;

static const struct workload *const workloads[] = {
    &workload_cycle,         &workload_put,     &workload_queue,
    &workload_queue_durable, &workload_latency, &workload_lateness,
    &workload_space,         &workload_restart, NULL,
};

static const void *peers[PEERS_MAX] = {
    &peer_htw,   &peer_htw_normal,     &peer_sqlite, &peer_sqlite_normal,
#ifdef BENCH_WITH_HIREDIS
    &peer_redis, &peer_redis_everysec,
#endif
};

static struct options options = { .threads = 1, .payload_size = PAYLOAD_MIN };

static const char *set_folder(const char *path) {
    struct statfs found;
    if (chdir(path) != 0 || statfs(".", &found) != 0)
        return strerror(errno);
    strcpy(options.place, found.f_type == TMPFS_MAGIC ? "tmpfs" : "disk");
    return NULL;
}

static struct bench_option table[] = {
    OPTION_SET("folder", NULL, set_folder, "an empty folder for all files"),
    OPTION_COUNT("threads", "put queue queue-durable", &options.threads, 1, 1024, "that put (1)"),
    OPTION_COUNT("jobs", NULL, &options.jobs, 1, 100e6,
                 "pending (cycle 1000; space, restart 1000000); of lateness: a second (10000)"),
    OPTION_NUMBER("delay", "cycle", &options.delay, 0, 3600,
                  "of each job: at random up to so many seconds (0: due at once)"),
    OPTION_COUNT("payload", "space", &options.payload_size, PAYLOAD_MIN, PAYLOAD_MAX, "bytes (32)"),
    OPTION_FLAG("random", "space", &options.is_random,
                "deadlines at random in an hour (in order, in a day)"),
    OPTION_COUNT("log", "restart", &options.log_mib, 0, 65536,
                 "MiB of log at the kill; of htw (as it comes)"),
    OPTION_NUMBER("seconds", "cycle put queue queue-durable latency lateness", &given.seconds, 0.01,
                  3600, "measured time (1.5; latency, lateness 2)"),
    OPTION_NUMBER("warmup", "cycle put queue queue-durable lateness", &given.warmup, 0.01, 3600,
                  "seconds before the measured time (1)"),
    OPTION_FLAG("quick", NULL, &given.is_quick,
                "a fifth of the measured time and of the warm-up, fewer jobs"),
    { 0 },
};

/* What tells runs of a workload apart. */
static void name_case(char *name, size_t size) {
    const char *workload = given.workload->name;
    if (strcmp(workload, "cycle") == 0 && options.delay > 0)
        snprintf(name, size, "%llu jobs, up to %g s", (unsigned long long)options.jobs,
                 options.delay);
    else if (strcmp(workload, "cycle") == 0)
        snprintf(name, size, "%llu jobs, due at once", (unsigned long long)options.jobs);
    else if (strcmp(workload, "space") == 0)
        snprintf(name, size, "%llu bytes, %s", (unsigned long long)options.payload_size,
                 options.is_random ? "at random" : "in order");
    else if (strcmp(workload, "restart") == 0 && options.log_mib > 0)
        snprintf(name, size, "%llu jobs, log of %llu MiB", (unsigned long long)options.jobs,
                 (unsigned long long)options.log_mib);
    else if (strcmp(workload, "restart") == 0)
        snprintf(name, size, "%llu jobs", (unsigned long long)options.jobs);
}

static const struct options *read_options(void) {
    char case_name[60] = "";
    options.peer = given.peer;
    if (options.place[0] == '\0')
        options_wrong("--folder is missing", "an empty folder for all files");
    if (options.log_mib > 0 && options.peer->hold_log == NULL)
        options_wrong("--log: the peer has no such log", options.peer->name);
    if (options.jobs == 0)
        options.jobs = given.count;
    name_case(case_name, sizeof(case_name));
    report_init("\"workload\":\"%s\",\"peer\":\"%s\",\"place\":\"%s\",\"case\":\"%s\","
                "\"threads\":%u",
                given.workload->name, options.peer->name, options.place, case_name,
                (unsigned)options.threads);
    return &options;
}

const struct program program = {
    .workloads = workloads,
    .table = table,
    .peers = peers,
    .quick = 5,
    .warmup = 1,
    .quick_warmup = 0.2,
    .read = read_options,
};
