/* SPDX-License-Identifier: MIT */
/* world.c - chance, the digest, and deadlines. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct world *world;
int64_t stopped_until_ns, stopped_for_ns, failed_until_ns, clock_set_ns;

void world_init(uint64_t seed) {
    world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (world == MAP_FAILED) {
        perror("simulate: mmap");
        exit(1);
    }
    world->random.state = seed;
    world->wall_ns = INT64_C(1600000000) * HTW_SECOND;
}

int64_t chance_ns(int64_t mean_ns) {
    int64_t most_ns = mean_ns * 16;
    for (int i = 0; i < 5 && !chance_one_in(3); i++)
        most_ns /= 4;
    return 1 + (int64_t)chance_below((uint64_t)most_ns);
}

static void mix(uint64_t number) {
    world->digest = (world->digest ^ number) * UINT64_C(0x100000001b3);
    world->digest ^= world->digest >> 29;
}

static void count(const char *what) {
    unsigned i = 0;
    while (world->counts.events[i].what != what && world->counts.events[i].what != NULL)
        i++;
    REQUIRE(i + 1 < EVENTS);
    world->counts.events[i].what = what;
    world->counts.events[i].count++;
}

void stage_note(const char *what, uint64_t number, int64_t result) {
    count(what);
    unsigned thread = machine_self == NULL ? 0 : machine_self->number;
    int64_t now_ns = machine_now_ns();
    for (const char *at = what; *at != '\0'; at++)
        mix((unsigned char)*at);
    mix(number);
    mix((uint64_t)result);
    mix((uint64_t)now_ns);
    mix(thread);
    if (world->tells)
        printf("%4u %16.9f  thread %2u  %-22s %8llu %lld\n", world->life, (double)now_ns / 1e9,
               thread, what, (unsigned long long)number, (long long)result);
}

struct random_source *stage_random(void) {
    return &world->random;
}

/* How late something may be where no thread was stopped. */
#define LATE_NS (250 * HTW_MILLISECOND)

void stage_require_in_time(enum htw_clock clock, int64_t deadline_ns) {
    bool is_wall = clock == HTW_CLOCK_REALTIME;
    int64_t from_ns = is_wall ? deadline_ns - (machine_wall_ns() - machine_now_ns()) : deadline_ns;
    if (is_wall && from_ns < clock_set_ns)
        from_ns = clock_set_ns;
    /* A call may have waited for a lock of the stopped thread before it read the clock. */
    if (from_ns < stopped_until_ns + stopped_for_ns)
        from_ns += stopped_for_ns;
    if (from_ns < stopped_until_ns)
        from_ns = stopped_until_ns;
    int64_t late_ns = machine_now_ns() - from_ns;
    if (late_ns > world->counts.late_ns)
        world->counts.late_ns = late_ns;
    if (late_ns > LATE_NS)
        machine_fail("what was due at %.9f s by clock %d is late, or lost",
                     (double)deadline_ns / 1e9, clock);
}

#define LOST_NS (2 * HTW_SECOND)

bool stage_is_late(int64_t due_ns) {
    int64_t from_ns = stopped_until_ns > failed_until_ns ? stopped_until_ns : failed_until_ns;
    return machine_now_ns() - (from_ns > due_ns ? from_ns : due_ns) > LOST_NS;
}

int64_t stage_now_ns(enum htw_clock clock) {
    return clock == HTW_CLOCK_REALTIME ? machine_wall_ns() : machine_now_ns();
}
