/* SPDX-License-Identifier: MIT */
/* world.c - chance, the digest, and deadlines. */
#include "world.h"

#include "../explore/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct world *world;
int64_t stopped_until_ns, failed_until_ns;

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

void note(const char *what, uint64_t number, int64_t result) {
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

/* ---- deadlines */

static int64_t ahead_ns(void) {
    return machine_wall_ns() - machine_now_ns();
}

struct due due_at(int64_t deadline_ns, bool is_wall) {
    int64_t now_ns = machine_now_ns();
    int64_t at_ns = is_wall ? deadline_ns - ahead_ns() : deadline_ns;
    return (struct due) { .deadline_ns = deadline_ns,
                          .is_wall = is_wall,
                          .at_ns = at_ns < now_ns ? now_ns : at_ns };
}

void due_follow(struct due *due, int64_t ahead_before_ns) {
    if (!due->is_wall)
        return;
    int64_t now_ns = machine_now_ns();
    bool was_due = due->deadline_ns - ahead_before_ns <= now_ns;
    int64_t at_ns = due->deadline_ns - ahead_ns();
    due->was_reached = due->was_reached || was_due;
    if (!was_due || at_ns > now_ns)
        due->at_ns = at_ns < now_ns ? now_ns : at_ns;
}

void due_require_reached(const struct due *due) {
    REQUIRE(due->was_reached || machine_now_ns() >= due->at_ns);
}

int64_t due_late_ns(const struct due *due, bool minds_failures) {
    int64_t from_ns = due->at_ns > stopped_until_ns ? due->at_ns : stopped_until_ns;
    if (minds_failures && failed_until_ns > from_ns)
        from_ns = failed_until_ns;
    return machine_now_ns() - from_ns;
}
