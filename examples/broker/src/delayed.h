/* SPDX-License-Identifier: MIT */
/* delayed.h - LPUSHIN and LPUSHAT: values that are pushed later. */
#ifndef BROKER_DELAYED_H
#define BROKER_DELAYED_H

#include <htw/scheduler.h>

/* A visitor for htw_scheduler_stop(): frees values that will not be pushed. */
void delayed_discard(void *context, const struct htw_unexpired *unexpired);

#endif /* BROKER_DELAYED_H */
