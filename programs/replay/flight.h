/* SPDX-License-Identifier: MIT */
/*
 * flight.h - a flight record: what the schedulers of a program did, in order of time.
 *
 * It comes as text, from a monitor that was asked for `events` (docs/monitor.md), or from a file with such an answer:
 * lines of JSON, which may come from anywhere. Its sites and schedulers are few, its events many.
 */
#ifndef HTW_REPLAY_FLIGHT_H
#define HTW_REPLAY_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A record with more of them is refused. */
#define HTW__FLIGHT_EVENTS_MAX 500000
#define HTW__FLIGHT_SITES_MAX 8192
#define HTW__FLIGHT_SCHEDULERS_MAX 256
#define HTW__FLIGHT_LINE_MAX ((size_t)65536)

#define HTW__FLIGHT_NAME_MAX 128
#define HTW__FLIGHT_PLACE_MAX 448

enum htw__flight_kind {
    HTW__FLIGHT_ARMED,     /* value: the deadline by the monotonic clock; HTW__FLIGHT_NONE: never */
    HTW__FLIGHT_MOVED,     /* the same */
    HTW__FLIGHT_CANCELLED, /* 0 */
    HTW__FLIGHT_STARTED,   /* how late, in ns */
    HTW__FLIGHT_ENDED,     /* how long the callback took, in ns */
    HTW__FLIGHT_WOKEN,     /* how late, in ns: an expirer woke for this timer */
    HTW__FLIGHT_KINDS
};

#define HTW__FLIGHT_NONE (-1)

/* A callback that starts later than this is late, as in the statistics of a scheduler without other options. */
#define HTW__FLIGHT_LATE_NS INT64_C(10000000)

struct htw__flight_event {
    int64_t time_ns; /* by the monotonic clock */
    int64_t value;   /* by kind */
    uint64_t handle; /* 0: none */
    uint32_t order;  /* its place in the input */
    uint32_t site;   /* UINT32_MAX: none is named; until htw__flight_finish() */
    uint16_t scheduler;
    enum htw__flight_kind kind;
};

/* A run of a callback, or that an expirer woke. */
struct htw__flight_mark {
    int64_t time_ns;
    int64_t late_ns, duration_ns; /* HTW__FLIGHT_NONE: not known */
    uint32_t site;
    bool is_wakeup;
};

struct htw__flight_site {
    char name[HTW__FLIGHT_NAME_MAX];   /* never empty */
    char place[HTW__FLIGHT_PLACE_MAX]; /* function, file and line, or the callback; may be empty */
    uint32_t number;                   /* in the record */
    uint64_t armed, moved, cancelled, expired, late, callback_ns, wakeups;
};

struct htw__flight {
    char program[HTW__FLIGHT_NAME_MAX];
    int64_t pid;
    int64_t clock_ns, wall_ns; /* of one instant, when the record was made */
    size_t scheduler_count;
    struct htw__flight_site *sites;
    size_t site_count;
    struct htw__flight_event *events;
    size_t event_count;
    int64_t begin_ns, end_ns;       /* of the first and the last of them; 0 without any */
    struct htw__flight_mark *marks; /* in order of time */
    size_t mark_count;
    uint64_t skipped; /* events of kinds that are not known */
    uint64_t lost;    /* earlier ones, whose place newer ones have taken */
    uint64_t earlier; /* timers of which the record does not have that they were armed */
    bool has_head, is_whole;
};

void htw__flight_init(struct htw__flight *flight);
void htw__flight_fini(struct htw__flight *flight);

/* An array of `count` elements, with room for one more; NULL: there is no memory. */
void *htw__flight_grow(void *array, size_t count, size_t size);

/* A new site, without a name; NULL: there is no memory. */
struct htw__flight_site *htw__flight_add_site(struct htw__flight *flight);

/* Takes the next line, without its end. NULL, or what is wrong with it. */
const char *htw__flight_take(struct htw__flight *flight, const char *line, size_t size);

/* After the last line: counts, and puts the events in order of time, the sites with most wake-ups first. 0 or -ENOMEM. */
int htw__flight_finish(struct htw__flight *flight);

/* flight_input.c: reads a record whole, from a file (`-`: standard input), or from the monitor of a program: the number of its
 * process, or the path of its socket. False: that failed, and the reason was printed. */
bool htw__flight_read(struct htw__flight *flight, const char *name);
bool htw__flight_fetch(struct htw__flight *flight, const char *program);

/* flight_table.c, page.c: write the counts of each site as text, and the page. Whether that has failed, the stream knows. */
void htw__flight_table_write(FILE *stream, const struct htw__flight *flight);
void htw__page_write(FILE *stream, const struct htw__flight *flight);

/* replay.c: runs the command; `argv[0]` is its name in messages. Returns the exit status. */
int htw__replay_command(int argc, char *argv[]);

#endif /* HTW_REPLAY_FLIGHT_H */
