/* SPDX-License-Identifier: MIT */
/* slot.c - the timers of the scheduler that deliver. */
#include "slot.h"

#include "../base/user_code.h"
#include "lease.h"
#include "load.h"
#include "reader.h"

#include <errno.h>
#include <string.h>

/* The jobs that a slot delivers before other timers of its thread may run. */
#define SLICE 64u

/* A slot that could not be armed at the end of its callback runs again after this. So does one that waits for
   what is to be read now: when it has been read, a slot is armed anyway. */
#define PERIOD_NS HTW_SECOND

static void deliver_slice(void *arg, const struct htw_expiration *expiration);

/* ---- arming */

/* The first job that waits and for which there is room; NULL: none. Neither those that are delivered nor those that become
   READY wait for room of the others. */
static struct htw__job *first_job(const struct htw_journal *journal) {
    const struct htw__jobs *jobs = &journal->jobs;
    struct htw__job *delivery =
        jobs->in_flight < journal->max_in_flight ? htw__jobs_first(&jobs->deliveries) : NULL;
    struct htw__job *delay = htw__window_is_full(journal) ? NULL : htw__jobs_first(&jobs->delays);
    bool is_delay = delivery == NULL ||
                    (delay != NULL && htw__position_precedes(delay->position, delivery->position));
    struct htw__job *first = is_delay ? delay : delivery;
    return first != NULL && htw__reader_is_past(journal, first->position) ? first : NULL;
}

/* When a slot has to tell the writer to read; HTW_NEVER_NS: not by itself. If the writer has not come to it yet, not
   at once: the slot would run again and again until then. But the clock may be set back meanwhile, and then the writer
   does not read. */
static int64_t next_read_ns(const struct htw_journal *journal, int64_t now) {
    int64_t read_ns = htw__reader_next(journal);
    return read_ns > now ? read_ns : now + PERIOD_NS;
}

/* When a slot has something to do; HTW_NEVER_NS: not before something else happens. */
static int64_t next_ns(const struct htw_journal *journal, int64_t now) {
    const struct htw__job *first = first_job(journal);
    int64_t job_ns = first != NULL ? first->position.deadline_ns : HTW_NEVER_NS;
    return htw__clock_earlier(
        job_ns, htw__clock_earlier(next_read_ns(journal, now), htw__leases_next(journal)));
}

static void set_alarm(struct htw__slot *slot, int64_t deadline_ns) {
    struct htw_journal *journal = slot->journal;
    /* For the scheduler it cannot be late before it is set: leases end by an instant of 1970, too. */
    int64_t least_ns = journal->is_manual ? INT64_MIN : htw__journal_now(journal);
    slot->armed_ns = deadline_ns > least_ns ? deadline_ns : least_ns;
    int result = htw_reschedule_at(journal->scheduler, slot->handle, slot->armed_ns);
    if (result == HTW_MOVED)
        return;
    slot->armed_ns = INT64_MIN; /* it is ending: nothing arms it again, and a close cancels it */
    if (result == -ENOMEM) {
        slot->armed_ns = HTW_NEVER_NS;
        journal->needs_retry = true;
        pthread_cond_signal(&journal->work);
    }
}

/* Whether the writer has something to read, or writes a change of the journal itself. */
static bool awaits_writer(const struct htw_journal *journal) {
    return journal->under_way[HTW__OWN_STAGE] > 0 || htw__readers_have_work(journal);
}

void htw__slots_arm(struct htw_journal *journal) {
    if (journal->slot_count == 0 || journal->is_closing || journal->has_failed)
        return;
    int64_t now = htw__journal_now(journal), next = next_ns(journal, now);
    if (awaits_writer(journal)) {
        pthread_cond_signal(&journal->work);
        if (journal->is_manual) /* a slot waits for the reader, and so does who sets the time */
            next = INT64_MIN;
    }
    if (next == HTW_NEVER_NS)
        return;
    struct htw__slot *idle = NULL;
    for (uint32_t i = 0; i < journal->slot_count; i++) {
        struct htw__slot *slot = &journal->slots[i];
        if (slot->is_running || slot->handle == 0)
            continue;
        if (slot->armed_ns <= next || slot->armed_ns <= now)
            return;
        if (idle == NULL || slot->armed_ns < idle->armed_ns)
            idle = slot;
    }
    if (idle != NULL)
        set_alarm(idle, next);
}

/* ---- delivering */

/* The job that is to be delivered, or becomes READY, now; NULL: none. */
static struct htw__job *due_job(const struct htw_journal *journal, int64_t now) {
    struct htw__job *first = first_job(journal);
    bool is_due = !journal->is_closing && !journal->has_failed && first != NULL &&
                  first->position.deadline_ns <= now;
    return is_due ? first : NULL;
}

static void pass(struct htw_journal *journal, const struct htw__job *job) {
    if (htw__position_precedes(journal->delivered, job->position))
        journal->delivered = job->position;
}

/* The job becomes one that can be leased. */
static void make_ready(struct htw_journal *journal, struct htw__job *job) {
    pass(journal, job);
    htw__jobs_become(&journal->jobs, job, HTW__JOB_READY);
    htw__leases_serve(journal, job->queue);
}

/* With the lock, which it releases while `deliver` runs. */
static void deliver(struct htw_journal *journal, struct htw__job *job, int64_t now) {
    htw__jobs_deliver(&journal->jobs, job);
    job->counters.attempts++;
    const struct htw_delivery delivery = htw__job_delivery(journal, job, now);
    pass(journal, job);
    journal->stats.delivered++;
    htw__histogram_record(&journal->lateness_ns, (uint64_t)delivery.late_ns);
    htw__slots_arm(journal); /* another slot, if more is due */
    htw__mutex_unlock(&journal->mutex);
    HTW__CALL_USER("deliver", journal, journal->deliver,
                   journal->deliver(journal->context, &delivery));
    htw__mutex_lock(&journal->mutex);
    htw__jobs_delivered(&journal->jobs, job);
}

static void deliver_some(struct htw_journal *journal) {
    int64_t now = htw__journal_now(journal);
    htw__leases_expire(journal, now);
    for (unsigned count = 0; count < SLICE;) {
        struct htw__job *job = due_job(journal, now);
        if (job != NULL) {
            count++;
            if (job->queue->is_delivered)
                deliver(journal, job, now);
            else
                make_ready(journal, job);
            now = htw__journal_now(journal);
        } else if (journal->is_manual && !journal->is_closing && !journal->has_failed &&
                   awaits_writer(journal)) {
            pthread_cond_signal(&journal->work);
            htw__mutex_wait(&journal->mutex, &journal->read);
        } else {
            break;
        }
    }
}

static void deliver_slice(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    struct htw__slot *slot = arg;
    struct htw_journal *journal = slot->journal;
    struct htw__journal_frame frame = { .journal = journal };
    htw__journal_frame_push(&frame);
    htw__mutex_lock(&journal->mutex);
    slot->is_running = true;
    deliver_some(journal);
    htw__journal_frame_pop(&frame);
    slot->is_running = false;
    slot->armed_ns = HTW_NEVER_NS;
    htw__slots_arm(journal);
    /* It would repeat otherwise. */
    if (slot->armed_ns == HTW_NEVER_NS && slot->handle != 0)
        (void)htw_reschedule_at(journal->scheduler, slot->handle, HTW_NEVER_NS);
    htw__mutex_unlock(&journal->mutex);
}

/* ---- timers */

/* At a close, or because the scheduler has stopped. A slot without a timer is armed no more. */
static void timer_ended(void *arg) {
    struct htw__slot *slot = arg;
    struct htw_journal *journal = slot->journal;
    htw__mutex_lock(&journal->mutex);
    slot->handle = 0;
    htw__mutex_unlock(&journal->mutex);
}

/* The lock is not held: the scheduler may call the allocator of the user. */
static int schedule(struct htw__slot *slot, htw_handle *ret_handle) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.site = slot->journal->site;
    spec.arg = slot;
    if (!slot->journal->is_manual)
        spec.clock = HTW_CLOCK_REALTIME; /* whatever the scheduler has */
    spec.when_ns = HTW_NEVER_NS;
    spec.period_ns = PERIOD_NS;
    spec.repeat = HTW_REPEAT_AFTER;
    spec.release = timer_ended;
    return htw_schedule_spec(slot->journal->scheduler, &spec, ret_handle, NULL);
}

/* In a dump it has the name of its file. */
static const struct htw_site *site_of(const struct htw_journal *journal) {
    static const struct htw_site unnamed = { deliver_slice, "journal", NULL, "deadlines", 0 };
    const char *path = journal->path.name, *slash = strrchr(path, '/');
    struct htw_site site = unnamed;
    site.name = slash == NULL ? path : slash + 1;
    const struct htw_site *kept = htw_scheduler_keep_site(journal->scheduler, &site);
    return kept != NULL ? kept : &unnamed;
}

int htw__slots_create(struct htw_journal *journal, uint32_t count) {
    journal->slots = htw__journal_allocate(journal, count * sizeof(*journal->slots));
    if (journal->slots == NULL)
        return htw__journal_fail_as(-ENOMEM, "no memory for a journal");
    journal->slot_count = count;
    journal->site = site_of(journal);
    for (uint32_t i = 0; i < count; i++)
        journal->slots[i] = (struct htw__slot) { .journal = journal, .armed_ns = HTW_NEVER_NS };
    for (uint32_t i = 0; i < count; i++) {
        htw_handle handle;
        int error = schedule(&journal->slots[i], &handle);
        if (error != 0)
            return htw__journal_fail(error, "%s: the scheduler takes no timer: %s",
                                     journal->path.name, htw_strerror(error));
        journal->slots[i].handle = handle;
    }
    return 0;
}

int htw__slots_cancel(struct htw_journal *journal) {
    for (uint32_t i = 0; i < journal->slot_count; i++) {
        htw__mutex_lock(&journal->mutex);
        htw_handle handle = journal->slots[i].handle;
        htw__mutex_unlock(&journal->mutex);
        if (handle != 0 && htw_cancel_wait(journal->scheduler, handle) == -EDEADLK)
            return htw__journal_fail(-EDEADLK,
                                     "%s: a callback that the journal would wait for "
                                     "waits for this one",
                                     journal->path.name);
    }
    return 0;
}

void htw__slots_destroy(struct htw_journal *journal) {
    if (journal->slots != NULL)
        htw__journal_release(journal, journal->slots,
                             journal->slot_count * sizeof(*journal->slots));
    journal->slots = NULL;
    journal->slot_count = 0;
}
