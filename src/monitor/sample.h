/* SPDX-License-Identifier: MIT */
/* sample.h - the statistics of all sources at a time, and what each number is called. */
#ifndef HTW_SRC_MONITOR_SAMPLE_H
#define HTW_SRC_MONITOR_SAMPLE_H

#include "../base/prometheus.h"
#include "state.h"

#include <htw/journal.h>

struct htw__sample {
    struct htw_monitor_source *source; /* during the visit */
    char name[HTW_MONITOR_NAME_MAX + 1];
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
    const char *name;          /* in JSON */
    struct htw__metric metric; /* for Prometheus; its name is NULL: it is written apart */
};

#define HTW__FIELD(type, called, member, text)       \
    {                                                \
#member, {                                   \
            (called), (text), offsetof(type, member) \
        }                                            \
    }

/* Behind the last field: it has no name. */
#define HTW__FIELDS_END   \
    {                     \
        NULL, {           \
            NULL, NULL, 0 \
        }                 \
    }

/* All fields of a kind. */
const struct htw__field *htw__fields(enum htw__source_kind kind);

/* Members of an object of JSON. */
void htw__fields_write(const struct htw__field *fields, const void *stats,
                       struct htw__answer_text *text);

/* Adds the numbers of `from` to those of `to`. */
void htw__fields_add(const struct htw__field *fields, void *to, const void *from);

/* "scheduler", "purgatory", "journal" or "wheel". */
const char *htw__kind_name(enum htw__source_kind kind);

/* The sources that a monitor has at a time. Those that are added later are not among them: so no name is
   twice in an answer. */
struct htw__sources {
    struct htw_monitor *monitor;
    unsigned count;
    uint64_t last; /* the number of the one that was added last */
};

struct htw__sources htw__sources_now(struct htw_monitor *monitor);

typedef void htw__source_visitor(void *context, const struct htw__sample *sample);

/* Takes a sample of each of these sources that is of the kind and was not removed, in the order of the list.
   The source exists until the visitor returns. Ends early when the monitor is being closed. By the thread
   of the monitor, which holds no lock. */
void htw__sources_visit(const struct htw__sources *sources, enum htw__source_kind kind,
                        htw__source_visitor *visit, void *context);

#endif /* HTW_SRC_MONITOR_SAMPLE_H */
