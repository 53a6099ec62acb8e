/* SPDX-License-Identifier: MIT */
/*
 * waiting.h - pages of what waits: of the records that a scan finds (scan.h), those that are wanted, and of these
 * the N that are due first.
 *
 * IDENTITY. Offsets change with each demotion, and not all have a htw-id. What stays is what
 * the producer wrote. So a record is known by the time that it waits for and the hash of all that it says; records are
 * ordered by these two. A record that is found twice, because it moved while the scan ran, has the same two, and is one.
 * So are records that are the same in everything.
 *
 * IDS. Of those with an id only what the index (index.h) leads to waits. A scan passes that first; then what
 * is in the input, and not done, changes it as a relay will.
 *
 * MEMORY. A page keeps up to twice as many records as it shows. When it is full, it is sorted, and the later half is
 * dropped. So a page costs one scan at most, whatever its size. The same at twice HTW__WAITING_PAGE_BYTES: a page of large records has
 * fewer than its limit.
 */
#ifndef HTW_RELAY_WAITING_H
#define HTW_RELAY_WAITING_H

#include "ids.h"
#include "request.h"
#include "transport.h"

/* What a record is known by, and the order of pages. */
struct htw__waiting_key {
    int64_t wanted_ms;
    uint64_t print; /* all that the producer wrote */
};

/* As text: MILLISECONDS.PRINT, the hash as 16 digits. */
#define HTW__WAITING_KEY_SIZE 64
void htw__waiting_key_format(const struct htw__waiting_key *key, char text[HTW__WAITING_KEY_SIZE]);
bool htw__waiting_key_parse(const char *text, struct htw__waiting_key *ret_key);

int htw__waiting_key_compare(const struct htw__waiting_key *a, const struct htw__waiting_key *b);

struct htw__waiting {
    struct htw__waiting_key key;
    struct htw__source
        from; /* where it was found; in several levels: the lowest one, to which it has moved */
    const struct htw__relay_record *record;
    struct htw__relay_request request;
};

/* What a record that was found is; it leads into that. False: it is a bad one, or does not come again. */
bool htw__waiting_make(struct htw__source from, const struct htw__relay_record *record,
                       const struct htw__relay_request *request, struct htw__waiting *ret_row);

/* The same with a copy of the record, which free() frees. */
struct htw__waiting htw__waiting_copy(const struct htw__waiting *row);

/* What is wanted. */
struct htw__waiting_filter {
    int64_t from_ms,
        until_ms;     /* those that wait for this time or a later one, and for one before that */
    const char *to;   /* NULL: any topic */
    const char *key;  /* NULL: any */
    const char *text; /* in the value, the key or the htw-id; NULL: none */
    struct htw__waiting_key after; /* those that come later in the order */
};

/* All that waits. */
#define HTW__WAITING_ALL \
    ((struct htw__waiting_filter) { .until_ms = INT64_MAX, .after = { -1, 0 } })

/* What its rows may take, where there are more than two. */
#define HTW__WAITING_PAGE_BYTES ((size_t)8 << 20)

struct htw__waiting_page {
    struct htw__waiting_filter filter;
    struct htw__relay_ids ids; /* of all stripes */
    size_t limit;
    struct htw__waiting *rows; /* htw__waiting_page_end() leaves those to show */
    size_t count, room, bytes;
    uint64_t found; /* that are wanted; those that moved while the scan ran count twice */
    bool has_more;
    struct htw__waiting_key last; /* what the next page comes after */
};

/* What was found is an entry of the index, or a record and what it asks for. Returns whether it waits. */
bool htw__waiting_judge(struct htw__relay_ids *ids, struct htw__source from,
                        const struct htw__relay_record *record,
                        const struct htw__relay_request *request);

/* Begins a page of at most `limit` records, at least 1. The strings of the filter stay the caller's. */
void htw__waiting_page_init(struct htw__waiting_page *page,
                            const struct htw__waiting_filter *filter, size_t limit);
void htw__waiting_page_fini(struct htw__waiting_page *page);

/* The same, which is copied if it is kept. */
void htw__waiting_page_add(struct htw__waiting_page *page, struct htw__source from,
                           const struct htw__relay_record *record,
                           const struct htw__relay_request *request);

/* Whether a page has all that it shows, if all that is due before a time was found. */
bool htw__waiting_page_is_full(void *page, int64_t until_ms);

/* All were found: leaves the page in order. */
void htw__waiting_page_end(struct htw__waiting_page *page);

#endif /* HTW_RELAY_WAITING_H */
