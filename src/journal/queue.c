/* SPDX-License-Identifier: MIT */
/* queue.c - the queues of a journal. */
#include "queue.h"

#include "../base/random.h"

#include <errno.h>
#include <string.h>

#define ALIGNMENT ((size_t)16) /* that of malloc() */

/* The first choices for the number of a queue: each job in the file has it, in two bytes. */
#define NUMBERS 32767u

#define CONTAINER(node, member) HTW_CONTAINER_OF((uintptr_t)(node), struct htw__queue, member)

/* ---- all queues */

static size_t size_of(size_t name_size) {
    return sizeof(struct htw__queue) + name_size + 1;
}

static struct htw__queue *create(struct htw__queues *queues, const char *name, size_t name_size) {
    struct htw__queue *queue =
        queues->allocator.allocate(queues->allocator.context, size_of(name_size), ALIGNMENT);
    if (queue == NULL)
        return NULL;
    memset(queue, 0, size_of(name_size));
    memcpy(queue->name, name, name_size);
    queue->name_size = name_size;
    htw__heap_init(&queue->ready, htw__jobs_precede);
    htw__ring_init(&queue->waits);
    queue->window = HTW__TURN_LAST;
    queue->pause.at_ns = INT64_MIN;
    htw_queue_policy_init(&queue->policy);
    return queue;
}

static void destroy(struct htw__queues *queues, struct htw__queue *queue) {
    htw__heap_fini(&queue->ready, &queues->allocator);
    queues->allocator.release(queues->allocator.context, queue, size_of(queue->name_size),
                              ALIGNMENT);
}

int htw__queues_init(struct htw__queues *queues, const struct htw_allocator *allocator,
                     bool is_delivered) {
    memset(queues, 0, sizeof(*queues));
    queues->allocator = *allocator;
    htw__key_table_init(&queues->by_name, allocator);
    htw__key_table_init(&queues->by_number, allocator);
    htw__ring_init(&queues->named);
    queues->seed = htw__random_seed(queues);
    queues->unnamed = create(queues, "", 0);
    if (queues->unnamed == NULL)
        return -ENOMEM;
    queues->unnamed->is_delivered = is_delivered;
    queues->unnamed->is_used = !is_delivered;
    return 0;
}

void htw__queues_fini(struct htw__queues *queues) {
    struct htw__key_node *node;
    while (htw__key_table_remove_any(&queues->by_number) != NULL)
        ;
    while ((node = htw__key_table_remove_any(&queues->by_name)) != NULL)
        destroy(queues, CONTAINER(node, by_name));
    htw__key_table_fini(&queues->by_name);
    htw__key_table_fini(&queues->by_number);
    if (queues->unnamed != NULL)
        destroy(queues, queues->unnamed);
}

/* ---- by name and by number */

bool htw__queue_name_is_valid(const char *name) {
    return name == NULL || (name[0] != '\0' && memchr(name, 0, HTW_QUEUE_NAME_MAX + 1) != NULL);
}

static uint64_t hash_of(const struct htw__queues *queues, const void *key, size_t size) {
    return htw__key_hash(key, size, queues->seed);
}

static struct htw__queue *find_name(const struct htw__queues *queues, const char *name,
                                    size_t size) {
    struct htw__key_node *node =
        htw__key_table_find(&queues->by_name, hash_of(queues, name, size), name, size);
    return node == NULL ? NULL : CONTAINER(node, by_name);
}

struct htw__queue *htw__queues_find(const struct htw__queues *queues, const char *name) {
    return name == NULL ? queues->unnamed : find_name(queues, name, strlen(name));
}

struct htw__queue *htw__queues_find_number(const struct htw__queues *queues, uint64_t number) {
    if (number == HTW__QUEUE_DEFAULT)
        return queues->unnamed;
    struct htw__key_node *node = htw__key_table_find(
        &queues->by_number, hash_of(queues, &number, sizeof(number)), &number, sizeof(number));
    return node == NULL ? NULL : CONTAINER(node, by_number);
}

struct htw__queue *htw__queues_add(struct htw__queues *queues, const char *name, uint64_t number) {
    size_t name_size = strlen(name);
    struct htw__queue *queue = create(queues, name, name_size);
    if (queue == NULL)
        return NULL;
    queue->number = number;
    htw__key_node_set(&queue->by_name, hash_of(queues, name, name_size), queue->name, name_size);
    htw__key_node_set(&queue->by_number, hash_of(queues, &number, sizeof(number)), &queue->number,
                      sizeof(queue->number));
    htw__key_table_insert(&queues->by_name, &queue->by_name);
    htw__key_table_insert(&queues->by_number, &queue->by_number);
    htw__ring_push_back(&queues->named, &queue->listed);
    return queue;
}

/* By the name: a queue that ends and begins again goes on with the block of ids that it had. There are fewer queues than
   numbers, and the steps pass all numbers. */
static uint64_t free_number(const struct htw__queues *queues, const char *name) {
    uint64_t number = hash_of(queues, name, strlen(name)) % NUMBERS + 1;
    while (htw__queues_find_number(queues, number) != NULL)
        number = (number + NUMBERS - 1) % HTW__QUEUE_MAX + 1;
    return number;
}

int htw__queues_get(struct htw__queues *queues, const char *name, struct htw__queue **ret_queue) {
    *ret_queue = htw__queues_find(queues, name);
    if (*ret_queue != NULL)
        return 0;
    if (htw__key_table_count(&queues->by_name) >= HTW_QUEUES_MAX)
        return -EAGAIN;
    *ret_queue = htw__queues_add(queues, name, free_number(queues, name));
    return *ret_queue == NULL ? -ENOMEM : 0;
}

void htw__queues_drop(struct htw__queues *queues, struct htw__queue *queue) {
    if (queue == queues->unnamed || queue->attached > 0 || queue->users > 0 || queue->is_stored ||
        queue->is_dirty || queue->is_wanted || queue->pause.at_ns != INT64_MIN)
        return;
    htw__key_table_remove(&queues->by_name, &queue->by_name);
    htw__key_table_remove(&queues->by_number, &queue->by_number);
    htw__link_unlink(&queue->listed);
    destroy(queues, queue);
}

bool htw__queues_are_used(const struct htw__queues *queues) {
    return queues->unnamed->is_used || htw__key_table_count(&queues->by_name) > 0;
}

struct htw__queue *htw__queues_next(const struct htw__queues *queues,
                                    const struct htw__queue *queue) {
    if (queue == NULL)
        return queues->unnamed;
    const struct htw__link *next =
        queue == queues->unnamed ? queues->named._next : queue->listed._next;
    return next == &queues->named ? NULL : CONTAINER(next, listed);
}

void htw__queues_want(struct htw__queues *queues, struct htw__queue *queue) {
    if (queue->is_wanted)
        return;
    queue->is_wanted = true;
    queue->next_wanted = queues->wanted;
    queues->wanted = queue;
}

struct htw__queue *htw__queues_take_wanted(struct htw__queues *queues) {
    struct htw__queue *queue = queues->wanted;
    if (queue != NULL) {
        queues->wanted = queue->next_wanted;
        queue->is_wanted = false;
    }
    return queue;
}

/* ---- the next job */

struct htw__job *htw__queue_next(const struct htw__queue *queue) {
    if (queue->pause.at_ns != INT64_MIN)
        return NULL;
    struct htw__job *first = htw__jobs_first(&queue->ready);
    return first != NULL && htw__queue_covers(queue, htw__turn_of(first)) ? first : NULL;
}

/* ---- counts */

static void note_change(struct htw__queue **changed, struct htw__queue *queue) {
    if (queue->is_dirty)
        return;
    queue->is_dirty = true;
    queue->next_dirty = *changed;
    *changed = queue;
}

void htw__queue_count(struct htw__queue **changed, struct htw__queue *queue,
                      enum htw_job_state state, int by) {
    if (state == HTW_JOB_DELAYED && queue->number == HTW__QUEUE_DEFAULT)
        return; /* it is what is left of all jobs */
    queue->added.of[state] += by;
    note_change(changed, queue);
}

void htw__queue_set_policy(struct htw__queue **changed, struct htw__queue *queue,
                           const struct htw_queue_policy *policy) {
    queue->new_policy = policy;
    note_change(changed, queue);
}

void htw__queues_end_transaction(struct htw__queues *queues, struct htw__queue **changed,
                                 bool keep) {
    struct htw__queue *queue;
    while ((queue = *changed) != NULL) {
        *changed = queue->next_dirty;
        queue->is_dirty = false;
        if (keep) {
            htw__counts_add(&queue->counts, &queue->added);
            htw__counts_add(&queues->all, &queue->added);
            if (queue->new_policy != NULL)
                queue->policy = *queue->new_policy;
            queue->is_stored =
                htw__counts_sum(&queue->counts) != 0 || htw__policy_is_on(&queue->policy);
            queue->is_used = queue->is_used || queue->is_stored;
        }
        queue->added = (struct htw__queue_counts) { { 0 } };
        queue->new_policy = NULL;
        htw__queues_drop(queues, queue);
    }
}

/* The delays of the default queue have no count in the file, and what is in flight has none in memory. */
static void add_default(const struct htw__queues *queues, const struct htw__jobs *jobs,
                        uint64_t jobs_in_file, struct htw__queue_counts *counts) {
    counts->of[HTW_JOB_DELAYED] += (int64_t)jobs_in_file - htw__counts_sum(&queues->all);
    if (queues->unnamed->is_delivered) {
        counts->of[HTW_JOB_DELAYED] -= (int64_t)jobs->in_flight;
        counts->of[HTW_JOB_LEASED] += (int64_t)jobs->in_flight;
    }
}

struct htw__queue_counts htw__queues_count(const struct htw__queues *queues,
                                           const struct htw__jobs *jobs, uint64_t jobs_in_file) {
    struct htw__queue_counts counts = queues->all;
    htw__counts_add(&counts, &jobs->apart);
    add_default(queues, jobs, jobs_in_file, &counts);
    return counts;
}

void htw__queue_stats(const struct htw__queues *queues, const struct htw__queue *queue,
                      const struct htw__jobs *jobs, uint64_t jobs_in_file,
                      struct htw_queue_stats *ret_stats) {
    struct htw__queue_counts counts = queue->counts;
    htw__counts_add(&counts, &queue->apart);
    if (queue->number == HTW__QUEUE_DEFAULT)
        add_default(queues, jobs, jobs_in_file, &counts);
    *ret_stats = (struct htw_queue_stats) {
        .struct_size = sizeof(*ret_stats),
        .name = queue->number == HTW__QUEUE_DEFAULT ? NULL : queue->name,
        .delayed = (uint64_t)counts.of[HTW_JOB_DELAYED],
        .ready = (uint64_t)counts.of[HTW_JOB_READY],
        .leased = (uint64_t)counts.of[HTW_JOB_LEASED],
        .buried = (uint64_t)counts.of[HTW_JOB_BURIED],
        .waiting = queue->waiting,
        .paused_until_ns = queue->pause.at_ns,
        .policy = queue->policy,
    };
}
