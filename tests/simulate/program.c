/* SPDX-License-Identifier: MIT */
/* program.c - a life from its begin to its end. */
#include "program.h"

#include "../explore/disk.h"
#include "../stage/scenes.h"
#include "faults.h"
#include "threads.h"
#include "world.h"

#include <errno.h>
#include <pthread.h>

enum { CLIENTS = 2, BYTES_MAX = 4 << 20 };
#define PAUSE_NS (20 * HTW_MILLISECOND) /* of a client, on average */
#define MEET_NS (50 * HTW_MILLISECOND)
#define LIFE_NS (15 * HTW_SECOND)
#define STEP_EVERY 400u /* calls of a client: then the wall clock is set */
#define QUIET_NS (2 * HTW_HOUR)

static struct htw_scheduler *scheduler;
static bool is_ending;

bool stage_excuses(int result) {
    return result == -ENOMEM || result == -ENOSPC || result == -EAGAIN ||
           (result == -ESHUTDOWN && is_ending);
}

/* ---- clients */

static void set_clock(void) {
    static const int64_t most_ns[] = { 10 * HTW_MILLISECOND, 10 * HTW_SECOND, HTW_HOUR };
    int64_t delta_ns = (int64_t)chance_below((uint64_t)most_ns[chance_below(3)]);
    int64_t before_ns = machine_wall_ns() - machine_now_ns();
    if (chance_one_in(2))
        delta_ns = -delta_ns;
    explore_set_wall_ns(machine_wall_ns() + delta_ns);
    world->wall_ns += delta_ns;
    clock_set_ns = machine_now_ns();
    jobs_follow(before_ns);
    stage_note("sets the clock", 0, delta_ns);
}

static void act(unsigned client) {
    uint64_t kind = chance_below(8);
    if (kind < 4)
        timers_act(client);
    else if (kind < 7)
        requests_act();
    else
        jobs_act();
    if (chance_one_in(STEP_EVERY))
        set_clock();
}

/* Half of the time until a moment at which others begin, too. */
static void rest(void) {
    int64_t delay_ns = chance_ns(PAUSE_NS);
    if (chance_one_in(2))
        delay_ns = MEET_NS - (machine_now_ns() + delay_ns) % MEET_NS + delay_ns;
    stage_sleep_ns(delay_ns);
}

static void *use(void *number) {
    unsigned client = (unsigned)(uintptr_t)number;
    explore_set_cpu((int)chance_below(2));
    while (!is_ending) {
        act(client);
        rest();
    }
    return NULL;
}

/* ---- the life */

static uint32_t create_scheduler(void) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    static const uint32_t sizes[] = { 4, 16, 64, 256 };
    options.allocator = &stage_allocator;
    options.shards = 1 + (uint32_t)chance_below(2);
    options.expirers = 1 + (uint32_t)chance_below(options.shards);
    options.workers = 1 + (uint32_t)chance_below(3);
    options.wheel_size = sizes[chance_below(4)];
    int error;
    while ((error = htw_scheduler_create(&scheduler, &options)) != 0) {
        REQUIRE(stage_excuses(error));
        stage_sleep_ns(10 * HTW_MILLISECOND);
    }
    return options.workers;
}

static void judge(void) {
    for (unsigned i = 0; i < CLIENTS; i++)
        timers_judge(i);
    requests_judge();
    jobs_judge();
    REQUIRE(memory_bytes() < BYTES_MAX);
}

static void watch_until(int64_t until_ns) {
    while (machine_now_ns() < until_ns) {
        stage_sleep_ns(HTW_SECOND);
        judge();
    }
}

/* The last life: all that is due is delivered, and ends, within a day of the wall clock. */
static void watch_the_end(void) {
    int64_t until_ns = machine_now_ns() + QUIET_NS;
    while (jobs_remain()) {
        stage_sleep_ns(HTW_SECOND);
        judge();
        REQUIRE(machine_now_ns() < until_ns);
    }
}

static void close_all(pthread_t clients[], unsigned count) {
    is_ending = true;
    for (unsigned i = 0; i < count; i++)
        pthread_join(clients[i], NULL);
    if (!world->is_quiet) {
        threads_set_faults(false);
        stage_sleep_ns(
            (stopped_until_ns > machine_now_ns() ? stopped_until_ns - machine_now_ns() : 0) +
            HTW_SECOND);
        requests_judge_items();
        threads_set_faults(true);
    }
    jobs_close();
    requests_end();
    REQUIRE(htw_scheduler_stop(scheduler, timers_take_back, NULL) == 0);
    timers_close();
    REQUIRE(htw_scheduler_destroy(scheduler) == 0);
    REQUIRE(memory_bytes() == 0);
    stage_note("is closed", 0, 0);
}

void program_live(void) {
    pthread_t clients[CLIENTS];
    unsigned count = world->is_quiet ? 0 : CLIENTS;
    threads_begin();
    explore_set_wall_ns(world->wall_ns);
    int64_t end_ns = machine_now_ns() + chance_ns(LIFE_NS);
    threads_set_faults(!world->is_quiet);
    faults_set(!world->is_quiet);
    if (world->ending != ENDS_CLEANLY)
        threads_crash_after(end_ns);
    uint32_t workers = create_scheduler();
    timers_open(scheduler, workers, false);
    requests_open(scheduler, 1u << chance_below(3), chance_one_in(2));
    jobs = (struct jobs) { .scheduler = scheduler,
                           .path = DISK_PATH,
                           .workers = workers,
                           .far_ns = 5 * HTW_MINUTE,
                           .ends_all = world->is_quiet };
    jobs_open();
    for (unsigned i = 0; i < count; i++)
        REQUIRE(pthread_create(&clients[i], NULL, use, (void *)(uintptr_t)i) == 0);
    if (world->is_quiet)
        watch_the_end();
    else
        watch_until(world->ending == ENDS_CLEANLY ? end_ns : MACHINE_NEVER);
    close_all(clients, count);
    world->wall_ns = machine_wall_ns();
}
