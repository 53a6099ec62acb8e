/* SPDX-License-Identifier: MIT */
#include "oracle.h"

#include <htw/wheel.h>

#include <stdlib.h>

void oracle_init(struct oracle *self, size_t capacity, bool strict) {
    *self = (struct oracle) { .capacity = capacity, .strict = strict };
    self->entries = calloc(capacity, sizeof *self->entries);
    if (self->entries == NULL)
        abort();
}

void oracle_fini(struct oracle *self) {
    free(self->entries);
}

static bool comes_before(const struct oracle_entry *a, const struct oracle_entry *b) {
    if (a->turn != b->turn)
        return a->turn < b->turn;
    if (a->turn == ORACLE_WAITING && a->deadline != b->deadline)
        return a->deadline < b->deadline;
    return a->arming < b->arming;
}

static void insert(struct oracle *self, struct oracle_entry entry) {
    if (self->count == self->capacity)
        abort();
    size_t place = self->count++;
    while (place > 0 && comes_before(&entry, &self->entries[place - 1])) {
        self->entries[place] = self->entries[place - 1];
        place--;
    }
    self->entries[place] = entry;
}

const struct oracle_entry *oracle_find(const struct oracle *self, uint32_t id) {
    for (size_t i = 0; i < self->count; i++) {
        if (self->entries[i].id == id)
            return &self->entries[i];
    }
    return NULL;
}

bool oracle_remove(struct oracle *self, uint32_t id) {
    const struct oracle_entry *entry = oracle_find(self, id);
    if (entry == NULL)
        return false;
    self->count--;
    for (size_t i = (size_t)(entry - self->entries); i < self->count; i++)
        self->entries[i] = self->entries[i + 1];
    return true;
}

void oracle_arm(struct oracle *self, uint32_t id, uint64_t deadline, uint64_t clock,
                bool in_round) {
    oracle_remove(self, id);
    struct oracle_entry entry = { deadline, self->armings++, id, ORACLE_WAITING };
    if (deadline == HTW_NEVER_TICK)
        entry.turn = ORACLE_NEVER;
    else if (deadline <= clock)
        entry.turn = in_round ? ORACLE_NEXT_ROUND : ORACLE_DUE;
    insert(self, entry);
}

const char *oracle_take(struct oracle *self, uint32_t id, uint64_t limit) {
    const struct oracle_entry *entry = oracle_find(self, id);
    if (entry == NULL)
        return "a timer was handed out that is not pending";
    if (entry->turn == ORACLE_NEVER)
        return "a timer with HTW_NEVER_TICK was handed out";
    if (entry->turn == ORACLE_NEXT_ROUND)
        return "a timer was handed out that belongs to the next round";
    if (entry->turn == ORACLE_WAITING && entry->deadline > limit)
        return "a timer was handed out early";

    const struct oracle_entry *first = &self->entries[0];
    bool same_tick = entry->turn == ORACLE_WAITING && first->turn == ORACLE_WAITING &&
                     entry->deadline == first->deadline;
    if (entry != first && !(same_tick && !self->strict))
        return "a timer was handed out before one that comes first";
    oracle_remove(self, id);
    return NULL;
}

const char *oracle_end_round(struct oracle *self, uint64_t limit) {
    if (self->count > 0 && self->entries[0].turn == ORACLE_DUE)
        return "the round ended though timers are due";
    if (oracle_earliest(self) <= limit)
        return "the round ended though a deadline has come";
    struct oracle_entry *entries = self->entries;
    size_t count = self->count;
    self->count = 0;
    /* Re-inserting each at or before its old place never overtakes what is still to be read. */
    for (size_t i = 0; i < count; i++) {
        struct oracle_entry entry = entries[i];
        if (entry.turn == ORACLE_NEXT_ROUND)
            entry.turn = ORACLE_DUE;
        insert(self, entry);
    }
    return NULL;
}

uint64_t oracle_earliest(const struct oracle *self) {
    for (size_t i = 0; i < self->count; i++) {
        if (self->entries[i].turn == ORACLE_WAITING)
            return self->entries[i].deadline;
    }
    return HTW_NEVER_TICK;
}

static size_t count_turn(const struct oracle *self, enum oracle_turn turn) {
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++)
        count += self->entries[i].turn == turn;
    return count;
}

size_t oracle_due(const struct oracle *self) {
    return count_turn(self, ORACLE_DUE) + count_turn(self, ORACLE_NEXT_ROUND);
}

size_t oracle_never(const struct oracle *self) {
    return count_turn(self, ORACLE_NEVER);
}

uint64_t oracle_slack(uint64_t earliest, uint64_t latest) {
    if (latest == HTW_NEVER_TICK && earliest != HTW_NEVER_TICK)
        latest = HTW_NEVER_TICK - 1;
    if (earliest == 0)
        return 0; /* divisible by everything */
    for (unsigned zeros = 63; zeros > 0; zeros--) {
        uint64_t low_bits = (UINT64_C(1) << zeros) - 1;
        if (earliest > UINT64_MAX - low_bits)
            continue; /* the next multiple lies beyond the range of numbers */
        uint64_t multiple = (earliest + low_bits) & ~low_bits;
        if (multiple <= latest)
            return multiple;
    }
    return earliest;
}
