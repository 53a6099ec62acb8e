/* SPDX-License-Identifier: MIT */
/* path.c - which socket an argument means. */
#include "path.h"

#include "../kit/count.h"

#include <htw/monitor.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder for another user than this one. */
static int folder_of(uid_t uid, char *folder, size_t size) {
    struct stat status;
    if (uid == geteuid())
        return htw_monitor_folder(folder, size);
    snprintf(folder, size, "/run/user/%lu/htw", (unsigned long)uid);
    if (stat(folder, &status) != 0)
        snprintf(folder, size, "/tmp/htw-%lu", (unsigned long)uid);
    return 0;
}

int htw__find_path(const char *argument, char path[HTW__FIND_PATH_MAX]) {
    uint64_t pid;
    char process[48], folder[HTW__FIND_PATH_MAX];
    struct stat status;
    if (!htw__count_parse(argument, &pid)) {
        int length = snprintf(path, HTW__FIND_PATH_MAX, "%s", argument);
        return length < HTW__FIND_PATH_MAX ? 0 : -ENAMETOOLONG;
    }
    snprintf(process, sizeof(process), "/proc/%" PRIu64, pid);
    int error =
        folder_of(stat(process, &status) == 0 ? status.st_uid : geteuid(), folder, sizeof(folder));
    int length = snprintf(path, HTW__FIND_PATH_MAX, "%s/%" PRIu64 ".sock", folder, pid);
    return error != 0 || length >= HTW__FIND_PATH_MAX ? -ENAMETOOLONG : 0;
}
