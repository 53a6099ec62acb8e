/* SPDX-License-Identifier: MIT */
/* monitored.c - the monitor of a command. */
#include "monitored.h"

#include "terminal.h"

#ifdef HTW_HAS_MONITOR

#include <htw/monitor.h>

#include <errno.h>
#include <stddef.h>
#include <string.h>

static struct htw_monitor *monitor; /* NULL: none */
static struct htw_monitor_source *source;

static int add_all(const struct htw__monitored *shown) {
    int error = 0;
    if (shown->wheel != NULL)
        error = htw_monitor_add_wheel(monitor, shown->name, shown->wheel, shown->tick_ns, &source);
    if (error == 0 && shown->scheduler != NULL)
        error = htw_monitor_add_scheduler(monitor, shown->name, shown->scheduler, NULL);
    if (error == 0 && shown->journal.journal != NULL)
        error = htw_monitor_add_journal(monitor, shown->name, shown->journal.journal,
                                        shown->journal.get_stats, shown->journal.list_queues, NULL);
    return error;
}

bool htw__monitored_begin(const char *path, const struct htw__monitored *shown) {
    struct htw_monitor_options options = HTW_MONITOR_OPTIONS_INIT;
    options.path = path;
    int error = htw_monitor_open(&monitor, &options);
    if (error == 0)
        error = add_all(shown);
    if (error == 0)
        return true;
    htw__monitored_end();
    htw__terminal_error("--monitor%s%s: %s", path != NULL ? "=" : "", path != NULL ? path : "",
                        error == -EBUSY ? "another program listens there" : strerror(-error));
    return false;
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

bool htw__monitored_begin(const char *path, const struct htw__monitored *shown) {
    (void)path, (void)shown;
    htw__terminal_error("--monitor: this htw was built without monitors");
    return false;
}

void htw__monitored_lend(void) {
}

void htw__monitored_take_back(void) {
}

void htw__monitored_end(void) {
}

#endif
