/* SPDX-License-Identifier: MIT */
/* process.h - what the process of a test has, and may have. */
#ifndef TESTS_PROCESS_H
#define TESTS_PROCESS_H

#include <dirent.h>
#include <stdlib.h>
#include <sys/resource.h>

/** How many entries a folder has, such as those of /proc/self. */
static inline unsigned entries_of(const char *folder) {
    DIR *entries = opendir(folder);
    unsigned count = 0;
    if (entries == NULL)
        abort();
    while (readdir(entries) != NULL)
        count++;
    closedir(entries);
    return count;
}

/** Limits the descriptors, and returns the limit before. Only the soft one, which can be raised again. */
static inline rlim_t limit_descriptors(rlim_t most) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        abort();
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = most;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        abort();
    return before;
}

#endif /* TESTS_PROCESS_H */
