/* SPDX-License-Identifier: MIT */
/* find.c - which socket an argument means, and the sockets of monitors. */
#include "find.h"

#include "../kit/count.h"
#include "answer.h"
#include "fetch.h"

#include <htw/monitor.h>

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
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

/* Whether a monitor answers there; prints a line about it. */
static bool is_watchable(const char *path, FILE *stream) {
    struct htw__fetch fetch = { NULL, 0 };
    json_t *answer = NULL;
    char program[HTW__ANSWER_TEXT_SIZE];
    bool answers = htw__fetch_ask(&fetch, path, "json", NULL) == 0 &&
                   htw__answer_read(fetch.bytes, fetch.size, &answer) == NULL;
    if (answers && stream != NULL)
        fprintf(stream, "%8" PRIu64 "  %-16s  %s\n", htw__answer_number(answer, "pid"),
                htw__answer_text(answer, "program", program), path);
    json_decref(answer);
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
