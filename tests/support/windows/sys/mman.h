/* SPDX-License-Identifier: MIT */
/* mman.h - pages of memory that can be made unreadable, and are unmapped as a whole. */
#ifndef TESTS_WINDOWS_MMAN_H
#define TESTS_WINDOWS_MMAN_H

#include <stddef.h>

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_PRIVATE 0
#define MAP_ANONYMOUS 0
#define MAP_FAILED NULL

void *mmap(void *address, size_t size, int protection, int flags, int fd, long offset);
int mprotect(void *memory, size_t size, int protection);
int munmap(void *memory, size_t size);

#endif /* TESTS_WINDOWS_MMAN_H */
