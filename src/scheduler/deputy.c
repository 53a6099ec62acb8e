/* SPDX-License-Identifier: MIT */
/* deputy.c - what wakes the worker that may take the place of an expirer. */
#include "deputy.h"

#include <htw/scheduler.h>

int htw__deputy_init(struct htw__deputy *deputy) {
    int error = htw__alarm_init(&deputy->alarm, CLOCK_MONOTONIC, true);
    deputy->has_alarm = error == 0;
    deputy->at_ns = HTW_NEVER_NS;
    return error;
}

void htw__deputy_fini(struct htw__deputy *deputy) {
    if (deputy->has_alarm)
        htw__alarm_fini(&deputy->alarm);
}

static void set(struct htw__deputy *deputy, int64_t at_ns) {
    deputy->at_ns = at_ns;
    htw__alarm_reset(&deputy->alarm);
    htw__alarm_plan(&deputy->alarm, at_ns);
}

void htw__deputy_call(struct htw__deputy *deputy) {
    if (!deputy->present || deputy->called)
        return;
    deputy->called = true;
    set(deputy, 0);
}

void htw__deputy_plan(struct htw__deputy *deputy, int64_t at_ns, int64_t early_ns) {
    bool is_set = deputy->at_ns == at_ns || (at_ns != HTW_NEVER_NS && deputy->at_ns <= at_ns &&
                                             deputy->at_ns >= at_ns - early_ns);
    if (deputy->present && !deputy->called && !is_set)
        set(deputy, at_ns);
}

void htw__deputy_wait(struct htw__deputy *deputy, struct htw__mutex *mutex) {
    htw__mutex_unlock(mutex);
    htw__alarm_wait(&deputy->alarm);
    htw__mutex_lock(mutex);
    deputy->present = false;
    deputy->called = false;
    set(deputy, HTW_NEVER_NS);
}
