/* SPDX-License-Identifier: MIT */
/*
 * list.h - intrusive doubly linked lists of struct htw__link, in two shapes that share one unlink:
 *
 *   chain  The head is a pointer (8 bytes); last in, first out. `nil` is a sentinel at the end of
 *          all chains of one owner. Its `_back` may be written but is never read.
 *   ring   The head is a link (16 bytes), and is also the end. Links can be added and removed at
 *          both ends.
 *
 * `_back` is the address of the pointer that leads to the link: a head, or the `_next` of another
 * link. So unlinking is two stores, with no branch and without knowing the list.
 */
#ifndef HTW_SRC_BASE_LIST_H
#define HTW_SRC_BASE_LIST_H

#include <htw/base.h>

#include <stdbool.h>

/* Does not clear the pointers of `link`. */
static inline void htw__link_unlink(struct htw__link *link) {
    *link->_back = link->_next;
    link->_next->_back = link->_back;
}

/* Inserts `link` where `*place` leads. `place` is the head of a chain, or any `_next`. */
static inline void htw__link_insert(struct htw__link **place, struct htw__link *link) {
    link->_next = *place;
    link->_back = place;
    link->_next->_back = &link->_next;
    *place = link;
}

static inline void htw__ring_init(struct htw__link *ring) {
    ring->_next = ring;
    ring->_back = &ring->_next;
}

static inline bool htw__ring_is_empty(const struct htw__link *ring) {
    return ring->_next == ring;
}

static inline void htw__ring_push_front(struct htw__link *ring, struct htw__link *link) {
    htw__link_insert(&ring->_next, link);
}

/* Does not read the last link, which another CPU may have changed. */
static inline void htw__ring_push_back(struct htw__link *ring, struct htw__link *link) {
    link->_next = ring;
    link->_back = ring->_back;
    *ring->_back = link;
    ring->_back = &link->_next;
}

/* The last link of a ring that is not empty: `_back` points into it, at its `_next`. */
static inline struct htw__link *htw__ring_last(const struct htw__link *ring) {
    return (struct htw__link *)(void *)((char *)ring->_back - offsetof(struct htw__link, _next));
}

/* Removes the first link. NULL: the ring is empty. */
static inline struct htw__link *htw__ring_pop_front(struct htw__link *ring) {
    struct htw__link *first = ring->_next;
    if (first == ring)
        return NULL;
    htw__link_unlink(first);
    return first;
}

/* Removes the last link of a ring that is not empty. */
static inline struct htw__link *htw__ring_pop_back(struct htw__link *ring) {
    struct htw__link *last = htw__ring_last(ring);
    htw__link_unlink(last);
    return last;
}

/* Moves all of `from` behind the last of `to`. */
static inline void htw__ring_splice_back(struct htw__link *to, struct htw__link *from) {
    if (htw__ring_is_empty(from))
        return;
    *to->_back = from->_next;
    from->_next->_back = to->_back;
    *from->_back = to;
    to->_back = from->_back;
    htw__ring_init(from);
}

#endif /* HTW_SRC_BASE_LIST_H */
