/* SPDX-License-Identifier: MIT */
/* record.c - records what happens in a run. */
#include "record.h"

#include "../draw/grow.h"
#include "../../wheel/state.h"

#include <errno.h>
#include <stdlib.h>

void htw__record_init(struct htw__replay_record *record) {
    *record = (struct htw__replay_record) { .events = NULL };
}

void htw__record_fini(struct htw__replay_record *record) {
    free(record->events);
    record->events = NULL;
}

void htw__record_add(struct htw__replay_record *record, struct htw__event event) {
    record->is_too_long |= record->limit != 0 && record->count == record->limit;
    if (record->is_too_long)
        return;
    if (record->count == record->capacity) {
        struct htw__event *events =
            record->has_failed ? NULL
                               : htw__grow(record->events, &record->capacity, sizeof(*events));
        record->has_failed = events == NULL;
        if (record->has_failed)
            return;
        record->events = events;
    }
    record->events[record->count++] = event;
    record->counts[event.kind]++;
}

/* What the observer needs. */
struct recording {
    struct htw__replay_record *record;
    struct htw__run *run;
    uint64_t clock;      /* of the last advance */
    uint64_t *deadlines; /* by timer, the last that was recorded */
    size_t known, capacity;
};

/* Whether the timer has been recorded before; notes its deadline. */
static enum htw__event_kind kind_of(struct recording *recording, uint32_t id, uint64_t deadline) {
    if (id < recording->known) {
        enum htw__event_kind kind =
            recording->deadlines[id] == deadline ? HTW__EVENT_DEMOTED : HTW__EVENT_MOVED;
        recording->deadlines[id] = deadline;
        return kind;
    }
    if (recording->known == recording->capacity) {
        uint64_t *deadlines =
            htw__grow(recording->deadlines, &recording->capacity, sizeof(*deadlines));
        if (deadlines == NULL) {
            recording->record->has_failed = true;
            return HTW__EVENT_ARMED;
        }
        recording->deadlines = deadlines;
    }
    recording->deadlines[recording->known++] = deadline; /* the ids come in order */
    return HTW__EVENT_ARMED;
}

static int32_t place_of(uint32_t id) {
    if (id == HTW__ID_DUE)
        return HTW__EVENT_DUE;
    return id == HTW__ID_NEVER ? HTW__EVENT_NEVER : (int32_t)id;
}

static void observe(void *context, enum htw__trace_step step, const struct htw__run_timer *timer,
                    uint64_t number) {
    struct recording *recording = context;
    uint64_t clock = recording->run->wheel->clock; /* it may be set after the steps of a poll */
    if (step == HTW__TRACE_ADVANCED)
        recording->clock = number;
    struct htw__event event = { .tick = clock > recording->clock ? clock : recording->clock,
                                .place = HTW__EVENT_DUE };
    if (timer != NULL) {
        event.timer = timer->id;
        event.deadline = timer->timer._deadline;
    }
    switch (step) {
    case HTW__TRACE_PLACED:
        event.place = place_of((uint32_t)number);
        event.kind = kind_of(recording, event.timer, event.deadline);
        break;
    case HTW__TRACE_MOVED:
        HTW_ASSERT(timer != NULL);
        event.place = place_of(htw__timer_id(&timer->timer));
        event.kind = kind_of(recording, event.timer, number);
        break;
    case HTW__TRACE_CANCELLED:
        event.kind = HTW__EVENT_CANCELLED;
        break;
    case HTW__TRACE_EXPIRED:
        event.kind = HTW__EVENT_EXPIRED;
        break;
    case HTW__TRACE_ADVANCED:
        event.kind = HTW__EVENT_ADVANCED;
        break;
    }
    if (step == HTW__TRACE_MOVED) /* also to the deadline that it has */
        event.kind = HTW__EVENT_MOVED;
    htw__record_add(recording->record, event);
}

int htw__record_play(struct htw__replay_record *record, struct htw__run *run,
                     const struct htw__run_options *options, htw__record_player *player,
                     void *context) {
    struct recording recording = { .record = record, .run = run };
    int error = htw__run_init(run, options, observe, &recording);
    if (error == 0)
        error = player(context, run);
    if (error == 0)
        record->end = htw_wheel_now(run->wheel);
    free(recording.deadlines);
    return error == 0 ? htw__record_error(record) : error;
}

int htw__record_error(const struct htw__replay_record *record) {
    return record->has_failed ? -ENOMEM : record->is_too_long ? -E2BIG : 0;
}

static int play_lines(void *context, struct htw__run *run) {
    (void)context;
    int error = htw__run_read(run);
    if (error == 0)
        htw__run_finish(run);
    return error;
}

int htw__record_run(struct htw__replay_record *record, struct htw__run *run,
                    const struct htw__run_options *options) {
    return htw__record_play(record, run, options, play_lines, NULL);
}
