/* SPDX-License-Identifier: MIT */
/*
 * slots.h - where the threads of a test find each other's requests, to complete or cancel them,
 * which is allowed until their release is called. So a thread that does it pins the slot, and a
 * release waits until no other thread has pinned the slot. That is not for long: a call that does
 * not end the request, because another has, returns at once.
 *
 * A slot is empty; claimed; open once its request is known to be submitted, in its first
 * try_complete or after the call; shut in its release.
 * Meanwhile it counts what the calls have answered, which is compared when the life has ended.
 */
#ifndef HTW_TESTS_STRESS_SLOTS_H
#define HTW_TESTS_STRESS_SLOTS_H

#include "request.h"

#define SLOTS 2000u

/* How the life of a request has ended. */
struct slot_life {
    bool refused; /* it was not submitted, and has no reason */
    enum htw_reason reason;
    bool said_yes; /* its try_complete has */
};

struct slot {
    _Atomic uint64_t word; /* flags, the number of pins, and which life it is */
    struct stress_request *request;
    _Atomic uint32_t completes, cancels; /* calls that were answered with true */
    _Atomic bool expects_cancel;
    struct slot_life life; /* that pins of this thread outlive */
};

/* Claims an empty slot; NULL if none was found. */
struct slot *slot_claim(void);

/* A life begins in a claimed slot; returns its number. */
uint64_t slot_begin(struct slot *slot);

/* The request may be ended from now on, if that is its life still. */
void slot_open(struct slot *slot, uint64_t number);

/* Allows no new pins, and waits for those of other threads. Returns whether this thread has none,
   up the stack, itself; only then may the request have another life in this slot. */
bool slot_shut(struct slot *slot);

/* Its request, which is on no key that has been cancelled, is ended as cancelled. */
void slot_expect_cancel(struct slot *slot);

/* Checks a life that has ended: what the calls have answered agrees with how it has ended. */
void slot_check(struct slot *slot, const struct slot_life *life);

/* Checks it, and empties the slot: at once, or when the last call on it has returned. */
void slot_leave(struct slot *slot, const struct slot_life *life);

/* Completes or cancels the request of a slot; false if it is not open. Or of some slot. */
bool slot_end(struct slot *slot, struct random_source *random);
void slot_end_some(struct random_source *random);

/* Gives the request of some slot another timeout. */
void slot_set_some_timeout(struct random_source *random, int64_t timeout_ns);

bool slots_are_empty(void);

#endif /* HTW_TESTS_STRESS_SLOTS_H */
