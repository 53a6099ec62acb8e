/* SPDX-License-Identifier: MIT */
/* process.c - reads what the kernel counts for this process. */
#include "process.h"

#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int64_t process_cpu_ns(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/* The first number after `name` in a file; -1 if there is none. */
static long long find(const char *path, const char *name) {
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -1;
    char line[256];
    long long value = -1;
    while (value < 0 && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtoll(line + strlen(name), NULL, 10);
    fclose(file);
    return value;
}

static uint64_t find_or_fail(const char *path, const char *name) {
    long long value = find(path, name);
    if (value < 0)
        report_failure("no %s in %s", name, path);
    return (uint64_t)value;
}

uint64_t process_resident_bytes(void) {
    return find_or_fail("/proc/self/status", "VmRSS:") * 1024;
}

uint64_t process_available_bytes(void) {
    return find_or_fail("/proc/meminfo", "MemAvailable:") * 1024;
}

static void add_thread(struct thread_counts *sum, const char *number) {
    char path[300];
    snprintf(path, sizeof(path), "/proc/self/task/%s/status", number);
    sum->switches += find_or_fail(path, "voluntary_ctxt_switches:");
    sum->switches += find_or_fail(path, "nonvoluntary_ctxt_switches:");
    snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", number);
    sum->cpu_ns += (int64_t)find_or_fail(path, "");
}

void process_threads(struct thread_counts *ret_main, struct thread_counts *ret_others) {
    *ret_main = *ret_others = (struct thread_counts) { 0 };
    DIR *folder = opendir("/proc/self/task");
    if (folder == NULL)
        report_failure("/proc/self/task: %s", strerror(errno));
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.')
            add_thread(atoi(entry->d_name) == getpid() ? ret_main : ret_others, entry->d_name);
    closedir(folder);
}
