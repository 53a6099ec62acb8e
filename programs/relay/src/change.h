/* SPDX-License-Identifier: MIT */
/*
 * change.h - cancels or moves a record that waits, by a record to the input as any producer may send one: with the same
 * key, id and time, to the partition whose stripe the victim is in. So the exactly once of both is that of the relay.
 */
#ifndef HTW_RELAY_CHANGE_H
#define HTW_RELAY_CHANGE_H

#include "kafka.h"
#include "waiting.h"

/* The offset by which the index knows it. */
int64_t htw__change_offset(const struct htw__waiting *victim);

/* Sends it. `to_ms` is 0 for a cancel. Returns 0, and its offset in the input; or -EIO: `error` says why. */
int htw__change_send(struct htw__kafka *kafka, const struct htw__waiting *victim, int64_t to_ms,
                     int64_t *ret_offset);

enum htw__change {
    HTW__CHANGE_SURE,   /* it lies beside its victim, whose bucket is not loaded yet */
    HTW__CHANGE_LATE,   /* a relay has taken it, but its victim may have been loaded before */
    HTW__CHANGE_UNREAD, /* no relay has taken it in this time */
};

/* Waits, at most `timeout_ms`, until a relay has filed what was sent, and has committed that. */
enum htw__change htw__change_await(struct htw__kafka *kafka, const struct htw__waiting *victim,
                                   int64_t offset, int timeout_ms);

#endif /* HTW_RELAY_CHANGE_H */
