/* SPDX-License-Identifier: MIT */
/*
 * monitor.c - a monitor that is read while threads use what it shows, add and remove sources, destroy what
 * these showed, and open other monitors. Each answer must be whole: a source is in it, or is not.
 */
/* holds: monitor-2, monitor-3 */
#include "stress.h"

#include "../support/test_folder.h"

#include <htw/monitor.h>

#include <sys/socket.h>
#include <sys/un.h>

#define THREADS 6u

static struct htw_scheduler *scheduler;
static struct htw_monitor *monitor;
static char folder[TEST_FOLDER_SIZE], path[TEST_FOLDER_SIZE + 16];
static _Atomic uint64_t answers;

static void run(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
}

/* Timers of the scheduler that the monitor shows. */
static void schedule(void) {
    htw_handle handle;
    int64_t delay_ns = (int64_t)random_below(stage_random(), 2000) * HTW_MILLISECOND;
    REQUIRE(htw_schedule(scheduler, delay_ns, run, NULL, &handle) == 0);
    if (random_below(stage_random(), 4) != 0)
        htw_cancel(scheduler, handle);
}

/* A scheduler that is shown, and destroyed right after. */
static void show_scheduler(unsigned number) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *own;
    struct htw_monitor_source *source;
    char name[16];
    options.clock = HTW_CLOCK_MANUAL;
    options.workers = HTW_NO_WORKERS;
    snprintf(name, sizeof(name), "own%u", number);
    REQUIRE(htw_scheduler_create(&own, &options) == 0);
    REQUIRE(htw_monitor_add_scheduler(monitor, name, own, &source) == 0);
    REQUIRE(htw_schedule(own, HTW_SECOND, run, NULL, NULL) == 0);
    REQUIRE(htw_scheduler_advance(own, HTW_SECOND) == 0);
    htw_monitor_remove(source);
    htw_scheduler_destroy(own);
}

/* A wheel whose timers change between two loans. */
static void show_wheel(unsigned number) {
    struct htw_wheel *wheel;
    struct htw_timer own[32] = { 0 };
    struct htw_monitor_source *source;
    char name[16];
    snprintf(name, sizeof(name), "wheel%u", number);
    REQUIRE(htw_wheel_create(&wheel, NULL) == 0);
    REQUIRE(htw_monitor_add_wheel(monitor, name, wheel, 1, &source) == 0);
    for (int i = 0; i < 500; i++) {
        struct htw_timer *timer = &own[random_below(stage_random(), 32)];
        REQUIRE(htw_wheel_schedule(wheel, timer, random_below(stage_random(), 100000)) == 0);
        if (i % 5 == 0)
            (void)htw_wheel_cancel(wheel, timer);
        htw_monitor_lend(source);
        htw_monitor_take_back(source);
    }
    htw_monitor_remove(source);
    htw_wheel_destroy(wheel);
}

/* All monitors of a process are in one list, for a child of a fork. */
static void open_another(unsigned number) {
    struct htw_monitor_options options = HTW_MONITOR_OPTIONS_INIT;
    struct htw_monitor *another;
    char own_path[sizeof(path)];
    snprintf(own_path, sizeof(own_path), "%s/own%u", folder, number);
    options.path = own_path;
    REQUIRE(htw_monitor_open(&another, &options) == 0);
    htw_monitor_close(another);
}

struct request {
    const char *line, *begins, *ends; /* the request and its answer */
};

static bool is_whole(const char *answer, size_t size, const struct request *request) {
    size_t begins = strlen(request->begins), ends = strlen(request->ends);
    return size > begins + ends && memcmp(answer, request->begins, begins) == 0 &&
           memcmp(answer + size - ends, request->ends, ends) == 0;
}

static void ask(void) {
    static const struct request known[] = {
        { "json\n", "{\"htw\":", "]}\n" },
        { "json sites\n", "{\"htw\":", "]}\n" },
        { "metrics\n", "# HELP ", "\n" },
        { "events\n", "{\"htw\":", "}\n" },
        { "observe * sites events\n", "{\"schedulers\":[", "}]}\n" },
        { "observe * off\n", "{\"schedulers\":[", "}]}\n" },
    };
    const size_t capacity = (size_t)16 * 1024 * 1024;
    char *answer = malloc(capacity);
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const struct request *request =
        &known[random_below(stage_random(), sizeof(known) / sizeof(known[0]))];
    size_t size = 0, length = strlen(request->line);
    ssize_t more;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(answer != NULL);
    strcpy(address.sun_path, path);
    REQUIRE(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    REQUIRE(send(fd, request->line, length, MSG_NOSIGNAL) == (ssize_t)length);
    if (random_below(stage_random(), 8) != 0) { /* otherwise it has changed its mind */
        while (size < capacity && (more = read(fd, answer + size, capacity - size)) > 0)
            size += (size_t)more;
        REQUIRE(is_whole(answer, size, request));
        atomic_fetch_add(&answers, 1);
    }
    free(answer);
    close(fd);
}

static void work(unsigned number) {
    while (stress_goes_on()) {
        switch (number % 4) {
        case 0:
            for (int i = 0; i < 100; i++)
                schedule();
            break;
        case 1:
            show_scheduler(number);
            open_another(number);
            break;
        case 2:
            show_wheel(number);
            break;
        default:
            ask();
            break;
        }
    }
}

int main(int argc, char **argv) {
    struct htw_monitor_options options = HTW_MONITOR_OPTIONS_INIT;
    stress_begin(argc, argv, 1);
    REQUIRE(test_folder_create(folder));
    snprintf(path, sizeof(path), "%s/socket", folder);
    options.path = path;
    REQUIRE(htw_scheduler_create(&scheduler, NULL) == 0);
    REQUIRE(htw_monitor_open(&monitor, &options) == 0);
    REQUIRE(htw_monitor_add_scheduler(monitor, "main", scheduler, NULL) == 0);
    stress_part("%u threads", THREADS);
    stress_run(THREADS, work);
    REQUIRE(answers > 0);
    printf("%llu answers\n", (unsigned long long)answers);
    htw_monitor_close(monitor);
    htw_scheduler_destroy(scheduler);
    REQUIRE(test_folder_remove(folder));
    return 0;
}
