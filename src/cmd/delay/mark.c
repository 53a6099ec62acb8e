/* SPDX-License-Identifier: MIT */
/* mark.c - how far the input files were read, as the mark of a journal. */
#include "mark.h"

#include "../../base/key_table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD "htw-delay 1\n"

/* As much of a file's beginning, and of what stands before a place in it, as recognises it. */
#define RECOGNISED 4096

/* Adds the bytes from `from` to `to`, at most RECOGNISED, to a hash, which is 0 before any: the mark is
   kept for later runs, so its hashes have no secret seed, and no table is built on them. False: the file
   does not have so many. */
static bool hash_part(int fd, uint64_t from, uint64_t to, uint64_t *hash) {
    char bytes[RECOGNISED];
    size_t size = 0;
    while (from + size < to) {
        ssize_t read_now =
            pread(fd, bytes + size, (size_t)(to - from) - size, (off_t)(from + size));
        if (read_now < 0 && errno == EINTR)
            continue;
        if (read_now <= 0)
            return false;
        size += (size_t)read_now;
    }
    if (size > 0)
        *hash = htw__key_hash(bytes, size, *hash);
    return true;
}

static bool hash_before(int fd, uint64_t offset, uint64_t *ret_hash) {
    *ret_hash = 0;
    return hash_part(fd, 0, offset < RECOGNISED ? offset : RECOGNISED, ret_hash) &&
           hash_part(fd, offset < RECOGNISED ? 0 : offset - RECOGNISED, offset, ret_hash);
}

bool htw__mark_init(struct htw__mark *mark, const char *text, size_t size) {
    char line[HTW__MARK_SIZE];
    *mark = (struct htw__mark) { .fd = -1 };
    if (size == 0)
        return true;
    if (size < strlen(HEAD) || size >= sizeof(line) || memcmp(text, HEAD, strlen(HEAD)) != 0)
        return false;
    memcpy(line, text, size);
    line[size] = '\0';
    int used = (int)strlen(HEAD);
    for (const char *at = line + used; *at != '\0'; at += used) {
        if (mark->count == HTW__MARK_FILES)
            return false;
        struct htw__mark_file *file = &mark->files[mark->count++];
        /* NOLINTNEXTLINE(cert-err34-c): htw__mark_format() wrote numbers that fit */
        if (sscanf(at, "%" SCNu64 " %" SCNu64 " %" SCNx64 " %" SCNx64 "\n%n", &file->place.offset,
                   &file->place.records, &file->before, &file->name, &used) != 4)
            return false;
    }
    return true;
}

void htw__mark_fini(struct htw__mark *mark) {
    if (mark->fd >= 0)
        close(mark->fd);
    mark->fd = -1;
}

/* What stands before the place of the file that is being read. */
static void recognise(struct htw__mark *mark) {
    if (mark->fd >= 0)
        (void)hash_before(mark->fd, mark->files[0].place.offset, &mark->files[0].before);
}

size_t htw__mark_format(struct htw__mark *mark, char text[HTW__MARK_SIZE]) {
    recognise(mark);
    int size = snprintf(text, HTW__MARK_SIZE, HEAD);
    for (size_t i = 0; i < mark->count; i++) {
        const struct htw__mark_file *file = &mark->files[i];
        size += snprintf(text + size, HTW__MARK_SIZE - (size_t)size,
                         "%" PRIu64 " %" PRIu64 " %016" PRIx64 " %016" PRIx64 "\n",
                         file->place.offset, file->place.records, file->before, file->name);
    }
    return (size_t)size;
}

/* The name of an open file, without symbolic links. */
static bool hash_name(int fd, uint64_t *ret_hash) {
    char link[32], name[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, name, sizeof(name));
    *ret_hash = size > 0 ? htw__key_hash(name, (size_t)size, 0) : 0;
    return size > 0;
}

/* Moves the entry of the file to the front; it is new if there is none. */
static bool find(struct htw__mark *mark, uint64_t name) {
    size_t i = 0;
    while (i < mark->count && mark->files[i].name != name)
        i++;
    bool is_known = i < mark->count;
    struct htw__mark_file file = { .name = name };
    if (is_known)
        file = mark->files[i];
    else if (mark->count < HTW__MARK_FILES)
        mark->count++;
    else
        i--;
    memmove(mark->files + 1, mark->files, i * sizeof(file));
    mark->files[0] = file;
    return is_known;
}

const char *htw__mark_begin(struct htw__mark *mark, int fd, bool rereads,
                            struct htw__input_place *place) {
    struct stat status;
    uint64_t name, before;
    recognise(mark);
    htw__mark_fini(mark);
    if (fstat(fd, &status) != 0)
        return strerror(errno);
    if (!S_ISREG(status.st_mode))
        return NULL;
    off_t offset = lseek(fd, 0, SEEK_CUR);
    if (offset < 0 || !hash_name(fd, &name))
        return "cannot find the name of the file in /proc";
    place->offset = (uint64_t)offset;
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, fd);
    if (copy < 0)
        return strerror(errno);
    struct htw__mark_file *file = &mark->files[0];
    if (find(mark, name) && !rereads) {
        bool is_same = hash_before(copy, file->place.offset, &before) && before == file->before;
        if (is_same && lseek(fd, (off_t)file->place.offset, SEEK_SET) < 0)
            is_same = false;
        if (!is_same) {
            close(copy);
            return "is not the file any more of which the journal has read a part; --reread reads "
                   "it from its start";
        }
        *place = file->place;
    }
    file->place = *place;
    mark->fd = copy;
    return NULL;
}

void htw__mark_move(struct htw__mark *mark, struct htw__input_place place) {
    if (mark->fd >= 0)
        mark->files[0].place = place;
}
