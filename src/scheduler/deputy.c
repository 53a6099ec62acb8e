/* SPDX-License-Identifier: MIT */
/* deputy.c - what wakes the worker that may take the place of an expirer. */
#include "deputy.h"

#include <htw/scheduler.h>

int htw__deputy_init(struct htw__deputy *deputy) {
    int error = htw__alarm_init(&deputy->alarm, HTW__SYSTEM_MONOTONIC, true);
    deputy->has_alarm = error == 0;
    return error;
}

void htw__deputy_fini(struct htw__deputy *deputy) {
    if (deputy->has_alarm)
        htw__alarm_fini(&deputy->alarm);
}

void htw__deputy_want(struct htw__deputy *deputy, int64_t at_ns) {
    if (!deputy->present)
        return; /* it sees what there is when it has the mutex */
    if (at_ns == 0)
        deputy->called = true;
    if (at_ns < deputy->wanted_ns)
        deputy->wanted_ns = at_ns;
}

void htw__deputy_unlock(struct htw__deputy *deputy, struct htw__mutex *mutex) {
    int64_t at_ns = deputy->wanted_ns;
    deputy->wanted_ns = HTW_NEVER_NS;
    htw__mutex_unlock(mutex);
    if (at_ns != HTW_NEVER_NS)
        htw__alarm_set(&deputy->alarm, at_ns);
}

void htw__deputy_wait(struct htw__deputy *deputy, struct htw__mutex *mutex, int64_t at_ns) {
    deputy->present = true;
    htw__alarm_reset(&deputy->alarm);
    htw__mutex_unlock(mutex);
    htw__alarm_plan(&deputy->alarm, at_ns, at_ns);
    htw__alarm_wait(&deputy->alarm);
    htw__mutex_lock(mutex);
    deputy->present = false;
    deputy->called = false;
}
