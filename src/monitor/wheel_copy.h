/* SPDX-License-Identifier: MIT */
/* wheel_copy.h - what is shown of a wheel that is lent now and then. */
#ifndef HTW_SRC_MONITOR_WHEEL_COPY_H
#define HTW_SRC_MONITOR_WHEEL_COPY_H

#include "state.h"

/* Copies the state of the wheel. By its owner or, while it is lent, by the monitor. Under the mutex. */
void htw__wheel_copy_take(struct htw__lent_wheel *lent);

#endif /* HTW_SRC_MONITOR_WHEEL_COPY_H */
