/* SPDX-License-Identifier: MIT */
/* options.h - what the command line of htw-bench-journal asks for. */
#ifndef BENCH_JOURNAL_OPTIONS_H
#define BENCH_JOURNAL_OPTIONS_H

#include "peer.h"

#include "../common/program.h"

struct options {
    const struct peer *peer;
    char place[8]; /* "disk", or "tmpfs": where the working directory is, in which all files are */
    uint64_t threads;      /* that put */
    uint64_t jobs;         /* pending; of lateness: a second */
    uint64_t payload_size; /* bytes */
    uint64_t log_mib;      /* of restart: the size of the log at the kill; 0: as it comes */
    bool is_random;        /* of space: deadlines in no order */
    double delay;          /* of cycle: the longest, in seconds */
};

#endif
