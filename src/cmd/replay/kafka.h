/* SPDX-License-Identifier: MIT */
/* kafka.h - the same run in the timing wheel of Apache Kafka. */
#ifndef HTW_SRC_CMD_REPLAY_KAFKA_H
#define HTW_SRC_CMD_REPLAY_KAFKA_H

#include "record.h"

/*
 * Records what Kafka's SystemTimer would do with the timers of a run, with the same tick and 2^bits buckets in a
 * level; its reaper thread takes no time. Kafka has no move: it cancels, and adds again.
 * Returns 0 or -ENOMEM.
 */
int htw__kafka_record(struct htw__replay_record *record, const struct htw__replay_record *run,
                      unsigned bits);

#endif /* HTW_SRC_CMD_REPLAY_KAFKA_H */
