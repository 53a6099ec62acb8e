/* SPDX-License-Identifier: MIT */
/*
 * lone_file.h - what is the same in each disk in memory: the methods of a file of SQLite that one process has open once. There
 * is nobody to lock it against, or to share memory with.
 */
#ifndef TESTS_SUPPORT_LONE_FILE_H
#define TESTS_SUPPORT_LONE_FILE_H

#include <sqlite3.h>

#define LONE_FILE_SECTOR 512

/* Those methods; to read, write, truncate, sync, size and control is left to the disk. */
extern const sqlite3_io_methods lone_file_methods;

/* As xFullPathname of a disk: there are no folders. */
int lone_file_name(sqlite3_vfs *vfs, const char *path, int size, char *ret_name);

/* Reads from `there` bytes, behind which nothing is. */
int lone_file_read(const unsigned char *bytes, sqlite3_int64 there, void *to, int size,
                   sqlite3_int64 offset);

/* Forgets the memory that SQLite would share, as an end of the process does. */
void lone_file_forget(void);

#endif /* TESTS_SUPPORT_LONE_FILE_H */
