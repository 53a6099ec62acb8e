/* SPDX-License-Identifier: MIT */
/* file.h - where a record goes: to a bucket, to its topic, or to the dead letters. */
#ifndef HTW_SRC_RELAY_FILE_H
#define HTW_SRC_RELAY_FILE_H

#include "relay.h"

/* Each returns 0, or a negative errno: the transaction has to be aborted. */

/* Publishes a record to the bucket of its deadline, or delivers it if that has passed. */
int htw__relay_file(struct htw__relay *relay, struct htw__stripe *stripe, struct htw__source from,
                    const struct htw__record *record, const struct htw__request *request);

/* Publishes a record to its topic. */
int htw__relay_deliver(struct htw__relay *relay, struct htw__source from,
                       const struct htw__record *record, const struct htw__request *request);

/* Publishes a record to the dead letters. */
int htw__relay_bury(struct htw__relay *relay, struct htw__source from,
                    const struct htw__record *record, const char *reason);

#endif /* HTW_SRC_RELAY_FILE_H */
