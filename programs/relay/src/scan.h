/* SPDX-License-Identifier: MIT */
/*
 * scan.h - reads what waits: what the positions of the group say is not done, of the input and of each bucket.
 *
 * It is no member of the group, commits nothing, and asks for nothing but the name of the input: the sizes of the
 * levels stand in the positions. It reads as fast as brokers send, and keeps nothing.
 *
 * WHILE RELAYS WORK. A record that waits from the beginning of the scan to its end is found at least once, because
 * of this order: first all positions; then the index; then the input; then in each step level by level, from the highest
 * to the lowest, the ends, open transactions included, and what lies between. (A step leaves out buckets that start after
 * the time to which it goes. What they have moves down to such buckets.) Wherever a record was when the first end was asked for,
 * its position there is not passed yet by what the scan knows; and if it has been moved and deleted there before it
 * was read, it was moved down, to where the scan comes later. (Not down, but into the same or a higher level, go records
 * beyond the highest window, and dead letters that were refused. If a relay deletes one of these in the middle of a scan,
 * which it does some 10 s after it has moved it, the scan misses it.) A record that is moved or delivered meanwhile
 * may be found twice, or though it is done: so what is shown is what waited at some time during the scan.
 */
#ifndef HTW_RELAY_SCAN_H
#define HTW_RELAY_SCAN_H

#include "kafka.h"

/* Is called with each record and what it asks for, or with one of the index. All of it is valid until it returns. */
typedef void htw__scan_visit(void *context, struct htw__source from,
                             const struct htw__relay_record *record,
                             const struct htw__relay_request *request);

/* Whether all that is due before a time is enough. */
typedef bool htw__scan_enough(void *context, int64_t until_ms);

/* Scans, at first what is due before `until_ms`, then more and more, until that is enough. `kafka` is opened, and not started; it
 * knows the sizes of the levels afterwards. Returns 1: all was read; 0; or -EIO: `error` says why. */
int htw__scan(struct htw__kafka *kafka, int64_t until_ms, htw__scan_visit *visit,
              htw__scan_enough *enough, void *context);

/* Whether what was read is a record of a level, or the end of a partition there. An error that does not mend itself is noted. */
bool htw__scan_is_of(struct htw__kafka *kafka, const rd_kafka_message_t *message, uint32_t level,
                     struct htw__source *ret_from);

#endif /* HTW_RELAY_SCAN_H */
