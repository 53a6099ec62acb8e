/* SPDX-License-Identifier: MIT */
/* sample.h - the statistics of all sources at a time, and what each number is called. */
#ifndef HTW_SRC_MONITOR_SAMPLE_H
#define HTW_SRC_MONITOR_SAMPLE_H

#include "../observe/metrics.h"
#include "state.h"

#include <htw/journal.h>

struct htw__sample {
    struct htw_monitor_source *source;
    int error; /* a negative errno: there is nothing else */
    union {
        struct {
            struct htw_scheduler_stats stats;
            struct htw_scheduler_histograms histograms;
        } scheduler;
        struct htw_purgatory_stats purgatory;
        struct htw_journal_stats journal;
        struct htw_wheel_stats wheel;
    } of;
};

/* A number of 64 bits in the struct of statistics of a kind. */
struct htw__field {
    const char *name;  /* in JSON */
    const char *label; /* of its samples for Prometheus, with the name as its value; NULL: none */
    struct htw__metric
        metric; /* fields that follow each other may have one; its name is NULL: none is written */
};

#define HTW__LABELED_FIELD(type, label, called, member, text) \
    {                                                         \
#member, (label), {                                   \
            (called), (text), offsetof(type, member)          \
        }                                                     \
    }
#define HTW__FIELD(type, called, member, text) HTW__LABELED_FIELD(type, NULL, called, member, text)

/* Behind the last field: it has no name. */
#define HTW__FIELDS_END \
    { .name = NULL }

/* By enum htw__source_kind. */
extern const struct htw__kind {
    const char *name, *list; /* "scheduler" for Prometheus, "schedulers" in JSON */
    const struct htw__field *fields;
} htw__kinds[HTW__SOURCE_KINDS];

/* Members of an object of JSON. */
void htw__fields_write(const struct htw__field *fields, const void *stats,
                       struct htw__answer_text *text);

/* Adds the numbers of `from` to those of `to`. */
void htw__fields_add(const struct htw__field *fields, void *to, const void *from);

typedef void htw__source_visitor(void *context, const struct htw__sample *sample);

/* Takes a sample of each source of the kind, in the order of the list. Ends early when the monitor is being closed. By the
   thread of the monitor, for an answer. */
void htw__sources_visit(const struct htw_monitor *monitor, enum htw__source_kind kind,
                        htw__source_visitor *visit, void *context);

#endif /* HTW_SRC_MONITOR_SAMPLE_H */
