/* SPDX-License-Identifier: MIT */
/* alarm.c - to which time an alarm is set. The timer itself is that of the form: see alarm.h. */
#include "alarm.h"

void htw__alarm_reset(struct htw__alarm *alarm) {
    htw__mutex_lock(&alarm->mutex);
    alarm->at_ns = INT64_MAX;
    htw__mutex_unlock(&alarm->mutex);
}

void htw__alarm_set(struct htw__alarm *alarm, int64_t at_ns) {
    htw__mutex_lock(&alarm->mutex);
    if (at_ns < alarm->at_ns) {
        alarm->at_ns = at_ns;
        htw__alarm_set_timer(alarm, at_ns < 1 ? 1 : at_ns);
    }
    htw__mutex_unlock(&alarm->mutex);
}

void htw__alarm_disarm(struct htw__alarm *alarm) {
    htw__mutex_lock(&alarm->mutex);
    if (alarm->at_ns == INT64_MAX)
        htw__alarm_set_timer(alarm, INT64_MAX);
    htw__mutex_unlock(&alarm->mutex);
}
