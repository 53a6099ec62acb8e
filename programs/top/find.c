/* SPDX-License-Identifier: MIT */
/* find.c - looks for the sockets of monitors. */
#include "find.h"

#include "fetch.h"
#include "snapshot.h"

#include <htw/monitor.h>

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a monitor answers there; prints a line about it. */
static bool is_watchable(const char *path, FILE *stream) {
    struct htw__fetch fetch = HTW__FETCH_INIT;
    struct htw__top_snapshot snapshot = { 0 };
    bool answers = htw__fetch_all(&fetch, path, "json") == 0 &&
                   htw__top_snapshot_read(fetch.bytes, fetch.size, &snapshot) == NULL;
    if (answers && stream != NULL)
        fprintf(stream, "%8" PRId64 "  %-16s  %s\n", snapshot.pid, snapshot.program, path);
    htw__top_snapshot_free(&snapshot);
    htw__fetch_end(&fetch);
    return answers;
}

int htw__find_all(char path[HTW__FIND_PATH_MAX], FILE *stream) {
    char folder[HTW__FIND_PATH_MAX], candidate[HTW__FIND_PATH_MAX];
    struct stat status;
    int error = htw_monitor_folder(folder, sizeof(folder));
    int count = 0;
    if (error == 0 && stat(folder, &status) == 0 && status.st_uid != geteuid())
        return -EACCES; /* what is in it may be anything */
    DIR *entries = error == 0 ? opendir(folder) : NULL;
    if (entries == NULL)
        return error != 0 ? error : errno == ENOENT ? 0 : -errno;
    struct dirent *entry;
    while ((entry = readdir(entries)) != NULL) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".sock") != 0)
            continue;
        int size = snprintf(candidate, sizeof(candidate), "%s/%s", folder, entry->d_name);
        if (size < (int)sizeof(candidate) && is_watchable(candidate, stream)) {
            memcpy(path, candidate, (size_t)size + 1);
            count++;
        }
    }
    closedir(entries);
    return count;
}
