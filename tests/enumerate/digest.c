/* SPDX-License-Identifier: MIT */
/*
 * digest.c - the digest of a state: the lists, keys and clocks of the wheel, and what is expected of it.
 *
 * Which timers they are does not matter, nor what an idle timer was armed for; add_chains() says what else does not.
 */
#include "digest.h"

#include "../../src/wheel/lists.h"
#include "states.h"

#include <stdlib.h>

/* The level of the latest deadlines that are armed: behind the window of level 2. */
enum { LEVEL_MAX = 3 };

/* Timers are named in the order in which they are met. */
struct reading {
    const struct history *history;
    uint64_t digest;
    uint64_t names[TIMERS]; /* 0: not met */
    uint64_t count;
    uint64_t demotions; /* at most so many will be made without another step */
    bool is_sound;
};

static void add(struct reading *reading, uint64_t value) {
    reading->digest = digest_add(reading->digest, value);
}

/* At most so often a timer of a bucket is demoted. One that was moved in place may go up once. */
static uint64_t count_demotions(const struct htw_wheel *wheel, uint64_t deadline, uint32_t id) {
    unsigned level = htw__wheel_id_level(wheel, id);
    uint64_t apart =
        (deadline ^ htw__delay_queue_key(&wheel->queue, id)) >> wheel->levels[level].shift;
    return apart == 0 ? level : 1 + LEVEL_MAX;
}

static void add_list(struct reading *reading, struct htw__timer_list list, uint32_t id) {
    const struct history *history = reading->history;
    struct htw__link **back = list.head;
    for (struct htw__link *link = *back; reading->is_sound && link != list.end; link = *back) {
        const struct htw_timer *timer = htw__timer_of(link);
        size_t number = (size_t)(timer - history->timers);
        reading->is_sound = number < TIMERS && reading->names[number] == 0 && link->_back == back &&
                            htw__wheel_owns(history->wheel, timer) && htw__timer_id(timer) == id;
        if (!reading->is_sound)
            break;
        reading->names[number] = ++reading->count;
        add(reading, reading->names[number]);
        add(reading, timer->_deadline);
        if (htw__id_is_bucket(id))
            reading->demotions += count_demotions(history->wheel, timer->_deadline, id);
        back = &link->_next;
    }
    add(reading, 0);
}

/*
 * The chains of a bucket. A running count of insertions chooses them, the next one after every `size`, and where
 * a drain begins. If all chains, all counts and the drain move on by the same number of chains, nothing else changes:
 * so all are read from the chain that is chosen now.
 */
static void add_chains(struct reading *reading, unsigned level, uint32_t id) {
    const struct htw_wheel *wheel = reading->history->wheel;
    const struct htw__buckets *buckets = &wheel->levels[level].buckets;
    uint64_t now = wheel->inserted / buckets->count;
    uint64_t since = htw__delay_queue_since(&wheel->queue, id);
    uint64_t chosen = (wheel->inserted - 1) / buckets->count - since / buckets->count;
    if (buckets->count != wheel->mask + 1)
        abort(); /* the last level has fewer, and chains that change at other times: it is out of reach */
    add(reading, chosen < buckets->chains ? chosen : buckets->chains - 1);
    add(reading, (now - since / buckets->count) & (buckets->chains - 1));
    for (uint32_t i = 0; i < buckets->chains; i++) {
        struct htw__timer_list list = htw__wheel_list(wheel, level, id & wheel->mask,
                                                      (uint32_t)(now - i) & (buckets->chains - 1));
        if (*list.head == list.end)
            continue;
        add(reading, i);
        add_list(reading, list, id);
    }
}

static void add_bucket(struct reading *reading, uint32_t id) {
    const struct htw_wheel *wheel = reading->history->wheel;
    unsigned level = htw__wheel_id_level(wheel, id);
    add(reading, id);
    add(reading, htw__delay_queue_key(&wheel->queue, id));
    if (!wheel->strict_fifo)
        add_chains(reading, level, id);
    for (uint32_t i = 0; i < wheel->levels[level].buckets.rings; i++)
        add_list(reading, htw__wheel_list(wheel, level, id & wheel->mask, i), id);
}

/* When the next chain is chosen, unless a history of `remaining` more steps cannot get there. Those that are met
   later have fewer steps left, so they cannot either. With strict FIFO there are no chains. */
static void add_insertions(struct reading *reading, unsigned remaining) {
    const struct htw_wheel *wheel = reading->history->wheel;
    uint64_t size = wheel->mask + 1;
    uint64_t until = size - wheel->inserted % size;
    uint64_t possible = reading->demotions + remaining * (uint64_t)(1 + LEVEL_MAX);
    if (wheel->strict_fifo)
        return;
    add(reading, until > possible ? UINT64_MAX : until);
    add(reading, (wheel->drained - wheel->inserted / size) % HTW__BUCKET_CHAINS_MAX);
}

static void add_wheel(struct reading *reading, unsigned remaining) {
    const struct htw_wheel *wheel = reading->history->wheel;
    add(reading, wheel->clock);
    add(reading, (uint64_t)wheel->level_count << 2 | (uint64_t)wheel->in_round << 1 |
                     (uint64_t)wheel->emptying);
    add_list(reading, htw__list_of_ring(&wheel->due), HTW__ID_DUE);
    add_list(reading, htw__list_of_ring(&wheel->next_round), HTW__ID_DUE);
    add_list(reading, htw__list_of_ring(&wheel->never), HTW__ID_NEVER);
    for (uint32_t id = 0; id < wheel->queue.capacity; id++)
        if (htw__delay_queue_key(&wheel->queue, id) != HTW__DELAY_QUEUE_ABSENT)
            add_bucket(reading, id);
    add_insertions(reading, remaining);
}

/* In which order the oracle expects the timers, where it expects one. */
static void add_oracle(struct reading *reading) {
    const struct oracle *oracle = &reading->history->oracle;
    uint64_t sum = 0;
    for (size_t i = 0; i < oracle->count; i++) {
        const struct oracle_entry *entry = &oracle->entries[i];
        uint64_t value = reading->names[entry->id] << 2 | (uint64_t)entry->turn;
        reading->is_sound &= reading->names[entry->id] != 0;
        if (oracle->strict || entry->turn == ORACLE_DUE || entry->turn == ORACLE_NEXT_ROUND)
            add(reading, value);
        else
            sum += digest_add(1, value);
    }
    add(reading, sum);
    reading->is_sound &= reading->count == oracle->count;
}

static uint64_t next_refusal(const struct failing_allocator *memory) {
    if (memory->fail_at == 0)
        return 0;
    return memory->fail_at > memory->calls ? memory->fail_at - memory->calls : 1;
}

/* What is expected of the next steps depends on these, too. */
static void add_expectations(struct reading *reading) {
    const struct history *history = reading->history;
    add(reading, history->reserved);
    add(reading, next_refusal(&history->memory));
    add(reading, history->in_round);
    uint64_t sum = 0;
    for (size_t i = 0; i < history->left_count; i++)
        sum += digest_add(2, history->left[i]);
    add(reading, sum);
}

bool digest_state(const struct history *history, unsigned remaining, uint64_t *ret_digest) {
    struct reading reading = { .history = history, .digest = 1, .is_sound = true };
    add_wheel(&reading, remaining);
    add_oracle(&reading);
    add_expectations(&reading);
    *ret_digest = digest_add(reading.digest, 3);
    return reading.is_sound;
}
