/* SPDX-License-Identifier: MIT */
/* file.h - where a record goes: to a bucket, to its topic, or to the dead letters. */
#ifndef HTW_SRC_RELAY_FILE_H
#define HTW_SRC_RELAY_FILE_H

#include "state.h"

/* A record leaves the partition that it came from, for where its headers say. Returns 0, or a negative
 * errno: the transaction has to be aborted. */
int htw__relay_pass_on(struct htw__relay *relay, struct htw__stripe *stripe,
                       struct htw__source from, const struct htw__record *record);

/* A record could not be published, and will not be: when it is read again, it becomes a dead letter.
 * `reason` is a static phrase. Returns 0; -EEXIST: it was a dead letter; -ENOMEM. */
int htw__relay_poison(struct htw__relay *relay, struct htw__source from, int64_t offset,
                      const char *reason);

#endif /* HTW_SRC_RELAY_FILE_H */
