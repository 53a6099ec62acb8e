/* SPDX-License-Identifier: MIT */
/* alarms.h - the timers of the scheduler that expire when a timeout of a CPU is due. */
#ifndef HTW_SRC_PURGATORY_ALARMS_H
#define HTW_SRC_PURGATORY_ALARMS_H

#include "cpu.h"

/* Sets an alarm for the earliest timeout of the wheel, unless one is set for it. 0, or the error of
   the scheduler; then no alarm may be set. Under the lock of the CPU. */
int htw__alarms_set(struct htw__cpu *cpu);

/* The callback of an alarm begins: the alarm is not set any more. Under the lock of the CPU. */
void htw__alarms_begin_callback(struct htw__timeout_alarm *alarm);

/* The callback of an alarm returns: the alarm can be set again. Under the lock of the CPU. */
void htw__alarms_end_callback(struct htw__timeout_alarm *alarm);

/* The wall clock was set, and the scheduler's timers follow it: sets the alarm again. */
void htw__alarms_clock_was_set(struct htw__cpu *cpu);

#endif /* HTW_SRC_PURGATORY_ALARMS_H */
