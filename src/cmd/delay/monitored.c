/* SPDX-License-Identifier: MIT */
/* monitored.c - the monitor of a run of `htw delay`. */
#include "monitored.h"

#include "../terminal.h"

#include <errno.h>
#include <string.h>

#ifdef HTW_HAS_MONITOR

#include <htw/monitor.h>

/* What each source is called: there is one of a kind. */
#define NAME "delay"

static struct htw_monitor *monitor; /* NULL: none */
static struct htw_monitor_source *source;

/* Prints an error, if there is one, and ends the monitor then. */
static int finish(const struct htw__options *options, int error) {
    if (error == 0)
        return 0;
    htw__monitored_end();
    htw__terminal_error("--monitor%s%s: %s", options->monitor_path != NULL ? "=" : "",
                        options->monitor_path != NULL ? options->monitor_path : "",
                        error == -EBUSY ? "another program listens there" : strerror(-error));
    return error;
}

static int open_monitor(const struct htw__options *options) {
    struct htw_monitor_options monitor_options = HTW_MONITOR_OPTIONS_INIT;
    monitor_options.path = options->monitor_path;
    return htw_monitor_open(&monitor, &monitor_options);
}

int htw__monitored_wheel(const struct htw__options *options, const struct htw_wheel *wheel) {
    if (!options->monitor)
        return 0;
    int error = open_monitor(options);
    if (error == 0)
        error = htw_monitor_add_wheel(monitor, NAME, wheel, options->tick_ns, &source);
    return finish(options, error);
}

int htw__monitored_journal(const struct htw__options *options, struct htw_scheduler *scheduler,
                           struct htw_journal *journal,
                           int (*get_stats)(struct htw_journal *, struct htw_journal_stats *)) {
    if (!options->monitor)
        return 0;
    int error = open_monitor(options);
    if (error == 0)
        error = htw_monitor_add_scheduler(monitor, NAME, scheduler, NULL);
    if (error == 0)
        error = htw_monitor_add_journal(monitor, NAME, journal, get_stats, NULL);
    return finish(options, error);
}

void htw__monitored_lend(void) {
    htw_monitor_lend(source);
}

void htw__monitored_take_back(void) {
    htw_monitor_take_back(source);
}

void htw__monitored_end(void) {
    htw_monitor_close(monitor);
    monitor = NULL;
    source = NULL;
}

#else

static int refuse(const struct htw__options *options) {
    if (!options->monitor)
        return 0;
    htw__terminal_error("--monitor: this htw was built without monitors");
    return -ENOTSUP;
}

int htw__monitored_wheel(const struct htw__options *options, const struct htw_wheel *wheel) {
    (void)wheel;
    return refuse(options);
}

int htw__monitored_journal(const struct htw__options *options, struct htw_scheduler *scheduler,
                           struct htw_journal *journal,
                           int (*get_stats)(struct htw_journal *, struct htw_journal_stats *)) {
    (void)scheduler, (void)journal, (void)get_stats;
    return refuse(options);
}

void htw__monitored_lend(void) {
}

void htw__monitored_take_back(void) {
}

void htw__monitored_end(void) {
}

#endif
