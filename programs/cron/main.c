/* SPDX-License-Identifier: MIT */
/* main.c - the program `htw-cron`, which `htw cron` runs: its command line, and its loop. */
#include "../../src/base/assert.h"
#include "../kit/command_line.h"
#include "../kit/times.h"
#include "../kit/terminal.h"
#include "../kit/visible.h"
#include "cron.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

struct options {
    struct htw__cron cron;
    bool checks;
    uint64_t next; /* 0: not --next */
};

#define AT(member) HTW__OPTION_AT(struct options, member)

static const struct htw__option rows[] = {
    { 'c', "check", NULL, htw__set_flag, AT(checks), .help = "only check FILE" },
    { 'n', "next", "N", htw__set_number, AT(next), .least = 1, .most = 1000000,
      .help = "only print the next N times of each line" },
    { 'a', "after", "INSTANT", htw__set_instant, AT(cron.after_ns), .least = 1, .most = INT64_MAX,
      .range = "1970 to 2262",
      .help = "with --next: those after this, such as 2026-01-01T00:00:00Z;\n"
              "otherwise: make up also for what was missed since then" },
    { 'o', "overlap", NULL, htw__set_flag, AT(cron.overlaps),
      .help = "start a job also while it still runs" },
    { 'm', "catch-up", "N", htw__set_number, AT(cron.catch_up), .most = HTW_CALENDAR_CATCH_UP_MAX,
      .help = "how many missed runs of a job to make up for, 0 to 1000\n"
              "(default 1)" },
    { 'v', "verbose", NULL, htw__set_flag, AT(cron.is_verbose),
      .help = "report also what starts, and what ends well" },
};

static const struct htw__command_line command_line = {
    .program = "htw cron",
    .usage = "Usage: htw cron [OPTION]... FILE\n",
    .about =
        "Run the commands of FILE at the times that it says, until a signal comes. When FILE is -,\n"
        "standard input is read, once and to its end.\n"
        "\n"
        "FILE consists of lines `MINUTE HOUR DAY MONTH WEEKDAY COMMAND`:\n"
        "  30 3 * * mon-fri  backup      at 03:30 from Monday to Friday\n"
        "  */15 9-17 * * *   poll        every quarter of an hour, from 09:00 to 17:45\n"
        "  0 0 L * *         report      at midnight of the last day of each month\n"
        "  0 9 * * fri#2     remind      on the second Friday of each month\n"
        "  @daily            tidy        also @hourly @weekly @monthly @yearly @annually @midnight\n"
        "  PATH=/usr/bin:/bin            of the commands that follow; SHELL= is what runs them\n"
        "  TZ=Europe/Berlin              also the time zone of the lines that follow; CRON_TZ= is\n"
        "                                that of the lines alone\n"
        "  # a comment\n"
        "Without a TZ line, times are those of the local time zone. A time that is skipped when\n"
        "clocks are put forward comes right after; one that comes twice counts once, unless the\n"
        "hour is `*`. A run that was missed while the machine was asleep is made up for once. When\n"
        "the clock is set back by more than three hours, its new time counts.\n"
        "\n"
        "/bin/sh runs a COMMAND, all of the line (`%` means nothing here), with the environment of\n"
        "this program and those variables, its outputs, and no input. A job that still runs is not\n"
        "started again. What ends with another status than 0 is reported on standard error.\n",
    .notes =
        "SIGHUP reads FILE again, if it is a regular file: lines that have not changed go on, and if\n"
        "there is an error, all do.\n"
        "SIGTERM and SIGINT: nothing is started any more, and the program waits for what runs. A\n"
        "second one sends SIGTERM to that, a third one SIGKILL. Each job is a process group.\n"
        "\n"
        "Exit status:\n"
        "  0  --check, --next: all lines are right; otherwise: a signal ended the program, and all\n"
        "     that ran has ended\n"
        "  1  a line is wrong, or FILE cannot be read\n"
        "  2  the command line is wrong\n",
    .options = rows,
    .option_count = sizeof(rows) / sizeof(rows[0]),
};

/* ---- --next */

/* As 2026-03-29T03:00:00+02:00. */
static void print_instant(const struct htw__cron_job *job, int64_t instant_ns) {
    int32_t offset_s = htw_zone_offset(job->zone, instant_ns);
    int minutes = abs(offset_s) / 60;
    time_t local = (time_t)(instant_ns / HTW_SECOND) + offset_s;
    struct tm parts;
    char text[64];
    (void)gmtime_r(&local, &parts); /* does not fail until 2262 */
    (void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
    printf("%s%c%02d:%02d ", text, offset_s < 0 ? '-' : '+', minutes / 60, minutes % 60);
    htw__text_print(stdout, job->command, strlen(job->command), SIZE_MAX);
    putchar('\n');
}

static int64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * HTW_SECOND + now.tv_nsec;
}

static int check(const struct options *options) {
    struct htw__cron_job *jobs;
    int64_t after_ns =
        options->cron.after_ns == 0 ? clock_ns(CLOCK_REALTIME) : options->cron.after_ns;
    if (!htw__cron_table_read(options->cron.path, true, &jobs))
        return HTW__EXIT_FAILED;
    for (const struct htw__cron_job *job = jobs; job != NULL; job = job->next) {
        int64_t instant_ns = after_ns;
        for (uint64_t i = 0; i < options->next; i++) {
            instant_ns = htw_calendar_next(&job->calendar, job->zone, instant_ns);
            if (instant_ns == HTW_NEVER_NS)
                break;
            print_instant(job, instant_ns);
        }
    }
    htw__cron_table_free(jobs);
    return htw__terminal_flush() ? 0 : HTW__EXIT_FAILED;
}

/* ---- the loop */

/* A signal asks for the end, for the first time, the second or later. */
static void stop(struct htw__cron *cron, unsigned times) {
    static const struct {
        int signal_number;
        const char *what;
    } steps[] = { { 0, "waiting for" }, { SIGTERM, "SIGTERM for" }, { SIGKILL, "SIGKILL for" } };
    unsigned step = times < 3 ? times - 1 : 2;
    htw__cron_stop(cron);
    if (steps[step].signal_number != 0)
        htw__cron_kill(cron, steps[step].signal_number);
    if (cron->child_count > 0)
        htw__cron_complain(cron->path, 0, "%s %zu that still run", steps[step].what,
                           cron->child_count);
}

/* Takes one signal, if there is one; SIGCHLD stands for all children that have ended. */
static void take_signal(struct htw__cron *cron, int signal_fd, unsigned *stops) {
    struct signalfd_siginfo info;
    if (read(signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return;
    if (info.ssi_signo == SIGCHLD)
        htw__cron_reap(cron);
    else if (info.ssi_signo != SIGHUP)
        stop(cron, ++*stops);
    else if (*stops == 0)
        (void)!htw__cron_load(cron);
}

/* epoll, and not poll(), which fails once the process may have fewer descriptors than poll() is to watch. */
static bool await(int epoll, int fd) {
    struct epoll_event event = { .events = EPOLLIN };
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void loop(struct htw__cron *cron, int epoll, int signal_fd) {
    struct epoll_event event;
    unsigned stops = 0;
    while (stops == 0 || cron->child_count > 0) {
        htw__cron_note_clock(cron, clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME));
        int error = htw_scheduler_process(cron->scheduler, 0, NULL);
        HTW_ASSERT(error == 0); /* no other thread uses the scheduler */
        (void)error;
        (void)epoll_wait(epoll, &event, 1, -1);
        take_signal(cron, signal_fd, &stops);
    }
}

/* Loads for the first time. A pipe may give nothing, so signals that ask for the end have their usual effect meanwhile. */
static bool load_first(struct htw__cron *cron) {
    signal(SIGHUP, SIG_IGN); /* the file is being read */
    bool is_loaded = htw__cron_load(cron);
    cron->may_wait = false;
    return is_loaded;
}

static int serve(struct htw__cron *cron) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    sigset_t watched;
    options.embedded = true;
    options.clock = HTW_CLOCK_REALTIME;
    int error = htw_scheduler_create(&cron->scheduler, &options);
    if (error == 0 && !load_first(cron)) {
        htw_scheduler_destroy(cron->scheduler);
        return HTW__EXIT_FAILED;
    }
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGHUP);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGTERM);
    sigprocmask(SIG_BLOCK, &watched, NULL);
    signal(SIGHUP, SIG_DFL);  /* no sooner: it would end this */
    signal(SIGCHLD, SIG_DFL); /* ignored, it would leave nothing to wait for */
    int signal_fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    sigaddset(&watched, SIGPIPE); /* the reader of standard error may go: jobs go on */
    sigaddset(&watched, SIGXFSZ); /* as they do where its file may not grow */
    sigprocmask(SIG_BLOCK, &watched, NULL);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (error == 0 && (signal_fd < 0 || epoll < 0 || !await(epoll, signal_fd) ||
                       !await(epoll, htw_scheduler_fd(cron->scheduler))))
        error = -errno;
    if (error != 0) {
        htw__cron_complain(cron->path, 0, "%s", htw_strerror(error));
        return HTW__EXIT_FAILED;
    }
    loop(cron, epoll, signal_fd);
    htw__cron_fini(cron);
    (void)!htw_scheduler_destroy(cron->scheduler);
    close(signal_fd);
    close(epoll);
    return 0;
}

/* ---- the command line */

int main(int argc, char *argv[]) {
    struct options options = { .cron = { .catch_up = 1, .may_wait = true } };
    enum htw__wish wish = htw__command_line_read(&command_line, argc, argv, &options);
    if (wish == HTW__WISH_RUN && optind + 1 != argc) {
        htw__terminal_error(optind == argc ? "FILE expected" : "one FILE expected, not more: %s",
                            optind == argc ? "" : argv[optind + 1]);
        wish = htw__command_line_complain(&command_line);
    }
    if (wish != HTW__WISH_RUN)
        return htw__command_line_answer(&command_line, wish);
    options.cron.path = argv[optind];
    return options.checks || options.next > 0 ? check(&options) : serve(&options.cron);
}
