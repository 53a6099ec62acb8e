/* SPDX-License-Identifier: MIT */
/*
 * kafka.c - does with timers what Kafka's SystemTimer and TimingWheel do, and records it.
 *
 * The rules of Kafka that make the difference:
 *  - The key of a bucket in the DelayQueue is the start of its range, and no deadline. So the clock stops
 *    there, too, only to demote.
 *  - A cancel leaves the bucket queued. The clock stops at it, even if it is empty.
 *  - The clock moves only to buckets that the DelayQueue hands out. Between them it is late, and new timers
 *    are placed as if the time was earlier.
 */
#include "kafka.h"

#include "../../base/alloc.h"
#include "../../base/heap.h"

#include <errno.h>
#include <stdlib.h>

#define NONE UINT32_MAX

struct node {
    uint64_t deadline;
    uint32_t next, back; /* timers; the bucket of the first has it as its head */
    int32_t place;
};

struct kafka {
    struct htw__record *record;
    struct node *timers;
    uint32_t *heads;        /* by bucket: a timer, or NONE */
    struct htw__heap queue; /* buckets by the start of their range */
    uint64_t clock;
    uint64_t now;
    unsigned bits;
};

static void note(struct kafka *kafka, enum htw__event_kind kind, uint32_t timer) {
    const struct node *node = &kafka->timers[timer];
    htw__record_add(kafka->record, (struct htw__event) { .tick = kafka->now,
                                                         .deadline = node->deadline,
                                                         .timer = timer,
                                                         .place = node->place,
                                                         .kind = kind });
}

/* TimingWheel.add(): the lowest wheel whose interval, from the clock on, has the deadline. */
static void add(struct kafka *kafka, uint32_t timer) {
    struct node *node = &kafka->timers[timer];
    node->place = node->deadline == HTW_NEVER_TICK ? HTW__EVENT_NEVER : HTW__EVENT_DUE;
    if (node->deadline <= kafka->clock || node->deadline == HTW_NEVER_TICK)
        return;
    unsigned shift = 0, level = 0;
    while (shift + kafka->bits < 64 &&
           ((node->deadline >> shift) - (kafka->clock >> shift)) >> kafka->bits != 0) {
        shift += kafka->bits;
        level++;
    }
    uint32_t slot = (uint32_t)(node->deadline >> shift) & ((1u << kafka->bits) - 1);
    uint32_t bucket = level << kafka->bits | slot;
    node->place = (int32_t)bucket;
    node->next = kafka->heads[bucket];
    node->back = NONE;
    if (node->next != NONE)
        kafka->timers[node->next].back = timer;
    kafka->heads[bucket] = timer;
    htw__heap_lower(&kafka->queue, node->deadline >> shift << shift, bucket);
}

/* TimerTaskEntry.remove(). */
static void remove_timer(struct kafka *kafka, uint32_t timer) {
    struct node *node = &kafka->timers[timer];
    if (node->place < 0)
        return;
    if (node->next != NONE)
        kafka->timers[node->next].back = node->back;
    if (node->back != NONE)
        kafka->timers[node->back].next = node->next;
    else
        kafka->heads[node->place] = node->next;
}

/* SystemTimer.addTimerTaskEntry(): what is due already, runs. */
static void add_and_note(struct kafka *kafka, uint32_t timer, enum htw__event_kind kind) {
    add(kafka, timer);
    bool is_due = kafka->timers[timer].place == HTW__EVENT_DUE;
    if (!is_due || kind != HTW__EVENT_DEMOTED)
        note(kafka, kind, timer);
    if (is_due)
        note(kafka, HTW__EVENT_EXPIRED, timer);
}

/* SystemTimer.advanceClock(), until no bucket has expired at `tick`. */
static void advance(struct kafka *kafka, uint64_t tick) {
    while (kafka->queue.count > 0 && kafka->queue.entries[0].key <= tick) {
        struct htw__heap_entry bucket = kafka->queue.entries[0];
        htw__heap_pop(&kafka->queue);
        if (bucket.key > kafka->now)
            kafka->now = bucket.key;
        if (bucket.key > kafka->clock) {
            kafka->clock = bucket.key;
            htw__record_add(kafka->record, (struct htw__event) { .tick = kafka->now,
                                                                 .place = HTW__EVENT_DUE,
                                                                 .kind = HTW__EVENT_ADVANCED });
        }
        uint32_t timer = kafka->heads[bucket.id];
        kafka->heads[bucket.id] = NONE;
        while (timer != NONE) { /* TimerTaskList.flush() */
            uint32_t next = kafka->timers[timer].next;
            add_and_note(kafka, timer, HTW__EVENT_DEMOTED);
            timer = next;
        }
    }
    kafka->now = tick;
}

static void repeat(struct kafka *kafka, const struct htw__event *event) {
    struct node *node = &kafka->timers[event->timer];
    bool has_moved = event->kind == HTW__EVENT_MOVED;
    advance(kafka, event->tick);
    if (event->kind == HTW__EVENT_CANCELLED) {
        remove_timer(kafka, event->timer);
        note(kafka, event->kind, event->timer);
    } else if (event->kind == HTW__EVENT_ARMED || has_moved) {
        if (has_moved)
            remove_timer(kafka, event->timer);
        node->deadline = event->deadline;
        add_and_note(kafka, event->timer, event->kind);
        advance(kafka, event->tick); /* its bucket may have begun before now */
    }
}

int htw__kafka_record(struct htw__record *record, const struct htw__record *run, unsigned bits) {
    uint32_t buckets = (63 / bits + 1) << bits;
    size_t timers = (size_t)run->counts[HTW__EVENT_ARMED];
    struct kafka kafka = {
        .record = record,
        .timers = calloc(timers + 1, sizeof(struct node)),
        .heads = malloc(buckets * sizeof(uint32_t)),
        .bits = bits,
    };
    htw__heap_init(&kafka.queue);
    int error = kafka.timers == NULL || kafka.heads == NULL
                    ? -ENOMEM
                    : htw__heap_reserve(&kafka.queue, &htw__default_allocator, buckets);
    if (error == 0) {
        for (uint32_t i = 0; i < buckets; i++)
            kafka.heads[i] = NONE;
        for (size_t i = 0; i < run->count; i++)
            repeat(&kafka, &run->events[i]);
        advance(&kafka, run->end);
        record->end = run->end;
        error = record->has_failed ? -ENOMEM : 0;
    }
    htw__heap_fini(&kafka.queue, &htw__default_allocator);
    free(kafka.timers);
    free(kafka.heads);
    return error;
}
