/* SPDX-License-Identifier: MIT */
/* worker.h - the process that uses a journal until it is killed, and what it reports. */
#ifndef TESTS_CRASH_WORKER_H
#define TESTS_CRASH_WORKER_H

#include <stdbool.h>
#include <stdint.h>

/* One write() of less than PIPE_BUF is not divided. */
enum report_kind {
    PUT,       /* answered with 0 */
    REFUSED,   /* a put that has failed, and changed nothing */
    END_ASKED, /* a done or cancel begins */
    ENDED,     /* answered with 0 */
    DELIVERED, /* to `deliver`, or leased */
    GIVEN,     /* a release or burial begins: another one may have it */
    EARLY,     /* before its deadline */
    FAILED,    /* an unexpected answer */
    STOPPED,   /* the disk has failed so that the journal has stopped, or could not be opened */
    QUIET,     /* nothing is left */
};

struct report {
    enum report_kind kind;
    int result;
    uint64_t id;
    /* Of a delivery: who has the job, until when, and the clock and how often it was set by then. */
    uint32_t attempt;
    bool is_durable;
    uint64_t clock_steps;
    int64_t now_ns, end_ns;
};

/* What a worker is told. */
struct orders {
    const char *path;
    uint64_t seed;
    int report_fd;
    bool drains;      /* puts nothing, and ends all */
    bool steps_clock; /* sets the wall clock while it runs */
    bool has_faults;  /* some operations of the disk fail */
};

/* Does not return. In a process of its own. */
_Noreturn void worker_run(const struct orders *orders);

#endif /* TESTS_CRASH_WORKER_H */
