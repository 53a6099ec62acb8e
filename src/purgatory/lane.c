/* SPDX-License-Identifier: MIT */
/*
 * A timer of the scheduler for each request would cost a record, a handle and a second lock. Most
 * requests end before their time is up, so that what counts is arming and disarming: two stores
 * each in a wheel of the purgatory's own. The scheduler only keeps the alarm of each lane, a timer
 * for the earliest deadline, or an earlier one.
 *
 * When the alarm rings, the callback takes what is due, one after the other, and calls the hooks
 * without the lock. Before each it sets a new alarm: for at once, if there is more. So a hook that
 * takes long keeps nobody waiting while there is another worker, and a burst is spread over them.
 *
 * A new alarm may be refused (memory, max_pending), when nobody is there to be told. So there is a
 * keeper besides, created with the first alarm: a timer that repeats, every so many years, and so
 * keeps its place and its memory. Where there is no alarm it is moved to the deadline. It is no
 * alarm for every day because it never rings while its callback runs.
 *
 * A tick is a microsecond, the finest that a scheduler has. Deadlines are rounded up to it, and the
 * alarm by the scheduler to its own tick: never early, and as late as a timer of the scheduler.
 * Where the scheduler's clock is set back (HTW_CLOCK_REALTIME), the wheel's goes on from where it
 * is.
 */
#include "lane.h"

#include "request.h"

#include <errno.h>

#define TICK_NS 1000u

/* Buckets a level: with ticks so fine there are some levels. Those for timeouts of up to 17 minutes
   are there from the beginning. */
#define WHEEL_SIZE 64u
#define HORIZON_TICKS (UINT64_C(1) << 30)

/* Steps in the wheel for which the lock is held at most. */
#define BUDGET 64u

/* How often a callback looks for what is due before the scheduler has its thread back, and the next
   alarm rings: requests may be submitted again and again with no time at all. */
#define TURNS 4096u

/* A step back of the scheduler's clock; anything less is a thread that is late. */
#define STEP_TICKS UINT64_C(1000000)

/* Timeouts that end this near to the end of time are for ever: a day. */
#define MARGIN_NS (24 * 3600 * HTW_SECOND)

static uint64_t tick_before(int64_t time_ns) {
    return (uint64_t)time_ns / TICK_NS;
}

static uint64_t tick_after(int64_t time_ns) {
    return ((uint64_t)time_ns + (TICK_NS - 1)) / TICK_NS;
}

/* The wheel's time: never before its clock. Under the lock. */
static uint64_t wheel_time(struct htw__lane *lane, int64_t now_ns) {
    uint64_t time = tick_before(now_ns) + lane->ahead, clock = htw_wheel_now(lane->wheel);
    if (time + STEP_TICKS < clock)
        lane->ahead += clock - time;
    return time < clock ? clock : time;
}

int htw__lane_init(struct htw__lane *lane, struct htw_purgatory *purgatory) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.size = WHEEL_SIZE;
    options.start = tick_before(htw_scheduler_now(purgatory->scheduler));
    options.allocator = &purgatory->allocator;
    *lane = (struct htw__lane) { .alarm_tick = HTW_NEVER, .purgatory = purgatory };
    htw__lock_init(&lane->lock);
    htw__lock_init(&lane->cells_lock);
    htw__cells_init(&lane->cells, &purgatory->allocator);
    int error = htw_wheel_create(&lane->wheel, &options);
    return error != 0 ? error : htw_wheel_reserve(lane->wheel, HORIZON_TICKS);
}

void htw__lane_stop(struct htw__lane *lane) {
    htw__lock_take(&lane->lock);
    lane->is_stopped = true;
    htw__lock_give(&lane->lock);
}

bool htw__lane_is_quiet(struct htw__lane *lane) {
    htw__lock_take(&lane->lock);
    bool quiet = lane->set == lane->released;
    htw__lock_give(&lane->lock);
    return quiet;
}

void htw__lane_fini(struct htw__lane *lane) {
    htw_wheel_destroy(lane->wheel);
    htw__lock_fini(&lane->lock);
    htw__lock_fini(&lane->cells_lock);
}

static struct htw_request *request_of(struct htw_timer *timer) {
    return HTW_CONTAINER_OF(timer, struct htw_request, _timeout);
}

/* Takes the next request that is due and not busy; the owners of busy ones end them. `*ret_more`:
   there may be others. */
static struct htw_request *take_due(struct htw__lane *lane, bool *ret_more) {
    uint64_t now = wheel_time(lane, htw_scheduler_now(lane->purgatory->scheduler));
    struct htw_timer *timer = NULL;
    size_t count;
    htw_wheel_poll_batch(lane->wheel, now, &timer, 1, BUDGET, &count);
    *ret_more = htw_wheel_next(lane->wheel) <= now;
    return timer != NULL && htw__request_expire(request_of(timer)) ? request_of(timer) : NULL;
}

static void ring(void *arg, const struct htw_firing *firing);
static void release_alarm(void *arg);

static int create_timer(struct htw__lane *lane, int64_t when_ns, int64_t period_ns,
                        htw_handle *ret_handle) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = ring;
    spec.arg = lane;
    spec.absolute = true;
    spec.when_ns = when_ns;
    spec.period_ns = period_ns;
    spec.repeat = HTW_REPEAT_AFTER;
    spec.group = lane->purgatory->callbacks;
    spec.release = release_alarm;
    int error = htw_schedule_spec(lane->purgatory->scheduler, &spec, ret_handle, NULL);
    lane->set += error == 0;
    return error;
}

/* Moves the keeper. The scheduler may lack memory for a deadline that is far: then it rings too
   early, at one that needs none. */
static int move_keeper(struct htw__lane *lane, int64_t deadline_ns) {
    struct htw_scheduler *scheduler = lane->purgatory->scheduler;
    int64_t now_ns = htw_scheduler_now(scheduler);
    int result;
    while ((result = htw_reschedule_at(scheduler, lane->keeper, deadline_ns)) == -ENOMEM &&
           deadline_ns > now_ns)
        deadline_ns = now_ns + (deadline_ns - now_ns) / 2;
    if (result == HTW_GONE)
        lane->keeper = 0; /* dropped: the next one is another */
    return result < 0 ? result : 0;
}

/* Under the lock. 0, or what the scheduler answers. */
static int set_alarm(struct htw__lane *lane, uint64_t tick) {
    int64_t deadline_ns = (int64_t)((tick - lane->ahead) * TICK_NS);
    int result = HTW_GONE;
    if (lane->is_stopped)
        return -ESHUTDOWN;
    if (lane->keeper == 0)
        result = create_timer(lane, HTW_FOREVER, HTW_FOREVER, &lane->keeper);
    if (result < 0)
        return result;
    result = HTW_GONE;
    if (lane->alarm != 0)
        result = htw_reschedule_at(lane->purgatory->scheduler, lane->alarm, deadline_ns);
    if (result == HTW_RUNNING)
        return 0; /* ring() is about to take the lock, and to set another */
    if (result == HTW_GONE)
        result = create_timer(lane, deadline_ns, 0, &lane->alarm);
    if (result == -EAGAIN || result == -ENOMEM)
        result = move_keeper(lane, deadline_ns);
    if (result < 0)
        return result;
    lane->alarm_tick = tick;
    return 0;
}

/* For the earliest deadline, unless it is set for that. Under the lock. */
static int set_alarm_for_next(struct htw__lane *lane) {
    uint64_t tick = htw_wheel_next(lane->wheel);
    return tick < lane->alarm_tick ? set_alarm(lane, tick) : 0;
}

/* The alarm's callback, and the keeper's. */
static void ring(void *arg, const struct htw_firing *firing) {
    struct htw__lane *lane = arg;
    struct htw__frame frame = { 0 };
    htw__frame_push(&frame, lane->purgatory);
    bool more = true;
    for (unsigned turn = 0; more && turn < TURNS; turn++) {
        htw__lock_take(&lane->lock);
        if (turn == 0)
            lane->alarm_tick = HTW_NEVER;
        if (turn == 0 && lane->alarm == firing->handle)
            lane->alarm = 0;
        struct htw_request *request = take_due(lane, &more);
        (void)set_alarm_for_next(lane); /* refused only by a scheduler that was stopped */
        htw__lock_give(&lane->lock);
        if (request != NULL)
            htw__request_end(&frame, request, HTW_REASON_EXPIRED);
    }
    htw__frame_pop(&frame);
}

/* The release hook of an alarm, or a keeper. If it did not ring, since an executor has dropped it,
   another one is needed; if it did, this changes nothing. */
static void release_alarm(void *arg) {
    struct htw__lane *lane = arg;
    htw__lock_take(&lane->lock);
    lane->released++;
    lane->alarm_tick = HTW_NEVER;
    (void)set_alarm_for_next(lane);
    htw__lock_give(&lane->lock);
}

int htw__lane_arm(struct htw_request *request, int64_t timeout_ns) {
    struct htw_purgatory *purgatory = request->_purgatory;
    struct htw__lane *lane = htw__lane_here(purgatory);
    int64_t now_ns = htw_scheduler_now(purgatory->scheduler);
    if (timeout_ns > 0 && timeout_ns > HTW_FOREVER - MARGIN_NS - now_ns)
        return 0; /* in centuries */
    request->_lane = (uint16_t)(lane - purgatory->lanes);
    htw_timer_init(&request->_timeout);
    htw__lock_take(&lane->lock);
    uint64_t tick = wheel_time(lane, now_ns);
    if (timeout_ns > 0)
        tick = tick_after(now_ns + timeout_ns) + lane->ahead;
    int error = htw_wheel_schedule(lane->wheel, &request->_timeout, tick);
    if (error == 0 && tick < lane->alarm_tick) {
        error = set_alarm_for_next(lane);
        if (error != 0)
            htw_wheel_cancel(lane->wheel, &request->_timeout);
    }
    htw__lock_give(&lane->lock);
    if (error == 0)
        request->_flags |= HTW__REQUEST_ARMED;
    return error;
}

void htw__lane_disarm(struct htw_request *request) {
    struct htw__lane *lane = &request->_purgatory->lanes[request->_lane];
    htw__lock_take(&lane->lock);
    htw_wheel_cancel(lane->wheel, &request->_timeout);
    htw__lock_give(&lane->lock);
}

void htw__lane_add(struct htw__lane *lane, struct htw_purgatory_stats *stats) {
    struct htw_wheel_stats own = HTW_WHEEL_STATS_INIT;
    htw__lock_take(&lane->lock);
    htw_wheel_stats(lane->wheel, &own);
    stats->memory_bytes += sizeof(*lane) + own.memory_bytes;
    stats->alarms += lane->keeper != 0;
    stats->alarms += htw_is_pending(lane->purgatory->scheduler, lane->alarm);
    htw__lock_give(&lane->lock);
    htw__lock_take(&lane->cells_lock);
    stats->memory_bytes += htw__cells_memory(&lane->cells);
    htw__lock_give(&lane->cells_lock);
}
