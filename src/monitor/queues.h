/* SPDX-License-Identifier: MIT */
/* queues.h - the queues of a journal, for an answer: those with most jobs, and the rest added up. */
#ifndef HTW_SRC_MONITOR_QUEUES_H
#define HTW_SRC_MONITOR_QUEUES_H

#include "greatest.h"
#include "sample.h"

struct htw__queue_row {
    char name[HTW_QUEUE_NAME_MAX + 1]; /* "": the default queue */
    uint64_t delayed, ready, leased, buried, waiting;
    bool is_paused;
};

struct htw__queue_rows {
    struct htw__greatest greatest;
    struct htw__queue_row rows[HTW__ROWS_SHOWN];
    uint64_t others_count;
    struct htw__queue_row others;
    int64_t now_ns; /* of the wall clock */
};

/* What is told of a queue, of struct htw__queue_row. First the states of jobs, which are one metric. */
extern const struct htw__field htw__queue_fields[];

/* Of a journal, which is one of so many sources. 0, or a negative errno. */
int htw__queue_rows_take(struct htw__queue_rows *self, const struct htw_monitor_source *source,
                         uint32_t sources);

#endif /* HTW_SRC_MONITOR_QUEUES_H */
