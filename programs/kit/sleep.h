/* SPDX-License-Identifier: MIT */
/*
 * sleep.h - sleeps until something happens to a descriptor, or for a time.
 */
#ifndef HTW_KIT_SLEEP_H
#define HTW_KIT_SLEEP_H

#include <poll.h>
#include <stdint.h>

/* For so many nanoseconds, at most; negative: until something happens. Returns as poll() does, and is
 * interrupted by signals. */
int htw__sleep(struct pollfd *wanted, nfds_t count, int64_t limit_ns);

#endif /* HTW_KIT_SLEEP_H */
