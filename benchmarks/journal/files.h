/* SPDX-License-Identifier: MIT */
/* files.h - the files in the working directory: their sizes, and whether they are in memory. */
#ifndef BENCH_JOURNAL_FILES_H
#define BENCH_JOURNAL_FILES_H

#include <stdint.h>

/* The sizes of all files whose path begins so, in folders, too. */
uint64_t files_total(const char *prefix);

/* Reads all files, so that they are in the page cache. */
void files_warm(void);

/* Drops all files from the page cache. Returns the percentage that stayed. */
double files_evict(void);

#endif
