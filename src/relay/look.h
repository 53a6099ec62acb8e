/* SPDX-License-Identifier: MIT */
/* look.h - which buckets are open, as time passes. */
#ifndef HTW_SRC_RELAY_LOOK_H
#define HTW_SRC_RELAY_LOOK_H

#include "relay.h"

/* Makes the wheel anew: at first, and when the wall clock was set back, which a wheel ignores. Returns
 * 0 or -ENOMEM. */
int htw__relay_renew_wheel(struct htw__relay *relay);

/* Moves the clock of each stripe, closes buckets that are drained, opens those whose time comes.
 * Returns 0 or -ENOMEM. */
int htw__relay_look(struct htw__relay *relay);

/* Closes all buckets of a stripe. */
void htw__relay_close_all(struct htw__relay *relay, struct htw__stripe *stripe);

/* An entry has left its bucket: delivers and frees it. Returns 0, or a negative errno: abort. In relay.c. */
int htw__relay_leave(struct htw__relay *relay, struct htw__entry *entry);

#endif /* HTW_SRC_RELAY_LOOK_H */
