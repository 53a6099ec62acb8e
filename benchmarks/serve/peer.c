/* SPDX-License-Identifier: MIT */
/* peer.c - starts the server that is measured. */
#include "options.h"

#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* One that nobody has at the moment. */
static unsigned free_port(void) {
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        report_failure("no port: %s", strerror(errno));
    close(listener);
    return ntohs(address.sin_port);
}

static void start_htw(const struct options *options, const char *port) {
    const char *const arguments[] = { options->program,
                                      "--listen",
                                      port,
                                      "--max-clients",
                                      "20000",
                                      options->is_durable ? "jobs.journal" : "--memory",
                                      NULL };
    server_start("htw-serve", arguments);
}

static void start_beanstalkd(const struct options *options, const char *port) {
    const char *path = server_find("beanstalkd", "/usr/bin/beanstalkd");
    const char *const arguments[] = { path,     "-l",  "127.0.0.1",
                                      "-p",     port,  options->is_durable ? "-b" : NULL,
                                      "binlog", "-f0", NULL };
    if (options->is_durable && mkdir("binlog", 0700) != 0 && errno != EEXIST)
        report_failure("mkdir: %s", strerror(errno));
    server_start("beanstalkd", arguments);
}

/* The clients have the last CPU, and the server the others: it would be chance otherwise whether they share one. */
static void share_cpus(bool is_server) {
    size_t last = (size_t)sysconf(_SC_NPROCESSORS_ONLN) - 1;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (size_t i = 0; i <= last; i++)
        if (last == 0 || is_server == (i < last))
            CPU_SET(i, &cpus);
    sched_setaffinity(0, sizeof(cpus), &cpus);
}

unsigned peer_start(const struct options *options) {
    unsigned number = free_port();
    char port[16];
    snprintf(port, sizeof(port), "%u", number);
    share_cpus(true);
    if (options->is_htw)
        start_htw(options, port);
    else
        start_beanstalkd(options, port);
    share_cpus(false);
    return number;
}
