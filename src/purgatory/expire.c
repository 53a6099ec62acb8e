/* SPDX-License-Identifier: MIT */
/* expire.c - ends the requests whose timeouts are due: the callback of the alarms. */
#include "expire.h"

#include "alarms.h"
#include "end.h"
#include "timeout.h"

/* How many requests a callback ends before it returns to the scheduler. Requests may be submitted
   again and again with a timeout of 0, and the thread has other callbacks to run. */
#define TURNS 4096u

/* No call of the scheduler fails here, unless the scheduler was stopped; then nothing expires. */
static void end_due(struct htw__frame *frame, struct htw__timeout_alarm *alarm) {
    struct htw__cpu *cpu = alarm->cpu;
    htw__lock_acquire(&cpu->lock);
    htw__alarms_begin_callback(alarm);
    bool more = true;
    for (unsigned turn = 0; more && turn < TURNS; turn++) {
        struct htw_request *request = htw__timeout_next_due(cpu, &more);
        (void)htw__alarms_set(cpu);
        htw__lock_release(&cpu->lock);
        if (request != NULL)
            htw__request_end(frame, request, HTW_REASON_EXPIRED);
        htw__lock_acquire(&cpu->lock);
    }
    htw__alarms_end_callback(alarm);
    htw__lock_release(&cpu->lock);
}

void htw__expire_due(void *alarm, const struct htw_expiration *expiration) {
    (void)expiration;
    struct htw__frame frame = { 0 };
    htw__frame_push(&frame, ((struct htw__timeout_alarm *)alarm)->cpu->purgatory);
    end_due(&frame, alarm);
    htw__frame_pop(&frame);
}
