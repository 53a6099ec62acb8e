/* SPDX-License-Identifier: MIT */
/* queue_rows.c - reads and writes the rows of queues. */
#include "../queue.h"
#include "error.h"
#include "statements.h"

#include <errno.h>
#include <string.h>

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
                          htw__queues_find(queues, name) == NULL)
               ? name
               : NULL;
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
        queue = htw__queues_add(queues, name, number);
    if (queue == NULL)
        return htw__journal_fail_as(-ENOMEM, "no memory for a queue");
    if (!read_policy(row, &queue->policy))
        return htw__journal_fail_as(-EBADMSG, "the policy of a queue is damaged");
    for (int i = 0; i < HTW__QUEUE_STATES; i++) {
        queue->counts.of[i] = sqlite3_column_int64(row, 2 + i);
        if (queue->counts.of[i] < 0 || queue->counts.of[i] > COUNT_MAX)
            return htw__journal_fail_as(-EBADMSG, "the counts of a queue are damaged");
    }
    htw__counts_add(&queues->all, &queue->counts);
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
        error = load_queue(queues, database->sqlite->statements[HTW__READ_QUEUES]);
    return error == 0 ? result : error;
}

int htw__queues_count_due(struct htw__queues *queues, struct htw__database *database, int64_t now) {
    struct sqlite3_stmt *row = database->sqlite->statements[HTW__COUNT_DUE];
    uint64_t last_place = htw__place_delayed(now, UINT32_MAX);
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
        htw__counts_add(&queue->counts, &due);
        htw__counts_add(&queues->all, &due);
    }
    return result;
}

static int write_queue(struct htw__queue *queue, struct htw__database *database) {
    struct sqlite3_stmt *statement = database->sqlite->statements[HTW__STORE_QUEUE];
    int64_t number = (int64_t)queue->number;
    struct htw__queue_counts counts = queue->counts;
    htw__counts_add(&counts, &queue->added);
    const struct htw_queue_policy *policy =
        queue->new_policy == NULL ? &queue->policy : queue->new_policy;
    bool has_policy = htw__policy_is_on(policy);
    if (htw__counts_sum(&counts) == 0 && !has_policy)
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
