/* SPDX-License-Identifier: MIT */
/*
 * alarm_linux.c - an alarm on Linux: two timerfds and an epoll instance, which is what the owner
 * sleeps on and an event loop polls.
 *
 * THE SHARED TIMER. A thread claims it, sets it to its time unless it is set to an earlier one since
 * the same reset, and gives it back. No thread waits for one that has claimed it, which may be
 * stopped before, in or after the system call. It then sees that the timer is claimed:
 *  - The owner relies on its own timer instead.
 *  - Another thread makes the owner's timer expire at once. Any number of threads may do that at the
 *    same time, since they all set it to the same. The owner wakes up, finds what the thread has
 *    armed, and plans again.
 *
 * AHEAD. A timer that is set to expire before all others programs the hardware: in a virtual machine that is a third
 * of what a wake-up costs. So while the owner wakes up at equal intervals, a plan also sets the timer that it does
 * not need to the wake-up after the next one. When the next one comes, the kernel has programmed that already, and the
 * plan finds a timer that is set. Otherwise the plan sets a timer, and what was set ahead must not wake the owner in
 * vain. What expires is taken from the epoll instance by its name, so the owner knows which timer is still set.
 *
 * RESETS. What the owner reads after a reset includes all that was armed before. So a thread that has
 * counted the resets after it had armed, and finds a greater number later, is done. A timer that
 * was set before the last reset counts as not set: the owner has seen what the thread that relied on it has armed.
 *
 * The scenes of tests/explore/alarm_scenes.c play these steps for a few threads.
 */
#include "alarm.h"

#ifndef HTW_PORTABLE
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum timer { SHARED, OWN, WALL, TIMERS };

/* ---- the kernel's timers */

/* `at_ns`: INT64_MAX: never. There is no error: the arguments are valid. */
static void set_timer(int fd, int flags, int64_t at_ns) {
    struct itimerspec setting = { .it_value = { 0, 0 } };
    HTW__LOCK_RANK_PASS(HTW__RANK_TIMER);
    if (at_ns < 1)
        at_ns = 1; /* 0 means never */
    if (at_ns != INT64_MAX)
        setting.it_value = htw__timespec(at_ns);
    timerfd_settime(fd, TFD_TIMER_ABSTIME | flags, &setting, NULL);
}

/* A new timer, not set, that wakes the owner whenever it expires: since it is edge-triggered there,
   it need not be read. The file descriptor or a negative errno. */
static int add_timer(const struct htw__alarm *alarm, htw__system_clock clock, enum timer timer) {
    int fd = timerfd_create(clock, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd < 0)
        return -errno;
    struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u32 = timer };
    if (epoll_ctl(alarm->fd, EPOLL_CTL_ADD, fd, &event) == 0)
        return fd;
    close(fd);
    return -ENOMEM; /* or ENOSPC, the limit of the kernel's memory for this */
}

static int create_timers(struct htw__alarm *alarm) {
    alarm->fd = epoll_create1(EPOLL_CLOEXEC);
    if (alarm->fd < 0)
        return -errno;
    alarm->shared_fd = add_timer(alarm, alarm->clock, SHARED);
    alarm->own_fd = add_timer(alarm, alarm->clock, OWN);
    if (alarm->shared_fd < 0 || alarm->own_fd < 0)
        return alarm->shared_fd < 0 ? alarm->shared_fd : alarm->own_fd;
    return alarm->clock == CLOCK_REALTIME ? htw__alarm_watch_wall_clock(alarm) : 0;
}

/* ---- setting them */

/* Sets the shared timer, for the thread that has claimed it. */
static void set_claimed(struct htw__alarm *alarm, int64_t at_ns) {
    set_timer(alarm->shared_fd, 0, at_ns);
    /* order: The release of `version` that follows publishes it. */
    atomic_store_explicit(&alarm->shared_ns, at_ns, memory_order_relaxed);
}

/* Sets the shared timer for a thread that has counted `resets`, unless what it is set to is early enough; if
   that is `reuse_ns` or later, it may have been set before the last reset. False: another thread is setting
   it. */
static bool set_shared(struct htw__alarm *alarm, uint64_t resets, int64_t reuse_ns, int64_t at_ns) {
    uint64_t present = 2 * resets;
    /* order: `shared_ns` is read next, and must be as new as the version. [relaxed: `alarm-put-off`] */
    uint64_t version = atomic_load_explicit(&alarm->version, memory_order_acquire);
    do {
        if (version >= present + 2)
            return true; /* there was another reset */
        if (version & 1)
            return false;
        /* order: The version was acquired before. */
        if (version == present &&
            atomic_load_explicit(&alarm->shared_ns, memory_order_relaxed) <= at_ns)
            return true;
        /* order: The claim: what the timer is set to must be as new as the version. It publishes nothing.
       [relaxed: `alarm-of-two`; failed relaxed: `alarm-own`] */
    } while (!atomic_compare_exchange_weak_explicit(&alarm->version, &version, present + 1,
                                                    memory_order_acquire, memory_order_acquire));
    /* Another thread may have set it and given it back, without another version. */
    /* order: The claim was acquired before. */
    int64_t shared_ns = atomic_load_explicit(&alarm->shared_ns, memory_order_relaxed);
    if (shared_ns > at_ns || (version != present && shared_ns < reuse_ns))
        set_claimed(alarm, at_ns);
    /* order: Publishes `shared_ns`. [relaxed: `alarm-of-two`] */
    atomic_store_explicit(&alarm->version, present, memory_order_release);
    return true;
}

bool htw__alarm_claim(struct htw__alarm *alarm, int64_t before_ns) {
    /* order: A hint: the exchange below decides. */
    if (atomic_load_explicit(&alarm->shared_ns, memory_order_relaxed) >= before_ns)
        return false;
    /* order: An old number lets the exchange fail, and the owner plans. */
    uint64_t present = 2 * atomic_load_explicit(&alarm->resets, memory_order_relaxed);
    /* order: As in `set_shared()`: a store to `shared_ns` that came before an unseen one would hide
       what the timer is set to. [relaxed: `alarm-put-off`] */
    return atomic_compare_exchange_strong_explicit(&alarm->version, &present, present + 1,
                                                   memory_order_acquire, memory_order_relaxed);
}

void htw__alarm_put_off(struct htw__alarm *alarm, int64_t at_ns) {
    /* order: No other thread changes it while it is claimed. */
    uint64_t claimed = atomic_load_explicit(&alarm->version, memory_order_relaxed);
    /* order: The claim was acquired before. */
    if (atomic_load_explicit(&alarm->shared_ns, memory_order_relaxed) != at_ns)
        set_claimed(alarm, at_ns);
    /* order: Publishes `shared_ns`. [relaxed: `alarm-put-off`] */
    atomic_store_explicit(&alarm->version, claimed - 1, memory_order_release);
}

static void set_own(struct htw__alarm *alarm, int64_t at_ns) {
    set_timer(alarm->own_fd, 0, at_ns);
    alarm->own_set_ns = at_ns;
    /* order: A number alone; `resets` orders it behind a reset. */
    atomic_store_explicit(&alarm->own_ns, at_ns, memory_order_relaxed);
    /* order: The kernel sets a timer under a lock of its own. So if that of the other thread came before,
       the flag is seen. No order of C11 could promise that: it is store buffering. */
    if (atomic_load_explicit(&alarm->alert, memory_order_relaxed))
        set_timer(alarm->own_fd, 0, 0);
}

void htw__alarm_set(struct htw__alarm *alarm, int64_t at_ns) {
    /* order: Not a load. Release: an owner that counts on from here sees what was armed. Acquire: `own_ns` is not
       of an earlier reset. [acquire: `cleanup`; release: `alarm-own-again`] */
    uint64_t resets = atomic_fetch_add_explicit(&alarm->resets, 0, memory_order_acq_rel);
    /* order: `resets` was acquired before. */
    if (atomic_load_explicit(&alarm->own_ns, memory_order_relaxed) <= at_ns ||
        set_shared(alarm, resets, INT64_MAX, at_ns))
        return;
    /* order: As its load in `set_own()`. */
    atomic_store_explicit(&alarm->alert, true, memory_order_relaxed);
    set_timer(alarm->own_fd, 0, 0);
}

void htw__alarm_reset(struct htw__alarm *alarm) {
    /* order: The release of `resets` that follows publishes it. */
    atomic_store_explicit(&alarm->own_ns, INT64_MAX, memory_order_relaxed);
    atomic_store_explicit(&alarm->alert, false, memory_order_relaxed);
    /* order: Acquire: what was armed before is seen. Release: what it was set to before does not count
       any more. [acquire: `alarm-own-again`; release: `cleanup`] */
    atomic_fetch_add_explicit(&alarm->resets, 1, memory_order_acq_rel);
}

void htw__alarm_plan(struct htw__alarm *alarm, int64_t earliest_ns, int64_t latest_ns) {
    int64_t gap_ns = alarm->gap_ns, next_ns = 0, ahead_ns;
    bool in_step = gap_ns > 0 && !__builtin_add_overflow(alarm->planned_ns, gap_ns, &next_ns) &&
                   earliest_ns <= next_ns && next_ns <= latest_ns;
    int64_t at_ns = in_step ? next_ns : latest_ns;
    if (!in_step || __builtin_add_overflow(at_ns, gap_ns, &ahead_ns))
        ahead_ns = INT64_MAX;
    alarm->gap_ns = at_ns - alarm->planned_ns;
    alarm->planned_ns = at_ns;
    int64_t reuse_ns = alarm->shared_has_expired ? INT64_MAX : earliest_ns;
    /* order: The owner alone adds to it. */
    uint64_t resets = atomic_load_explicit(&alarm->resets, memory_order_relaxed);
    bool by_own = alarm->own_set_ns == at_ns;
    bool is_shared = set_shared(alarm, resets, reuse_ns, by_own ? ahead_ns : at_ns);
    if (by_own)
        /* order: As in `set_own()`. */
        atomic_store_explicit(&alarm->own_ns, at_ns, memory_order_relaxed);
    else if (!is_shared)
        set_own(alarm, at_ns);
    else if (ahead_ns != INT64_MAX || alarm->own_set_ns < earliest_ns)
        set_own(alarm, ahead_ns);
    /* A thread that is setting the shared timer may have set it before it expired, and store that time later. */
    alarm->shared_has_expired = alarm->shared_has_expired && !is_shared;
}

/* ---- from here on: see alarm.h */

int htw__alarm_init(struct htw__alarm *alarm, htw__system_clock clock, bool blocking) {
    (void)blocking;
    *alarm = (struct htw__alarm) { .clock = clock, .fd = -1, .shared_fd = -1, .own_fd = -1 };
    alarm->own_set_ns = INT64_MAX;
    atomic_init(&alarm->shared_ns, INT64_MAX);
    atomic_init(&alarm->own_ns, INT64_MAX);
    atomic_init(&alarm->wall_fd, -1);
    int error = create_timers(alarm);
    if (error != 0)
        htw__alarm_fini(alarm);
    return error;
}

void htw__alarm_fini(struct htw__alarm *alarm) {
    /* order: No other thread uses the alarm. */
    int wall_fd = atomic_load_explicit(&alarm->wall_fd, memory_order_relaxed);
    int fds[] = { wall_fd, alarm->own_fd, alarm->shared_fd, alarm->fd };
    for (unsigned i = 0; i < sizeof(fds) / sizeof(*fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* The kernel reports to a timer of the wall clock that this was set, however far away its own time
   is. */
static int add_wall_timer(struct htw__alarm *alarm) {
    int none = -1, fd = add_timer(alarm, CLOCK_REALTIME, WALL);
    if (fd < 0)
        return fd;
    set_timer(fd, TFD_TIMER_CANCEL_ON_SET, INT64_MAX - 1);
    /* order: A number alone; the kernel has what it names. */
    if (!atomic_compare_exchange_strong_explicit(&alarm->wall_fd, &none, fd, memory_order_relaxed,
                                                 memory_order_relaxed))
        close(fd); /* another thread has added one */
    return 0;
}

int htw__alarm_watch_wall_clock(struct htw__alarm *alarm) {
    /* order: A number alone; the kernel has what it names. */
    if (atomic_load_explicit(&alarm->wall_fd, memory_order_relaxed) >= 0)
        return 0;
    htw__cancel_state cancel_state = htw__disable_cancel(); /* close() may end the thread */
    int error = add_wall_timer(alarm);
    htw__restore_cancel(cancel_state);
    return error;
}

/* Takes what has expired out of the epoll instance. */
static void take_events(struct htw__alarm *alarm, int timeout_ms) {
    struct epoll_event events[TIMERS];
    int count;
    htw__cancel_state cancel_state = htw__disable_cancel();
    /* EINTR: a process that was stopped goes on. Signals are blocked where threads wait. */
    while ((count = epoll_wait(alarm->fd, events, TIMERS, timeout_ms)) < 0 && errno == EINTR)
        ;
    htw__restore_cancel(cancel_state);
    for (int i = 0; i < count; i++)
        if (events[i].data.u32 == OWN)
            alarm->own_set_ns = INT64_MAX;
        else if (events[i].data.u32 == SHARED)
            alarm->shared_has_expired = true;
}

void htw__alarm_wait(struct htw__alarm *alarm) {
    take_events(alarm, -1);
}

void htw__alarm_clear(struct htw__alarm *alarm) {
    take_events(alarm, 0);
}
#endif
