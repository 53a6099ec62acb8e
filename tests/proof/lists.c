/* SPDX-License-Identifier: MIT */
/* lists - what adds and removes a link changes no other, in lists of any length; so does a cancel. */
#include "../../src/wheel/wheel.c"

/*@ axiomatic lists { // any list
        logic integer length;
        logic struct htw__link *nth(integer i); // its links from 0 on, and its end
        logic struct htw__link **way(integer i); // the pointer that leads there
        logic integer backs; // as many have a `_back`: the end of a chain has none
        logic integer chosen; // the link that is added or removed
    }
    predicate has_links = 0 <= chosen < length && length <= backs <= length + 1 &&
        (\forall integer i; 0 <= i <= length ==> \valid(nth(i)) && \valid(way(i))) &&
        (\forall integer i; 0 <= i < length ==> way(i + 1) == &nth(i)->_next) &&
        (\forall integer i, k; 0 <= i <= length && 0 <= k <= length ==> \separated(way(i), &nth(k)->_back)) &&
        (\forall integer i, k; 0 <= i <= length && 0 <= k <= length && i != k ==> \separated(&nth(i)->_back, &nth(k)->_back)) &&
        (\forall integer i, k; 0 <= i <= length && 0 <= k <= length && i != k ==> \separated(way(i), way(k)));
    predicate leads(struct htw__link **place, integer i) = *place == nth(i) && (i < backs ==> nth(i)->_back == place);
    predicate has_others = \forall integer i; 0 <= i <= length && i != chosen && i != chosen + 1 ==> leads(way(i), i);
    predicate has_chosen = leads(way(chosen), chosen) && leads(way(chosen + 1), chosen + 1);
    predicate lacks_chosen = leads(way(chosen), chosen + 1); */

/*@ requires has_links && has_others && has_chosen && link == nth(chosen);
    assigns *link->_back, link->_next->_back;
    ensures has_others;
    ensures lacks_chosen; */
static inline void htw__link_unlink(struct htw__link *link);

/*@ requires has_links && has_others && lacks_chosen && link == nth(chosen) && place == way(chosen);
    assigns *link, *place, \old(*place)->_back;
    ensures has_others;
    ensures has_chosen; */
static inline void htw__link_insert(struct htw__link **place, struct htw__link *link);

/*@ requires has_links && has_others && lacks_chosen && link == nth(chosen) && chosen == length - 1;
    requires ring == nth(length) && backs == length + 1;
    assigns *link, *ring->_back, ring->_back;
    ensures has_others;
    ensures has_chosen; */
static inline void htw__ring_push_back(struct htw__link *ring, struct htw__link *link);

/*@ requires has_links && has_others && has_chosen && chosen == 0 && way(0) == &ring->_next;
    requires ring == nth(length) && backs == length + 1;
    assigns ring->_next, nth(1)->_back;
    ensures \result == nth(0);
    ensures has_others;
    ensures lacks_chosen; */
static inline struct htw__link *htw__ring_pop_front(struct htw__link *ring);

#define IS_OWNED ((uint64_t)(timer->_location ^ wheel->mark) >> 32 == 0)

/*@ requires IS_OWNED ==> has_links && has_others && has_chosen && nth(chosen) == &timer->_link;
    requires \valid(wheel) && \valid(timer) && \separated(wheel, timer);
    assigns wheel->cancelled, timer->_location, *timer->_link._back, timer->_link._next->_back;
    ensures \result <==> \old(IS_OWNED);
    ensures \result ==> has_others;
    ensures \result ==> lacks_chosen;
    ensures \result ==> timer->_location == 0 && wheel->cancelled == (uint64_t)(\old(wheel->cancelled) + 1); */
bool htw_wheel_cancel(struct htw_wheel *wheel, struct htw_timer *timer);

/*@ requires IS_OWNED && !wheel->strict_fifo && deadline >= timer->_deadline && (uint32_t)timer->_location < HTW__ID_DUE;
    requires \valid(wheel) && \valid(timer) && \separated(wheel, timer);
    assigns timer->_deadline, wheel->moved_in_place;
    ensures \result == 0 && timer->_deadline == deadline; */
static int postpone(struct htw_wheel *wheel, struct htw_timer *timer, uint64_t deadline);
