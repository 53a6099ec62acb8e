/* SPDX-License-Identifier: MIT */
/* file.h - where a record goes: to a bucket, to its topic, or to the dead letters. */
#ifndef HTW_RELAY_FILE_H
#define HTW_RELAY_FILE_H

#include "request.h"
#include "state.h"

/* A record leaves the partition that it came from, for where its headers say. Returns 0, or a negative errno: the
 * transaction has to be aborted. For what is wrong with one record that happens HTW__FAILURES_MAX times at most. */
int htw__relay_pass_on(struct htw__relay *relay, struct htw__stripe *stripe,
                       struct htw__source from, const struct htw__relay_record *record,
                       const struct htw__request *request);

/* Where it is counted what becomes of a record. */
static inline struct htw__relay_work *htw__relay_work_of(struct htw__relay *relay,
                                                         struct htw__source from) {
    return &relay->open[htw__channel_of(from) - 1];
}

/* A record that could not be published, and will not be. */
struct htw__refusal {
    struct htw__source from; /* where it came from */
    int64_t offset;
    const char *reason; /* a static phrase */
    bool is_letter;     /* it was a dead letter */
    bool is_too_large;
    bool is_bucket; /* it was for a bucket */
    bool is_bad;    /* it was not even judged */
};

/* When it is read again, it becomes a dead letter; one that was refused becomes smaller, or waits in a
 * bucket. Returns 0; -EEXIST: that was tried before, and a bucket did not take it; -ENOMEM. */
int htw__relay_refused(struct htw__relay *relay, const struct htw__refusal *refusal);

/* A record has aborted everything by something that is neither a lack of memory nor of the transport. One that does so
 * HTW__FAILURES_MAX times is refused, as htw__relay_refused() says. */
#define HTW__FAILURES_MAX 5u
int htw__relay_failed(struct htw__relay *relay, const struct htw__refusal *refusal);

/* What was published is committed: refusals that have led to something are forgotten. */
void htw__relay_committed(struct htw__relay *relay, enum htw__channel channel);

#endif /* HTW_RELAY_FILE_H */
