/* SPDX-License-Identifier: MIT */
/* sample.h - the statistics of all sources at a time, and what each number is called. */
#ifndef HTW_SRC_MONITOR_SAMPLE_H
#define HTW_SRC_MONITOR_SAMPLE_H

#include "../observe/metrics.h"
#include "state.h"

#include <htw/journal_inspect.h>
#include <htw/observe.h>
#include <htw/purgatory_inspect.h>
#include <htw/wheel_inspect.h>

struct htw__sample {
    struct htw_monitor_source *source;
    int error; /* a negative errno: there is nothing else */
    union {
        struct htw__scheduler_numbers scheduler;
        struct htw_purgatory_stats purgatory;
        struct htw_journal_stats journal;
        struct htw_wheel_stats wheel;
    } of;
};

/* By enum htw__source_kind. */
extern const struct htw__kind {
    const char *name, *list; /* "scheduler" for Prometheus, "schedulers" in JSON */
    const struct htw__metric *fields;
} htw__kinds[HTW__SOURCE_KINDS];

/* Members of an object of JSON. */
void htw__fields_write(const struct htw__metric *fields, const void *stats,
                       struct htw__answer_text *text);

/* Adds the numbers of `from` to those of `to`. */
void htw__fields_add(const struct htw__metric *fields, void *to, const void *from);

/* Copies the state of a wheel. By its owner or, while it is lent, by the monitor. Under the mutex. */
void htw__wheel_copy_take(struct htw__lent_wheel *lent);

typedef void htw__source_visitor(void *context, const struct htw__sample *sample);

/* Takes a sample of each source of the kind, in the order of the list. Ends early when the monitor is being closed. By the
   thread of the monitor, for an answer. */
void htw__sources_visit(const struct htw_monitor *monitor, enum htw__source_kind kind,
                        htw__source_visitor *visit, void *context);

#endif /* HTW_SRC_MONITOR_SAMPLE_H */
