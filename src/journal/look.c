/* SPDX-License-Identifier: MIT */
/* look.c - the public calls that show jobs: peeking and listing. */
#include "../base/user_code.h"
#include "load.h"
#include "recurring.h"
#include "select.h"
#include "slot.h"

#include <errno.h>
#include <string.h>

/* ---- one job */

/* Takes the database, between two commits; in a notice this thread has it. Returns an error, or 0. */
static int begin_look(struct htw_journal *journal, bool *ret_is_inside) {
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    *ret_is_inside = htw__journal_is_inside(journal, false);
    htw__mutex_lock(&journal->mutex);
    if (*ret_is_inside)
        return 0;
    journal->lookers++;
    while (journal->is_in_use)
        htw__mutex_wait(&journal->mutex, &journal->idle);
    journal->lookers--;
    if (journal->has_failed) {
        error = htw__journal_fail_as(-EIO, journal->failure);
        htw__mutex_unlock(&journal->mutex);
        return error;
    }
    journal->is_in_use = true;
    return 0;
}

static int end_look(struct htw_journal *journal, bool is_inside, int error) {
    if (!is_inside)
        htw__journal_release_database(journal);
    if (journal->database.is_distrusted)
        htw__journal_stop(journal);
    htw__mutex_unlock(&journal->mutex);
    return error;
}

/* What memory knows better than the file. */
static void add_memory(const struct htw__job *job, struct htw_job_info *info) {
    bool is_flying = job->state == HTW__JOB_DELIVERING || job->state == HTW__JOB_IN_FLIGHT;
    if (is_flying || job->state == HTW__JOB_LEASED)
        info->state = HTW_JOB_LEASED;
    else if (job->state == HTW__JOB_READY)
        info->state = HTW_JOB_READY;
    if (job->queued == NULL) {
        info->attempts += is_flying;
        return;
    }
    const struct htw__counters *counters = &job->queued->counters;
    info->attempts = counters->attempts;
    info->timeouts = counters->timeouts;
    if (job->state == HTW__JOB_LEASED)
        info->deadline_ns = job->queued->lease_end_ns;
}

/* Under the lock, which it releases meanwhile. Shows the job if it is in the state; `state` below 0: in any. 1: it was
   shown, 2: and the visit ends; 0: another state; or an error. */
static int show(struct htw_journal *journal, uint64_t id, int state, htw_job_visit *visit,
                void *context) {
    struct htw__job_row row;
    struct htw__whereabouts where;
    htw__mutex_unlock(&journal->mutex);
    int result = htw__database_fetch(&journal->database, id, &row, &where);
    htw__mutex_lock(&journal->mutex);
    if (result != 0)
        return result;
    const struct htw__queue *queue = htw__queues_find_number(&journal->queues, row.queue);
    struct htw_job_info info = {
        .id = id,
        .state = htw__state_in_file(journal, &where),
        .queue = row.queue == HTW__QUEUE_DEFAULT || queue == NULL ? NULL : queue->name,
        .payload = row.payload == NULL ? "" : row.payload,
        .payload_size = row.payload_size,
        .key = row.key,
        .key_size = row.key_size,
        .deadline_ns = where.deadline_ns,
        .put_ns = row.put_us == 0 ? INT64_MIN : row.put_us * HTW_MICROSECOND,
        .lease_ns = row.lease_ns == 0 ? journal->lease_ns : row.lease_ns,
        .priority = where.priority,
        .attempts = where.counters.attempts,
        .releases = where.counters.releases,
        .timeouts = where.counters.timeouts,
        .buries = where.counters.buries,
        .kicks = where.counters.kicks,
    };
    const struct htw__job *job = htw__jobs_find(&journal->jobs, id);
    if (job != NULL)
        add_memory(job, &info);
    htw__mutex_unlock(&journal->mutex);
    if (state < 0 || (int)info.state == state)
        HTW__CALL_USER("a visit", journal, visit, result = visit(context, &info) ? 1 : 2);
    htw__database_fetch_end(&journal->database);
    htw__mutex_lock(&journal->mutex);
    return result;
}

int htw_journal_peek(struct htw_journal *journal, uint64_t id, htw_job_visit *visit,
                     void *context) {
    bool is_inside;
    if (visit == NULL)
        return htw__journal_fail_as(-EINVAL, "the visit is NULL");
    int error = begin_look(journal, &is_inside);
    if (error != 0)
        return error;
    int result = show(journal, id, -1, visit, context);
    if (result == -ENOENT)
        htw__journal_fail(result, "%s: there is no job %llu", journal->path.name,
                          (unsigned long long)id);
    return end_look(journal, is_inside, result < 0 ? result : 0);
}

/* ---- lists */

/* What the public struct holds. */
struct list_place {
    struct htw__turn turn;      /* READY, LEASED: the last one */
    struct htw__scan scan;      /* READY: behind the window. BURIED */
    struct htw__position after; /* DELAYED, DONE. LEASED: not in memory, by an earlier process */
    bool has_begun, is_in_file;
};
_Static_assert(sizeof(struct list_place) <= sizeof(struct htw_list_place), "room for a place");

/* So many jobs of memory are found in one pass over all. */
#define TURNS 64u

struct list {
    struct htw_journal *journal;
    struct htw__queue *queue;
    enum htw_job_state state;
    struct list_place place;
    uint32_t count, wanted;
    bool is_ended;
    struct htw__turn turns[TURNS]; /* of jobs in memory that come next */
    size_t turn_count, next_turn;
    bool has_last_turn; /* there are no others */
    htw_job_visit *visit;
    void *context;
};

static int show_one(struct list *list, uint64_t id) {
    int result = show(list->journal, id, (int)list->state, list->visit, list->context);
    if (result == -ENOENT)
        return 0;
    if (result < 0)
        return result;
    list->count += result > 0;
    list->is_ended = result == 2 || list->count == list->wanted;
    return 0;
}

static int list_by_time(struct list *list) {
    struct htw_journal *journal = list->journal;
    struct htw__selection selection;
    int error = htw__selection_init(
        journal, &selection, list->state == HTW_JOB_DONE ? HTW__PLACE_DONE : HTW__PLACE_DELAYED,
        list->wanted < HTW__SCAN_MAX ? list->wanted : HTW__SCAN_MAX);
    if (error != 0)
        return error;
    do {
        selection.after = list->place.after;
        htw__mutex_unlock(&journal->mutex);
        error = htw__selection_find(&journal->database, (uint32_t)list->queue->number, &selection);
        htw__mutex_lock(&journal->mutex);
        for (size_t i = 0; i < selection.count && error == 0 && !list->is_ended; i++) {
            uint64_t id = selection.rows[i].id;
            list->place.after = selection.rows[i];
            if (list->state != HTW_JOB_LEASED || htw__jobs_find(&journal->jobs, id) == NULL)
                error = show_one(list, id);
        }
    } while (error == 0 && !list->is_ended && selection.count == selection.wanted);
    htw__selection_fini(journal, &selection);
    return error;
}

/* READY jobs behind the window that the file has, too, are read there. */
static bool is_listed_from_memory(const struct list *list, const struct htw__job *job) {
    struct htw__turn turn = htw__turn_of(job);
    bool is_in_file = list->state == HTW_JOB_READY && job->queued->filed == HTW_JOB_READY &&
                      !htw__queue_covers(list->queue, turn);
    return job->queued->queue == list->queue && !is_in_file &&
           htw__turn_precedes(list->place.turn, turn);
}

/* Keeps the turn, if it is among the first, in their order. */
static void keep_turn(struct list *list, struct htw__turn turn) {
    size_t at = list->turn_count;
    if (at == TURNS && !htw__turn_precedes(turn, list->turns[at - 1]))
        return;
    at -= at == TURNS;
    list->turn_count = at + 1;
    for (; at > 0 && htw__turn_precedes(turn, list->turns[at - 1]); at--)
        list->turns[at] = list->turns[at - 1];
    list->turns[at] = turn;
}

/* Finds the next turns of READY or LEASED jobs in memory. */
static void find_turns(struct list *list) {
    const struct htw__heap *heap =
        list->state == HTW_JOB_READY ? &list->queue->ready : &list->journal->jobs.leases;
    list->turn_count = list->next_turn = 0;
    for (uint32_t i = 0; i < heap->count; i++)
        if (is_listed_from_memory(list, htw__job_of_turn(heap->nodes[i])))
            keep_turn(list, htw__turn_of(htw__job_of_turn(heap->nodes[i])));
    list->has_last_turn = list->turn_count < TURNS;
}

/* NULL: no job in memory comes next. */
static const struct htw__turn *next_turn(struct list *list) {
    if (list->next_turn == list->turn_count && !list->has_last_turn)
        find_turns(list);
    return list->next_turn < list->turn_count ? &list->turns[list->next_turn] : NULL;
}

/* Those up to a turn. */
static int list_memory(struct list *list, struct htw__turn last) {
    const struct htw__turn *turn;
    int error = 0;
    while (error == 0 && !list->is_ended && (turn = next_turn(list)) != NULL &&
           !htw__turn_precedes(last, *turn)) {
        list->place.turn = *turn;
        list->next_turn++;
        error = show_one(list, list->place.turn.id);
    }
    return error;
}

/* The jobs of a scan; READY: and those in memory between them. */
static int list_scan(struct list *list) {
    struct htw_journal *journal = list->journal;
    int error = 0;
    while (error == 0 && !list->is_ended && !list->place.scan.is_done) {
        struct htw__scan scan = list->place.scan;
        struct htw__scan_row row;
        htw__mutex_unlock(&journal->mutex);
        int64_t count = htw__database_scan(&journal->database, &scan, &row, 1);
        htw__mutex_lock(&journal->mutex);
        if (count < 0)
            return (int)count;
        struct htw__turn turn = { htw__place_priority(row.place), row.rank, row.id };
        if (count > 0 && list->state == HTW_JOB_READY)
            error = list_memory(list, turn);
        if (error != 0 || list->is_ended)
            return error;
        list->place.scan = scan;
        if (count > 0 &&
            (list->state != HTW_JOB_READY || htw__turn_precedes(list->place.turn, turn))) {
            list->place.turn = turn;
            error = show_one(list, row.id);
        }
    }
    return error;
}

static int run_list(struct list *list) {
    struct list_place *place = &list->place;
    uint32_t number = (uint32_t)list->queue->number;
    int error = 0;
    if (!place->has_begun)
        *place = (struct list_place) { .after = { INT64_MIN, 0 },
                                       .turn = HTW__TURN_FIRST,
                                       .has_begun = true };
    if ((list->state == HTW_JOB_READY || list->state == HTW_JOB_LEASED) && !place->is_in_file)
        error =
            list_memory(list, list->state == HTW_JOB_READY ? list->queue->window : HTW__TURN_LAST);
    if (error != 0 || list->is_ended)
        return error;
    if (!place->is_in_file && list->state == HTW_JOB_BURIED) {
        place->scan = htw__scan_of(htw__place_buried(number), htw__place_buried(number));
    } else if (!place->is_in_file) {
        place->scan = list->queue->scan;
        place->scan.is_done = htw__queue_is_whole(list->queue);
    }
    place->is_in_file = true;
    if (list->state == HTW_JOB_LEASED && list->queue->counts.of[HTW_JOB_LEASED] == 0)
        return 0;
    if (list->state == HTW_JOB_DELAYED || list->state == HTW_JOB_LEASED ||
        list->state == HTW_JOB_DONE)
        return list_by_time(list);
    error = list_scan(list);
    return error == 0 && !list->is_ended && list->state == HTW_JOB_READY
               ? list_memory(list, HTW__TURN_LAST)
               : error;
}

int htw_journal_list(struct htw_journal *journal, const char *queue, enum htw_job_state state,
                     struct htw_list_place *place, uint32_t count, htw_job_visit *visit,
                     void *context) {
    bool is_inside;
    if (visit == NULL || place == NULL || !htw__queue_name_is_valid(queue) ||
        (unsigned)state > HTW_JOB_DONE || count > INT32_MAX)
        return htw__journal_fail_as(-EINVAL, "a list is not valid");
    int error = begin_look(journal, &is_inside);
    if (error != 0)
        return error;
    struct list list = { .journal = journal,
                         .queue = htw__queues_find(&journal->queues, queue),
                         .state = state,
                         .wanted = count,
                         .is_ended = count == 0,
                         .visit = visit,
                         .context = context };
    memcpy(&list.place, place, sizeof(list.place));
    if (list.queue != NULL) {
        list.queue->users++;
        error = run_list(&list);
        list.queue->users--;
        htw__queues_drop(&journal->queues, list.queue);
    }
    memcpy(place, &list.place, sizeof(list.place));
    return end_look(journal, is_inside, error == 0 ? (int)list.count : error);
}

/* ---- recurring jobs */

int htw_journal_list_recurring(struct htw_journal *journal, const char *after, uint32_t count,
                               htw_recurring_visit *visit, void *context) {
    char name[HTW_RECURRING_NAME_MAX + 1] = "";
    bool is_inside, goes_on = true;
    if (visit == NULL || count > INT32_MAX ||
        (after != NULL && memchr(after, 0, sizeof(name)) == NULL))
        return htw__journal_fail_as(-EINVAL, "a list is not valid");
    int error = begin_look(journal, &is_inside);
    if (error != 0)
        return error;
    if (after != NULL)
        strcpy(name, after);
    htw__mutex_unlock(&journal->mutex);
    uint32_t visited = 0;
    int result = 1;
    while (visited < count && goes_on && result == 1) {
        struct htw_recurring rule;
        result = htw__recurring_read(&journal->database, name, &rule);
        if (result != 1)
            break;
        HTW__CALL_USER("a visit", journal, visit, goes_on = visit(context, &rule));
        visited++;
        strcpy(name, rule.name);
        htw__recurring_read_end(&journal->database);
    }
    htw__mutex_lock(&journal->mutex);
    return end_look(journal, is_inside, result < 0 ? result : (int)visited);
}
