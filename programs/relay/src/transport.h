/* SPDX-License-Identifier: MIT */
/*
 * transport.h - the seam between the rules of the relay and what carries records: Kafka, or the broker
 * in memory of the tests.
 *
 * A transport calls the functions of relay.h when something arrived, and the relay calls these. What
 * the relay publishes belongs to the current transaction of the transport, and becomes visible when
 * that is committed together with the positions that htw__relay_positions() lists. (Without
 * transactions it is visible at once, and the positions follow.)
 */
#ifndef HTW_RELAY_TRANSPORT_H
#define HTW_RELAY_TRANSPORT_H

#include "levels.h"
#include "record.h"

/* In place of a level: the input partition of a stripe, and that of its index (index.h). */
enum {
    HTW__RELAY_IDS = HTW__RELAY_LEVELS_MAX,
    HTW__RELAY_INPUT,
    HTW__RELAY_SOURCES /* so many kinds of partitions there are */
};

/* A partition of the input, of the index or of a level. */
struct htw__source {
    uint32_t stripe;
    uint32_t level; /* or one of these */
    uint32_t slot;
};

/* A record to be published. Everything that it leads to is valid during the call only. */
struct htw__outgoing {
    struct htw__relay_record record; /* offset and timestamp mean nothing */
    const char *topic;               /* NULL: to the bucket `bucket` */
    struct htw__source bucket;
    int32_t partition;       /* of `topic`; -1: chosen by the key */
    struct htw__source from; /* where the record came from, ... */
    int64_t from_offset;     /* ... for errors that come later */
    bool is_letter;          /* to the topic of dead letters */
};

struct htw__transport {
    /* Publishes. Returns 0; -ENOENT or -EACCES: no such topic or partition, or it may not be written
     * to; -EINPROGRESS: not known yet, ask again; -EMSGSIZE: the record is too large (in these cases nothing was
     * published); -ENOMEM; or -EAGAIN: the transaction will fail. Waits when there is no room. */
    int (*publish)(struct htw__transport *self, const struct htw__outgoing *outgoing);
    /* A record for this topic will be due soon: the transport finds out meanwhile whether it exists. */
    void (*expect)(struct htw__transport *self, const char *topic);
    /* Begins to read a bucket at an offset, or goes on from there if it is being read. Reading delivers
     * records in order of offset, and tells each time that the end has been reached. */
    void (*open)(struct htw__transport *self, struct htw__source bucket, int64_t offset);
    /* Ends that. Nothing of the bucket arrives after the call. */
    void (*close)(struct htw__transport *self, struct htw__source bucket);
};

#endif /* HTW_RELAY_TRANSPORT_H */
