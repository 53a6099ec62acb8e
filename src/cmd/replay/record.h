/* SPDX-License-Identifier: MIT */
/* record.h - what has happened in a run, in order. */
#ifndef HTW_SRC_CMD_REPLAY_RECORD_H
#define HTW_SRC_CMD_REPLAY_RECORD_H

#include "../draw/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum htw__event_kind {
    HTW__EVENT_ARMED,
    HTW__EVENT_DEMOTED, /* or inserted again, after a move in place */
    HTW__EVENT_MOVED,
    HTW__EVENT_CANCELLED,
    HTW__EVENT_EXPIRED,
    HTW__EVENT_ADVANCED, /* the clock has moved to a bucket */
    HTW__EVENT_KINDS
};

/* Where a timer is, if it is in no bucket. */
#define HTW__EVENT_DUE (-1)
#define HTW__EVENT_NEVER (-2)

struct htw__event {
    uint64_t tick;     /* when */
    uint64_t deadline; /* of a timer that was armed or moved */
    uint32_t timer;    /* its id; not for ADVANCED */
    int32_t place; /* level times wheel size, plus the number of the bucket; or one of the above */
    enum htw__event_kind kind;
};

struct htw__replay_record {
    struct htw__event *events;
    size_t count, capacity;
    uint64_t counts[HTW__EVENT_KINDS];
    uint64_t end;    /* the tick at which the run ends */
    bool has_failed; /* there was no memory: the record is incomplete */
};

void htw__record_init(struct htw__replay_record *record);
void htw__record_fini(struct htw__replay_record *record);

/* Adds an event. */
void htw__record_add(struct htw__replay_record *record, struct htw__event event);

/* Records a run from its first line to when no timer is pending. Returns 0 or a negative errno; the run must
 * be finished in any case with htw__run_fini(). */
int htw__record_run(struct htw__replay_record *record, struct htw__run *run,
                    const struct htw__run_options *options);

#endif /* HTW_SRC_CMD_REPLAY_RECORD_H */
