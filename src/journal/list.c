/* SPDX-License-Identifier: MIT */
/*
 * list.c - the public calls that show jobs: one by its id, or those of a queue in a state.
 *
 * Some jobs at a time are found by what memory and the file have at one instant, and copied; then they are visited. So nothing
 * is held during a visit, and a list goes on where others change jobs.
 */
#include "load.h"
#include "select.h"
#include "snapshot.h"

#include "../base/user_code.h"

#include <errno.h>
#include <string.h>

/* What the public struct holds. Without padding: callers compare the bytes of places. */
struct list_place {
    struct htw__turn turn;          /* READY, LEASED: the last one */
    struct htw__scan scan;          /* READY: behind the window. BURIED */
    struct htw__position after;     /* DELAYED. LEASED: not in memory, by an earlier process */
    uint32_t has_begun, is_in_file; /* yes or no */
};
_Static_assert(sizeof(struct list_place) <= sizeof(struct htw_list_place), "room for a place");
_Static_assert(sizeof(struct list_place) == 112, "no padding");

/* So many jobs are found at a time, and no more than one job above so many bytes. */
#define FOUND_MAX HTW__SCAN_MAX
#define COPIED_MAX ((size_t)256 << 10)

/* A job with its queue, key and payload. */
struct copy {
    struct copy *next;
    size_t size;
    struct list_place place; /* behind it */
    struct htw_job_info info;
    char bytes[];
};

struct list {
    struct htw_journal *journal;
    struct htw__database *database; /* of the snapshot */
    struct htw__queue *queue;       /* NULL: any, and in any state */
    int state;
    struct list_place place;
    struct copy *first, **last; /* of what is found */
    size_t count, capacity;     /* jobs that were looked at, in this snapshot */
    size_t bytes;               /* of the copies */
    size_t turn_count, next_turn;
    struct htw__turn
        turns[FOUND_MAX]; /* of jobs in memory that come next, `capacity` of them at most */
};

/* ---- copies of jobs: without the lock */

/* What memory knows better than the file, and the name of the queue: none if it is gone, and so is the job, since the
   snapshot began. Returns whether memory has the job. */
static bool add_memory(struct htw_journal *journal, uint32_t queue_number,
                       char name[HTW_QUEUE_NAME_MAX + 1], struct htw_job_info *info) {
    htw__mutex_lock(&journal->mutex);
    const struct htw__queue *queue = htw__queues_find_number(&journal->queues, queue_number);
    strcpy(name, queue == NULL ? "" : queue->name);
    const struct htw__job *job = htw__jobs_find(&journal->jobs, info->id);
    if (job != NULL) {
        info->state = htw__state_of_job(journal, job);
        info->attempts = job->counters.attempts;
        info->timeouts = job->counters.timeouts;
        if (job->state == HTW__JOB_LEASED)
            info->deadline_ns = job->lease_end_ns;
    }
    htw__mutex_unlock(&journal->mutex);
    return job != NULL;
}

static const void *append(char **end, const void *bytes, size_t size) {
    void *copy = *end;
    if (bytes == NULL)
        return NULL;
    memcpy(copy, bytes, size);
    *end += size;
    return copy;
}

static int keep(struct list *list, const struct htw_job_info *info) {
    size_t queue_size = info->queue == NULL ? 0 : strlen(info->queue) + 1;
    size_t size = sizeof(struct copy) + queue_size + info->key_size + info->payload_size;
    struct copy *copy = htw__journal_allocate(list->journal, size);
    if (copy == NULL)
        return htw__journal_fail_as(-ENOMEM, "no memory for a job");
    char *end = copy->bytes;
    *copy = (struct copy) { .size = size, .place = list->place, .info = *info };
    copy->info.queue = append(&end, info->queue, queue_size);
    copy->info.key = append(&end, info->key, info->key_size);
    copy->info.payload =
        info->payload_size == 0 ? "" : append(&end, info->payload, info->payload_size);
    *list->last = copy;
    list->last = &copy->next;
    list->bytes += size;
    return 0;
}

/* Copies the job, if it is in the state and in the queue: a scan that goes on may be of a queue that had the number before.
   `is_not_in_memory`: and unless memory has it. */
static int find_job(struct list *list, uint64_t id, bool is_not_in_memory) {
    struct htw__job_row row;
    struct htw__whereabouts where;
    char name[HTW_QUEUE_NAME_MAX + 1];
    list->count++;
    int error = htw__database_fetch(list->database, id, &row, &where);
    if (error != 0)
        return error == -ENOENT ? 0 : error;
    bool is_named = row.queue != HTW__QUEUE_DEFAULT;
    struct htw_job_info info = {
        .id = id,
        .state = htw__state_in_file(list->journal, &where),
        .queue = is_named ? name : NULL,
        .payload = row.payload,
        .payload_size = row.payload_size,
        .key = row.key,
        .key_size = row.key_size,
        .deadline_ns = where.deadline_ns,
        .put_ns = row.put_us == 0 ? INT64_MIN : row.put_us * HTW_MICROSECOND,
        .lease_ns = row.lease_ns == 0 ? list->journal->lease_ns : row.lease_ns,
        .priority = where.priority,
        .attempts = where.counters.attempts,
        .releases = where.counters.releases,
        .timeouts = where.counters.timeouts,
        .buries = where.counters.buries,
        .kicks = where.counters.kicks,
    };
    bool is_in_memory = add_memory(list->journal, row.queue, name, &info);
    bool is_listed =
        list->queue == NULL || ((int)info.state == list->state && row.queue == list->queue->number);
    if (is_listed && !(is_not_in_memory && is_in_memory) && (!is_named || name[0] != '\0'))
        error = keep(list, &info);
    htw__database_fetch_end(list->database);
    return error;
}

static bool is_full(const struct list *list) {
    return list->count == list->capacity || list->bytes >= COPIED_MAX;
}

/* ---- what memory has: under the lock */

/* READY jobs behind the window that the file has, too, are read there. */
static bool is_listed_from_memory(const struct list *list, const struct htw__job *job) {
    struct htw__turn turn = htw__turn_of(job);
    bool is_in_file = list->state == HTW_JOB_READY && job->filed == HTW_JOB_READY &&
                      !htw__queue_covers(list->queue, turn);
    return job->queue == list->queue && !is_in_file && htw__turn_precedes(list->place.turn, turn);
}

/* Keeps the turn of the job, if it is among the first, in their order. */
static void keep_turn(struct list *list, const struct htw__job *job) {
    if (!is_listed_from_memory(list, job))
        return;
    struct htw__turn turn = htw__turn_of(job);
    size_t at = list->turn_count;
    if (at == list->capacity && !htw__turn_precedes(turn, list->turns[at - 1]))
        return;
    at -= at == list->capacity;
    list->turn_count = at + 1;
    for (; at > 0 && htw__turn_precedes(turn, list->turns[at - 1]); at--)
        list->turns[at] = list->turns[at - 1];
    list->turns[at] = turn;
}

/* Finds the next turns of READY or LEASED jobs in memory. Those of which a change is being written are in no heap. */
static void find_turns(struct list *list) {
    const struct htw__jobs *jobs = &list->journal->jobs;
    bool is_ready = list->state == HTW_JOB_READY;
    const struct htw__heap *heap = is_ready ? &list->queue->ready : &jobs->leases;
    const struct htw__job *held = NULL;
    for (uint32_t i = 0; i < heap->count; i++)
        keep_turn(list, htw__job_of_turn(heap->nodes[i]));
    while ((held = htw__jobs_next_held(jobs, held)) != NULL)
        if (held->state == (is_ready ? HTW__JOB_READY : HTW__JOB_LEASED))
            keep_turn(list, held);
}

/* The part of the file that the list then goes on in. */
static struct htw__scan scan_of(const struct list *list) {
    uint64_t buried = htw__place_buried((uint32_t)list->queue->number);
    if (list->state == HTW_JOB_BURIED)
        return htw__scan_of(buried, buried);
    struct htw__scan scan = list->queue->scan;
    scan.is_done = htw__queue_is_whole(list->queue);
    return scan;
}

/* ---- without the lock */

/* Those up to a turn. */
static int add_turns(struct list *list, struct htw__turn last) {
    int error = 0;
    while (error == 0 && !is_full(list) && list->next_turn < list->turn_count &&
           !htw__turn_precedes(last, list->turns[list->next_turn])) {
        list->place.turn = list->turns[list->next_turn++];
        error = find_job(list, list->place.turn.id, false);
    }
    return error;
}

/* Up to an instant. */
static int find_by_time(struct list *list, int64_t last_ns) {
    struct htw__selection selection;
    int error = htw__selection_init(list->journal, &selection, list->place.after, list->capacity);
    if (error != 0)
        return error;
    selection.wanted = list->capacity - list->count;
    error = htw__selection_find(list->database, (uint32_t)list->queue->number, &selection);
    for (size_t i = 0; i < selection.count && error == 0 && !is_full(list) &&
                       selection.rows[i].deadline_ns <= last_ns;
         i++) {
        list->place.after = selection.rows[i];
        error = find_job(list, selection.rows[i].id, list->state == HTW_JOB_LEASED);
    }
    htw__selection_fini(list->journal, &selection);
    return error;
}

/* The jobs of a scan; READY: and those in memory between them. */
static int find_by_scan(struct list *list) {
    bool is_ready = list->state == HTW_JOB_READY;
    int error = 0;
    while (error == 0 && !is_full(list) && !list->place.scan.is_done) {
        struct htw__scan scan = list->place.scan;
        struct htw__scan_row row;
        int64_t count = htw__database_scan(list->database, &scan, &row, 1);
        if (count < 0)
            return (int)count;
        struct htw__turn turn = { htw__place_priority(row.place), row.rank, row.id };
        if (count > 0 && is_ready)
            error = add_turns(list, turn);
        if (error != 0 || is_full(list))
            return error;
        list->place.scan = scan;
        if (count > 0 && (!is_ready || htw__turn_precedes(list->place.turn, turn))) {
            list->place.turn = turn;
            error = find_job(list, row.id, false);
        }
    }
    return is_ready && error == 0 ? add_turns(list, HTW__TURN_LAST) : error;
}

/* Begins with memory. */
static int find_from(struct list *list, struct htw__turn window, struct htw__scan scan,
                     bool has_leased) {
    struct list_place *place = &list->place;
    bool is_ready = list->state == HTW_JOB_READY;
    int error = 0;
    if ((is_ready || list->state == HTW_JOB_LEASED) && !place->is_in_file)
        error = add_turns(list, is_ready ? window : HTW__TURN_LAST);
    /* Nothing has read those whose time has come. */
    if (error == 0 && list->journal->is_read_only && is_ready && !place->is_in_file)
        error = find_by_time(list, htw__journal_now(list->journal));
    if (error != 0 || is_full(list))
        return error;
    if (!place->is_in_file)
        place->scan = scan;
    place->is_in_file = true;
    if (list->state == HTW_JOB_LEASED && !has_leased)
        return 0;
    return is_ready || list->state == HTW_JOB_BURIED ? find_by_scan(list)
                                                     : find_by_time(list, INT64_MAX);
}

/* Finds the next jobs. If the list is not full then, these were the last. */
static int find(struct list *list) {
    list->turn_count = list->next_turn = 0;
    int error = htw__snapshot_begin(list->journal, &list->database);
    if (error != 0)
        return error;
    if (list->state == HTW_JOB_READY || (list->state == HTW_JOB_LEASED && !list->place.is_in_file))
        find_turns(list);
    struct htw__turn window = list->queue->window;
    struct htw__scan scan = scan_of(list);
    bool has_leased = list->queue->counts.of[HTW_JOB_LEASED] > 0;
    htw__mutex_unlock(&list->journal->mutex);
    error = find_from(list, window, scan, has_leased);
    return htw__snapshot_end(list->journal, list->database, error);
}

/* ---- visits */

/* Visits what was found, up to `most`, or nothing after an error, and forgets it. The place is behind the last one that was
   visited, or behind all. Whether to go on. */
static bool show(struct list *list, int error, uint32_t most, htw_job_visit *visit, void *context,
                 uint32_t *shown) {
    struct copy *next;
    bool goes_on = error == 0;
    for (struct copy *copy = list->first; copy != NULL; copy = next) {
        next = copy->next;
        if (goes_on) {
            HTW__CALL_USER("a visit", list->journal, visit, goes_on = visit(context, &copy->info));
            goes_on = ++*shown < most && goes_on;
            if (!goes_on)
                list->place = copy->place;
        }
        htw__journal_release(list->journal, copy, copy->size);
    }
    return goes_on;
}

static void forget_copies(struct list *list) {
    list->first = NULL;
    list->last = &list->first;
    list->count = list->bytes = 0;
}

static int run(struct list *list, uint32_t count, htw_job_visit *visit, void *context) {
    uint32_t shown = 0;
    int error;
    bool goes_on;
    do {
        const struct list_place before = list->place;
        forget_copies(list);
        error = find(list);
        if (error != 0)
            list->place = before;
        goes_on = show(list, error, count, visit, context, &shown);
    } while (goes_on && is_full(list));
    return error == 0 ? (int)shown : error;
}

int htw_journal_peek(struct htw_journal *journal, uint64_t id, htw_job_visit *visit,
                     void *context) {
    struct list list = { .journal = journal };
    uint32_t shown = 0;
    if (visit == NULL)
        return htw__journal_fail_as(-EINVAL, "the visit is NULL");
    int error = htw__snapshot_begin(journal, &list.database);
    if (error != 0)
        return error;
    htw__mutex_unlock(&journal->mutex);
    forget_copies(&list);
    error = find_job(&list, id, false);
    error = htw__snapshot_end(journal, list.database, error);
    (void)show(&list, error, 1, visit, context, &shown);
    return error != 0 || shown == 1 ? error
                                    : htw__journal_fail(-ENOENT, "%s: there is no job %llu",
                                                        journal->path.name, (unsigned long long)id);
}

/* Without a reader, those whose time has come are DELAYED in the file, and READY. */
static struct htw__position first_of(const struct htw_journal *journal, enum htw_job_state state) {
    return journal->is_read_only && state == HTW_JOB_DELAYED
               ? (struct htw__position) { htw__journal_now(journal), UINT64_MAX }
               : (struct htw__position) { INT64_MIN, 0 };
}

int htw_journal_list(struct htw_journal *journal, const char *queue, enum htw_job_state state,
                     struct htw_list_place *place, uint32_t count, htw_job_visit *visit,
                     void *context) {
    if (visit == NULL || place == NULL || !htw__queue_name_is_valid(queue) ||
        (unsigned)state > HTW_JOB_BURIED || count > INT32_MAX)
        return htw__journal_fail_as(-EINVAL, "a list is not valid");
    int error = htw__journal_refusal(journal);
    if (error != 0 || count == 0)
        return error;
    struct list list = { .journal = journal,
                         .state = (int)state,
                         .capacity = count < FOUND_MAX ? count : FOUND_MAX };
    memcpy(&list.place, place, sizeof(list.place));
    if (!list.place.has_begun)
        list.place = (struct list_place) { .after = first_of(journal, state),
                                           .turn = HTW__TURN_FIRST,
                                           .has_begun = true };
    htw__mutex_lock(&journal->mutex);
    list.queue = htw__queues_find(&journal->queues, queue);
    if (list.queue == NULL) {
        htw__mutex_unlock(&journal->mutex);
        return 0;
    }
    list.queue->users++;
    htw__mutex_unlock(&journal->mutex);
    int result = run(&list, count, visit, context);
    htw__mutex_lock(&journal->mutex);
    list.queue->users--;
    htw__queues_drop(&journal->queues, list.queue);
    htw__mutex_unlock(&journal->mutex);
    memcpy(place, &list.place, sizeof(list.place));
    return result;
}
