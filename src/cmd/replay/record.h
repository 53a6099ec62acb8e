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
    size_t limit;    /* it has no more events than this; 0: any number */
    bool has_failed; /* there was no memory: the record is incomplete */
    bool is_too_long;
};

void htw__record_init(struct htw__replay_record *record);
void htw__record_fini(struct htw__replay_record *record);

/* Adds an event. */
void htw__record_add(struct htw__replay_record *record, struct htw__event event);

/* Whether it lacks events: 0, -ENOMEM or -E2BIG. */
int htw__record_error(const struct htw__replay_record *record);

/* Does to the wheel of a run what is to be recorded. Returns 0 or a negative errno. */
typedef int htw__record_player(void *context, struct htw__run *run);

/* Records what a player does. Returns 0 or a negative errno; the run must be finished in any case with
 * htw__run_fini(). */
int htw__record_play(struct htw__replay_record *record, struct htw__run *run,
                     const struct htw__run_options *options, htw__record_player *player,
                     void *context);

/* Records the lines of a run, from the first one to when no timer is pending. Otherwise as above. */
int htw__record_run(struct htw__replay_record *record, struct htw__run *run,
                    const struct htw__run_options *options);

#endif /* HTW_SRC_CMD_REPLAY_RECORD_H */
