/* SPDX-License-Identifier: MIT */
/* look.h - time passes: what is delivered, and which buckets are open. */
#ifndef HTW_RELAY_LOOK_H
#define HTW_RELAY_LOOK_H

#include "state.h"

/*
 * The time is `now_ms`: delivers what is due, at most `max` records, and opens and closes buckets.
 * Returns 1 if more is due, 0, or a negative errno. A time before the last one is allowed: the wall
 * clock was set back.
 */
int htw__relay_advance(struct htw__relay *relay, int64_t now_ms, size_t max);

/* When the next record in memory is due; INT64_MAX: none. */
int64_t htw__relay_next(struct htw__relay *relay);

/* How many records of the buckets that are being demoted should be read in a millisecond, so that they
 * are done in half of the time that is left; 0: there are none. Reading them all at once would delay what
 * is due meanwhile. */
double htw__relay_demotion_rate(const struct htw__relay *relay);

/* Brings the state in relay->stats up to date. */
void htw__relay_measure(struct htw__relay *relay);

/* Makes the wheel anew: at first, and when the wall clock was set back, which a wheel ignores. Returns
 * 0 or -ENOMEM. */
int htw__relay_renew_wheel(struct htw__relay *relay);

/* Closes all buckets of a stripe. */
void htw__relay_close_all(struct htw__relay *relay, struct htw__stripe *stripe);

#endif /* HTW_RELAY_LOOK_H */
