/* SPDX-License-Identifier: MIT */
/* test_random - seeds for hashes, also while the kernel has no entropy. */
#include "../../../src/base/random.h"

#include "../unit.h"

#include <stdbool.h>
#ifndef HTW_PORTABLE
#include <sys/random.h>
#else
#include <unistd.h>
#endif

static bool has_entropy;

static ssize_t answer(void *buffer, size_t size) {
    if (!has_entropy) {
        errno = EAGAIN;
        return -1;
    }
    memset(buffer, 0x5a, size);
    return (ssize_t)size;
}

/* The kernel's part. */
#ifndef HTW_PORTABLE
static unsigned seen_flags;

ssize_t __wrap_getrandom(void *buffer, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *buffer, size_t size, unsigned flags) {
    seen_flags = flags;
    return answer(buffer, size);
}
#else
ssize_t __wrap_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size) {
    (void)fd;
    return answer(buffer, size);
}
#endif

UNIT_TEST(seed_comes_from_the_kernel_without_waiting) {
    has_entropy = true;
    assert_true(htw__random_seed(NULL) == UINT64_C(0x5a5a5a5a5a5a5a5a));
#ifndef HTW_PORTABLE
    assert_int_equal(seen_flags, GRND_NONBLOCK);
#endif
}

UNIT_TEST(seed_without_entropy_differs_by_owner) {
    static char owners[2];
    has_entropy = false;
    assert_true(htw__random_seed(&owners[0]) != htw__random_seed(&owners[1]));
    assert_true(htw__random_seed(&owners[0]) == htw__random_seed(&owners[0]));
}
