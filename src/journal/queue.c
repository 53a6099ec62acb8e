/* SPDX-License-Identifier: MIT */
/* queue.c - the queues of a journal. */
#include "queue.h"

#include "../base/random.h"
#include "database/error.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define ALIGNMENT ((size_t)16) /* that of malloc() */

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
    queues->next_number = 1;
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

static struct htw__queue *add(struct htw__queues *queues, const char *name, size_t name_size,
                              uint64_t number) {
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

/* There are fewer queues than numbers. */
static uint64_t free_number(struct htw__queues *queues) {
    do {
        if (queues->next_number > HTW__QUEUE_MAX)
            queues->next_number = 1;
    } while (htw__queues_find_number(queues, queues->next_number++) != NULL);
    return queues->next_number - 1;
}

int htw__queues_get(struct htw__queues *queues, const char *name, struct htw__queue **ret_queue) {
    *ret_queue = htw__queues_find(queues, name);
    if (*ret_queue != NULL)
        return 0;
    if (htw__key_table_count(&queues->by_name) >= HTW_QUEUES_MAX)
        return -EAGAIN;
    *ret_queue = add(queues, name, strlen(name), free_number(queues));
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

/* ---- the file */

/* Sums of all queues have no overflow. */
#define COUNT_MAX (INT64_MAX / 4 / HTW_QUEUES_MAX)

/* The name of a queue whose row is one of this journal; NULL: it is not. The default queue has an empty one. */
static const char *name_of(const struct htw__queues *queues, struct sqlite3_stmt *row) {
    int64_t number = sqlite3_column_int64(row, 0);
    const char *name = (const char *)sqlite3_column_text(row, 1);
    size_t size = name == NULL ? 0 : strlen(name);
    bool is_unnamed = number == HTW__QUEUE_DEFAULT;
    if (name == NULL || number < 0 || number > HTW__QUEUE_MAX || (size == 0) != is_unnamed ||
        size != (size_t)sqlite3_column_bytes(row, 1) || size > HTW_QUEUE_NAME_MAX ||
        htw__key_table_count(&queues->by_name) >= HTW_QUEUES_MAX)
        return NULL;
    return is_unnamed || (htw__queues_find_number(queues, (uint64_t)number) == NULL &&
                          find_name(queues, name, size) == NULL)
               ? name
               : NULL;
}

static int64_t sum_of(const struct htw__queue_counts *counts) {
    int64_t sum = 0;
    for (size_t i = 0; i < HTW__QUEUE_STATES; i++)
        sum += counts->of[i];
    return sum;
}

static void add_counts(struct htw__queue_counts *counts, const struct htw__queue_counts *by) {
    for (size_t i = 0; i < HTW__QUEUE_STATES; i++)
        counts->of[i] += by->of[i];
}

/* NULL: none. */
static bool read_policy(struct sqlite3_stmt *row, struct htw_queue_policy *policy) {
    enum { FIRST = 2 + HTW__QUEUE_STATES };
    int64_t attempts_max = sqlite3_column_int64(row, FIRST);
    if (sqlite3_column_type(row, FIRST) == SQLITE_NULL)
        return true;
    policy->attempts_max = (uint32_t)attempts_max;
    policy->initial_ns = sqlite3_column_int64(row, FIRST + 1);
    policy->cap_ns = sqlite3_column_int64(row, FIRST + 2);
    policy->multiplier = sqlite3_column_double(row, FIRST + 3);
    policy->jitter = sqlite3_column_double(row, FIRST + 4);
    return policy->attempts_max == attempts_max && htw__policy_check(policy) == 0;
}

static int load_queue(struct htw__queues *queues, struct sqlite3_stmt *row) {
    uint64_t number = (uint64_t)sqlite3_column_int64(row, 0);
    const char *name = name_of(queues, row);
    struct htw__queue *queue = queues->unnamed;
    if (name == NULL)
        return htw__journal_fail_as(-EBADMSG, "a queue of the journal is damaged");
    if (number != HTW__QUEUE_DEFAULT)
        queue = add(queues, name, strlen(name), number);
    if (queue == NULL)
        return htw__journal_fail_as(-ENOMEM, "no memory for a queue");
    if (!read_policy(row, &queue->policy))
        return htw__journal_fail_as(-EBADMSG, "the policy of a queue is damaged");
    for (int i = 0; i < HTW__QUEUE_STATES; i++) {
        queue->counts.of[i] = sqlite3_column_int64(row, 2 + i);
        if (queue->counts.of[i] < 0 || queue->counts.of[i] > COUNT_MAX)
            return htw__journal_fail_as(-EBADMSG, "the counts of a queue are damaged");
    }
    add_counts(&queues->all, &queue->counts);
    queue->is_stored = queue->is_used = true;
    if (queue->counts.of[HTW_JOB_READY] > 0) {
        queue->window = HTW__TURN_FIRST;
        queue->scan = htw__scan_of(htw__place_ready((uint32_t)number, 0),
                                   htw__place_ready((uint32_t)number, UINT32_MAX));
    }
    return 0;
}

int htw__queues_load(struct htw__queues *queues, struct htw__database *database) {
    int result = 0, error = 0;
    while (error == 0 && (result = htw__statement_step(database, HTW__READ_QUEUES)) == 1)
        error = load_queue(queues, database->statements[HTW__READ_QUEUES]);
    return error == 0 ? result : error;
}

int htw__queues_count_due(struct htw__queues *queues, struct htw__database *database, int64_t now) {
    struct sqlite3_stmt *row = database->statements[HTW__COUNT_DUE];
    const uint64_t last_place = htw__place_delayed(now, UINT32_MAX);
    int result;
    htw__statement_bind(database, HTW__COUNT_DUE, HTW__NUMBERS((int64_t)last_place, now));
    while ((result = htw__statement_step(database, HTW__COUNT_DUE)) == 1) {
        struct htw__queue *queue =
            htw__queues_find_number(queues, (uint64_t)sqlite3_column_int64(row, 0));
        bool was_leased = sqlite3_column_int64(row, 1) != 0;
        struct htw__queue_counts due = { { 0 } };
        due.of[HTW_JOB_READY] = sqlite3_column_int64(row, 2);
        due.of[was_leased ? HTW_JOB_LEASED : HTW_JOB_DELAYED] = -due.of[HTW_JOB_READY];
        if (queue == NULL)
            continue;
        add_counts(&queue->counts, &due);
        add_counts(&queues->all, &due);
    }
    return result;
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

static int write_queue(struct htw__queue *queue, struct htw__database *database) {
    struct sqlite3_stmt *statement = database->statements[HTW__STORE_QUEUE];
    const int64_t number = (int64_t)queue->number;
    struct htw__queue_counts counts = queue->counts;
    add_counts(&counts, &queue->added);
    const struct htw_queue_policy *policy =
        queue->new_policy == NULL ? &queue->policy : queue->new_policy;
    bool has_policy = htw__policy_is_on(policy);
    if (sum_of(&counts) == 0 && !has_policy)
        return queue->is_stored
                   ? htw__statement_run(database, HTW__DELETE_QUEUE, HTW__NUMBERS(number))
                   : 0;
    htw__statement_bind_blob(statement, 6, queue->name, queue->name_size);
    if (has_policy) {
        sqlite3_bind_int64(statement, 7, policy->attempts_max);
        sqlite3_bind_int64(statement, 8, policy->initial_ns);
        sqlite3_bind_int64(statement, 9, policy->cap_ns);
        sqlite3_bind_double(statement, 10, policy->multiplier);
        sqlite3_bind_double(statement, 11, policy->jitter);
    }
    int error = htw__statement_run(
        database, HTW__STORE_QUEUE,
        HTW__NUMBERS(number, counts.of[0], counts.of[1], counts.of[2], counts.of[3]));
    sqlite3_clear_bindings(statement);
    return error;
}

int htw__queues_write(struct htw__queue **changed, struct htw__database *database) {
    int error = 0;
    if (database->is_in_memory)
        return 0;
    for (struct htw__queue *queue = *changed; queue != NULL && error == 0;
         queue = queue->next_dirty)
        error = write_queue(queue, database);
    return error;
}

void htw__queues_end_transaction(struct htw__queues *queues, struct htw__queue **changed,
                                 bool keep) {
    struct htw__queue *queue;
    while ((queue = *changed) != NULL) {
        *changed = queue->next_dirty;
        queue->is_dirty = false;
        if (keep) {
            add_counts(&queue->counts, &queue->added);
            add_counts(&queues->all, &queue->added);
            if (queue->new_policy != NULL)
                queue->policy = *queue->new_policy;
            queue->is_stored = sum_of(&queue->counts) != 0 || htw__policy_is_on(&queue->policy);
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
    counts->of[HTW_JOB_DELAYED] += (int64_t)jobs_in_file - sum_of(&queues->all);
    if (queues->unnamed->is_delivered) {
        counts->of[HTW_JOB_DELAYED] -= (int64_t)jobs->in_flight;
        counts->of[HTW_JOB_LEASED] += (int64_t)jobs->in_flight;
    }
}

struct htw__queue_counts htw__queues_count(const struct htw__queues *queues,
                                           const struct htw__jobs *jobs, uint64_t jobs_in_file) {
    struct htw__queue_counts counts = queues->all;
    add_counts(&counts, &jobs->apart);
    add_default(queues, jobs, jobs_in_file, &counts);
    return counts;
}

void htw__queue_stats(const struct htw__queues *queues, const struct htw__queue *queue,
                      const struct htw__jobs *jobs, uint64_t jobs_in_file,
                      struct htw_queue_stats *ret_stats) {
    struct htw__queue_counts counts = queue->counts;
    add_counts(&counts, &queue->apart);
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
