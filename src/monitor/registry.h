/* SPDX-License-Identifier: MIT */
/*
 * registry.h - the descriptors of all monitors of the process, which a child closes when it is forked.
 *
 * A child that kept them would keep the socket of a parent that has died alive, and the connections of
 * clients open. Descriptors are opened and closed under the lock of the registry, so that at a fork it
 * names exactly those that are open: never one whose number belongs to another part of the program.
 */
#ifndef HTW_SRC_MONITOR_REGISTRY_H
#define HTW_SRC_MONITOR_REGISTRY_H

#include "state.h"

/* Has forks watched. 0 or -ENOMEM. */
int htw__registry_init(void);

/* From here until the unlock no thread forks. */
void htw__registry_lock(void);
void htw__registry_unlock(void);

/* A monitor whose descriptors are open. Under the lock. */
void htw__registry_add(struct htw_monitor *monitor);
void htw__registry_remove(struct htw_monitor *monitor);

/* Closes a descriptor and forgets it. Takes the lock. */
void htw__registry_close(int *fd);

#endif /* HTW_SRC_MONITOR_REGISTRY_H */
