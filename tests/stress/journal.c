/* SPDX-License-Identifier: MIT */
/*
 * journal.c - a process whose threads use a journal as in ../stage/jobs.c is killed, again and again. The last one is left
 * alone until no job is left.
 */
#include "stress.h"

#include "../support/child.h"
#include "../support/test_folder.h"

#include <signal.h>
#include <stdio.h>

enum { THREADS = 3, WORKERS = 3 };
#define LIFE_NS (250 * HTW_MILLISECOND)
#define PAUSE_NS (10 * HTW_MILLISECOND)

static char path[TEST_FOLDER_SIZE + 16];

static void act(unsigned number) {
    (void)number;
    for (;;) {
        jobs_act();
        if (random_one_in(stage_random(), 8))
            stage_sleep_ns((int64_t)random_below(stage_random(), PAUSE_NS));
    }
}

/* All that is left becomes due, and ends. */
static void drain(void) {
    int64_t until_ns = stress_now_ns() + 12 * STRESS_LIMIT_NS;
    while (jobs_remain()) {
        REQUIRE(stress_now_ns() < until_ns);
        stage_sleep_ns(PAUSE_NS);
        jobs_judge();
    }
    jobs_close();
}

/* In a process of its own. */
static void live(bool is_last) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = WORKERS;
    timers.has_limit = true; /* of the memory of the journal */
    struct htw_scheduler *scheduler = stress_create(&options, BY_THREADS);
    jobs = (struct jobs) { .scheduler = scheduler,
                           .path = path,
                           .workers = WORKERS,
                           .far_ns = 2 * HTW_SECOND,
                           .is_only_killed = true,
                           .ends_all = is_last };
    jobs_open();
    if (!is_last)
        stress_run(THREADS, act);
    drain();
    stress_destroy(scheduler);
}

static void run_life(bool is_last) {
    stress_seed = random_next(stage_random());
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        live(is_last);
        _exit(0);
    }
    if (!is_last) {
        stage_sleep_ns((int64_t)random_below(stage_random(), LIFE_NS));
        kill(child, SIGKILL);
    }
    REQUIRE(child_end(child) == (is_last ? 0 : -SIGKILL));
}

int main(int argc, char **argv) {
    char folder[TEST_FOLDER_SIZE];
    unsigned lives = 0;
    stress_begin(argc, argv, 1);
    stress_part("%d threads, and kills", THREADS);
    jobs_init();
    REQUIRE(test_folder_create(folder));
    snprintf(path, sizeof(path), "%s/journal", folder);
    for (; stress_goes_on(); lives++)
        run_life(false);
    run_life(true);
    printf("%u kills\n", lives);
    return test_folder_remove(folder) ? 0 : 1;
}
