/* SPDX-License-Identifier: MIT */
/*
 * relay.h - the rules of the relay: what happens to records, without Kafka and without a clock.
 *
 * THE LIFE OF A RECORD. It arrives from the input (htw__relay_input), and is FILED: published to the
 * bucket of its deadline, at the lowest level whose window reaches that; or, if the deadline has
 * passed, delivered. A bucket above level 0 is DEMOTED one bucket before its start: it is read once,
 * and each record is filed anew, one or more levels down. A bucket of level 0 is LOADED into memory
 * (loaded.h) shortly before its start, and each record is delivered at its millisecond.
 *
 * WHAT IS DONE is kept as one position for each partition, and for a bucket of level 0 a progress
 * beside it. Positions are committed together with what was published. So after a crash, the relay that takes
 * the stripe over continues where the last commit was, and finds nothing of what was not committed.
 *
 * FAILURE. There is one way back from any: abort the transaction, forget the stripes
 * (htw__relay_lose), and take them over again (htw__relay_gain).
 *
 * TWO CHANNELS. What comes from buckets of level 0 is published and committed by itself (DELIVER), apart
 * from what comes from the input and from demotions (FILE). Filing touches many partitions, and each
 * costs a transaction time: it commits seldom, and delivery often.
 *
 * THE CLOCK of a stripe (levels.h) is committed too. After a time in which no relay ran, buckets are
 * taken in their old order from where the clock stood.
 *
 * CANCELS. A cancel removes its victim from the index (index.h), or has no effect. A cancel of what is due may lie in the
 * input, up to where that ended when the stripe was taken over. Until that is read, the clock of the stripe stands, level 0
 * is not opened, and what arrives with an id is filed by that clock. It is all in Kafka: a successor does the same from where
 * the last commit was.
 *
 * All functions are called by one thread. Times are milliseconds since 1970.
 */
#ifndef HTW_RELAY_RELAY_H
#define HTW_RELAY_RELAY_H

#include "state.h"

/* The sizes are valid. The strings of the options stay the caller's. */
void htw__relay_init(struct htw__relay *relay, const struct htw__relay_options *options,
                     struct htw__transport *transport, int64_t now_ms);
void htw__relay_fini(struct htw__relay *relay);

/* ---- stripes come and go */

/* What Kafka knows of a partition when its stripe is taken over. */
struct htw__found {
    int64_t offset; /* committed; -1: none */
    struct htw__bytes metadata;
    /* Of the partition. The end of a bucket is the high watermark, with what is not committed yet. That of the input is
     * the last stable offset: no reader has to wait for the open transaction of a producer. */
    int64_t start, end;
};

enum htw__gain {
    HTW__GAIN_OK = 0,
    HTW__GAIN_FOREIGN, /* the metadata of an offset is none of the relay's */
    HTW__GAIN_OTHER,   /* the buckets were filled with other widths or sizes */
    HTW__GAIN_MISSING, /* a position is missing, though there was something */
    HTW__GAIN_DELETED, /* records of a position were deleted before they were read */
    HTW__GAIN_BEYOND,  /* a position lies beyond the end */
    HTW__GAIN_IDS,     /* the index has lost entries */
};

/*
 * Takes a stripe over, whose index is `ids` (its offset means nothing). `buckets` has levels.count * levels.size, by level and slot.
 * Nothing has changed without HTW__GAIN_OK. A stripe that is new has positions to commit, all in one transaction, and no
 * record must be read before they are.
 */
enum htw__gain htw__relay_gain(struct htw__relay *relay, uint32_t stripe,
                               const struct htw__found *input, const struct htw__found *buckets,
                               const struct htw__found *ids);

/* From where the input of a stripe is to be read; -1: not before its index was. */
int64_t htw__relay_reads_input(const struct htw__relay *relay, uint32_t stripe);

/* The next commit of FILE will say that the stripe has no owner. It must be the last one. */
void htw__relay_release(struct htw__relay *relay, uint32_t stripe);

/* Forgets a stripe, or all of them, and closes their buckets. */
void htw__relay_lose(struct htw__relay *relay, uint32_t stripe);
void htw__relay_lose_all(struct htw__relay *relay);

/* ---- what the transport tells. What arrives of a stripe that is not ours is ignored. */

/* A record of the input, or of a bucket. Returns 0, or a negative errno: the transaction has to be aborted. */
int htw__relay_take(struct htw__relay *relay, struct htw__source from,
                    const struct htw__relay_record *record);

/* A bucket, or the input, was read to its end, which lies at `offset`. */
void htw__relay_reached(struct htw__relay *relay, struct htw__source from, int64_t offset);

/* The input of a stripe ends at `end`, or later. */
void htw__relay_input_end(struct htw__relay *relay, uint32_t stripe, int64_t end);

/* A record that was published to a bucket is there, at this offset. */
void htw__relay_published(struct htw__relay *relay, struct htw__source bucket, int64_t offset);

/* A record that could not be published, and will not be. */
struct htw__refusal {
    struct htw__source from; /* where it came from */
    int64_t offset;
    const char *reason; /* a static phrase */
    bool is_letter;     /* it was a dead letter */
    bool is_too_large;
    bool is_bucket; /* it was for a bucket */
    bool is_bad;    /* it was not even judged */
};

/* When it is read again, it becomes a dead letter; one that was refused becomes smaller, or waits in a
 * bucket. False: that was tried before, and a bucket did not take it. */
bool htw__relay_refused(struct htw__relay *relay, const struct htw__refusal *refusal);

/* A record has aborted everything by something that is neither a lack of memory nor of the transport. One that does so
 * HTW__FAILURES_MAX times is refused, as htw__relay_refused() says. */
#define HTW__FAILURES_MAX 5u
bool htw__relay_failed(struct htw__relay *relay, const struct htw__refusal *refusal);

/* ---- time passes (look.c) */

/*
 * The time is `now_ms`: delivers what is due, at most `max` records, and opens and closes buckets.
 * Returns 1 if more is due, 0, or a negative errno. A time before the last one is allowed: the wall
 * clock was set back.
 */
int htw__relay_advance(struct htw__relay *relay, int64_t now_ms, size_t max);

/* When the next record in memory is due; INT64_MAX: none. */
int64_t htw__relay_next(const struct htw__relay *relay);

/* Brings the state in relay->stats up to date. */
void htw__relay_measure(struct htw__relay *relay);

/* ---- commits */

/* Lists the positions of a channel that have changed since the last call, in relay->positions. To be
 * called when everything that was published there is acknowledged, just before the commit. If that then
 * fails, all stripes are to be forgotten. False: an index was made anew. */
bool htw__relay_positions(struct htw__relay *relay, enum htw__channel channel);

/* What was published is committed: refusals that have led to something are forgotten. */
void htw__relay_committed(struct htw__relay *relay, enum htw__channel channel);

/* Makes the next htw__relay_positions() list all: positions that are not committed again expire. */
void htw__relay_touch(struct htw__relay *relay);

#endif /* HTW_RELAY_RELAY_H */
