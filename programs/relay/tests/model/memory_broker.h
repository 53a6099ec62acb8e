/* SPDX-License-Identifier: MIT */
/*
 * memory_broker.h - what the relay uses of Kafka, in memory: partitions, transactions whose markers
 * take offsets, committed positions, and members that own stripes, fail and are killed.
 *
 * A transaction is open, committed, aborted, or being committed: then its positions count already,
 * and its records cannot be read yet.
 */
#ifndef TESTS_MODEL_MEMORY_BROKER_H
#define TESTS_MODEL_MEMORY_BROKER_H

#include "../../src/relay.h"

#define BROKER_STRIPES 3

enum txn_state { TXN_OPEN, TXN_COMMITTING, TXN_COMMITTED, TXN_ABORTED };

struct broker_txn {
    enum txn_state state;
    int64_t decided_ms; /* when it was committed, by a member */
    struct broker_partition **touched;
    size_t touched_count, touched_room;
};

struct broker_record {
    struct htw__relay_record *record; /* NULL: a marker */
    char *topic;                      /* of what was delivered */
    size_t txn;
    int64_t member_now_ms; /* the clock of the member that published it */
    int64_t real_now_ms;
    int64_t gained_end; /* how far the input could be read when that member took the stripe over */
};

struct broker_partition {
    struct broker_record *records;
    size_t count, room;
    int64_t committed; /* -1: none */
    char metadata[HTW__PROGRESS_TEXT_SIZE];
};

struct broker {
    struct htw__levels levels;
    struct broker_partition inputs[BROKER_STRIPES], ids[BROKER_STRIPES];
    struct broker_partition *buckets; /* by stripe, level and slot */
    struct broker_partition out;      /* all topics together */
    struct broker_txn *txns;          /* 0: what is written without one */
    size_t txn_count, txn_room;
    size_t txns_ended;   /* all before this one are committed or aborted */
    size_t sender_txn;   /* of a producer; 0: it has none */
    unsigned generation; /* of the group: each rebalance makes a new one */
    int64_t now_ms;
    bool at_least_once;
    const char *refused; /* a topic that does not exist now; NULL: none */
    bool is_silent;      /* it does not say now whether topics exist */
};

struct broker_read {
    struct htw__source source;
    int64_t position, told;
};

struct broker_ack {
    struct htw__source bucket;
    int64_t offset;
};

/* A commit of a channel takes as long as it takes, while the other channel goes on. */
struct broker_commit {
    bool is_in_flight;
    bool is_ended; /* by the broker; the member was not told yet */
    int result;
    struct htw__relay_position *positions;
    size_t count;
};

struct member {
    struct htw__transport transport;
    struct htw__relay relay;
    struct broker *broker;
    bool is_alive;
    int64_t skew_ms; /* its clock is ahead by this */
    unsigned generation;
    bool owns[BROKER_STRIPES];
    int64_t input_at[BROKER_STRIPES], gained_end[BROKER_STRIPES];
    int64_t input_told[BROKER_STRIPES];
    size_t txns[2]; /* of the channels; 0: none */
    struct broker_commit commits[2];
    struct broker_read *reads;
    size_t read_count, read_room;
    struct broker_ack *acks;
    size_t ack_count, ack_room;
    bool has_poison; /* a record that was published will fail */
    struct htw__source poison_from;
    int64_t poison_offset;
    uint64_t new_stripes; /* whose positions must be committed before their input is read */
};

void broker_init(struct broker *broker, const struct htw__levels *levels, bool at_least_once);
void broker_fini(struct broker *broker);
struct broker_partition *broker_partition(struct broker *broker, struct htw__source source);

/* A record of a producer; in its transaction, if one is open. Returns its offset. */
int64_t broker_produce(struct broker *broker, uint32_t stripe,
                       const struct htw__relay_record *record);

/* Opens and ends that transaction. */
void broker_begin(struct broker *broker);
void broker_end(struct broker *broker, bool is_committed);

/* Ends each transaction whose member is gone, and completes those that are being committed. `is_all`
 * false: only the latter. */
void broker_resolve(struct broker *broker, const struct member *members, size_t count, bool is_all);

/* Whether a record can be read: it is no marker, and its transaction is committed. */
bool broker_is_visible(const struct broker *broker, const struct broker_record *record);

void member_start(struct member *member, struct broker *broker,
                  const struct htw__relay_options *options, int64_t skew_ms);

/* Of what it published without a transaction, the index has never got what is not acknowledged; or the buckets have not. It
 * is to be killed then. */
void member_lose(struct member *member, bool is_index);

/* It ends at once, in the middle of everything. */
void member_kill(struct member *member);

/* Takes a stripe over. */
enum htw__gain member_gain(struct member *member, uint32_t stripe);

/* Forgets everything, and takes all its stripes over again. */
void member_recover(struct member *member);

int64_t member_now(const struct member *member);

/* Each returns 0, or a negative errno: it must recover. */
int member_poll_input(struct member *member, uint32_t stripe, size_t max);
int member_poll_buckets(struct member *member, size_t max);
int member_advance(struct member *member, size_t max);
int member_commit(struct member *member, enum htw__channel channel, bool slow_markers);

/* The same for one channel in three steps: it is asked for, the broker does it or refuses it, and the member is told.
 * member_commit() does first what is missing of one that is in flight; member_recover() wants none. */
int member_commit_begin(struct member *member, enum htw__channel channel);
void member_commit_do(struct member *member, enum htw__channel channel, bool slow_markers);
int member_commit_end(struct member *member, enum htw__channel channel, bool slow_markers);
bool member_is_committing(const struct member *member, enum htw__channel channel);

/* Acknowledges the first `max` records that were published. */
void member_acknowledge(struct member *member, size_t max);

#endif /* TESTS_MODEL_MEMORY_BROKER_H */
