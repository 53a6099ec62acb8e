/* SPDX-License-Identifier: MIT */
/* directory.h - what is known of the topics that are delivered to. */
#ifndef HTW_RELAY_DIRECTORY_H
#define HTW_RELAY_DIRECTORY_H

#include "../../../src/base/key_table.h"
#include "background.h"
#include "lookup.h"
#include "state.h"

#include <htw/base.h>

#define HTW__DIRECTORY_PRODUCERS 2

struct htw__destination {
    struct htw__key_node node; /* in `names`; the key is the name */
    struct htw__link use;      /* in `by_use` */
    int32_t
        partitions; /* 0: there is no such topic; -EACCES: it may not be seen, or written to; -EAGAIN: not known */
    int64_t answered_ms; /* when that was known, by the monotonic clock */
    bool is_proven;      /* the relay may write to it (trust.c) */
    size_t uses;         /* records for it in transactions: it stays as long */
    rd_kafka_topic_t
        *topics[HTW__DIRECTORY_PRODUCERS]; /* so that the producers know it; NULL: not told */
    char name[];
};

struct htw__directory {
    struct htw__key_table names;
    struct htw__link by_use; /* the one that was used longest ago first */
    uint64_t seed;
    rd_kafka_t *client;
    struct htw__background background; /* asks for all topics */
    const struct rd_kafka_metadata *metadata;
    bool is_wanted;             /* something is to be asked for */
    int64_t asked_ms, pause_ms; /* when that was done last, and how long it is not done again */
};

/* Makes an empty one. It must not move. */
void htw__directory_init(struct htw__directory *directory);

/* Lets it ask by a client, a consumer. The client and the descriptor, which is written to when there is an answer, stay the
 * caller's, and outlive it. */
void htw__directory_open(struct htw__directory *directory, rd_kafka_t *client, int event_fd);

/* Forgets all; may wait for an answer for three seconds. One that is zero may be ended. */
void htw__directory_fini(struct htw__directory *directory);

/* What is known of a topic. Asks for it in the background if that is nothing, or old. The result is valid until the
 * next call. */
struct htw__destination *htw__directory_find(struct htw__directory *directory, const char *name);

/* Takes the answers that have come; and asks for what is to be asked for. */
void htw__directory_learn(struct htw__directory *directory);
void htw__directory_send(struct htw__directory *directory);

/* A topic has refused a record: what goes there is refused at once, for some seconds, if it would be. */
void htw__directory_refused(struct htw__directory *directory, const char *name,
                            rd_kafka_resp_err_t why);

/* It may not be written to, and that is not asked for again for a minute. */
void htw__directory_deny(struct htw__destination *destination);

/* What is known is old: all is asked for again at once. */
void htw__directory_doubt(struct htw__directory *directory);

/* Lets a producer know a topic that exists, so that its first record does not wait for the producer's own question. */
void htw__directory_introduce(struct htw__destination *destination, int producer,
                              rd_kafka_t *handle);

/* A producer ends. */
void htw__directory_leave(struct htw__directory *directory, int producer);

/* Whether something is known of a topic. Asks nothing. */
bool htw__directory_has(const struct htw__directory *directory, const char *name);

/* Puts a destination in that was not there, and is known to have so many partitions. */
struct htw__destination *htw__directory_add(struct htw__directory *directory, const char *name,
                                            int32_t partitions);

#endif /* HTW_RELAY_DIRECTORY_H */
