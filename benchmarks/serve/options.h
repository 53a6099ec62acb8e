/* SPDX-License-Identifier: MIT */
/* options.h - what the command line of htw-bench-serve asks for. */
#ifndef BENCH_SERVE_OPTIONS_H
#define BENCH_SERVE_OPTIONS_H

#include "../common/program.h"
#include "../common/server.h"

struct options {
    bool is_htw;         /* otherwise beanstalkd */
    bool is_durable;     /* INSERTED comes when the disk has the job; otherwise there is no file */
    const char *program; /* htw-serve */
    const char *folder;  /* of all files: the working directory */
    uint64_t clients;
    uint64_t count; /* jobs or commands */
    uint64_t rate;  /* jobs a second; 0: half of what it can do */
};

/* Starts the server on what the folder holds, or with nothing. Returns its port; it may not listen yet. */
unsigned peer_start(const struct options *options);

#endif
