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

struct bucket {
    struct htw__heap_node turn;
    uint32_t head;  /* a timer, or NONE */
    uint64_t start; /* of its range, if it is in the DelayQueue */
};

struct kafka {
    struct htw__replay_record *record;
    struct node *timers;
    struct bucket *buckets;
    struct htw__heap queue; /* those that are in the DelayQueue */
    uint64_t clock;
    uint64_t now;
    unsigned bits;
};

static struct bucket *bucket_of(const struct htw__heap_node *node) {
    return HTW_CONTAINER_OF((struct htw__heap_node *)(uintptr_t)node, struct bucket, turn);
}

/* Of equal ones the bucket of the higher wheel: it is demoted first. */
static bool precedes(const struct htw__heap_node *one, const struct htw__heap_node *two) {
    const struct bucket *a = bucket_of(one), *b = bucket_of(two);
    return a->start < b->start || (a->start == b->start && a > b);
}

/* DelayQueue.offer(), where it has room for each bucket. */
static void enqueue(struct kafka *kafka, struct bucket *bucket, uint64_t start) {
    if (bucket->turn.place != 0 && bucket->start <= start)
        return;
    if (bucket->turn.place != 0)
        htw__heap_remove(&kafka->queue, &bucket->turn);
    bucket->start = start;
    htw__heap_push(&kafka->queue, &bucket->turn);
}

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
    node->place = (int32_t)(level << kafka->bits | slot);
    struct bucket *bucket = &kafka->buckets[node->place];
    node->next = bucket->head;
    node->back = NONE;
    if (node->next != NONE)
        kafka->timers[node->next].back = timer;
    bucket->head = timer;
    enqueue(kafka, bucket, node->deadline >> shift << shift);
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
        kafka->buckets[node->place].head = node->next;
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
    while (kafka->queue.count > 0 && bucket_of(htw__heap_first(&kafka->queue))->start <= tick) {
        struct bucket *bucket = bucket_of(htw__heap_first(&kafka->queue));
        htw__heap_remove(&kafka->queue, &bucket->turn);
        if (bucket->start > kafka->now)
            kafka->now = bucket->start;
        if (bucket->start > kafka->clock) {
            kafka->clock = bucket->start;
            htw__record_add(kafka->record, (struct htw__event) { .tick = kafka->now,
                                                                 .place = HTW__EVENT_DUE,
                                                                 .kind = HTW__EVENT_ADVANCED });
        }
        uint32_t timer = bucket->head;
        bucket->head = NONE;
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

int htw__kafka_record(struct htw__replay_record *record, const struct htw__replay_record *run,
                      unsigned bits) {
    uint32_t buckets = (63 / bits + 1) << bits;
    size_t timers = (size_t)run->counts[HTW__EVENT_ARMED];
    struct kafka kafka = {
        .record = record,
        .timers = calloc(timers + 1, sizeof(struct node)),
        .buckets = calloc(buckets, sizeof(struct bucket)),
        .bits = bits,
    };
    htw__heap_init(&kafka.queue, precedes);
    int error = kafka.timers == NULL || kafka.buckets == NULL
                    ? -ENOMEM
                    : htw__heap_reserve(&kafka.queue, &htw__default_allocator, buckets);
    if (error == 0) {
        for (uint32_t i = 0; i < buckets; i++)
            kafka.buckets[i].head = NONE;
        for (size_t i = 0; i < run->count; i++)
            repeat(&kafka, &run->events[i]);
        advance(&kafka, run->end);
        record->end = run->end;
        error = htw__record_error(record);
    }
    htw__heap_fini(&kafka.queue, &htw__default_allocator);
    free(kafka.timers);
    free(kafka.buckets);
    return error;
}
