/* SPDX-License-Identifier: MIT */
/* state.h - struct htw__relay, and what it is made of. relay.h explains it. */
#ifndef HTW_RELAY_STATE_H
#define HTW_RELAY_STATE_H

#include "destinations.h"
#include "stats.h"
#include "stripe.h"
#include "transport.h"

struct htw__relay_options {
    struct htw__levels levels;
    struct htw__destinations destinations;
    const char *dead_letters; /* the topic */
    int64_t retry_ms;         /* after which a dead letter that was refused is tried again */
    size_t max_memory;        /* bytes of records in memory */
    int64_t lead_ms;          /* how long before its start a bucket of level 0 is loaded */
    bool keep_partition;      /* deliver to the partition that has the number of the input's */
    const char *owner;        /* stands beside the clock of each stripe; NULL: no transactions */
    int64_t catch_up_ms;      /* the longest that what is due waits for cancels in the input */
    bool recover;             /* take a stripe over even where positions are missing */
};

/* What becomes of a dead letter. */
enum htw__letter {
    HTW__LETTER_WHOLE,
    HTW__LETTER_SHORT, /* it was too large: without its value, key and large headers */
    HTW__LETTER_WAITS, /* its topic did not take it: back into a bucket, to be tried again */
};

/* A record that could not be published, or that the relay failed on too often: a dead letter when it is read again. */
struct htw__poison {
    struct htw__source from;
    int64_t offset;
    unsigned failures;  /* times that the relay failed on it */
    bool is_suspect;    /* it did, not too often so far: the record is tried as any other */
    const char *reason; /* NULL: that by which it was a bad one already */
    enum htw__letter letter;
    bool is_bad;       /* as if its headers were wrong: nothing else of it is tried */
    bool is_bucket;    /* a bucket did not take it */
    bool is_published; /* as such, and the commit is to follow */
};

/* The last record that the relay failed on, until that is said. */
struct htw__failure {
    struct htw__source from;
    int64_t offset;
    unsigned times; /* 0: there is none */
};

/* Which records are published and committed together, by the partition that they come from. */
enum htw__channel { HTW__CHANNEL_FILE, HTW__CHANNEL_DELIVER };

static inline enum htw__channel htw__channel_of(struct htw__source from) {
    return from.level == 0 ? HTW__CHANNEL_DELIVER : HTW__CHANNEL_FILE;
}

/* What is committed of a partition. */
struct htw__relay_position {
    struct htw__source source;
    int64_t offset;
    char metadata[HTW__PROGRESS_TEXT_SIZE];
};

struct htw__relay {
    struct htw__relay_options options;
    struct htw__transport *transport;
    struct htw__link loaded; /* the buckets of level 0 in memory */
    int64_t now_ms;
    int64_t looked_ms; /* when buckets were last opened and closed */
    bool must_look;
    bool has_filed;               /* the last record went to a bucket, ... */
    bool has_occurred;            /* ... after an occurrence of it */
    bool is_filing;               /* FILE is being committed, and publishes nothing */
    bool files_first;             /* DELIVER is not to be committed before FILE (index.h) */
    struct htw__stripe **stripes; /* by index; NULL: not ours */
    size_t stripe_count;          /* of the array */
    struct htw__headers headers;  /* of the record that is published */
    struct htw__poison *poisons;
    size_t poison_count, poison_room;
    struct htw__failure failure;
    struct htw__relay_position *positions;
    size_t position_count, position_room;
    int64_t soonest_ms;             /* the earliest deadline in FILE since its last positions */
    struct htw__relay_work open[2]; /* by channel: what was done since its last commit */
    struct htw__relay_stats stats;
};

/* Where it is counted what becomes of a record. */
static inline struct htw__relay_work *htw__relay_work_of(struct htw__relay *relay,
                                                         struct htw__source from) {
    return &relay->open[htw__channel_of(from)];
}

/* A record leaves the partition that it came from, for where its headers say (file.c). Returns 0, or a negative errno: the
 * transaction has to be aborted. For what is wrong with one record that happens HTW__FAILURES_MAX times at most. */
int htw__relay_pass_on(struct htw__relay *relay, struct htw__source from,
                       const struct htw__relay_record *record,
                       const struct htw__relay_request *request);

/* Closes all buckets of a stripe (look.c). */
void htw__relay_close_all(struct htw__relay *relay, struct htw__stripe *stripe);

#endif /* HTW_RELAY_STATE_H */
