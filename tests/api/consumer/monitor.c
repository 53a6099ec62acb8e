/* SPDX-License-Identifier: MIT */
/*
 * monitor.c - a program outside htw's tree that uses libhtw-monitor: shows a scheduler at a socket, which is there as long as the
 * monitor is open. Prints the version.
 */
#include <htw/monitor.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    struct htw_scheduler *scheduler;
    struct htw_monitor *monitor;
    struct htw_monitor_options options = HTW_MONITOR_OPTIONS_INIT;
    int is_shown;
    printf("%s\n", htw_version());
    options.path = "monitor.sock";
    if (htw_scheduler_create(&scheduler, NULL) != 0 || htw_monitor_open(&monitor, &options) != 0 ||
        htw_monitor_add_scheduler(monitor, "main", scheduler, NULL) != 0)
        return 1;
    is_shown =
        strcmp(htw_monitor_path(monitor), options.path) == 0 && access(options.path, R_OK) == 0;
    htw_monitor_close(monitor);
    htw_scheduler_destroy(scheduler);
    return is_shown && access(options.path, F_OK) != 0 ? 0 : 1;
}
