/* SPDX-License-Identifier: MIT */
/* process.c - reads what the kernel counts for this process. */
#include "process.h"

#include "clock.h"
#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int64_t process_cpu_ns(void) {
    return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* The first number after `name` in a file. */
static uint64_t find(const char *path, const char *name) {
    FILE *file = fopen(path, "r");
    char line[256];
    long long value = -1;
    while (file != NULL && value < 0 && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtoll(line + strlen(name), NULL, 10);
    if (value < 0)
        report_failure("no %s in %s", name, path);
    fclose(file);
    return (uint64_t)value;
}

uint64_t process_resident_bytes(void) {
    return find("/proc/self/status", "VmRSS:") * 1024;
}

uint64_t process_available_bytes(void) {
    return find("/proc/meminfo", "MemAvailable:") * 1024;
}

static void add_thread(struct thread_counts *sum, const char *number) {
    char path[300];
    snprintf(path, sizeof(path), "/proc/self/task/%s/status", number);
    sum->switches += find(path, "voluntary_ctxt_switches:");
    sum->switches += find(path, "nonvoluntary_ctxt_switches:");
    snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", number);
    sum->cpu_ns += (int64_t)find(path, "");
}

struct thread_counts process_other_threads(void) {
    struct thread_counts sum = { 0 };
    DIR *folder = opendir("/proc/self/task");
    if (folder == NULL)
        report_failure("/proc/self/task: %s", strerror(errno));
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != getpid())
            add_thread(&sum, entry->d_name);
    closedir(folder);
    return sum;
}
