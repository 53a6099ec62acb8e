/* SPDX-License-Identifier: MIT */
/* test_cpu - the number of CPUs, whatever the system says. */
#include "../../../src/port/system.h"

#include "../unit.h"

#include <unistd.h>

long __real_sysconf(int name);
long __wrap_sysconf(int name);

static long online;

long __wrap_sysconf(int name) {
    return name == _SC_NPROCESSORS_ONLN ? online : __real_sysconf(name);
}

UNIT_TEST(cpu_count_is_at_least_one_and_at_most_the_limit) {
    static const struct {
        long online;
        uint32_t max, count;
    } cases[] = { { -1, 8, 1 }, { 0, 8, 1 }, { 1, 8, 1 },         { 7, 8, 7 },
                  { 8, 8, 8 },  { 9, 8, 8 }, { INT32_MAX, 8, 8 }, { 3, 1, 1 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        online = cases[i].online;
        assert_int_equal(htw__cpu_count(cases[i].max), cases[i].count);
    }
}
