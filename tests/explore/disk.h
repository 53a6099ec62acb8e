/* SPDX-License-Identifier: MIT */
/*
 * disk.h - the disk of the machine: a file system in memory, for SQLite a VFS, for the library the calls that it makes itself
 * (the linker's --wrap).
 *
 * A file has two images: what programs read, and what a power cut leaves for sure. A sync copies the first one to the
 * second, sector by sector; at a power cut each other sector is either what it was or what was written. A sector whose sync
 * has failed stays in doubt until it is written again, as with a kernel that drops pages after an error. The names of files
 * are durable at once. One process has them open.
 */
#ifndef TESTS_EXPLORE_DISK_H
#define TESTS_EXPLORE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISK_PATH "/simulated/journal"

/* Once, in memory that forked processes share. */
void disk_init(void);

/* Otherwise the disk cannot be made, and the program ends. */
void disk_require(bool condition);

/* Makes it SQLite's disk, in this process. */
void disk_register(void);

/* Forgets the memory that SQLite would share, as an end of the process does. */
void disk_forget_shared(void);

/* Whether a power cut would leave these bytes somewhere in the files. */
bool disk_is_durable(const void *bytes, size_t size);

/* The bytes of all files. */
uint64_t disk_bytes(void);

/* Notes what a power cut would leave now. `keeps` is asked of each file whether its size is that of now (`sector` -1), and of
   each sector that was not synced whether it was written. */
struct disk_image;
struct disk_image *disk_image_create(void);
void disk_keep(struct disk_image *image, bool (*keeps)(unsigned file, int64_t sector));

/* The files are what was kept, and synced. */
void disk_restore(const struct disk_image *image);

/* ---- by who plays it */

enum disk_operation {
    DISK_READ,
    DISK_WRITE,
    DISK_TRUNCATE,
    DISK_DELETE,
    DISK_SYNC,
    DISK_SYNC_FOLDER
};
enum disk_outcome {
    DISK_WORKS,
    DISK_FAILS,
    DISK_TEARS, /* a write fails after a part, or after all of it */
    DISK_IS_FULL,
};

/* An operation begins, on the database or on another file: how it will end. */
enum disk_outcome disk_begin(enum disk_operation operation, bool is_database);

/* A number below `bound`. */
uint64_t disk_draw(uint64_t bound);

#endif /* TESTS_EXPLORE_DISK_H */
