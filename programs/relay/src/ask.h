/* SPDX-License-Identifier: MIT */
/*
 * ask.h - asks relays for a record by its key and id, and has it cancelled or moved, by records to the input as any producer
 * may send them. Who has the record answers in the topic of the index (index.h), which is read from where it ended before: so
 * nobody reads what waits.
 *
 * A question goes to each partition of the input: a record without a key may be in any, and one with a key is not where its key
 * leads to now, if partitions were added.
 */
#ifndef HTW_RELAY_ASK_H
#define HTW_RELAY_ASK_H

#include "kafka.h"
#include "waiting.h"

/* Where something waits. */
struct htw__answer {
    struct htw__source
        from;       /* a partition of the index; of HTW__REPLY_SILENT one that has not answered */
    int64_t offset; /* of the record in the input */
    bool is_done;   /* it is cancelled or moved */
    bool is_sure;   /* all who have answered know */
};

struct htw__question {
    struct htw__relay_record record; /* with htw-id, or with htw-cancel; or what is moved: ... */
    const struct htw__answer *moved; /* ... from there, ...; NULL: nothing is */
    int64_t to_ms;                   /* ... to this time */
};

enum htw__reply {
    HTW__REPLY_FOUND,
    HTW__REPLY_UNSURE, /* the same, but it may have been delivered already */
    HTW__REPLY_NONE,   /* no partition has it */
    HTW__REPLY_SILENT, /* it was sent; not all have answered in time, and of those that have, none has it */
    HTW__REPLY_FAILED, /* `error` says why */
};

/* `ret_answer` is the first of one that has it. `kafka` is opened, and not started. */
enum htw__reply htw__ask(struct htw__kafka *kafka, const struct htw__question *question,
                         struct htw__answer *ret_answer);

/* Reads what waits there: in the input, or, if that has deleted it, by a scan. Returns 1, and a copy, whose record free() frees;
 * 0: it has left; or -EIO: `error` says why. */
int htw__ask_fetch(struct htw__kafka *kafka, const struct htw__answer *answer,
                   struct htw__waiting *ret_row);

#endif /* HTW_RELAY_ASK_H */
