/* SPDX-License-Identifier: MIT */
/* look.c - the public calls that show a job, or recurring jobs; and how all jobs are shown. */
#include "look.h"

#include "../base/user_code.h"
#include "load.h"
#include "recurring.h"
#include "snapshot.h"

#include <errno.h>
#include <string.h>

/* What is copied before it is visited: no more than one job above so many bytes. */
#define COPIED_MAX ((size_t)256 << 10)
#define AT_ONCE 64u

/* ---- what memory knows better than the file */

struct memory {
    bool is_there, has_counters;
    enum htw__job_state state;
    struct htw__counters counters;
    int64_t lease_end_ns;
};

static struct memory memory_of(const struct htw_journal *journal, uint64_t id) {
    const struct htw__job *job = htw__jobs_find(&journal->jobs, id);
    struct memory memory = { .is_there = job != NULL };
    if (job == NULL)
        return memory;
    memory.state = job->state;
    memory.has_counters = job->queued != NULL;
    if (memory.has_counters) {
        memory.counters = job->queued->counters;
        memory.lease_end_ns = job->queued->lease_end_ns;
    }
    return memory;
}

static void add_memory(const struct memory *memory, struct htw_job_info *info) {
    bool is_flying = memory->state == HTW__JOB_DELIVERING || memory->state == HTW__JOB_IN_FLIGHT;
    if (is_flying || memory->state == HTW__JOB_LEASED)
        info->state = HTW_JOB_LEASED;
    else if (memory->state == HTW__JOB_READY)
        info->state = HTW_JOB_READY;
    if (!memory->has_counters) {
        info->attempts += is_flying;
        return;
    }
    info->attempts = memory->counters.attempts;
    info->timeouts = memory->counters.timeouts;
    if (memory->state == HTW__JOB_LEASED)
        info->deadline_ns = memory->lease_end_ns;
}

/* ---- copies */

/* A job, and its queue, key and payload. */
struct copy {
    struct copy *next;
    size_t size;
    size_t place; /* of its id */
    struct htw_job_info info;
    char bytes[];
};

struct copies {
    struct copy *first, **last;
    size_t bytes;
    uint32_t count;
};

static const void *append(char **end, const void *bytes, size_t size) {
    void *copy = *end;
    if (size > 0)
        memcpy(copy, bytes, size);
    *end += size;
    return copy;
}

static int keep(struct htw_journal *journal, const struct htw_job_info *info, size_t place,
                struct copies *copies) {
    size_t queue_size = info->queue == NULL ? 0 : strlen(info->queue) + 1;
    size_t size = sizeof(struct copy) + queue_size + info->key_size + info->payload_size;
    struct copy *copy = htw__journal_allocate(journal, size);
    if (copy == NULL)
        return htw__journal_fail_as(-ENOMEM, "no memory for a job");
    char *end = copy->bytes;
    copy->next = NULL;
    copy->size = size;
    copy->place = place;
    copy->info = *info;
    if (info->queue != NULL)
        copy->info.queue = append(&end, info->queue, queue_size);
    if (info->key != NULL)
        copy->info.key = append(&end, info->key, info->key_size);
    copy->info.payload = append(&end, info->payload, info->payload_size);
    *copies->last = copy;
    copies->last = &copy->next;
    copies->bytes += size;
    copies->count++;
    return 0;
}

/* Of a queue that has a name. False: it is gone, and so is the job, since the snapshot began. */
static bool copy_name(struct htw_journal *journal, uint32_t number,
                      char name[HTW_QUEUE_NAME_MAX + 1]) {
    htw__mutex_lock(&journal->mutex);
    const struct htw__queue *queue = htw__queues_find_number(&journal->queues, number);
    if (queue != NULL)
        memcpy(name, queue->name, queue->name_size + 1);
    htw__mutex_unlock(&journal->mutex);
    return queue != NULL;
}

/* Copies the job, if it is one of those that are looked for. */
static int find(const struct htw__look *look, struct htw__database *database, uint64_t id,
                size_t place, const struct memory *memory, struct copies *copies) {
    struct htw__job_row row;
    struct htw__whereabouts where;
    char name[HTW_QUEUE_NAME_MAX + 1];
    int error = htw__database_fetch(database, id, &row, &where);
    if (error != 0)
        return error == -ENOENT ? 0 : error;
    bool is_named = row.queue != HTW__QUEUE_DEFAULT;
    struct htw_job_info info = {
        .id = id,
        .state = htw__state_in_file(look->journal, &where),
        .queue = is_named ? name : NULL,
        .payload = row.payload,
        .payload_size = row.payload_size,
        .key = row.key,
        .key_size = row.key_size,
        .deadline_ns = where.deadline_ns,
        .put_ns = row.put_us == 0 ? INT64_MIN : row.put_us * HTW_MICROSECOND,
        .lease_ns = row.lease_ns == 0 ? look->journal->lease_ns : row.lease_ns,
        .priority = where.priority,
        .attempts = where.counters.attempts,
        .releases = where.counters.releases,
        .timeouts = where.counters.timeouts,
        .buries = where.counters.buries,
        .kicks = where.counters.kicks,
    };
    if (memory->is_there)
        add_memory(memory, &info);
    if ((look->state < 0 || (int)info.state == look->state) &&
        !(look->is_not_in_memory && memory->is_there) &&
        (!is_named || copy_name(look->journal, row.queue, name)))
        error = keep(look->journal, &info, place, copies);
    htw__database_fetch_end(database);
    return error;
}

/* ---- visits */

static void visit_copies(struct htw__look *look, const struct copies *copies, size_t *ids) {
    struct htw_journal *journal = look->journal;
    struct copy *next;
    for (struct copy *copy = copies->first; copy != NULL; copy = next) {
        next = copy->next;
        if (!look->is_ended) {
            bool goes_on;
            HTW__CALL_USER("a visit", journal, look->visit,
                           goes_on = look->visit(look->context, &copy->info));
            look->shown++;
            look->is_ended = !goes_on || look->shown == look->wanted;
            if (look->is_ended)
                *ids = copy->place + 1;
        }
        htw__journal_release(journal, copy, copy->size);
    }
}

static int find_all(const struct htw__look *look, const uint64_t *ids, size_t *count,
                    struct copies *copies) {
    struct memory memory[AT_ONCE];
    struct htw__database *database;
    size_t most = *count < AT_ONCE ? *count : AT_ONCE, i = 0;
    int error = htw__snapshot_begin(look->journal, &database);
    if (error != 0)
        return error;
    for (size_t j = 0; j < most; j++)
        memory[j] = memory_of(look->journal, ids[j]);
    htw__mutex_unlock(&look->journal->mutex);
    for (; i < most && error == 0 && copies->bytes < COPIED_MAX &&
           copies->count < look->wanted - look->shown;
         i++)
        error = find(look, database, ids[i], i, &memory[i], copies);
    *count = i;
    return htw__snapshot_end(look->journal, database, error);
}

int htw__look_show(struct htw__look *look, const uint64_t *ids, size_t count) {
    struct copies copies = { .first = NULL };
    copies.last = &copies.first;
    int error = find_all(look, ids, &count, &copies);
    look->is_ended = look->is_ended || error != 0;
    visit_copies(look, &copies, &count);
    return error == 0 ? (int)count : error;
}

int htw_journal_peek(struct htw_journal *journal, uint64_t id, htw_job_visit *visit,
                     void *context) {
    struct htw__look look = {
        .journal = journal, .state = -1, .wanted = 1, .visit = visit, .context = context
    };
    if (visit == NULL)
        return htw__journal_fail_as(-EINVAL, "the visit is NULL");
    int result = htw__look_show(&look, &id, 1);
    if (result < 0)
        return result;
    return look.shown == 1 ? 0
                           : htw__journal_fail(-ENOENT, "%s: there is no job %llu",
                                               journal->path.name, (unsigned long long)id);
}

/* ---- recurring jobs */

int htw_journal_list_recurring(struct htw_journal *journal, const char *after, uint32_t count,
                               htw_recurring_visit *visit, void *context) {
    char name[HTW_RECURRING_NAME_MAX + 1] = "";
    struct htw__database *database;
    bool goes_on = true;
    if (visit == NULL || count > INT32_MAX ||
        (after != NULL && memchr(after, 0, sizeof(name)) == NULL))
        return htw__journal_fail_as(-EINVAL, "a list is not valid");
    int error = htw__snapshot_begin(journal, &database);
    if (error != 0)
        return error;
    htw__mutex_unlock(&journal->mutex);
    if (after != NULL)
        strcpy(name, after);
    uint32_t visited = 0;
    int result = 1;
    while (visited < count && goes_on && result == 1) {
        struct htw_recurring rule;
        result = htw__recurring_read(database, name, &rule);
        if (result != 1)
            break;
        HTW__CALL_USER("a visit", journal, visit, goes_on = visit(context, &rule));
        visited++;
        strcpy(name, rule.name);
        htw__recurring_read_end(database);
    }
    return htw__snapshot_end(journal, database, result < 0 ? result : (int)visited);
}
