/* SPDX-License-Identifier: MIT */
/* lone_file.c - a file of SQLite that nobody else has open. */
#include "lone_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGIONS 64

static void *regions[REGIONS]; /* of the memory that connections share: of the one database */

void lone_file_forget(void) {
    for (int i = 0; i < REGIONS; i++) {
        free(regions[i]);
        regions[i] = NULL;
    }
}

int lone_file_close(sqlite3_file *file) {
    (void)file;
    return SQLITE_OK;
}

int lone_file_lock(sqlite3_file *file, int level) {
    (void)file, (void)level;
    return SQLITE_OK;
}

int lone_file_is_reserved(sqlite3_file *file, int *ret_is) {
    (void)file;
    *ret_is = 0;
    return SQLITE_OK;
}

int lone_file_sector_size(sqlite3_file *file) {
    (void)file;
    return LONE_FILE_SECTOR;
}

int lone_file_characteristics(sqlite3_file *file) {
    (void)file;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

int lone_file_map(sqlite3_file *file, int region, int size, int extend, void volatile **memory) {
    (void)file;
    if (region >= REGIONS)
        return SQLITE_IOERR_SHMMAP;
    if (regions[region] == NULL && extend)
        regions[region] = calloc(1, (size_t)size);
    *memory = regions[region];
    return SQLITE_OK;
}

int lone_file_lock_shared(sqlite3_file *file, int offset, int count, int flags) {
    (void)file, (void)offset, (void)count, (void)flags;
    return SQLITE_OK;
}

void lone_file_order_shared(sqlite3_file *file) {
    (void)file;
}

int lone_file_unmap(sqlite3_file *file, int removes) {
    (void)file, (void)removes;
    lone_file_forget();
    return SQLITE_OK;
}

int lone_file_name(sqlite3_vfs *vfs, const char *path, int size, char *ret_name) {
    (void)vfs;
    snprintf(ret_name, (size_t)size, "%s", path);
    return SQLITE_OK;
}

int lone_file_read(const unsigned char *bytes, sqlite3_int64 there, void *to, int size,
                   sqlite3_int64 offset) {
    there = there < offset ? 0 : there - offset < size ? there - offset : size;
    if (there > 0)
        memcpy(to, bytes + offset, (size_t)there);
    memset((char *)to + there, 0, (size_t)(size - there));
    return there == size ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}
