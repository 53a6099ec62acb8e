/* SPDX-License-Identifier: MIT */
/*
 * server.h - a server that the benchmark starts, in the working directory, and stops. It is killed
 * when the thread that started it ends, however that ends. What it prints is in the file "NAME.log".
 */
#ifndef BENCH_COMMON_SERVER_H
#define BENCH_COMMON_SERVER_H

#include <stdint.h>

/* Returns the path of a program; ends the run if it is not installed. */
const char *server_find(const char *name, const char *path);

/* SIGTERM ends it properly. */
void server_start(const char *name, const char *const arguments[]);

/* Call this between attempts to connect. Ends the run if the server has ended, or takes too long. */
void server_await(void);

void server_stop(void);

uint64_t server_resident_bytes(void);

/* The CPU time of its threads. */
int64_t server_cpu_ns(void);

#endif
