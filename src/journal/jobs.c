/* SPDX-License-Identifier: MIT */
/* jobs.c - the jobs in memory: a heap by deadline, and a table by id. */
#include "jobs.h"

#include "../base/clock.h"
#include "../base/random.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT ((size_t)16) /* that of malloc() */

#define CONTAINER(node, member) HTW_CONTAINER_OF((uintptr_t)(node), struct htw__job, member)

/* ---- one job */

static bool is_inline(size_t bytes) {
    return bytes <= HTW__JOB_INLINE;
}

static void *allocate(const struct htw_allocator *allocator, size_t size) {
    return allocator->allocate(allocator->context, size, ALIGNMENT);
}

static void release(const struct htw_allocator *allocator, void *memory, size_t size) {
    allocator->release(allocator->context, memory, size, ALIGNMENT);
}

static size_t bytes_of(const struct htw__job *job) {
    return job->key_size + job->payload_size;
}

static size_t block_size(const struct htw__job *job) {
    return sizeof(*job) + (is_inline(bytes_of(job)) ? bytes_of(job) : 0);
}

static bool restore_bytes(const struct htw_allocator *allocator, struct htw__job *job,
                          const void *key, const void *payload) {
    size_t bytes = bytes_of(job);
    job->bytes = is_inline(bytes) ? (char *)(job + 1) : allocate(allocator, bytes);
    if (job->bytes == NULL)
        return false;
    if (job->key_size > 0)
        memcpy(job->bytes, key, job->key_size);
    if (job->payload_size > 0)
        memcpy(job->bytes + job->key_size, payload, job->payload_size);
    return true;
}

static void release_bytes(const struct htw_allocator *allocator, struct htw__job *job) {
    if (is_inline(bytes_of(job)))
        return;
    if (job->bytes != NULL)
        release(allocator, job->bytes, bytes_of(job));
    job->bytes = NULL;
}

struct htw__job *htw__job_create(const struct htw_allocator *allocator,
                                 const struct htw__job_row *row) {
    size_t bytes = row->key_size + row->payload_size;
    struct htw__job *job = allocate(allocator, sizeof(*job) + (is_inline(bytes) ? bytes : 0));
    if (job == NULL)
        return NULL;
    *job = (struct htw__job) {
        .position = { row->deadline_ns, 0 },
        .state = HTW__JOB_QUEUED,
        .has_key = row->key != NULL,
        .key_size = (uint32_t)row->key_size,
        .payload_size = row->payload_size,
        .priority = row->priority,
        .put_us = row->put_us,
        .is_to_come = row->is_to_come,
        .lease_ns = row->lease_ns,
    };
    if (!restore_bytes(allocator, job, row->key, row->payload)) {
        release(allocator, job, block_size(job));
        return NULL;
    }
    return job;
}

void htw__job_destroy(const struct htw_allocator *allocator, struct htw__job *job) {
    release_bytes(allocator, job);
    release(allocator, job, block_size(job));
}

size_t htw__job_memory(const struct htw__job *job) {
    return sizeof(*job) + (is_inline(bytes_of(job)) || job->bytes != NULL ? bytes_of(job) : 0);
}

/* ---- the heaps */

struct htw__job *htw__job_of_turn(const struct htw__heap_node *turn) {
    return CONTAINER(turn, turn);
}

/* Its place in the heap of its state. */
static struct htw__turn order_of(const struct htw__heap_node *node) {
    const struct htw__job *job = htw__job_of_turn(node);
    if (job->state == HTW__JOB_READY)
        return htw__turn_of(job);
    bool is_leased = job->state == HTW__JOB_LEASED;
    return (struct htw__turn) { 0, is_leased ? job->lease_end_ns : job->position.deadline_ns,
                                job->position.id };
}

bool htw__jobs_precede(const struct htw__heap_node *a, const struct htw__heap_node *b) {
    return htw__turn_precedes(order_of(a), order_of(b));
}

static struct htw__heap *waiting_heap(struct htw__jobs *jobs, const struct htw__queue *queue) {
    return queue->is_delivered ? &jobs->deliveries : &jobs->delays;
}

/* That a job in this state is in; NULL: none. */
static struct htw__heap *heap_of(struct htw__jobs *jobs, const struct htw__job *job) {
    if (job->state == HTW__JOB_WAITING)
        return waiting_heap(jobs, job->queue);
    if (job->state == HTW__JOB_READY)
        return &job->queue->ready;
    return job->state == HTW__JOB_LEASED && job->lease_end_ns != INT64_MIN ? &jobs->leases : NULL;
}

static size_t *bytes_in_state(struct htw__jobs *jobs, enum htw__job_state state) {
    return state == HTW__JOB_WAITING ? &jobs->waiting_bytes
           : state == HTW__JOB_READY ? &jobs->ready_bytes
                                     : &jobs->in_flight_bytes;
}

static void push(struct htw__jobs *jobs, struct htw__job *job) {
    struct htw__heap *heap = heap_of(jobs, job);
    if (heap == NULL)
        return;
    htw__heap_push(heap, &job->turn);
    if (job->state == HTW__JOB_READY && heap->count == 2)
        htw__ring_push_back(&jobs->crowded, &job->queue->crowded);
}

static void remove_from_heap(struct htw__jobs *jobs, struct htw__job *job) {
    struct htw__heap *heap = heap_of(jobs, job);
    if (heap == NULL || job->turn.place == 0)
        return;
    htw__heap_remove(heap, &job->turn);
    if (job->state == HTW__JOB_READY && heap->count == 1)
        htw__link_unlink(&job->queue->crowded);
}

/* By how much jobs in this state make the numbers of their queue differ from those of the file. */
static void count(struct htw__jobs *jobs, struct htw__job *job, int by) {
    enum htw_job_state state = job->state == HTW__JOB_READY    ? HTW_JOB_READY
                               : job->state == HTW__JOB_LEASED ? HTW_JOB_LEASED
                                                               : job->filed;
    struct htw__queue_counts *apart[] = { &job->queue->apart, &jobs->apart };
    for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++) {
        apart[i]->of[state] += by;
        apart[i]->of[job->filed] -= by;
    }
}

static void enter(struct htw__jobs *jobs, struct htw__job *job, enum htw__job_state state) {
    job->state = state;
    *bytes_in_state(jobs, state) += htw__job_memory(job);
    count(jobs, job, 1);
    if (state == HTW__JOB_READY)
        htw__ring_push_back(&jobs->ready, &job->age);
}

static void leave(struct htw__jobs *jobs, struct htw__job *job) {
    *bytes_in_state(jobs, job->state) -= htw__job_memory(job);
    count(jobs, job, -1);
    if (job->state == HTW__JOB_READY)
        htw__link_unlink(&job->age);
}

/* ---- all jobs */

void htw__jobs_init(struct htw__jobs *jobs, const struct htw_allocator *allocator) {
    memset(jobs, 0, sizeof(*jobs));
    jobs->allocator = *allocator;
    htw__key_table_init(&jobs->by_id, allocator);
    htw__heap_init(&jobs->deliveries, htw__jobs_precede);
    htw__heap_init(&jobs->delays, htw__jobs_precede);
    htw__heap_init(&jobs->leases, htw__jobs_precede);
    htw__ring_init(&jobs->ready);
    htw__ring_init(&jobs->held);
    htw__ring_init(&jobs->crowded);
    jobs->seed = htw__random_seed(jobs);
}

static struct htw__job *job_of(struct htw__key_node *node) {
    return HTW_CONTAINER_OF(node, struct htw__job, node);
}

void htw__jobs_fini(struct htw__jobs *jobs) {
    struct htw__key_node *node;
    while ((node = htw__key_table_remove_any(&jobs->by_id)) != NULL)
        htw__jobs_discard(jobs, job_of(node));
    htw__key_table_fini(&jobs->by_id);
    htw__heap_fini(&jobs->deliveries, &jobs->allocator);
    htw__heap_fini(&jobs->delays, &jobs->allocator);
    htw__heap_fini(&jobs->leases, &jobs->allocator);
}

int htw__jobs_attach(struct htw__jobs *jobs, struct htw__job *job, struct htw__queue *queue) {
    if (htw__heap_reserve(waiting_heap(jobs, queue), &jobs->allocator, jobs->attached + 1) != 0 ||
        htw__heap_reserve(&jobs->leases, &jobs->allocator, jobs->attached + 1) != 0 ||
        htw__heap_reserve(&queue->ready, &jobs->allocator, queue->attached + 1) != 0)
        return -ENOMEM;
    queue->attached++;
    jobs->attached++;
    job->queue = queue;
    return 0;
}

void htw__jobs_discard(struct htw__jobs *jobs, struct htw__job *job) {
    if (job->queue != NULL) {
        job->queue->attached--;
        jobs->attached--;
    }
    htw__job_destroy(&jobs->allocator, job);
}

void htw__jobs_add(struct htw__jobs *jobs, struct htw__job *job, enum htw__job_state state) {
    const uint64_t *id = &job->position.id;
    htw__key_node_set(&job->node, htw__key_hash(id, sizeof(*id), jobs->seed), id, sizeof(*id));
    htw__key_table_insert(&jobs->by_id, &job->node);
    enter(jobs, job, state);
    push(jobs, job);
}

void htw__jobs_become(struct htw__jobs *jobs, struct htw__job *job, enum htw__job_state state) {
    remove_from_heap(jobs, job);
    leave(jobs, job);
    enter(jobs, job, state);
    push(jobs, job);
}

struct htw__job *htw__jobs_find(const struct htw__jobs *jobs, uint64_t id) {
    struct htw__key_node *node = htw__key_table_find(
        &jobs->by_id, htw__key_hash(&id, sizeof(id), jobs->seed), &id, sizeof(id));
    return node == NULL ? NULL : job_of(node);
}

struct htw__job *htw__jobs_first(const struct htw__heap *heap) {
    const struct htw__heap_node *first = htw__heap_first(heap);
    return first == NULL ? NULL : htw__job_of_turn(first);
}

uint32_t htw__jobs_waiting(const struct htw__jobs *jobs) {
    return jobs->deliveries.count + jobs->delays.count;
}

struct htw__queue *htw__jobs_crowded(struct htw__jobs *jobs) {
    enum { LOOKS = 64 };
    struct htw__queue *largest = NULL;
    for (int i = 0; i < LOOKS && !htw__ring_is_empty(&jobs->crowded); i++) {
        struct htw__queue *queue =
            HTW_CONTAINER_OF(jobs->crowded._next, struct htw__queue, crowded);
        if (queue == largest) /* the only one, or all were looked at */
            break;
        htw__link_unlink(&queue->crowded);
        htw__ring_push_back(&jobs->crowded, &queue->crowded);
        if (largest == NULL || queue->ready.count > largest->ready.count)
            largest = queue;
    }
    return largest;
}

static int64_t first_deadline_ns(const struct htw__heap *waiting) {
    const struct htw__job *first = htw__jobs_first(waiting);
    return first == NULL ? INT64_MAX : first->position.deadline_ns;
}

int64_t htw__jobs_oldest_ns(const struct htw__jobs *jobs) {
    int64_t waiting_ns =
        htw__clock_earlier(first_deadline_ns(&jobs->deliveries), first_deadline_ns(&jobs->delays));
    if (htw__ring_is_empty(&jobs->ready))
        return waiting_ns;
    const struct htw__job *ready = CONTAINER(jobs->ready._next, age);
    int64_t put_ns = ready->put_us * HTW_MICROSECOND;
    int64_t ready_ns = ready->position.deadline_ns < put_ns ? put_ns : ready->position.deadline_ns;
    return htw__clock_earlier(waiting_ns, ready_ns);
}

struct htw__job *htw__jobs_next_held(const struct htw__jobs *jobs, const struct htw__job *job) {
    const struct htw__link *next = job == NULL ? jobs->held._next : job->held._next;
    return next == &jobs->held ? NULL : CONTAINER(next, held);
}

void htw__jobs_hold(struct htw__jobs *jobs, struct htw__job *job) {
    remove_from_heap(jobs, job);
    job->is_held = true;
    htw__ring_push_back(&jobs->held, &job->held);
}

static void end_hold(struct htw__job *job) {
    job->is_held = job->is_granted = false;
    job->holder = NULL;
    htw__link_unlink(&job->held);
}

void htw__jobs_unhold(struct htw__jobs *jobs, struct htw__job *job) {
    end_hold(job);
    push(jobs, job);
}

void htw__jobs_deliver(struct htw__jobs *jobs, struct htw__job *job) {
    htw__jobs_become(jobs, job, HTW__JOB_DELIVERING);
    jobs->in_flight++;
}

void htw__jobs_delivered(struct htw__jobs *jobs, struct htw__job *job) {
    if (job->state == HTW__JOB_ENDED) {
        htw__jobs_discard(jobs, job);
        return;
    }
    htw__jobs_release_bytes(jobs, job);
    job->state = HTW__JOB_IN_FLIGHT;
}

void htw__jobs_release_bytes(struct htw__jobs *jobs, struct htw__job *job) {
    size_t *bytes = bytes_in_state(jobs, job->state);
    *bytes -= htw__job_memory(job);
    release_bytes(&jobs->allocator, job);
    *bytes += htw__job_memory(job);
}

bool htw__jobs_restore_bytes(struct htw__jobs *jobs, struct htw__job *job, const void *key,
                             const void *payload) {
    size_t *bytes = bytes_in_state(jobs, job->state);
    *bytes -= htw__job_memory(job);
    bool is_restored = restore_bytes(&jobs->allocator, job, key, payload);
    *bytes += htw__job_memory(job);
    return is_restored;
}

void htw__jobs_end(struct htw__jobs *jobs, struct htw__job *job) {
    htw__key_table_remove(&jobs->by_id, &job->node);
    if (job->is_held)
        end_hold(job);
    else
        remove_from_heap(jobs, job);
    leave(jobs, job);
    jobs->in_flight -= job->state == HTW__JOB_DELIVERING || job->state == HTW__JOB_IN_FLIGHT;
    if (job->state == HTW__JOB_DELIVERING)
        job->state = HTW__JOB_ENDED;
    else
        htw__jobs_discard(jobs, job);
}

/* ---- less memory */

static struct htw__position position_at(const struct htw__heap *sorted, uint32_t i) {
    return i < sorted->count ? htw__job_of_turn(sorted->nodes[i])->position
                             : (struct htw__position) { INT64_MAX, UINT64_MAX };
}

struct htw__position htw__jobs_evict(struct htw__jobs *jobs, struct htw__position keep) {
    struct htw__heap *heaps[] = { &jobs->deliveries, &jobs->delays };
    uint32_t kept[] = { 0, 0 }, left = 1;
    for (size_t i = 0; i < 2; i++) {
        htw__heap_sort(heaps[i]);
        while (kept[i] < heaps[i]->count &&
               !htw__position_precedes(keep, position_at(heaps[i], kept[i])))
            kept[i]++;
        left += heaps[i]->count - kept[i];
    }
    for (left /= 2; left > 0; left--) {
        struct htw__position delivery = position_at(heaps[0], kept[0]);
        struct htw__position delay = position_at(heaps[1], kept[1]);
        bool is_delay = htw__position_precedes(delay, delivery);
        keep = is_delay ? delay : delivery;
        kept[is_delay]++;
    }
    for (size_t i = 0; i < 2; i++)
        while (heaps[i]->count > kept[i])
            htw__jobs_end(jobs, htw__job_of_turn(heaps[i]->nodes[heaps[i]->count - 1]));
    return keep;
}
