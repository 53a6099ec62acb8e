/* SPDX-License-Identifier: MIT */
/* jobs.c - the jobs in memory: a heap by deadline, and a table by id. */
#include "jobs.h"

#include "../base/random.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT ((size_t)16) /* that of malloc() */

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

struct htw__job *htw__job_create(const struct htw_allocator *allocator, int64_t deadline_ns,
                                 const void *key, size_t key_size, const void *payload,
                                 size_t payload_size) {
    size_t bytes = key_size + payload_size;
    struct htw__job *job = allocate(allocator, sizeof(*job) + (is_inline(bytes) ? bytes : 0));
    if (job == NULL)
        return NULL;
    *job = (struct htw__job) {
        .position = { deadline_ns, 0 },
        .state = HTW__JOB_QUEUED,
        .has_key = key != NULL,
        .key_size = (uint32_t)key_size,
        .payload_size = payload_size,
    };
    job->bytes = is_inline(bytes) ? (char *)(job + 1) : allocate(allocator, bytes);
    if (job->bytes == NULL) {
        release(allocator, job, block_size(job));
        return NULL;
    }
    if (key != NULL)
        memcpy(job->bytes, key, key_size);
    if (payload_size > 0)
        memcpy(job->bytes + key_size, payload, payload_size);
    return job;
}

void htw__job_release_bytes(const struct htw_allocator *allocator, struct htw__job *job) {
    if (job->bytes != NULL && !is_inline(bytes_of(job)))
        release(allocator, job->bytes, bytes_of(job));
    job->bytes = NULL;
}

void htw__job_destroy(const struct htw_allocator *allocator, struct htw__job *job) {
    htw__job_release_bytes(allocator, job);
    release(allocator, job, block_size(job));
}

size_t htw__job_memory(const struct htw__job *job) {
    return sizeof(*job) + (is_inline(bytes_of(job)) || job->bytes != NULL ? bytes_of(job) : 0);
}

/* ---- the heap */

static struct htw__job *job_of(const struct htw__heap_node *node) {
    return (struct htw__job *)(void *)((char *)(uintptr_t)node - offsetof(struct htw__job, turn));
}

static bool comes_before(const struct htw__heap_node *a, const struct htw__heap_node *b) {
    return htw__position_precedes(job_of(a)->position, job_of(b)->position);
}

static void push(struct htw__jobs *jobs, struct htw__job *job) {
    job->state = HTW__JOB_WAITING;
    htw__heap_push(&jobs->waiting, &job->turn);
}

static void remove_from_heap(struct htw__jobs *jobs, struct htw__job *job) {
    htw__heap_remove(&jobs->waiting, &job->turn);
}

/* ---- all jobs */

void htw__jobs_init(struct htw__jobs *jobs, const struct htw_allocator *allocator) {
    memset(jobs, 0, sizeof(*jobs));
    jobs->allocator = *allocator;
    htw__key_table_init(&jobs->by_id, allocator);
    htw__heap_init(&jobs->waiting, comes_before);
    jobs->seed = htw__random_seed(jobs);
}

void htw__jobs_fini(struct htw__jobs *jobs) {
    struct htw__key_node *node;
    while ((node = htw__key_table_remove_any(&jobs->by_id)) != NULL) {
        struct htw__job *job =
            (struct htw__job *)(void *)((char *)node - offsetof(struct htw__job, node));
        htw__job_destroy(&jobs->allocator, job);
    }
    htw__key_table_fini(&jobs->by_id);
    htw__heap_fini(&jobs->waiting, &jobs->allocator);
}

/* HELD jobs keep their places. */
int htw__jobs_reserve(struct htw__jobs *jobs, size_t count) {
    if (htw__heap_reserve(&jobs->waiting, &jobs->allocator,
                          (size_t)jobs->waiting.count + jobs->reserved + count) != 0)
        return -ENOMEM;
    jobs->reserved += (uint32_t)count;
    return 0;
}

void htw__jobs_add(struct htw__jobs *jobs, struct htw__job *job) {
    jobs->reserved--;
    const uint64_t *id = &job->position.id;
    htw__key_node_set(&job->node, htw__key_hash(id, sizeof(*id), jobs->seed), id, sizeof(*id));
    htw__key_table_insert(&jobs->by_id, &job->node);
    jobs->waiting_bytes += htw__job_memory(job);
    push(jobs, job);
}

struct htw__job *htw__jobs_find(const struct htw__jobs *jobs, uint64_t id) {
    struct htw__key_node *node = htw__key_table_find(
        &jobs->by_id, htw__key_hash(&id, sizeof(id), jobs->seed), &id, sizeof(id));
    return node == NULL
               ? NULL
               : (struct htw__job *)(void *)((char *)node - offsetof(struct htw__job, node));
}

struct htw__job *htw__jobs_first(const struct htw__jobs *jobs) {
    const struct htw__heap_node *first = htw__heap_first(&jobs->waiting);
    return first == NULL ? NULL : job_of(first);
}

void htw__jobs_hold(struct htw__jobs *jobs, struct htw__job *job) {
    remove_from_heap(jobs, job);
    jobs->reserved++;
    job->state = HTW__JOB_HELD;
}

void htw__jobs_unhold(struct htw__jobs *jobs, struct htw__job *job) {
    jobs->reserved--;
    push(jobs, job);
}

struct htw__job *htw__jobs_deliver(struct htw__jobs *jobs) {
    struct htw__job *job = job_of(jobs->waiting.nodes[0]);
    remove_from_heap(jobs, job);
    job->state = HTW__JOB_DELIVERING;
    jobs->waiting_bytes -= htw__job_memory(job);
    jobs->in_flight_bytes += htw__job_memory(job);
    jobs->in_flight++;
    return job;
}

void htw__jobs_delivered(struct htw__jobs *jobs, struct htw__job *job) {
    if (job->state == HTW__JOB_ENDED) {
        htw__job_destroy(&jobs->allocator, job);
        return;
    }
    jobs->in_flight_bytes -= htw__job_memory(job);
    htw__job_release_bytes(&jobs->allocator, job);
    jobs->in_flight_bytes += htw__job_memory(job);
    job->state = HTW__JOB_IN_FLIGHT;
}

void htw__jobs_end(struct htw__jobs *jobs, struct htw__job *job) {
    htw__key_table_remove(&jobs->by_id, &job->node);
    if (job->state == HTW__JOB_WAITING || job->state == HTW__JOB_HELD) {
        if (job->state == HTW__JOB_WAITING)
            remove_from_heap(jobs, job);
        else
            jobs->reserved--;
        jobs->waiting_bytes -= htw__job_memory(job);
    } else {
        jobs->in_flight--;
        jobs->in_flight_bytes -= htw__job_memory(job);
    }
    if (job->state == HTW__JOB_DELIVERING)
        job->state = HTW__JOB_ENDED;
    else
        htw__job_destroy(&jobs->allocator, job);
}

/* ---- less memory */

static struct htw__job *last_of(const struct htw__jobs *jobs) {
    return job_of(jobs->waiting.nodes[jobs->waiting.count - 1]);
}

struct htw__position htw__jobs_evict(struct htw__jobs *jobs, struct htw__position keep) {
    htw__heap_sort(&jobs->waiting);
    uint32_t target = jobs->waiting.count / 2;
    while (jobs->waiting.count > target && htw__position_precedes(keep, last_of(jobs)->position))
        htw__jobs_end(jobs, last_of(jobs));
    if (jobs->waiting.count == 0)
        return keep;
    struct htw__position last = last_of(jobs)->position;
    return htw__position_precedes(last, keep) ? keep : last;
}

void htw__jobs_cut(struct htw__jobs *jobs, struct htw__position last) {
    htw__heap_sort(&jobs->waiting);
    while (jobs->waiting.count > 0 && htw__position_precedes(last, last_of(jobs)->position))
        htw__jobs_end(jobs, last_of(jobs));
}
