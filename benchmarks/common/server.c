/* SPDX-License-Identifier: MIT */
/* server.c - starts a server, and stops it. */
#include "server.h"

#include "clock.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_NS INT64_C(60000000000)
#define PAUSE_NS 1000000

static struct {
    const char *name;
    pid_t process;
    int64_t patience_ns;
} server;

const char *server_find(const char *name, const char *path) {
    if (access(path, X_OK) == 0)
        return path;
    char reason[100];
    snprintf(reason, sizeof(reason), "%s is not installed", name);
    report_left_out(reason);
}

static void become(const char *name, const char *const arguments[]) {
    char log[100];
    snprintf(log, sizeof(log), "%s.log", name);
    int output = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    int input = open("/dev/null", O_RDONLY);
    if (output < 0 || input < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv(arguments[0], (char *const *)arguments);
    _exit(127);
}

void server_start(const char *name, const char *const arguments[]) {
    server.process = fork();
    if (server.process < 0)
        report_failure("fork: %s", strerror(errno));
    if (server.process == 0)
        become(name, arguments);
    server.name = name;
    server.patience_ns = clock_now_ns() + PATIENCE_NS;
}

void server_await(void) {
    int status;
    if (waitpid(server.process, &status, WNOHANG) != 0)
        report_failure("%s has ended: see %s.log", server.name, server.name);
    if (clock_now_ns() > server.patience_ns)
        report_failure("%s does not answer", server.name);
    clock_sleep_until(clock_now_ns() + PAUSE_NS);
}

void server_stop(void) {
    kill(server.process, SIGTERM);
    waitpid(server.process, NULL, 0);
}

/* What is shared counts once. */
uint64_t server_resident_bytes(void) {
    char path[64], line[128];
    snprintf(path, sizeof(path), "/proc/%ld/smaps_rollup", (long)server.process);
    FILE *file = fopen(path, "r");
    unsigned long long kib = 0;
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "Pss: %llu", &kib) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return kib * 1024;
}

int64_t server_cpu_ns(void) {
    clockid_t clock;
    if (clock_getcpuclockid(server.process, &clock) != 0)
        report_failure("%s: no CPU time", server.name);
    return clock_read_ns(clock);
}
