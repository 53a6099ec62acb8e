/* SPDX-License-Identifier: MIT */
/*
 * memory.c - what a server takes for each blocked client, as soon as they are blocked and when
 * they have been so for a while: servers give back buffers of clients that are silent.
 */
#include "crowd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Proportional share of pages. */
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
        load_fail("whose memory? --server is needed");
    double idle = server_bytes(load);
    struct crowd crowd;
    crowd_connect(&crowd, load);
    report_bytes(load, "bytes_per_connected_client", idle);
    for (unsigned i = 0; i < load->count; i++)
        crowd_block(&crowd.clients[i], load->high_ms);
    crowd_await_blocked(&crowd);
    report_bytes(load, "bytes_per_blocked_client", idle);
    nanosleep(&(struct timespec) { .tv_sec = load->settle_s }, NULL);
    report_bytes(load, "bytes_per_settled_client", idle);
    load_report(load, "idle_bytes", idle);
    crowd_disconnect(&crowd);
}
