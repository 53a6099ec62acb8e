/* SPDX-License-Identifier: MIT */
/* flight_wheel.h - the timers of a flight record in a wheel. */
#ifndef HTW_SRC_CMD_REPLAY_FLIGHT_WHEEL_H
#define HTW_SRC_CMD_REPLAY_FLIGHT_WHEEL_H

#include "flight.h"
#include "record.h"

/* The tick and the size of the busiest scheduler, whose wheel has the timers of all. */
void htw__flight_wheel_options(const struct htw__flight *flight, struct htw__run_options *options);

/* Records what the wheel does when it is given the timers that the program has armed, moved and cancelled.
 * `timer_sites` receives the site of each timer; it has room for one for each event. Returns 0 or a negative
 * errno; -E2BIG: the wheel takes too many steps. The run must be finished in any case with htw__run_fini(). */
int htw__flight_wheel_record(const struct htw__flight *flight, struct htw__replay_record *record,
                             struct htw__run *run, const struct htw__run_options *options,
                             uint32_t *timer_sites);

#endif /* HTW_SRC_CMD_REPLAY_FLIGHT_WHEEL_H */
