/* SPDX-License-Identifier: MIT */
/* alarm.h - sets the timers of the scheduler that expire when a timeout of a CPU is due. */
#ifndef HTW_SRC_PURGATORY_ALARM_H
#define HTW_SRC_PURGATORY_ALARM_H

#include "cpu.h"

/* Under the lock of the CPU: sets an alarm for the earliest timeout of the wheel, unless one is set for it. 0, or
   the error of the scheduler; then no alarm may be set. */
int htw__timeout_alarm_set(struct htw__cpu *cpu);

/* Under the lock of the CPU: the callback of an alarm begins. It is not set any more. */
void htw__timeout_alarm_begin(struct htw__timeout_alarm *alarm);

/* The callback returns: the alarm can be set again. */
void htw__timeout_alarm_end(struct htw__timeout_alarm *alarm);

#endif /* HTW_SRC_PURGATORY_ALARM_H */
