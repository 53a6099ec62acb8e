/* SPDX-License-Identifier: MIT */
/* files.c - sizes of files, and the page cache. */
#include "files.h"

#include "../common/report.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096

/* nftw() passes no argument. */
static const char *wanted;
static uint64_t total_bytes;
static uint64_t pages, pages_resident;

static int visit(const char *path, const struct stat *found, int type, struct FTW *place) {
    (void)place;
    if (type == FTW_F && S_ISREG(found->st_mode) &&
        strncmp(path + 2, wanted, strlen(wanted)) == 0) /* after "./" */
        total_bytes += (uint64_t)found->st_size;
    return 0;
}

static void walk(__nftw_func_t visitor) {
    if (nftw(".", visitor, 16, FTW_PHYS) != 0)
        report_failure("nftw: %s", strerror(errno));
}

uint64_t files_total(const char *prefix) {
    wanted = prefix;
    total_bytes = 0;
    walk(visit);
    return total_bytes;
}

static int warm(const char *path, const struct stat *found, int type, struct FTW *place) {
    (void)place;
    static char buffer[1 << 16];
    int file = type == FTW_F && S_ISREG(found->st_mode) ? open(path, O_RDONLY) : -1;
    if (file < 0)
        return 0;
    while (read(file, buffer, sizeof(buffer)) > 0)
        ;
    close(file);
    return 0;
}

void files_warm(void) {
    walk(warm);
}

static void count_resident(int file, size_t size) {
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    size_t count = (size + PAGE - 1) / PAGE;
    unsigned char *is_resident = malloc(count);
    if (map == MAP_FAILED || is_resident == NULL || mincore(map, size, is_resident) != 0)
        report_failure("mincore: %s", strerror(errno));
    for (size_t i = 0; i < count; i++)
        pages_resident += is_resident[i] & 1;
    pages += count;
    free(is_resident);
    munmap(map, size);
}

static int evict(const char *path, const struct stat *found, int type, struct FTW *place) {
    (void)place;
    int file =
        type == FTW_F && S_ISREG(found->st_mode) && found->st_size > 0 ? open(path, O_RDONLY) : -1;
    if (file < 0)
        return 0;
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    count_resident(file, (size_t)found->st_size);
    close(file);
    return 0;
}

double files_evict(void) {
    sync(); /* what is not on the disk stays in memory */
    pages = pages_resident = 0;
    walk(evict);
    return pages == 0 ? 0 : 100.0 * (double)pages_resident / (double)pages;
}
