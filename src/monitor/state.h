/* SPDX-License-Identifier: MIT */
/*
 * state.h - struct htw_monitor and its sources; start here.
 *
 * One thread (server.c) accepts clients, reads a request from each, and writes the answer. The answer is
 * made by answer.c: it takes a sample of each source (sample.c) and writes all of them as JSON (json.c)
 * or for Prometheus (metrics.c). No lock is held meanwhile: a call that adds or removes a source waits.
 *
 * The files include each other in this order: text, place <- state <- registry, sample <-
 * lists <- rows, writers <- answer <- server <- source, monitor.
 */
#ifndef HTW_SRC_MONITOR_STATE_H
#define HTW_SRC_MONITOR_STATE_H

#include "../base/fork.h"
#include "../base/lock.h"
#include "place.h"
#include "text.h"

#include <htw/monitor.h>
#include <htw/observe.h>
#include <htw/wheel_inspect.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Clients at a time. */
#define HTW__CLIENTS 8u

/* How many levels of a wheel are shown: all that a wheel of 64 buckets or more can have. */
#define HTW__LEVELS_SHOWN 11u

enum htw__source_kind {
    HTW__SOURCE_SCHEDULER,
    HTW__SOURCE_PURGATORY,
    HTW__SOURCE_JOURNAL,
    HTW__SOURCE_WHEEL
};
#define HTW__SOURCE_KINDS 4

/* A wheel, and what it was like when it could be read last. Guarded by the mutex. */
struct htw__lent_wheel {
    struct htw__mutex mutex;
    const struct htw_wheel *wheel;
    int64_t tick_ns;
    bool is_lent;
    bool is_wanted; /* the owner makes the next copy */
    int64_t copied_ns;
    struct htw_wheel_stats stats;
    uint64_t clock;
    unsigned level_count;
    struct htw_scheduler_level levels[HTW__LEVELS_SHOWN];
};

struct htw_monitor_source {
    struct htw_monitor *monitor;
    struct htw_monitor_source *next; /* in the order in which they were added */
    enum htw__source_kind kind;
    char name[HTW_MONITOR_NAME_MAX + 1];
    union {
        struct htw_scheduler *scheduler;
        struct htw_purgatory *purgatory;
        struct {
            struct htw_journal *journal;
            htw_journal_get_stats_function *get_stats;
            htw_journal_list_queues_function *list_queues; /* NULL: queues are not shown */
        } journal;
        struct htw__lent_wheel *wheel; /* behind this struct */
    } of;
};

struct htw__client {
    int fd;           /* -1: there is none. Guarded by the lock of the registry against forks. */
    bool is_ready;    /* the request is complete */
    bool is_http;     /* then: so is the answer */
    bool has_answer;  /* `text` is the answer, and no longer the request */
    int happened;     /* the events that poll() has reported */
    int64_t until_ns; /* it is given up then */
    struct htw__answer_text text;
    char head[160]; /* of the answer by HTTP */
    uint32_t head_size;
    size_t sent; /* of head and text */
};

struct htw_monitor {
    struct htw_allocator allocator; /* constant, as are the next three */
    unsigned fork_count;
    struct htw__socket_place place;
    int64_t opened_ns;

    pthread_t thread;
    struct htw_monitor *next; /* in the registry */

    /* The thread ends, in the middle of an answer, too. It publishes nothing. */
    atomic_bool is_closing;

    /* The sources change under the mutex, and while no answer is made: then the thread reads them without it. */
    struct htw__mutex mutex;
    struct htw_monitor_source *sources;
    unsigned source_count;
    bool is_answering;
    pthread_cond_t answered;

    /* Of the thread. */
    struct htw__client clients[HTW__CLIENTS];
    int64_t next_answer_ns; /* none is made before */
    int64_t accept_from_ns; /* accepting has failed, and is tried again then */
    _Atomic int64_t report_due_ns;
};

/* Whether this process was forked after the monitor was opened. */
static inline bool htw__monitor_is_child(const struct htw_monitor *monitor) {
    return monitor->fork_count != htw__fork_count();
}

static inline bool htw__monitor_is_closing(const struct htw_monitor *monitor) {
    /* order: A hint to stop early; the thread is joined. */
    return atomic_load_explicit(&monitor->is_closing, memory_order_relaxed);
}

#endif /* HTW_SRC_MONITOR_STATE_H */
