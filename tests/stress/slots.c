/* SPDX-License-Identifier: MIT */
/* slots.c - a word for each slot, which says its state, its pins and its life. */
#include "slots.h"

#include <sched.h>

#define CLAIMED UINT64_C(1)
#define OPEN UINT64_C(2)
#define SHUT UINT64_C(4)
#define LEFT UINT64_C(8) /* its request has gone, but not all pins */
#define PIN UINT64_C(16)
#define LIFE (UINT64_C(1) << 32) /* above the pins: the number of the life */

static struct slot slots[SLOTS];

/* The slots that this thread has pinned, the latest last. */
#define PINS_MAX 32u

static _Thread_local const struct slot *pins[PINS_MAX];
static _Thread_local unsigned pin_count;

static uint64_t pins_of(const struct slot *slot) {
    return (atomic_load(&slot->word) % LIFE) / PIN;
}

struct slot *slot_claim(void) {
    uint64_t start = random_below(stress_own_random(), SLOTS);
    for (unsigned i = 0; i < 16; i++) {
        struct slot *slot = &slots[(start + i) % SLOTS];
        uint64_t word = atomic_load(&slot->word);
        if (word % LIFE == 0 && atomic_compare_exchange_strong(&slot->word, &word, word | CLAIMED))
            return slot;
    }
    return NULL;
}

uint64_t slot_begin(struct slot *slot) {
    uint64_t word = atomic_load(&slot->word);
    CHECK_EQUAL(word % LIFE & ~SHUT, CLAIMED);
    atomic_store(&slot->completes, 0);
    atomic_store(&slot->cancels, 0);
    atomic_store(&slot->expects_cancel, false);
    atomic_store(&slot->word, (word / LIFE + 1) * LIFE | CLAIMED);
    return word / LIFE + 1;
}

void slot_open(struct slot *slot, uint64_t number) {
    uint64_t word = atomic_load(&slot->word);
    do
        if (word / LIFE != (number % LIFE) || (word & (OPEN | SHUT)) != 0)
            return;
    while (!atomic_compare_exchange_weak(&slot->word, &word, word | OPEN));
}

bool slot_shut(struct slot *slot) {
    uint64_t own = 0;
    for (unsigned i = 0; i < pin_count; i++)
        own += pins[i] == slot;
    atomic_fetch_or(&slot->word, SHUT);
    atomic_fetch_and(&slot->word, ~OPEN);
    int64_t limit_ns = stress_now_ns() + STRESS_LIMIT_NS;
    while (pins_of(slot) != own) {
        CHECK(stress_now_ns() < limit_ns);
        sched_yield();
    }
    return own == 0;
}

void slot_expect_cancel(struct slot *slot) {
    atomic_store_explicit(&slot->expects_cancel, true, memory_order_relaxed);
}

void slot_check(struct slot *slot, const struct slot_life *life) {
    uint32_t completes = atomic_load(&slot->completes);
    uint32_t cancels = atomic_load(&slot->cancels);
    CHECK(completes + cancels <= 1);
    if (life->refused) {
        CHECK_EQUAL(completes + cancels, 0);
        return;
    }
    if (completes > 0)
        CHECK_EQUAL(life->reason, HTW_REASON_COMPLETED);
    if (life->reason == HTW_REASON_COMPLETED)
        CHECK(life->said_yes || completes > 0);
    if (cancels > 0)
        CHECK(life->reason == HTW_REASON_CANCELLED || life->said_yes);
    if (atomic_load(&slot->expects_cancel))
        CHECK_EQUAL(cancels, 1);
}

/* The number goes on, so that a late slot_open() does not open the slot for another life. */
static void empty(struct slot *slot) {
    atomic_store(&slot->word, (atomic_load(&slot->word) / LIFE + 1) * LIFE);
}

void slot_leave(struct slot *slot, const struct slot_life *life) {
    slot->life = *life;
    if (pins_of(slot) > 0) { /* pinned by calls of this thread */
        atomic_fetch_or(&slot->word, LEFT);
        return;
    }
    slot_check(slot, life);
    empty(slot);
}

static bool pin(struct slot *slot) {
    uint64_t word = atomic_load(&slot->word);
    do
        if (!(word & OPEN))
            return false;
    while (!atomic_compare_exchange_weak(&slot->word, &word, word + PIN));
    CHECK(pin_count < PINS_MAX);
    pins[pin_count++] = slot;
    return true;
}

static void unpin(struct slot *slot) {
    CHECK(pins[--pin_count] == slot);
    if ((atomic_fetch_sub(&slot->word, PIN) - PIN) % LIFE != (CLAIMED | SHUT | LEFT))
        return;
    slot_check(slot, &slot->life);
    empty(slot);
}

bool slot_end(struct slot *slot, struct random_source *random) {
    if (!pin(slot))
        return false;
    if (random_one_in(random, 2)) {
        if (stress_complete(slot->request))
            atomic_fetch_add(&slot->completes, 1);
    } else {
        if (stress_cancel(slot->request))
            atomic_fetch_add(&slot->cancels, 1);
    }
    unpin(slot);
    return true;
}

void slot_end_some(struct random_source *random) {
    slot_end(&slots[random_below(random, SLOTS)], random);
}

void slot_set_some_timeout(struct random_source *random, int64_t timeout_ns) {
    struct slot *slot = &slots[random_below(random, SLOTS)];
    if (!pin(slot))
        return;
    stress_set_timeout(slot->request, timeout_ns);
    unpin(slot);
}

bool slots_are_empty(void) {
    for (unsigned i = 0; i < SLOTS; i++)
        if (atomic_load(&slots[i].word) % LIFE != 0)
            return false;
    return true;
}
