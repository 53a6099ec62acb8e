/* SPDX-License-Identifier: MIT */
/*
 * timeout.c - sets, changes and cancels the timeouts of requests, and finds the next due one; counts requests, and
 * how long they waited.
 *
 * Most requests end before their timeout, so arming and cancelling are two stores each in the wheel
 * of a CPU. A timer of the scheduler for each would cost a record, a handle and a second lock.
 */
#include "timeout.h"

#include "../base/histogram.h"
#include "../scheduler/rebase.h"
#include "alarm.h"
#include "owner.h"

/* The wheel has many levels, since its ticks are fine. Those for timeouts of up to 17 minutes are
   created with it. */
#define WHEEL_SIZE 64u
#define HORIZON_TICKS (UINT64_C(1) << 30)

/* Steps in the wheel for which the lock is held at most. */
#define BUDGET 64u

/* The requests of a CPU that are measured in a millisecond. */
#define MEASURED_A_MS 16u

/* ---- the wheel of a CPU; under its lock */

static uint64_t tick_before(int64_t time_ns) {
    return (uint64_t)time_ns / HTW__TIMEOUT_TICK_NS;
}

static int create_wheel(const struct htw__cpu *cpu, uint64_t start, struct htw_wheel **ret_wheel) {
    const struct htw_purgatory *purgatory = cpu->purgatory;
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.size = WHEEL_SIZE;
    options.start = start;
    options.allocator = &purgatory->allocator;
    /* With a manual clock, timeouts may move here from another wheel, and must all fit. */
    bool is_manual = htw__steady_is_manual(purgatory->scheduler);
    return htw__wheel_create_reserved(ret_wheel, &options,
                                      is_manual ? HTW_NEVER_TICK : HORIZON_TICKS);
}

int htw__cpu_init(struct htw__cpu *cpu, struct htw_purgatory *purgatory) {
    *cpu = (struct htw__cpu) { .alarm_tick = HTW_NEVER_TICK, .purgatory = purgatory };
    htw__lock_init(&cpu->lock, HTW__RANK_PURGATORY_CPU);
    htw__cell_pool_init(&cpu->cells, &purgatory->allocator);
    for (unsigned i = 0; i < HTW__ALARMS; i++)
        cpu->alarms[i].cpu = cpu;
    return create_wheel(cpu, tick_before(htw__cpu_steady_now_ns(cpu)), &cpu->wheel);
}

/* All under one lock, since a manual clock is for tests. Without memory for another wheel new timeouts may
   end only when the time reaches the clock of this one. */
static void set_back(struct htw__cpu *cpu, uint64_t tick) {
    struct htw_wheel *wheel;
    if (create_wheel(cpu, tick, &wheel) != 0)
        return;
    while (!htw__wheel_rebase(cpu->wheel, wheel))
        ;
    htw_wheel_destroy(cpu->wheel);
    cpu->wheel = wheel;
}

/* If a manual clock was set back, the timeouts move to a new wheel. Otherwise the thread was stopped after it read the
   clock. Apart, since both are rare. */
static __attribute__((noinline)) uint64_t tick_behind(struct htw__cpu *cpu, uint64_t clock) {
    if (!htw__steady_is_manual(cpu->purgatory->scheduler))
        return clock;
    uint64_t tick = tick_before(htw__cpu_steady_now_ns(cpu));
    if (tick < clock)
        set_back(cpu, tick);
    return tick;
}

/* `now_ns` is of the steady clock. The clock of the wheel may be ahead of it. */
static inline uint64_t present_tick(struct htw__cpu *cpu, int64_t now_ns) {
    uint64_t tick = tick_before(now_ns), clock = htw_wheel_now(cpu->wheel);
    return HTW__LIKELY(tick >= clock) ? tick : tick_behind(cpu, clock);
}

/* The tick in which a timeout is due; the last tick if the sum does not fit. Under the lock. */
static uint64_t deadline_of(struct htw__cpu *cpu, int64_t now_ns, int64_t timeout_ns) {
    uint64_t now = present_tick(cpu, now_ns);
    if (timeout_ns <= 0)
        return now;
    int64_t at_ns = timeout_ns < HTW_NEVER_NS - now_ns ? now_ns + timeout_ns : HTW_NEVER_NS;
    return ((uint64_t)at_ns + (HTW__TIMEOUT_TICK_NS - 1)) / HTW__TIMEOUT_TICK_NS;
}

/* Puts a timeout into the wheel, or moves it there, and sets an alarm if it is the earliest. Under
   the lock. */
static int schedule_timeout(struct htw__cpu *cpu, struct htw_request *request, uint64_t tick) {
    int error = htw_wheel_schedule(cpu->wheel, &request->_timeout, tick);
    if (error == 0 && tick < cpu->alarm_tick)
        error = htw__timeout_alarm_set(cpu);
    return error;
}

/* ---- how long requests waited */

/* The bits of an instant that a request has room for: it comes again after 278 years. */
#define MS_MASK ((UINT64_C(1) << 43) - 1)

static uint64_t to_ms(int64_t time_ns) {
    return (uint64_t)(time_ns / HTW_MILLISECOND) & MS_MASK;
}

/* A request begins to wait: notes when, if it is measured. `now_ns`: of the steady clock, which
   only a request with a timeout has read. Under the lock. */
static void begin_wait(struct htw__cpu *cpu, struct htw_request *request, bool is_timed,
                       int64_t now_ns) {
    struct htw__wait_histogram *waits = &cpu->waits;
    uint64_t begun = waits->begun++;
    if (!is_timed && begun >= MEASURED_A_MS && begun % MEASURED_A_MS != 0)
        return;
    uint64_t now_ms = to_ms(is_timed ? now_ns : htw__cpu_steady_now_ns(cpu));
    if (now_ms != waits->begun_ms) {
        waits->begun_ms = now_ms;
        waits->begun = 1;
        begun = 0;
    }
    if (begun < MEASURED_A_MS) {
        request->_since_ms = (uint32_t)now_ms;
        request->_flags |=
            (uint16_t)(HTW__REQUEST_MEASURED | (now_ms >> 32 << HTW__REQUEST_SINCE_SHIFT));
    }
}

/* Apart, since few are measured. Under the lock. */
static __attribute__((noinline)) void count_wait(struct htw__cpu *cpu,
                                                 const struct htw_request *request) {
    uint64_t since_ms =
        (uint64_t)(request->_flags >> HTW__REQUEST_SINCE_SHIFT) << 32 | request->_since_ms;
    uint64_t waited_ms = (to_ms(htw__cpu_steady_now_ns(cpu)) - since_ms) & MS_MASK;
    if (waited_ms > MS_MASK / 2 && htw__steady_is_manual(cpu->purgatory->scheduler))
        waited_ms = 0; /* the clock was set back */
    cpu->waits.sum_ms += waited_ms;
    cpu->waits.buckets[htw__power_bucket_of(waited_ms, HTW_PURGATORY_WAIT_BUCKETS)]++;
}

/* ---- requests */

static uint64_t bytes_of(const struct htw_request *request) {
    return (request->_flags & HTW__REQUEST_MANY) != 0 ? request->_place._many._bytes : 0;
}

/* From the count on htw__timeout_move() finds the timeout; it takes the lock. */
int htw__timeout_begin(struct htw_request *request, int64_t timeout_ns, int64_t now_ns) {
    struct htw_purgatory *purgatory = request->_purgatory;
    struct htw__cpu *cpu = htw__cpu_here(purgatory);
    bool is_timed = timeout_ns != HTW_NEVER_NS;
    int error = 0;
    if (!is_timed && htw__scheduler_is_stopped(purgatory->scheduler))
        return -ESHUTDOWN;
    htw_timer_init(&request->_timeout);
    htw__lock_acquire(&cpu->lock);
    begin_wait(cpu, request, is_timed, now_ns);
    if (timeout_ns <= 0 || timeout_ns < HTW_NEVER_NS - now_ns)
        error = schedule_timeout(cpu, request, deadline_of(cpu, now_ns, timeout_ns));
    if (error == 0) {
        cpu->counts.begun++;
        cpu->counts.watched += request->_count;
        cpu->counts.bytes += bytes_of(request);
        /* order: Under the lock of the CPU, which the reader takes. */
        __atomic_store_n(&request->_cpu, (uint16_t)(cpu - purgatory->cpus), __ATOMIC_RELAXED);
    } else {
        htw_wheel_cancel(cpu->wheel, &request->_timeout);
    }
    htw__lock_release(&cpu->lock);
    return error;
}

int htw__timeout_move(struct htw_purgatory *purgatory, struct htw_request *request,
                      int64_t timeout_ns) {
    /* order: The lock of the CPU orders what is read next. */
    uint16_t number = __atomic_load_n(&request->_cpu, __ATOMIC_RELAXED);
    if (number == HTW__NO_CPU)
        return -ENOENT;
    struct htw__cpu *cpu = &purgatory->cpus[number];
    int64_t now_ns = htw__cpu_steady_now_ns(cpu);
    int error = -ENOENT;
    htw__lock_acquire(&cpu->lock);
    if (htw_timer_is_pending(&request->_timeout)) {
        uint64_t before = htw_timer_deadline(&request->_timeout);
        error = schedule_timeout(cpu, request, deadline_of(cpu, now_ns, timeout_ns));
        if (error != 0)
            htw__wheel_schedule_surely(cpu->wheel, &request->_timeout, before);
    }
    htw__lock_release(&cpu->lock);
    return error;
}

/* Of a request that waited. */
static void end_wait(struct htw__cpu *cpu, struct htw_request *request, enum htw_reason reason) {
    htw__lock_acquire(&cpu->lock);
    htw_wheel_cancel(cpu->wheel, &request->_timeout);
    cpu->counts.ended[reason]++;
    cpu->counts.watched -= request->_count;
    cpu->counts.bytes -= bytes_of(request);
    if ((request->_flags & HTW__REQUEST_MEASURED) != 0)
        count_wait(cpu, request);
    htw__lock_release(&cpu->lock);
}

void htw__timeout_end(struct htw_request *request, enum htw_reason reason) {
    struct htw_purgatory *purgatory = request->_purgatory;
    if (request->_cpu != HTW__NO_CPU) {
        end_wait(&purgatory->cpus[request->_cpu], request, reason);
        return;
    }
    struct htw__cpu *cpu = htw__cpu_here(purgatory);
    htw__lock_acquire(&cpu->lock);
    cpu->counts.ended_at_once[reason]++;
    htw__lock_release(&cpu->lock);
}

static struct htw_request *request_of(struct htw_timer *timer) {
    return HTW_CONTAINER_OF(timer, struct htw_request, _timeout);
}

struct htw_request *htw__timeout_next_due(struct htw__timeout_alarm *alarm, bool is_first,
                                          bool *ret_more) {
    struct htw__cpu *cpu = alarm->cpu;
    struct htw_request *request = NULL;
    struct htw_timer *timer = NULL;
    size_t count;
    htw__lock_acquire(&cpu->lock);
    if (is_first)
        htw__timeout_alarm_begin(alarm);
    uint64_t now = present_tick(cpu, htw__cpu_steady_now_ns(cpu));
    htw_wheel_poll_batch(cpu->wheel, now, &timer, 1, BUDGET, &count);
    /* If a manual clock was set back without memory for a new wheel, the wheel is ahead of it. */
    if (timer != NULL && htw_timer_deadline(timer) > now)
        htw__wheel_schedule_surely(cpu->wheel, timer, htw_timer_deadline(timer));
    else if (timer != NULL && htw__request_own_expired(request_of(timer)))
        request = request_of(timer);
    *ret_more = htw_wheel_next(cpu->wheel) <= now;
    (void)htw__timeout_alarm_set(cpu);
    htw__lock_release(&cpu->lock);
    return request;
}
