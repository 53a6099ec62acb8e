/* SPDX-License-Identifier: MIT */
/* clockwork.c - how timers enter and leave the wheel of a clockwork, and when the expirer serves it;
   collect.c takes those that are due. */
#include "clockwork.h"

static struct htw__leading *leading_of(struct htw__clockwork *clockwork) {
    return clockwork->slot == HTW__SLOT_LEADING
               ? HTW_CONTAINER_OF(clockwork, struct htw__leading, clockwork)
               : NULL;
}

/* ---- its store */

/* Leading clockworks may be many, and most of their timers are cancelled: so their wheels are small.
   docs/decisions.md has the figures. */
#define LEADING_WHEEL_SIZE 16u

static uint32_t wheel_size(const struct htw__clockwork *clockwork) {
    uint32_t option = clockwork->scheduler->wheel_size;
    uint32_t size = option == 0 ? HTW_WHEEL_SIZE_DEFAULT : option;
    return clockwork->slot == HTW__SLOT_LEADING && size > LEADING_WHEEL_SIZE ? LEADING_WHEEL_SIZE
                                                                             : size;
}

int htw__clockwork_create_store(struct htw__clockwork *clockwork, uint64_t start,
                                struct htw__store **ret_store) {
    return htw__store_create(ret_store, clockwork, wheel_size(clockwork), start);
}

static bool is_earlier(const struct htw__heap_node *a, const struct htw__heap_node *b) {
    const struct htw__leading *first = HTW_CONTAINER_OF(a, const struct htw__leading, node);
    const struct htw__leading *second = HTW_CONTAINER_OF(b, const struct htw__leading, node);
    return first->tick != second->tick ? first->tick < second->tick : first->turn < second->turn;
}

int htw__clockwork_init(struct htw__clockwork *clockwork, const struct htw__clock *clock,
                        uint32_t slot) {
    clockwork->clock = clock;
    clockwork->slot = slot;
    atomic_init(&clockwork->wake_tick, HTW_NEVER_TICK);
    clockwork->fast_after_tick = HTW_NEVER_TICK;
    htw__heap_init(&clockwork->leading, is_earlier);
    uint64_t start = htw__tick_at(clockwork->scheduler, htw__clockwork_now_ns(clockwork));
    return htw__clockwork_create_store(clockwork, start, &clockwork->store);
}

void htw__clockwork_fini(struct htw__clockwork *clockwork) {
    htw__store_retire(clockwork->store);
    htw__store_retire(clockwork->previous);
    htw__heap_fini(&clockwork->leading, &clockwork->scheduler->allocator);
}

void htw__clockwork_replace_store(struct htw__clockwork *clockwork, struct htw__store *store) {
    clockwork->previous = clockwork->store;
    clockwork->store = store;
}

void htw__clockwork_move_from_previous(struct htw__clockwork *clockwork) {
    struct htw__store *previous = clockwork->previous, *store = clockwork->store;
    if (htw__store_move(previous, store, HTW__SLICE))
        return;
    if (previous->unfiled_tick < store->unfiled_tick) /* they are found in the slab */
        store->unfiled_tick = previous->unfiled_tick;
    htw__store_retire(previous);
    clockwork->previous = NULL;
}

/* ---- when the expirer must serve it */

uint64_t htw__clockwork_next(const struct htw__clockwork *clockwork) {
    const struct htw__store *store = clockwork->store;
    const struct htw__leading *leading = htw__leading_first(clockwork);
    uint64_t next = htw__store_next(store);
    if (store->unfiled_tick < next)
        next = store->unfiled_tick;
    return leading != NULL && leading->tick < next ? leading->tick : next;
}

/*
 * Sets wake_tick, and fast_after_tick with it. A timer for a tick after fast_after_tick is armed
 * with one comparison, because
 *  - the alarm is set for an earlier tick. wake_tick counts only when the alarm is set to it: while
 *    a thread has lowered wake_tick and not yet set the alarm (`waking`), no tick is after it.
 *    Otherwise a timer would be late by as long as that thread is stopped.
 *  - the deadline, which was rounded up to its tick, is not in the past. The clock was at
 *    clock_read_tick, and the expirer serves this at wake_tick. Unless the expirer is late by
 *    more than a tick, the present tick is at most one after the later of the two.
 */
void htw__clockwork_set_wake_tick(struct htw__clockwork *clockwork, uint64_t tick) {
    uint64_t later = tick > clockwork->clock_read_tick ? tick : clockwork->clock_read_tick;
    atomic_store_explicit(&clockwork->wake_tick, tick, memory_order_relaxed);
    clockwork->fast_after_tick =
        clockwork->waking == 0 && later != HTW_NEVER_TICK ? later + 1 : HTW_NEVER_TICK;
}

/* Makes the expirer serve a clockwork that does not lead at `tick`, which is at most
   fast_after_tick. */
static void plan_alarm(struct htw__clockwork *clockwork, uint64_t tick, unsigned *ret_wake) {
    uint64_t planned = htw__clockwork_wake_tick(clockwork);
    if (tick >= planned && (clockwork->waking == 0 || tick == HTW_NEVER_TICK))
        return;
    if (!(*ret_wake & 1u << clockwork->slot))
        clockwork->waking++;
    *ret_wake |= 1u << clockwork->slot;
    clockwork->clock_read_tick =
        htw__tick_at(clockwork->scheduler, htw__clockwork_now_ns(clockwork));
    htw__clockwork_set_wake_tick(clockwork, tick < planned ? tick : planned);
}

/* When the parent must serve it. If threads have not yet set the alarm of the parent, one of them may
   do it for this, so the next timer must not rely on it: see fast_after_tick. */
static void plan_alarm_for(struct htw__leading *leading, unsigned *ret_wake) {
    struct htw__clockwork *clockwork = &leading->clockwork, *parent = leading->parent;
    uint64_t tick = leading->tick;
    if (tick <= parent->fast_after_tick)
        plan_alarm(parent, tick, ret_wake);
    clockwork->waking = parent->waking;
    htw__clockwork_set_wake_tick(clockwork, htw__clockwork_wake_tick(clockwork));
}

/* Makes the expirer serve a clockwork at `tick`, which is at most fast_after_tick. */
static void plan_wake(struct htw__clockwork *clockwork, uint64_t tick, unsigned *ret_wake) {
    struct htw__leading *leading = leading_of(clockwork);
    if (leading == NULL) {
        plan_alarm(clockwork, tick, ret_wake);
    } else {
        if (tick < htw__clockwork_wake_tick(clockwork))
            htw__leading_plan(leading, tick);
        plan_alarm_for(leading, ret_wake);
    }
}

void htw__clockwork_wake(struct htw__clockwork *clockwork) {
    const struct htw_scheduler *scheduler = clockwork->scheduler;
    int64_t at_ns = htw__tick_ns(scheduler, htw__clockwork_wake_tick(clockwork));
    htw__wake_at(clockwork->waker, clockwork->clock, at_ns);
    htw__lock_acquire(clockwork->lock);
    clockwork->waking--;
    htw__clockwork_set_wake_tick(clockwork, htw__clockwork_wake_tick(clockwork));
    htw__lock_release(clockwork->lock);
}

/* ---- arming */

/* The time of the clock that drives it. */
static int64_t time_at(const struct htw__clockwork *clockwork, int64_t now_ns) {
    return htw__after_ns(now_ns, htw__clockwork_lead_ns(clockwork));
}

/*
 * The clock of a store cannot go back, but that of a leading clockwork can, when its lead shrinks or
 * its parent's clock is set back. A timer for a tick that the store has reached, and that is not due,
 * gets a new store; the others follow when the expirer serves this. Without memory the timer comes
 * up at once, and the expirer arms it again, tick by tick.
 */
static void renew_store_for(struct htw__clockwork *clockwork, uint64_t tick, int64_t now_ns) {
    const struct htw_scheduler *scheduler = clockwork->scheduler;
    struct htw__store *store;
    if (clockwork->slot != HTW__SLOT_LEADING || tick > clockwork->store->clock ||
        clockwork->previous != NULL ||
        tick <= htw__tick_at(scheduler, time_at(clockwork, now_ns)) ||
        htw__clockwork_create_store(clockwork, htw__tick_at(scheduler, now_ns), &store) != 0)
        return;
    htw__store_add(store);
    htw__clockwork_replace_store(clockwork, store);
}

int htw__clockwork_arm_near(struct htw__clockwork *clockwork, struct htw__entry entry,
                            int64_t deadline_ns, unsigned *ret_wake) {
    if (entry.tick != 0 && entry.tick != HTW_NEVER_TICK) {
        int64_t now_ns = htw__clockwork_now_ns(clockwork);
        if (deadline_ns <= time_at(clockwork, now_ns))
            entry.tick = htw__tick_at(clockwork->scheduler, deadline_ns);
        renew_store_for(clockwork, entry.tick, now_ns);
    }
    int error =
        entry.tick == HTW_NEVER_TICK ? 0 : htw__store_file(clockwork->store, entry);
    if (error == 0)
        plan_wake(clockwork, entry.tick, ret_wake);
    return error;
}

/* The thread that claims it at this moment is faster: then it has no entry that is needed. */
void htw__clockwork_leave_entry(struct htw__record *record) {
    uint64_t status = htw__status_of(record), left;
    do
        left = (status & ~(uint64_t)(HTW__FILING | HTW__UNFILED | HTW__MOVED)) |
               ((status + HTW__FILING_ONE) & HTW__FILING);
    while (htw__status_state(status) == HTW__PENDING &&
           !htw__status_change(record, &status, left));
}

/* Before the deadline changes: the thread that takes the timer when its entry comes up must see that it was
   moved. False: it was faster, and the record is not PENDING any more. */
static bool set_moved(struct htw__record *record) {
    uint64_t status = htw__status_of(record);
    while (htw__status_state(status) == HTW__PENDING)
        if ((status & HTW__MOVED) || htw__status_change(record, &status, status | HTW__MOVED))
            return true;
    return false;
}

int htw__clockwork_move(struct htw__clockwork *clockwork, struct htw__record *record, uint64_t tick,
                        int64_t deadline_ns, unsigned *ret_wake) {
    if (deadline_ns >= record->deadline_ns && tick != 0) /* its entry comes up before that */
        return set_moved(record) ? 0 : -EAGAIN;
    struct htw__entry entry = htw__entry_of(clockwork->stores, record, tick);
    entry.tag = (entry.tag & ~HTW__TAG_FILING) | ((entry.tag + 1) & HTW__TAG_FILING);
    int error = htw__clockwork_arm_new(clockwork, entry, deadline_ns, ret_wake);
    if (error == 0)
        htw__clockwork_leave_entry(record);
    return error;
}

/*
 * The slack rule, as of htw_wheel_schedule_within(): of the ticks in [earliest, latest], the one that is
 * divisible by the highest power of two. Timers with slack meet there.
 */
static uint64_t slack_tick(uint64_t earliest, uint64_t latest) {
    if (earliest == 0 || earliest == HTW_NEVER_TICK)
        return earliest;
    if (latest == HTW_NEVER_TICK)
        latest = HTW_NEVER_TICK - 1;
    unsigned bit = htw__highest_bit((earliest - 1) ^ latest);
    return latest >> bit << bit;
}

int htw__clockwork_arm_within(struct htw__clockwork *clockwork, struct htw__entry *entry,
                              uint64_t earliest, uint64_t latest, unsigned *ret_wake) {
    entry->tick = slack_tick(earliest, latest);
    int error =
        entry->tick == HTW_NEVER_TICK ? 0 : htw__store_file(clockwork->store, *entry);
    if (error == 0 && entry->tick <= clockwork->fast_after_tick)
        plan_wake(clockwork, entry->tick, ret_wake);
    return error;
}

uint64_t htw__clockwork_rearm(struct htw__clockwork *clockwork, struct htw__record *record,
                              int64_t now_ns) {
    uint64_t tick =
        htw__tick_due(clockwork->scheduler, record->deadline_ns, time_at(clockwork, now_ns));
    renew_store_for(clockwork, tick, now_ns);
    htw__record_is_filed(record);
    if (tick != HTW_NEVER_TICK)
        htw__store_file_always(clockwork->store, record,
                               htw__entry_of(clockwork->stores, record, tick));
    return tick;
}

void htw__clockwork_arm_always(struct htw__clockwork *clockwork, struct htw__record *record,
                               int64_t now_ns, unsigned *ret_wake) {
    uint64_t tick = htw__clockwork_rearm(clockwork, record, now_ns);
    if (tick <= clockwork->fast_after_tick)
        plan_wake(clockwork, tick, ret_wake);
}

/* ---- leading clockworks */

int64_t htw__clockwork_due_ns(const struct htw__clockwork *clockwork, int64_t deadline_ns) {
    if (clockwork->slot != HTW__SLOT_LEADING || deadline_ns == HTW_NEVER_NS)
        return deadline_ns;
    const struct htw__leading *leading =
        HTW_CONTAINER_OF(clockwork, const struct htw__leading, clockwork);
    int64_t due_ns;
    if (__builtin_sub_overflow(deadline_ns, leading->lead_ns, &due_ns))
        due_ns = INT64_MIN;
    /* The change of the lead made it due, not before it happened, unless it was due without a lead;
       or unless the clock was set since. */
    if (due_ns < leading->grown_ns && leading->grown_ns <= htw__clockwork_now_ns(clockwork))
        due_ns = deadline_ns < leading->grown_ns ? deadline_ns : leading->grown_ns;
    return due_ns;
}

int htw__leading_init(struct htw__leading *leading, struct htw__clockwork *parent) {
    *leading = (struct htw__leading) {
        .clockwork = { .scheduler = parent->scheduler,
                       .lock = parent->lock,
                       .waker = parent->waker,
                       .stores = parent->stores },
        .parent = parent,
        .grown_ns = INT64_MIN,
        .tick = HTW_NEVER_TICK,
    };
    struct htw__heap *heap = &parent->leading;
    size_t before = htw__heap_memory(heap);
    int error = htw__heap_reserve(heap, &parent->scheduler->allocator, ++parent->leading_count);
    parent->stores->bytes += htw__heap_memory(heap) - before;
    if (error == 0)
        error = htw__clockwork_init(&leading->clockwork, parent->clock, HTW__SLOT_LEADING);
    if (error == 0)
        htw__store_add(leading->clockwork.store);
    else
        parent->leading_count--;
    return error;
}

void htw__leading_fini(struct htw__leading *leading) {
    htw__leading_plan(leading, HTW_NEVER_TICK);
    leading->parent->leading_count--;
    htw__clockwork_fini(&leading->clockwork);
}

void htw__leading_plan(struct htw__leading *leading, uint64_t tick) {
    struct htw__clockwork *parent = leading->parent;
    htw__clockwork_set_wake_tick(&leading->clockwork, tick);
    if (leading->node.place != 0)
        htw__heap_remove(&parent->leading, &leading->node);
    leading->tick = tick;
    if (tick == HTW_NEVER_TICK)
        return;
    leading->tick = tick > leading->lead_tick ? tick - leading->lead_tick : 0;
    leading->turn = ++parent->turn;
    htw__heap_push(&parent->leading, &leading->node);
}

void htw__leading_set(struct htw__leading *leading, uint64_t lead_tick, unsigned *ret_wake) {
    struct htw__clockwork *clockwork = &leading->clockwork;
    int64_t now_ns = htw__clockwork_now_ns(clockwork);
    if (lead_tick > leading->lead_tick)
        leading->grown_ns = now_ns;
    leading->lead_tick = lead_tick;
    leading->lead_ns = htw__tick_ns(clockwork->scheduler, lead_tick);
    clockwork->clock_read_tick = htw__tick_at(clockwork->scheduler, time_at(clockwork, now_ns));
    htw__leading_plan(leading, htw__clockwork_wake_tick(clockwork));
    plan_alarm_for(leading, ret_wake);
}
