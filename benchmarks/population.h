/* SPDX-License-Identifier: MIT */
/* population.h - the objects in which the timers of a run lie (bench.h shows one). */
#ifndef HTW_BENCH_POPULATION_H
#define HTW_BENCH_POPULATION_H

#include "bench.h"

struct population {
    char *objects;
    size_t count;
    size_t stride; /* bytes from one object to the next */
};

/* Makes `count` objects; false when there is no memory. They are zeroed and written to, so
 * that no page is touched for the first time while something is measured. They do not come
 * from malloc, so that its figures tell of the implementation alone. */
bool population_init(struct population *population, size_t count, size_t timer_size);
void population_fini(struct population *population);

static inline void *population_timer(const struct population *population, size_t index) {
    return population->objects + index * population->stride + sizeof(struct bench_record);
}

#endif /* HTW_BENCH_POPULATION_H */
