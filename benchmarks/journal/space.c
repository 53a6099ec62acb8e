/* SPDX-License-Identifier: MIT */
/* space.c - what pending jobs take on the disk and in memory. */
#include "fill.h"

static void run(const struct options *options) {
    const struct peer *peer = options->peer;
    peer->start(peer, 0);
    (void)fill(options, 0, 1000); /* the fixed part */
    uint64_t disk = peer->disk_bytes();
    report_number("put_per_s", fill(options, 1, options->jobs));
    report_number("resident_mib", (double)peer->resident_bytes() / (1 << 20));
    if (peer->is_embedded) { /* without the log, which does not grow with the jobs */
        peer->stop();
        report_number("disk_bytes_per_job",
                      (double)peer->disk_bytes() / (double)(options->jobs + 1000));
        return;
    }
    report_number("disk_bytes_per_job",
                  (double)(peer->disk_bytes() - disk) / (double)options->jobs);
    peer->stop();
}

const struct workload workload_space = {
    .name = "space",
    .about = "bytes on the disk and in memory of jobs that are pending",
    .count = 1000000,
    .quick_count = 20000,
    .run = run,
};
