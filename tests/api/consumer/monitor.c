/* SPDX-License-Identifier: MIT */
/*
 * monitor.c - a program outside htw's tree that uses libhtw-monitor: shows a scheduler, and reads that
 * through the socket. Prints the version.
 */
#include <htw/monitor.h>

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Whether the answer to a request holds a text. */
static int answers(const char *path, const char *request, const char *text) {
    static char answer[65536];
    struct sockaddr_un address;
    size_t size = 0;
    ssize_t more = 1;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    memset(&address, 0, sizeof(address));
    address.sun_family = AF_UNIX;
    strcpy(address.sun_path, path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        write(fd, request, strlen(request)) != (ssize_t)strlen(request))
        return 0;
    while (more > 0 && size < sizeof(answer) - 1) {
        more = read(fd, answer + size, sizeof(answer) - 1 - size);
        size += more > 0 ? (size_t)more : 0;
    }
    close(fd);
    answer[size] = '\0';
    return strstr(answer, text) != NULL;
}

int main(void) {
    struct htw_scheduler *scheduler;
    struct htw_monitor *monitor;
    struct htw_monitor_options options = HTW_MONITOR_OPTIONS_INIT;
    int found;
    printf("%s\n", htw_version());
    options.path = "monitor.sock";
    if (htw_scheduler_create(&scheduler, NULL) != 0 || htw_monitor_open(&monitor, &options) != 0 ||
        htw_monitor_add_scheduler(monitor, "main", scheduler, NULL) != 0)
        return 1;
    found = answers(htw_monitor_path(monitor), "json\n", "\"name\":\"main\"") &&
            answers(htw_monitor_path(monitor), "metrics\n", "htw_pending{scheduler=\"main\"} 0");
    htw_monitor_close(monitor);
    htw_scheduler_destroy(scheduler);
    return found ? 0 : 1;
}
