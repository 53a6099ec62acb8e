/* SPDX-License-Identifier: MIT */
/* delayed.h - LPUSHIN and LPUSHAT: a value that is pushed when its time has come. */
#ifndef BROKER_DELAYED_H
#define BROKER_DELAYED_H

#include <htw/scheduler.h>

/* For htw_scheduler_stop(): frees what will not be delivered. */
void delayed_discard(void *context, const struct htw_unexpired *unexpired);

#endif /* BROKER_DELAYED_H */
