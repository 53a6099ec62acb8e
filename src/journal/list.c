/* SPDX-License-Identifier: MIT */
/*
 * list.c - the public call that lists jobs of a queue.
 *
 * Some jobs at a time are found, by what memory and the file have at one instant, and then shown (look.h), each if it is
 * in the state still. So nothing is held for long, and a list goes on where others change jobs.
 */
#include "look.h"
#include "select.h"
#include "snapshot.h"

#include <errno.h>
#include <string.h>

/* What the public struct holds. Without padding: callers compare the bytes of places. */
struct list_place {
    struct htw__turn turn;      /* READY, LEASED: the last one */
    struct htw__scan scan;      /* READY: behind the window. BURIED */
    struct htw__position after; /* DELAYED, DONE. LEASED: not in memory, by an earlier process */
    uint32_t has_begun, is_in_file; /* yes or no */
};
_Static_assert(sizeof(struct list_place) <= sizeof(struct htw_list_place), "room for a place");
_Static_assert(sizeof(struct list_place) == 112, "no padding");

/* So many jobs are found at a time. */
#define FOUND_MAX HTW__SCAN_MAX

struct list {
    struct htw_journal *journal;
    struct htw__database *database; /* of the snapshot */
    struct htw__queue *queue;
    enum htw_job_state state;
    struct list_place place;
    size_t count, capacity; /* of what is found */
    uint64_t *ids;
    struct list_place *places; /* behind each of these */
    struct htw__turn *turns;   /* of jobs in memory that come next, `capacity` of them at most */
    size_t turn_count, next_turn;
};

static bool is_full(const struct list *list) {
    return list->count == list->capacity;
}

static void add(struct list *list, uint64_t id) {
    list->ids[list->count] = id;
    list->places[list->count++] = list->place;
}

/* ---- what memory has: under the lock */

/* READY jobs behind the window that the file has, too, are read there. */
static bool is_listed_from_memory(const struct list *list, const struct htw__job *job) {
    struct htw__turn turn = htw__turn_of(job);
    bool is_in_file = list->state == HTW_JOB_READY && job->queued->filed == HTW_JOB_READY &&
                      !htw__queue_covers(list->queue, turn);
    return job->queued->queue == list->queue && !is_in_file &&
           htw__turn_precedes(list->place.turn, turn);
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
static void add_turns(struct list *list, struct htw__turn last) {
    while (!is_full(list) && list->next_turn < list->turn_count &&
           !htw__turn_precedes(last, list->turns[list->next_turn])) {
        list->place.turn = list->turns[list->next_turn++];
        add(list, list->place.turn.id);
    }
}

/* Up to an instant. */
static int find_by_time(struct list *list, int64_t last_ns) {
    struct htw__selection selection;
    int error = htw__selection_init(
        list->journal, &selection,
        list->state == HTW_JOB_DONE ? HTW__PLACE_DONE : HTW__PLACE_DELAYED, list->capacity);
    if (error != 0)
        return error;
    selection.after = list->place.after;
    selection.wanted = list->capacity - list->count;
    error = htw__selection_find(list->database, (uint32_t)list->queue->number, &selection);
    for (size_t i = 0;
         i < selection.count && error == 0 && selection.rows[i].deadline_ns <= last_ns; i++) {
        list->place.after = selection.rows[i];
        add(list, selection.rows[i].id);
    }
    htw__selection_fini(list->journal, &selection);
    return error;
}

/* The jobs of a scan; READY: and those in memory between them. */
static int find_by_scan(struct list *list) {
    bool is_ready = list->state == HTW_JOB_READY;
    while (!is_full(list) && !list->place.scan.is_done) {
        struct htw__scan scan = list->place.scan;
        struct htw__scan_row row;
        int64_t count = htw__database_scan(list->database, &scan, &row, 1);
        if (count < 0)
            return (int)count;
        struct htw__turn turn = { htw__place_priority(row.place), row.rank, row.id };
        if (count > 0 && is_ready)
            add_turns(list, turn);
        if (is_full(list))
            return 0;
        list->place.scan = scan;
        if (count > 0 && (!is_ready || htw__turn_precedes(list->place.turn, turn))) {
            list->place.turn = turn;
            add(list, row.id);
        }
    }
    if (is_ready)
        add_turns(list, HTW__TURN_LAST);
    return 0;
}

/* Begins with memory. */
static int find_from(struct list *list, struct htw__turn window, struct htw__scan scan,
                     bool has_leased) {
    struct list_place *place = &list->place;
    bool is_of_memory = list->state == HTW_JOB_READY || list->state == HTW_JOB_LEASED;
    if (is_of_memory && !place->is_in_file)
        add_turns(list, list->state == HTW_JOB_READY ? window : HTW__TURN_LAST);
    /* Nothing has read those whose time has come. */
    if (list->journal->is_read_only && list->state == HTW_JOB_READY && !place->is_in_file) {
        int error = find_by_time(list, htw__journal_now(list->journal));
        if (error != 0)
            return error;
    }
    if (is_full(list))
        return 0;
    if (!place->is_in_file)
        place->scan = scan;
    place->is_in_file = true;
    if (list->state == HTW_JOB_LEASED && !has_leased)
        return 0;
    return list->state == HTW_JOB_READY || list->state == HTW_JOB_BURIED
               ? find_by_scan(list)
               : find_by_time(list, INT64_MAX);
}

/* Finds the next jobs. If the list is not full then, these were the last. */
static int find(struct list *list) {
    list->count = list->turn_count = list->next_turn = 0;
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

/* ---- all */

/* Shows what was found. The place is behind the last job that was shown, or behind all. */
static int show(struct list *list, struct htw__look *look, struct list_place before) {
    size_t i = 0;
    int count = 0;
    while (i < list->count && !look->is_ended) {
        bool is_in_file = list->places[i].is_in_file;
        size_t end = i + 1;
        while (end < list->count && list->places[end].is_in_file == is_in_file)
            end++;
        look->is_not_in_memory = list->state == HTW_JOB_LEASED && is_in_file;
        count = htw__look_show(look, list->ids + i, end - i);
        if (count < 0)
            break;
        i += (size_t)count;
    }
    if (look->is_ended)
        list->place = i == 0 ? before : list->places[i - 1];
    return count < 0 ? count : 0;
}

static int run(struct list *list, struct htw__look *look) {
    int error;
    do {
        struct list_place before = list->place;
        error = find(list);
        if (error == 0)
            error = show(list, look, before);
    } while (error == 0 && !look->is_ended && is_full(list));
    return error;
}

/* In one piece of memory. */
static int run_with_memory(struct list *list, struct htw__look *look) {
    size_t size =
        list->capacity * (sizeof(*list->ids) + sizeof(*list->places) + sizeof(*list->turns));
    void *memory = htw__journal_allocate(list->journal, size);
    if (memory == NULL)
        return htw__journal_fail_as(-ENOMEM, "no memory for a list of jobs");
    list->places = memory;
    list->turns = (struct htw__turn *)(void *)(list->places + list->capacity);
    list->ids = (uint64_t *)(void *)(list->turns + list->capacity);
    int error = run(list, look);
    htw__journal_release(list->journal, memory, size);
    return error;
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
        (unsigned)state > HTW_JOB_DONE || count > INT32_MAX)
        return htw__journal_fail_as(-EINVAL, "a list is not valid");
    int error = htw__journal_refusal(journal);
    if (error != 0 || count == 0)
        return error;
    struct list list = { .journal = journal,
                         .state = state,
                         .capacity = count < FOUND_MAX ? count : FOUND_MAX };
    struct htw__look look = {
        .journal = journal, .state = (int)state, .wanted = count, .visit = visit, .context = context
    };
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
    error = run_with_memory(&list, &look);
    htw__mutex_lock(&journal->mutex);
    list.queue->users--;
    htw__queues_drop(&journal->queues, list.queue);
    htw__mutex_unlock(&journal->mutex);
    memcpy(place, &list.place, sizeof(list.place));
    return error == 0 ? (int)look.shown : error;
}
