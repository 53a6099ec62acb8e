/* SPDX-License-Identifier: MIT */
/* context.h - what parts of programs in the documents take for given. Each is compiled after this, inside a function. */
#include <htw/calendar.h>
#include <htw/htw.h>
#include <htw/monitor.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>

extern struct htw_scheduler *scheduler;
extern struct htw_group *idle;
extern struct client {
    struct client *next;
    htw_handle idle;
    int64_t last_ns;
} * clients;
extern struct htw_zone *zone;
extern struct htw_spec spec;
extern htw_handle handle;
extern int64_t now_ns, limit_ns, tomorrow_at_three;
extern void *job, *connection;
extern struct htw_monitor_source *source;
extern struct pollfd *descriptors;
extern nfds_t count;
extern int timeout;
void report(void *arg, const struct htw_expiration *expiration);
void back_up(void *arg, const struct htw_expiration *expiration);
void close_idle(void *arg, const struct htw_expiration *expiration);
void retry(void *arg, const struct htw_expiration *expiration);
