/* SPDX-License-Identifier: MIT */
/*
 * lone_file.h - what is the same in each disk in memory: the methods of a file of SQLite that one process has open once. There
 * is nobody to lock it against, or to share memory with.
 */
#ifndef TESTS_SUPPORT_LONE_FILE_H
#define TESTS_SUPPORT_LONE_FILE_H

#include <sqlite3.h>

#define LONE_FILE_SECTOR 512

/* Those methods, with the ones of a disk. */
#define LONE_FILE_METHODS(read, write, truncate, sync, size, control)                            \
    {                                                                                            \
        2, lone_file_close, read, write, truncate, sync, size, lone_file_lock, lone_file_lock,   \
            lone_file_is_reserved, control, lone_file_sector_size, lone_file_characteristics,    \
            lone_file_map, lone_file_lock_shared, lone_file_order_shared, lone_file_unmap, NULL, \
            NULL                                                                                 \
    }

int lone_file_close(sqlite3_file *file);
int lone_file_lock(sqlite3_file *file, int level);
int lone_file_is_reserved(sqlite3_file *file, int *ret_is);
int lone_file_sector_size(sqlite3_file *file);
int lone_file_characteristics(sqlite3_file *file);
int lone_file_map(sqlite3_file *file, int region, int size, int extend, void volatile **memory);
int lone_file_lock_shared(sqlite3_file *file, int offset, int count, int flags);
void lone_file_order_shared(sqlite3_file *file);
int lone_file_unmap(sqlite3_file *file, int removes);

/* As xFullPathname of a disk: there are no folders. */
int lone_file_name(sqlite3_vfs *vfs, const char *path, int size, char *ret_name);

/* Reads from `there` bytes, behind which nothing is. */
int lone_file_read(const unsigned char *bytes, sqlite3_int64 there, void *to, int size,
                   sqlite3_int64 offset);

/* Forgets the memory that SQLite would share, as an end of the process does. */
void lone_file_forget(void);

#endif /* TESTS_SUPPORT_LONE_FILE_H */
