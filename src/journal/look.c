/* SPDX-License-Identifier: MIT */
/* look.c - which jobs a queue has: peeking, listing and counting them, and the jobs of a kick. */
#include "look.h"

#include "lease.h"
#include "load.h"
#include "slot.h"
#include "step.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- delayed jobs by deadline */

/* The first jobs behind a position. */
struct selection {
    struct htw__position after;
    struct htw__position *rows; /* room for twice as many, and a scan */
    size_t count, wanted;
};

static size_t size_of(size_t wanted) {
    return (2 * wanted + HTW__SCAN_MAX) * sizeof(struct htw__position);
}

static int compare(const void *a, const void *b) {
    struct htw__position left = *(const struct htw__position *)a;
    struct htw__position right = *(const struct htw__position *)b;
    return htw__position_precedes(right, left) - htw__position_precedes(left, right);
}

static void keep_first(struct selection *selection) {
    qsort(selection->rows, selection->count, sizeof(*selection->rows), compare);
    if (selection->count > selection->wanted)
        selection->count = selection->wanted;
}

static int select_place(struct htw__database *database, struct selection *selection,
                        uint64_t place) {
    struct htw__scan scan = htw__scan_of(place, place);
    struct htw__scan_row rows[HTW__SCAN_MAX];
    while (!scan.is_done) {
        int64_t count = htw__database_scan(database, &scan, rows, HTW__SCAN_MAX);
        if (count < 0)
            return (int)count;
        for (int64_t i = 0; i < count; i++) {
            struct htw__position position = { rows[i].deadline_ns, rows[i].id };
            if (htw__position_precedes(selection->after, position))
                selection->rows[selection->count++] = position;
        }
        if (selection->count >= 2 * selection->wanted)
            keep_first(selection);
    }
    keep_first(selection);
    return 0;
}

/* Minute by minute, each by a seek of its queue. Without the lock. */
static int select_delayed(struct htw__database *database, uint32_t queue,
                          struct selection *selection) {
    uint64_t minute = htw__bucket_of(selection->after.deadline_ns), place;
    uint64_t last = htw__place(HTW__PLACE_DELAYED, htw__bucket_of(INT64_MAX), UINT32_MAX);
    uint64_t next = htw__place(HTW__PLACE_DELAYED, minute, queue);
    selection->count = 0;
    while (selection->count < selection->wanted) {
        int error = htw__database_next_place(database, next, last, &place);
        if (error != 0)
            return error;
        if (place == HTW__PLACE_NONE)
            return 0;
        minute = htw__place_bucket(place);
        next = htw__place(HTW__PLACE_DELAYED, minute, queue);
        if (place <= next) {
            if (place == next)
                error = select_place(database, selection, place);
            if (error != 0)
                return error;
            if (place < next)
                continue;
        }
        next = htw__place(HTW__PLACE_DELAYED, minute + 1, queue);
    }
    return 0;
}

/* ---- kicks */

static void add_step(struct htw_journal *journal, struct htw__change *change, uint64_t id) {
    struct htw__step *step = &change->steps[change->step_count++];
    *step = (struct htw__step) { .id = id, .kind = HTW_JOB_KICK, .is_optional = true };
    htw__mutex_lock(&journal->mutex);
    if (htw__step_waits(journal, step))
        step->kind = HTW__STEP_NONE;
    else
        (void)htw__step_hold(journal, step);
    htw__mutex_unlock(&journal->mutex);
    if (step->kind == HTW__STEP_NONE)
        change->step_count--;
}

/* The same, unless a lease of an earlier process lasts. */
static int add_delayed(struct htw_journal *journal, struct htw__change *change, uint64_t id) {
    struct htw__job_row row;
    struct htw__whereabouts where;
    int error = htw__database_fetch(&journal->database, id, &row, &where);
    if (error != 0)
        return error == -ENOENT ? 0 : error;
    htw__database_fetch_end(&journal->database);
    if (!where.is_leased)
        add_step(journal, change, id);
    return 0;
}

static int kick_buried(struct htw_journal *journal, struct htw__change *change, size_t wanted) {
    uint64_t place = htw__place_buried((uint32_t)change->queue->number);
    struct htw__scan scan = htw__scan_of(place, place);
    struct htw__scan_row rows[HTW__SCAN_MAX];
    while (!scan.is_done && change->step_count < wanted) {
        size_t left = wanted - change->step_count;
        int64_t count = htw__database_scan(&journal->database, &scan, rows,
                                           left < HTW__SCAN_MAX ? left : HTW__SCAN_MAX);
        if (count < 0)
            return (int)count;
        for (int64_t i = 0; i < count; i++)
            add_step(journal, change, rows[i].id);
    }
    return 0;
}

static int kick_delayed(struct htw_journal *journal, struct htw__change *change, size_t wanted) {
    struct selection selection = { .after = { htw__journal_now(journal), UINT64_MAX },
                                   .wanted = wanted };
    selection.rows = htw__journal_allocate(journal, size_of(wanted));
    if (selection.rows == NULL)
        return htw__journal_fail_as(-ENOMEM, "no memory for a kick");
    int error = 0;
    do {
        selection.wanted = wanted - change->step_count;
        error = select_delayed(&journal->database, (uint32_t)change->queue->number, &selection);
        for (size_t i = 0; i < selection.count && error == 0; i++) {
            selection.after = selection.rows[i];
            error = add_delayed(journal, change, selection.rows[i].id);
        }
    } while (error == 0 && selection.count == selection.wanted && change->step_count < wanted);
    htw__journal_release(journal, selection.rows, size_of(wanted));
    return error;
}

int htw__kick_select(struct htw_journal *journal, struct htw__change *change) {
    const struct htw__queue *queue = change->queue;
    bool has_buried = queue->counts.of[HTW_JOB_BURIED] + queue->added.of[HTW_JOB_BURIED] > 0;
    change->steps_size = change->kick_count * sizeof(*change->steps);
    change->steps = htw__journal_allocate(journal, change->steps_size);
    if (change->steps == NULL) {
        change->steps_size = 0;
        return htw__journal_fail_as(-ENOMEM, "no memory for a kick");
    }
    return has_buried ? kick_buried(journal, change, change->kick_count)
                      : kick_delayed(journal, change, change->kick_count);
}

/* ---- showing jobs */

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
        result = visit(context, &info) ? 1 : 2;
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
    struct htw__turn turn;      /* READY, LEASED: in memory, which comes first */
    struct htw__scan scan;      /* READY: behind the window. BURIED */
    struct htw__position after; /* DELAYED. LEASED: not in memory, by an earlier process */
    bool has_begun, is_in_file;
};
_Static_assert(sizeof(struct list_place) <= sizeof(struct htw_list_place), "room for a place");

struct list {
    struct htw_journal *journal;
    struct htw__queue *queue;
    enum htw_job_state state;
    struct list_place place;
    uint32_t count, wanted;
    bool is_ended;
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

static int list_delayed(struct list *list) {
    struct htw_journal *journal = list->journal;
    size_t wanted = list->wanted < HTW__SCAN_MAX ? list->wanted : HTW__SCAN_MAX;
    struct selection selection = { .wanted = wanted, .count = wanted };
    int error = 0;
    selection.rows = htw__journal_allocate(journal, size_of(wanted));
    if (selection.rows == NULL)
        return htw__journal_fail_as(-ENOMEM, "no memory for a list");
    while (error == 0 && !list->is_ended && selection.count == wanted) {
        selection.after = list->place.after;
        htw__mutex_unlock(&journal->mutex);
        error = select_delayed(&journal->database, (uint32_t)list->queue->number, &selection);
        htw__mutex_lock(&journal->mutex);
        for (size_t i = 0; i < selection.count && error == 0 && !list->is_ended; i++) {
            uint64_t id = selection.rows[i].id;
            list->place.after = selection.rows[i];
            if (list->state == HTW_JOB_DELAYED || htw__jobs_find(&journal->jobs, id) == NULL)
                error = show_one(list, id);
        }
    }
    htw__journal_release(journal, selection.rows, size_of(wanted));
    return error;
}

/* The READY or LEASED job in memory that comes next. Those behind the window that the file has, too, are read there. */
static const struct htw__job *next_in_memory(const struct list *list) {
    const struct htw__heap *heap =
        list->state == HTW_JOB_READY ? &list->queue->ready : &list->journal->jobs.leases;
    const struct htw__job *next = NULL;
    for (uint32_t i = 0; i < heap->count; i++) {
        const struct htw__job *job = htw__job_of_turn(heap->nodes[i]);
        struct htw__turn turn = htw__turn_of(job);
        bool is_in_file = list->state == HTW_JOB_READY && job->queued->filed == HTW_JOB_READY &&
                          !htw__queue_covers(list->queue, turn);
        if (job->queued->queue == list->queue && !is_in_file &&
            htw__turn_precedes(list->place.turn, turn) &&
            (next == NULL || htw__turn_precedes(turn, htw__turn_of(next))))
            next = job;
    }
    return next;
}

/* Those up to a turn. */
static int list_memory(struct list *list, struct htw__turn last) {
    const struct htw__job *job;
    int error = 0;
    while (error == 0 && !list->is_ended && (job = next_in_memory(list)) != NULL &&
           !htw__turn_precedes(last, htw__turn_of(job))) {
        list->place.turn = htw__turn_of(job);
        error = show_one(list, job->position.id);
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
        if (count > 0 && (list->state != HTW_JOB_READY || !htw__queue_covers(list->queue, turn)))
            error = show_one(list, row.id);
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
    if (list->state == HTW_JOB_DELAYED || list->state == HTW_JOB_LEASED)
        return list_delayed(list);
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
        (unsigned)state > HTW_JOB_BURIED || count > INT32_MAX)
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

/* ---- queues */

int htw_journal_pause(struct htw_journal *journal, const char *name, int64_t until_ns) {
    struct htw__queue *queue = NULL;
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    if (!htw__queue_name_is_valid(name) || (name == NULL && journal->deliver != NULL) ||
        journal->slot_count == 0)
        return htw__journal_fail_as(-EINVAL, "a pause is not valid");
    htw__mutex_lock(&journal->mutex);
    error = journal->is_closing ? -ESHUTDOWN : htw__queues_get(&journal->queues, name, &queue);
    if (error == 0) {
        error = htw__queue_pause(&journal->queues, queue, until_ns);
        if (error == 0)
            htw__leases_resume(journal, htw__journal_now(journal));
        else
            htw__queues_drop(&journal->queues, queue);
    }
    htw__slots_arm(journal);
    htw__mutex_unlock(&journal->mutex);
    return error == 0 ? 0
                      : htw__journal_fail(error, "%s: the queue cannot be paused: %s",
                                          journal->path.name, htw_strerror(error));
}

int htw_journal_get_queue(struct htw_journal *journal, const char *name,
                          struct htw_queue_stats *stats) {
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    if (stats == NULL || stats->struct_size != sizeof(*stats) || !htw__queue_name_is_valid(name))
        return htw__journal_fail_as(-EINVAL,
                                    "the numbers of a queue are NULL or of an unknown size");
    htw__mutex_lock(&journal->mutex);
    const struct htw__queue *queue = htw__queues_find(&journal->queues, name);
    if (queue != NULL)
        htw__queue_stats(&journal->queues, queue, &journal->jobs, journal->jobs_in_file, stats);
    htw__mutex_unlock(&journal->mutex);
    if (queue == NULL)
        return htw__journal_fail(-ENOENT, "%s: there is no such queue", journal->path.name);
    stats->name = NULL;
    return 0;
}

int htw_journal_list_queues(struct htw_journal *journal, htw_queue_visit *visit, void *context) {
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    if (visit == NULL)
        return htw__journal_fail_as(-EINVAL, "the visit is NULL");
    htw__mutex_lock(&journal->mutex);
    const struct htw__queue *queue = NULL;
    struct htw_queue_stats stats;
    do {
        queue = htw__queues_next(&journal->queues, queue);
        if (queue != NULL)
            htw__queue_stats(&journal->queues, queue, &journal->jobs, journal->jobs_in_file,
                             &stats);
    } while (queue != NULL && visit(context, &stats));
    htw__mutex_unlock(&journal->mutex);
    return 0;
}
