/* SPDX-License-Identifier: MIT */
/*
 * disk.h - the disk of the world: a file system in memory, for SQLite a VFS, for the library the calls that it makes
 * itself.
 *
 * A file has two images: what programs read, and what a power cut leaves for sure. A sync copies the first one to
 * the second, sector by sector; at a power cut each other sector is either what it was or what was written. A sector
 * whose sync has failed stays in doubt until it is written again, as with a kernel that drops pages after an error.
 * The names of files are durable at once.
 *
 * Operations take virtual time, in which other threads run. While the disk is ill, they fail in one of several ways.
 */
#ifndef TESTS_SIMULATE_DISK_H
#define TESTS_SIMULATE_DISK_H

#include <stdbool.h>
#include <stdint.h>

#define DISK_PATH "/simulated/journal"

/* Before the first life. */
void disk_init(void);

/* At the begin of a life: SQLite uses it. */
void disk_begin(void);

/* Faults happen from now on, or not any more. */
void disk_set_faults(bool are_on);

/* Whether the disk was full at any time since then. */
bool disk_was_full_since(int64_t from_ns);

/* What a power cut leaves. */
void disk_cut(void);

/* The bytes of all files. */
uint64_t disk_bytes(void);

#endif /* TESTS_SIMULATE_DISK_H */
