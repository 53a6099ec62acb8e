/* SPDX-License-Identifier: MIT */
/* actions.h - what `htw journal` can do. Each returns the exit status. */
#ifndef HTW_SRC_CMD_JOURNAL_ACTIONS_H
#define HTW_SRC_CMD_JOURNAL_ACTIONS_H

#include "jobs.h"

struct htw__journal_request {
    const char *path;
    bool json;
    bool payload;                      /* show: the bytes of the payload alone */
    struct htw__journal_filter filter; /* list; the queue also of put and kick, the limit of kick */
    const uint64_t *ids;
    size_t id_count;
    /* Of put, move and the other steps: */
    enum htw_job_step step;
    const char *done;    /* what JSON calls it */
    const char *key;     /* NULL: none */
    const char *content; /* the payload; NULL: standard input */
    int64_t deadline_ns;
    bool has_priority;
    uint32_t priority;
    /* Of recurring jobs: */
    const char *name, *schedule, *zone;
    uint32_t catch_up; /* UINT32_MAX: not said */
};

/* These read the file, also while a program has it open. */
int htw__journal_list(const struct htw__journal_request *request);
int htw__journal_show(const struct htw__journal_request *request);
int htw__journal_stats(const struct htw__journal_request *request);
int htw__journal_recurring(const struct htw__journal_request *request);
int htw__journal_check(const struct htw__journal_request *request);

/* These open the journal. `put` puts a job, or sets a rule if there is a schedule; `step` makes a step of each job. */
int htw__journal_put(const struct htw__journal_request *request);
int htw__journal_step(const struct htw__journal_request *request);
int htw__journal_kick(const struct htw__journal_request *request);
int htw__journal_unrecur(const struct htw__journal_request *request);
int htw__journal_compact(const struct htw__journal_request *request);

#endif /* HTW_SRC_CMD_JOURNAL_ACTIONS_H */
