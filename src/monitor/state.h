/* SPDX-License-Identifier: MIT */
/*
 * state.h - struct htw_monitor and its sources; start here.
 *
 * One thread (server.c) accepts clients, reads a line from each, and writes the answer. The answer is
 * made by answer.c: it takes a sample of each source (sample.c) and writes all of them as JSON (json.c)
 * or for Prometheus (metrics.c). It reads one source after the other, and holds no lock meanwhile: a call
 * that removes a source waits while the thread reads that one, and for nothing else.
 *
 * The files include each other in this order: text, place, registry <- state <- wheel_copy <- sample <-
 * json, metrics <- answer <- server <- source, monitor.
 */
#ifndef HTW_SRC_MONITOR_STATE_H
#define HTW_SRC_MONITOR_STATE_H

#include "../base/fork.h"
#include "../base/lock.h"
#include "place.h"
#include "registry.h"
#include "text.h"

#include <htw/monitor.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What a client may send: a line, and after it what HTTP sends. */
#define HTW__LINE_MAX 200u
#define HTW__REQUEST_MAX 8192u

/* How many levels of a wheel are shown: all that a wheel of 64 buckets or more can have. */
#define HTW__LEVELS_SHOWN 11u

enum htw__source_kind {
    HTW__SOURCE_SCHEDULER,
    HTW__SOURCE_PURGATORY,
    HTW__SOURCE_JOURNAL,
    HTW__SOURCE_WHEEL
};

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
    uint32_t buckets[HTW__LEVELS_SHOWN];
    uint16_t timers[HTW__LEVELS_SHOWN][HTW_LEVEL_PARTS]; /* at most 64 for each of 64 buckets */
};

struct htw_monitor_source {
    struct htw_monitor *monitor;
    struct htw_monitor_source *next; /* in the order in which they were added */
    uint64_t number;                 /* in that order, from 1 */
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
        struct htw__lent_wheel *wheel;
    } of;
};

/* A client; the descriptor is in struct htw__descriptors. */
struct htw__client {
    char line[HTW__LINE_MAX + 1];
    uint32_t line_size; /* without its end */
    uint32_t received;  /* bytes in all */
    bool has_line;
    bool is_http;       /* what follows the line, to an empty line, is read and ignored */
    bool line_is_empty; /* the one that is being received */
    bool is_ready;      /* the request is complete */
    bool has_answer;
    uint32_t awaited;  /* the events that epoll reports */
    uint32_t happened; /* those that it has reported */
    int64_t until_ns;  /* it is given up then */
    char head[160];    /* of the answer by HTTP */
    uint32_t head_size;
    struct htw__answer_text body;
    size_t sent; /* of both */
};

struct htw_monitor {
    struct htw_allocator allocator; /* constant, as are the next three */
    unsigned fork_count;
    struct htw__socket_place place;
    int64_t opened_ns;

    pthread_t thread;
    struct htw__descriptors descriptors; /* guarded by the lock of the registry */

    /* The thread ends, in the middle of an answer, too. It publishes nothing. */
    atomic_bool is_closing;

    struct htw__mutex mutex; /* guards the sources */
    struct htw_monitor_source *sources;
    unsigned source_count;
    uint64_t sources_added;                   /* ever */
    const struct htw_monitor_source *reading; /* stays while the thread reads it; NULL: none */
    pthread_cond_t read;                      /* the thread has read it */

    /* Of the thread. */
    struct htw__client clients[HTW__CLIENTS];
    int64_t next_answer_ns; /* none is made before */
    int64_t accept_from_ns; /* accepting has failed, and is tried again then */
    bool accepts;           /* epoll reports clients that wait to be accepted */
};

/* Whether this process was forked after the monitor was opened. */
static inline bool htw__monitor_is_child(const struct htw_monitor *monitor) {
    return monitor->fork_count != htw__fork_count();
}

#endif /* HTW_SRC_MONITOR_STATE_H */
