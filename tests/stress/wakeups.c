/* SPDX-License-Identifier: MIT */
/*
 * wakeups.c - an otherwise idle scheduler on the real clock wakes up for every way in which a timer
 * gets a deadline, once for each run, and then sleeps on.
 *
 * A wake-up that is missing shows only where nothing else wakes the expirer. So each way runs on a
 * scheduler of its own, and begins when its threads sleep. A timer that nothing wakes the
 * scheduler for never runs, and stress_await() fails.
 */
/* holds: scheduler-21 */
#include "stress.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LATER (3600 * HTW_SECOND)
#define SOON (2 * HTW_MILLISECOND)
#define PERIOD (2 * HTW_MILLISECOND)
#define PROBES 3u
#define REPEATS 6u

struct probe {
    htw_handle handle;
    char key;
    bool begun;
};

/* What one way is tried on. */
static struct scene {
    struct htw_scheduler *scheduler;
    struct htw_group *group;
    unsigned workers;
    struct probe probes[PROBES];
    _Atomic uint64_t begun, runs;
    unsigned blockers; /* so many callbacks stay until the gate is open */
    _Atomic bool gate_is_open, over;
} scene;

/* ---- whether the threads sleep */

/* Whether a thread of this process, other than the caller, is called `name...` and does not sleep. */
static bool is_awake(const char *id, const char *name) {
    char path[300], line[300];
    if (id[0] == '.' || atoi(id) == gettid())
        return false;
    snprintf(path, sizeof(path), "/proc/self/task/%s/stat", id);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;                              /* it has just ended */
    char *known = fgets(line, sizeof(line), file); /* ID (NAME) STATE ... */
    fclose(file);
    char *begin = known == NULL ? NULL : strchr(line, '(');
    char *end = known == NULL ? NULL : strrchr(line, ')');
    return begin != NULL && end != NULL && strncmp(begin + 1, name, strlen(name)) == 0 &&
           end[2] != 'S';
}

static void await_sleep_of(const char *name) {
    int64_t limit_ns = stress_now_ns() + STRESS_LIMIT_NS;
    for (bool awake = true; awake;) {
        awake = false;
        DIR *folder = opendir("/proc/self/task");
        CHECK(folder != NULL);
        struct dirent *entry;
        while ((entry = readdir(folder)) != NULL)
            awake = is_awake(entry->d_name, name) || awake;
        closedir(folder);
        CHECK(stress_now_ns() < limit_ns);
    }
}

/* Returns how often the scheduler has woken up, when it sleeps. */
static uint64_t await_idle(void) {
    uint64_t wakeups = stress_await_idle(scene.scheduler);
    await_sleep_of("htw-");
    return wakeups;
}

/* ---- callbacks */

/* Where others run callbacks, the expirer is to sleep before this one ends. */
static void await_expirer(void) {
    if (scene.workers > 0)
        await_sleep_of("htw-expirer");
}

static void run(void *arg, const struct htw_expiration *expiration) {
    struct probe *probe = arg;
    stress_check_firing(expiration);
    probe->begun = true;
    bool blocks = atomic_fetch_add(&scene.begun, 1) < scene.blockers;
    while (blocks && !atomic_load(&scene.gate_is_open))
        stress_sleep_ns(100 * HTW_MICROSECOND);
    await_expirer();
    atomic_fetch_add(&scene.runs, 1);
}

static void run_again(void *arg, const struct htw_expiration *expiration) {
    if (atomic_load(&scene.begun) + 1 < REPEATS)
        CHECK_EQUAL(htw_reschedule(expiration->scheduler, expiration->handle, SOON), HTW_MOVED);
    run(arg, expiration);
}

static void ignore(void *arg) {
    (void)arg;
}

static struct htw_spec spec_of(struct probe *probe, int64_t delay_ns) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = run;
    spec.arg = probe;
    spec.when_ns = delay_ns;
    spec.group = scene.group;
    spec.key = &probe->key;
    spec.key_size = sizeof(probe->key);
    return spec;
}

static void schedule_spec(const struct htw_spec *spec) {
    struct probe *probe = spec->arg;
    CHECK_EQUAL(htw_schedule_spec(scene.scheduler, spec, &probe->handle, NULL), 0);
}

static void schedule_in_group(struct probe *probe, int64_t delay_ns) {
    struct htw_spec spec = spec_of(probe, delay_ns);
    schedule_spec(&spec);
}

static void schedule(struct probe *probe, int64_t delay_ns) {
    CHECK_EQUAL(htw_schedule(scene.scheduler, delay_ns, run, probe, &probe->handle), 0);
}

static int64_t soon(void) {
    return htw_scheduler_now(scene.scheduler) + SOON;
}

/* ---- ways that need no other timer */

static void by_schedule(void) {
    schedule(&scene.probes[0], SOON);
}

static void by_schedule_at_once(void) {
    schedule(&scene.probes[0], 0);
}

static void by_schedule_at(void) {
    CHECK_EQUAL(htw_schedule_at(scene.scheduler, soon(), run, scene.probes, NULL), 0);
}

static void by_schedule_within(void) {
    CHECK_EQUAL(htw_schedule_within(scene.scheduler, 1, SOON, run, scene.probes, NULL), 0);
}

static void by_spec(void) {
    schedule_in_group(&scene.probes[0], SOON);
}

static void by_replacement(void) {
    schedule_in_group(&scene.probes[0], LATER);
    await_idle();
    struct htw_spec spec = spec_of(&scene.probes[0], SOON);
    CHECK_EQUAL(htw_schedule_spec(scene.scheduler, &spec, NULL, NULL), 0);
}

static void by_reschedule(void) {
    schedule(&scene.probes[0], LATER);
    await_idle();
    CHECK_EQUAL(htw_reschedule(scene.scheduler, scene.probes[0].handle, SOON), HTW_MOVED);
}

static void by_reschedule_at(void) {
    schedule(&scene.probes[0], HTW_NEVER_NS);
    await_idle();
    CHECK_EQUAL(htw_reschedule_at(scene.scheduler, scene.probes[0].handle, soon()), HTW_MOVED);
}

static void by_resume(void) {
    CHECK_EQUAL(htw_group_pause(scene.group), 0);
    schedule_in_group(&scene.probes[0], SOON);
    await_idle();
    CHECK_EQUAL(htw_group_resume(scene.group), 0);
}

static void by_resume_of_a_moved_one(void) {
    schedule_in_group(&scene.probes[0], LATER);
    CHECK_EQUAL(htw_group_pause(scene.group), 0);
    CHECK_EQUAL(htw_reschedule(scene.scheduler, scene.probes[0].handle, SOON), HTW_MOVED);
    await_idle();
    CHECK_EQUAL(htw_group_resume(scene.group), 0);
}

static void by_destruction_of_a_paused_group(void) {
    CHECK_EQUAL(htw_group_pause(scene.group), 0);
    schedule_in_group(&scene.probes[0], SOON);
    await_idle();
    htw_group_destroy(scene.group);
    scene.group = NULL;
}

/* ---- ways of a timer that has run */

static void repeat(enum htw_repeat kind) {
    CHECK_EQUAL(htw_schedule_every(scene.scheduler, SOON, PERIOD, kind, run, scene.probes,
                                   &scene.probes[0].handle),
                0);
}

static void by_repeat_skip(void) {
    repeat(HTW_REPEAT_SKIP);
}

static void by_repeat_burst(void) {
    repeat(HTW_REPEAT_BURST);
}

static void by_repeat_delay(void) {
    repeat(HTW_REPEAT_DELAY);
}

static void by_repeat_after(void) {
    repeat(HTW_REPEAT_AFTER);
}

static void by_itself(void) {
    CHECK_EQUAL(htw_schedule(scene.scheduler, SOON, run_again, scene.probes, NULL), 0);
}

static void by_itself_with_a_hook(void) {
    struct htw_spec spec = spec_of(&scene.probes[0], SOON);
    spec.callback = run_again;
    spec.release = ignore;
    schedule_spec(&spec);
}

/* ---- ways of a timer that runs: the first callback stays until the gate is open */

static void await_blockers(void) {
    stress_await(&scene.begun, scene.blockers);
    await_expirer();
}

static void open_gate(void) {
    atomic_store(&scene.gate_is_open, true);
}

/* Starts one that repeats, so seldom that only what is done meanwhile makes it run again. */
static void start_running(int64_t period_ns) {
    scene.blockers = 1;
    struct htw_spec spec = spec_of(&scene.probes[0], SOON);
    spec.period_ns = period_ns;
    schedule_spec(&spec);
    await_blockers();
}

static void by_reschedule_of_a_running_one(void) {
    start_running(LATER);
    CHECK_EQUAL(htw_reschedule(scene.scheduler, scene.probes[0].handle, SOON), HTW_MOVED);
    open_gate();
}

static void by_set_period_of_a_running_one(void) {
    start_running(LATER);
    CHECK_EQUAL(htw_set_period(scene.scheduler, scene.probes[0].handle, PERIOD), HTW_MOVED);
    open_gate();
}

static void by_resume_while_it_runs(void) {
    start_running(PERIOD);
    CHECK_EQUAL(htw_group_pause(scene.group), 0);
    CHECK_EQUAL(htw_group_resume(scene.group), 0);
    open_gate();
}

static void by_resume_after_it_ran(void) {
    start_running(PERIOD);
    CHECK_EQUAL(htw_group_pause(scene.group), 0);
    open_gate();
    stress_await(&scene.runs, 1);
    await_idle();
    CHECK_EQUAL(htw_group_resume(scene.group), 0);
}

/* ---- ways of a timer that is due but has not started, because all threads that run callbacks are busy.
   Three fall due together; one waits behind the other one or two. */

static struct probe *queue(void (*schedule_one)(struct probe *probe, int64_t delay_ns)) {
    scene.blockers = scene.workers == 2 ? 2 : 1;
    for (unsigned i = 0; i <= scene.blockers; i++)
        schedule_one(&scene.probes[i], LATER);
    int64_t deadline_ns = soon();
    for (unsigned i = 0; i <= scene.blockers; i++)
        CHECK_EQUAL(htw_reschedule_at(scene.scheduler, scene.probes[i].handle, deadline_ns),
                    HTW_MOVED);
    await_blockers();
    struct probe *queued = scene.probes;
    while (queued->begun)
        queued++;
    return queued;
}

static void by_reschedule_of_a_queued_one(void) {
    CHECK_EQUAL(htw_reschedule(scene.scheduler, queue(schedule)->handle, SOON), HTW_MOVED);
    open_gate();
}

static void by_reschedule_of_a_queued_one_in_a_group(void) {
    CHECK_EQUAL(htw_reschedule(scene.scheduler, queue(schedule_in_group)->handle, SOON), HTW_MOVED);
    open_gate();
}

static void by_replacement_of_a_queued_one(void) {
    struct htw_spec spec = spec_of(queue(schedule_in_group), SOON);
    CHECK_EQUAL(htw_schedule_spec(scene.scheduler, &spec, NULL, NULL), 0);
    open_gate();
}

static void by_resume_of_a_queued_one(void) {
    queue(schedule_in_group);
    CHECK_EQUAL(htw_group_pause(scene.group), 0);
    CHECK_EQUAL(htw_group_resume(scene.group), 0);
    open_gate();
}

static void by_resume_of_one_that_was_queued(void) {
    queue(schedule_in_group);
    CHECK_EQUAL(htw_group_pause(scene.group), 0);
    open_gate();
    stress_await(&scene.runs, scene.blockers);
    await_idle();
    CHECK_EQUAL(htw_group_resume(scene.group), 0);
}

/* ---- all of them */

/* `runs` 0: one more than there are blockers. */
static const struct way {
    const char *name;
    void (*arm)(void);
    uint64_t runs;
} ways[] = {
    { "schedule", by_schedule, 1 },
    { "schedule at once", by_schedule_at_once, 1 },
    { "schedule at an instant", by_schedule_at, 1 },
    { "schedule within a range", by_schedule_within, 1 },
    { "schedule by a spec", by_spec, 1 },
    { "replace a key", by_replacement, 1 },
    { "reschedule", by_reschedule, 1 },
    { "reschedule to an instant", by_reschedule_at, 1 },
    { "resume", by_resume, 1 },
    { "resume a moved one", by_resume_of_a_moved_one, 1 },
    { "destroy a paused group", by_destruction_of_a_paused_group, 1 },
    { "repeat, skip", by_repeat_skip, REPEATS },
    { "repeat, burst", by_repeat_burst, REPEATS },
    { "repeat, delay", by_repeat_delay, REPEATS },
    { "repeat, after", by_repeat_after, REPEATS },
    { "reschedule in its callback", by_itself, REPEATS },
    { "reschedule in its callback, with a hook", by_itself_with_a_hook, REPEATS },
    { "reschedule a running one", by_reschedule_of_a_running_one, 2 },
    { "set the period of a running one", by_set_period_of_a_running_one, REPEATS },
    { "resume while it runs", by_resume_while_it_runs, REPEATS },
    { "resume after it ran", by_resume_after_it_ran, REPEATS },
    { "reschedule a queued one", by_reschedule_of_a_queued_one, 0 },
    { "reschedule a queued one in a group", by_reschedule_of_a_queued_one_in_a_group, 0 },
    { "replace a queued one", by_replacement_of_a_queued_one, 0 },
    { "resume a queued one", by_resume_of_a_queued_one, 0 },
    { "resume one that was queued", by_resume_of_one_that_was_queued, 0 },
};

/* The event loop of an embedded scheduler. It processes only when the descriptor is readable. */
static void *run_event_loop(void *arg) {
    struct pollfd fd = { htw_scheduler_fd(scene.scheduler), POLLIN, 0 };
    pthread_setname_np(pthread_self(), "htw-loop");
    while (!atomic_load(&scene.over))
        if (poll(&fd, 1, 1) > 0)
            CHECK_EQUAL(htw_scheduler_process(scene.scheduler, 0, NULL), HTW_DONE);
    return arg;
}

/* Each run takes one wake-up. So may the start of the thread, and what an alarm was set to before
   the timer was moved, paused or cancelled. Where callbacks may wait for a second worker, the
   expirer looks every millisecond whether it is free. */
static void check_wakeups(const char *name, int64_t began_ns) {
    uint64_t wakeups = await_idle();
    uint64_t runs = atomic_load(&scene.runs);
    uint64_t most = runs + 4;
    if (scene.workers == 2)
        most += (uint64_t)((stress_now_ns() - began_ns) / HTW_MILLISECOND);
    if (wakeups > most)
        stress_fail(__FILE__, __LINE__, "%s: %llu wake-ups for %llu runs", name,
                    (unsigned long long)wakeups, (unsigned long long)runs);
}

/* `beside`: another timer is pending, far ahead. */
static void try_way(const struct way *way, unsigned workers, bool embedded, bool beside) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    int64_t began_ns = stress_now_ns();
    pthread_t event_loop;
    options.shards = 1;
    options.workers = workers;
    options.embedded = embedded;
    options.start_threads = !embedded;
    scene = (struct scene) { .scheduler = stress_create(&options), .workers = workers };
    CHECK_EQUAL(htw_group_create(scene.scheduler, &scene.group), 0);
    for (unsigned i = 0; i < PROBES; i++)
        scene.probes[i].key = (char)i;
    if (embedded)
        CHECK_EQUAL(pthread_create(&event_loop, NULL, run_event_loop, NULL), 0);
    if (beside)
        CHECK_EQUAL(htw_schedule(scene.scheduler, LATER, run, NULL, NULL), 0);
    await_idle();
    way->arm();
    stress_await(&scene.runs, way->runs > 0 ? way->runs : scene.blockers + 1);
    CHECK(htw_cancel_wait(scene.scheduler, scene.probes[0].handle) >= 0); /* it may repeat */
    check_wakeups(way->name, began_ns);
    htw_group_destroy(scene.group);
    atomic_store(&scene.over, true);
    if (embedded)
        pthread_join(event_loop, NULL);
    CHECK_EQUAL(htw_scheduler_stop(scene.scheduler, NULL, NULL), 0);
    stress_check_stats(scene.scheduler);
    CHECK_EQUAL(htw_scheduler_destroy(scene.scheduler), 0);
}

/* All in turn, from a random one on, for as long as there is time. */
int main(int argc, char **argv) {
    stress_begin(argc, argv, 1);
    stress_part("wake-ups");
    unsigned count = sizeof(ways) / sizeof(ways[0]) * 4; /* embedded, or 0 to 2 workers */
    struct random_source random = stress_random(0);
    unsigned next = (unsigned)random_below(&random, count);
    do {
        const struct way *way = &ways[next / 4];
        printf("  %s, %u\n", way->name, next % 4);
        fflush(stdout);
        try_way(way, next % 4 % 3, next % 4 == 3, random_one_in(&random, 2));
        next = (next + 1) % count;
    } while (stress_goes_on());
    return 0;
}
