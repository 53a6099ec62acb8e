/* SPDX-License-Identifier: MIT */
/* random.c - seeds for hashes. */
#include "random.h"

#include <stdbool.h>
#ifndef HTW_PORTABLE
#include <sys/random.h>

static bool read_random(uint64_t *ret_number) {
    return getrandom(ret_number, sizeof(*ret_number), GRND_NONBLOCK) == sizeof(*ret_number);
}
#else
#include <fcntl.h>
#include <unistd.h>

static bool read_random(uint64_t *ret_number) {
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool done = read(fd, ret_number, sizeof(*ret_number)) == sizeof(*ret_number);
    close(fd);
    return done;
}
#endif

uint64_t htw__random_seed(const void *owner) {
    uint64_t seed;
    if (!read_random(&seed))
        seed = htw__random_mix((uint64_t)(uintptr_t)owner * HTW__RANDOM_STEP);
    return seed;
}
