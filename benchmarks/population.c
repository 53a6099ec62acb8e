/* SPDX-License-Identifier: MIT */
#include "population.h"

#include <string.h>
#include <sys/mman.h>

#define CACHE_LINE 64u

bool population_init(struct population *population, size_t count, size_t timer_size) {
    size_t object = sizeof(struct bench_record) + timer_size;
    population->stride = (object + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    population->count = count;
    if (count > SIZE_MAX / population->stride)
        return false;
    void *objects = mmap(NULL, count * population->stride, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (objects == MAP_FAILED)
        return false;
    memset(objects, 0, count * population->stride);
    population->objects = objects;
    return true;
}

void population_fini(struct population *population) {
    munmap(population->objects, population->count * population->stride);
    population->objects = NULL;
}
