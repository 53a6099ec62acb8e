/* SPDX-License-Identifier: MIT */
/*
 * memory.c - the memory of a server for each blocked client: at once, and after a while, when
 * servers have freed the buffers of silent clients.
 */
#include "crowd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The proportional set size. */
static double server_bytes(const struct load *load) {
    char path[64], line[256];
    snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)load->server);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        load_fail("%s: %s", path, strerror(errno));
    unsigned long kib = 0;
    while (kib == 0 && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "Pss:", 4) == 0)
            kib = strtoul(line + 4, NULL, 10);
    fclose(file);
    if (kib == 0)
        load_fail("%s: no Pss", path);
    return (double)kib * 1024;
}

static void report_bytes(const struct load *load, const char *metric, double before) {
    load_report(load, metric, (server_bytes(load) - before) / load->count);
}

void memory_run(const struct load *load) {
    if (load->server == 0)
        load_fail("--server is needed: the process whose memory is measured");
    double idle = server_bytes(load);
    struct crowd crowd;
    crowd_connect(&crowd, load);
    report_bytes(load, "bytes_per_connected_client", idle);
    for (unsigned i = 0; i < load->count; i++)
        crowd_block(&crowd.clients[i], load->high_ms);
    crowd_await_blocked(&crowd);
    report_bytes(load, "bytes_per_blocked_client", idle);
    nanosleep(&(struct timespec) { .tv_sec = load->idle_s }, NULL);
    report_bytes(load, "bytes_per_idle_client", idle);
    load_report(load, "idle_bytes", idle);
    crowd_disconnect(&crowd);
}
