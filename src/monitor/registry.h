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

#include <stddef.h>

/* Clients at a time. */
#define HTW__CLIENTS 8u

/* The descriptors of one monitor; -1: not open. */
struct htw__descriptors {
    struct htw__descriptors *next;
    int listener, wake, epoll;
    int clients[HTW__CLIENTS];
};

/* Has forks watched. 0 or -ENOMEM. */
int htw__registry_init(void);

/* From here until the unlock no thread forks. */
void htw__registry_lock(void);
void htw__registry_unlock(void);

/* Under the lock. */
void htw__registry_add(struct htw__descriptors *descriptors);
void htw__registry_remove(struct htw__descriptors *descriptors);

/* Closes a descriptor and forgets it. Takes the lock. */
void htw__registry_close(int *fd);

#endif /* HTW_SRC_MONITOR_REGISTRY_H */
