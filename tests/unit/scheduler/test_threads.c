/* SPDX-License-Identifier: MIT */
/* test_threads.c - which threads there are, how they are called, what they block. */
#include "../../../src/scheduler/steady.h"
#include "scheduler_fixture.h"

#include <dirent.h>
#include <signal.h>

/* A thread of this process, as the kernel reports it. */
struct task {
    char name[32];
    uint64_t blocked; /* signals: bit 0 is the first */
};

struct tasks {
    size_t count;
    struct task tasks[512];
};

static bool read_task(const char *id, struct task *task) {
    char path[300], line[256];
    snprintf(path, sizeof(path), "/proc/self/task/%s/status", id);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false; /* it has just ended */
    *task = (struct task) { .blocked = 0 };
    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "Name:\t", 6) == 0)
            snprintf(task->name, sizeof(task->name), "%.31s", line + 6);
        else if (strncmp(line, "SigBlk:\t", 8) == 0)
            task->blocked = strtoull(line + 8, NULL, 16);
    }
    fclose(file);
    return true;
}

/* The threads whose names hold a word. */
static void list_tasks(const char *word, struct tasks *list) {
    list->count = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        struct task *task = &list->tasks[list->count];
        if (entry->d_name[0] != '.' && list->count < 511 && read_task(entry->d_name, task) &&
            strstr(task->name, word) != NULL)
            list->count++;
    }
    closedir(folder);
}

static size_t count_tasks(const char *word) {
    struct tasks list;
    list_tasks(word, &list);
    return list.count;
}

static void assert_has(const struct tasks *list, const char *name) {
    size_t found = 0;
    for (size_t i = 0; i < list->count; i++)
        found += strcmp(list->tasks[i].name, name) == 0;
    if (found != 1)
        fail_msg("%zu threads are called %s", found, name);
}

/* A thread that was joined may be listed for a moment, longest in an emulator. If it were never to
   end, the test would run into its time limit. */
static void wait_for_joined_threads(void) {
    while (count_tasks("htw-") != 0)
        sched_yield();
}

static void assert_threads_end_with_it(struct scheduler_fixture *f) {
    f->options = scheduler_options();
    scheduler_reopen(f);
    wait_for_joined_threads();
}

/* For a fixture whose scheduler has no threads: those that are seen then belong to the new one. */
static void reopen(struct scheduler_fixture *f) {
    wait_for_joined_threads();
    scheduler_reopen(f);
}

static void open_started(struct scheduler_fixture *f, const char *name) {
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.shards = 4;
    f->options.expirers = 2;
    f->options.workers = 3;
    f->options.start_threads = true;
    f->options.thread_name = name;
    reopen(f);
}

/* The end of the name is cut, not the number. */
SCHEDULER_TEST(scheduler_threads_are_named_by_what_they_do) {
    static const struct {
        const char *name, *expirer, *worker;
    } cases[] = {
        { NULL, "htw-expirer-1", "htw-worker-2" },
        { "abcdefghijklmnopqrstuvwxyz", "abcde-expirer-1", "abcdef-worker-2" },
        { "abcdef", "abcde-expirer-1", "abcdef-worker-2" },
        { "abcde", "abcde-expirer-1", "abcde-worker-2" },
        { "", "-expirer-1", "-worker-2" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tasks list;
        open_started(f, cases[i].name);
        list_tasks("-expirer-", &list);
        assert_int_equal(list.count, 2);
        assert_has(&list, cases[i].expirer);
        list_tasks("-worker-", &list);
        assert_int_equal(list.count, 3);
        assert_has(&list, cases[i].worker);
        assert_threads_end_with_it(f);
    }
}

/* All but SIGKILL and SIGSTOP, which cannot be, the first two of real time, which the C library
   keeps to itself, and the last, which valgrind does. */
SCHEDULER_TEST(scheduler_threads_block_all_signals) {
#ifdef EMULATED
    skip(); /* the masks in /proc are those of the emulator, which blocks fewer */
#endif
    struct tasks list;
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    open_started(f, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    list_tasks("htw-", &list);
    assert_int_equal(list.count, 5);
    for (size_t i = 0; i < list.count; i++)
        for (int signal = 1; signal < SIGRTMAX && signal <= 64; signal++) {
            bool exempt =
                signal == SIGKILL || signal == SIGSTOP || (signal >= 32 && signal < SIGRTMIN);
            if (!exempt && !(list.tasks[i].blocked >> (signal - 1) & 1))
                fail_msg("%s does not block signal %d", list.tasks[i].name, signal);
        }
    for (int signal = 1; signal <= SIGRTMAX; signal++) /* its creator keeps its own mask */
        assert_int_equal(sigismember(&before, signal), sigismember(&after, signal));
}

SCHEDULER_TEST(scheduler_threads_start_with_the_first_timer) {
    htw_handle untouched = 0;
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.workers = 2;
    reopen(f);
    assert_int_equal(count_tasks("htw-"), 0);
    assert_int_equal(htw_cancel(f->scheduler, 77), HTW_GONE);
    assert_int_equal(htw_pending(f->scheduler), 0);
    assert_int_equal(htw_schedule(f->scheduler, 0, NULL, NULL, &untouched), -EINVAL);
    assert_int_equal(count_tasks("htw-"), 0);
    arm(f, 0, HTW_NEVER_NS);
    struct tasks list;
    list_tasks("htw-", &list);
    assert_true(list.count >= 1 && list.count <= 3);
    assert_has(&list, "htw-expirer-0");
    assert_threads_end_with_it(f);
}

SCHEDULER_TEST(scheduler_has_the_threads_that_it_needs) {
    static const struct {
        enum htw_clock clock;
        bool embedded;
        uint32_t workers;
        size_t expirers_there, workers_there;
    } cases[] = {
        { HTW_CLOCK_MONOTONIC, false, 0, 3, 0 }, /* no more than shards */
        { HTW_CLOCK_MONOTONIC, true, 0, 0, 0 },
        { HTW_CLOCK_MANUAL, false, 0, 0, 0 },
        { HTW_CLOCK_MANUAL, false, 2, 0, 2 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        f->options.shards = 3;
        f->options.expirers = HTW_EXPIRERS_MAX;
        f->options.clock = cases[i].clock;
        f->options.embedded = cases[i].embedded;
        f->options.workers = cases[i].workers > 0 ? cases[i].workers : HTW_NO_WORKERS;
        f->options.start_threads = !cases[i].embedded;
        reopen(f);
        assert_int_equal(count_tasks("htw-expirer-"), cases[i].expirers_there);
        assert_int_equal(count_tasks("htw-worker-"), cases[i].workers_there);
        assert_int_equal(htw__scheduler_has_threads(f->scheduler), cases[i].expirers_there > 0);
        assert_threads_end_with_it(f);
    }
}

enum { STORED = 2000 };

struct stored {
    htw_handle handle;  /* not atomic: the library orders it */
    _Atomic int result; /* 1: the callback read its handle; -1: something else */
};

static void compare_handle(void *arg, const struct htw_expiration *expiration) {
    struct stored *stored = arg;
    stored->result = stored->handle == expiration->handle ? 1 : -1;
}

/* holds: scheduler-23 */
UNIT_TEST(scheduler_handle_is_stored_before_the_callback_runs) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    static struct stored stored[STORED];
    options.start_threads = true;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    for (unsigned i = 0; i < STORED; i++) {
        struct htw_spec spec = HTW_SPEC_INIT;
        spec.callback = compare_handle;
        spec.arg = &stored[i];
        spec.key = &i;
        spec.key_size = sizeof(i);
        int error = i % 2 == 0
                        ? htw_schedule(scheduler, 0, compare_handle, &stored[i], &stored[i].handle)
                        : htw_schedule_spec(scheduler, &spec, &stored[i].handle, NULL);
        assert_int_equal(error, 0);
    }
    for (unsigned i = 0; i < STORED; i++) {
        while (stored[i].result == 0)
            sched_yield();
        assert_int_equal(stored[i].result, 1);
    }
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}
