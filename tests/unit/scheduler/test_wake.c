/* SPDX-License-Identifier: MIT */
/*
 * test_wake.c - setting the alarm while another thread is stopped between arming and doing the same,
 * or in the system call. htw__alarm_set() and timerfd_settime() are the test's own, and stop a thread
 * before the kernel's timer is touched.
 */
/* holds: scheduler-19 */
#include "../../../src/port/alarm.h"
#include "../../../src/scheduler/expirer.h"
#include "../../../src/scheduler/workers.h"

#include "../unit.h"

#include <htw/scheduler.h>

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/timerfd.h>

#define HOUR_NS (3600 * HTW_SECOND)

/* The alarm expires later than `from` hours from now, and not after `to` hours and a tick. */
#define assert_rings_within(remaining_ns, from, to) \
    assert_in_range(remaining_ns, (from)*HOUR_NS + 1, (to)*HOUR_NS + HTW_MILLISECOND)

void __real_htw__alarm_set(struct htw__alarm *alarm, int64_t at_ns);
void __wrap_htw__alarm_set(struct htw__alarm *alarm, int64_t at_ns);

int __wrap_sched_getcpu(void);
int __real_timerfd_settime(int fd, int flags, const struct itimerspec *setting,
                           struct itimerspec *before);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *setting,
                           struct itimerspec *before);

/* Where marked threads stop, and go on in the order in which they came. */
struct barrier {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned stopped, admitted;
};

static struct barrier barrier = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };
/* Where this thread stops. */
enum place { NOWHERE, BEFORE_THE_ALARM, IN_THE_KERNEL };
static _Thread_local enum place slow_place;
static _Thread_local int this_cpu; /* on which the thread seems to run: that of a shard */
static _Atomic unsigned alarms_set;
static struct htw_scheduler *_Atomic counted; /* how often its expirer has disarmed the deputy: */
static _Atomic unsigned deputy_disarmed;

static void stop_if_at(enum place place) {
    if (slow_place != place)
        return;
    pthread_mutex_lock(&barrier.mutex);
    unsigned number = barrier.stopped++;
    pthread_cond_broadcast(&barrier.changed);
    while (number >= barrier.admitted)
        pthread_cond_wait(&barrier.changed, &barrier.mutex);
    pthread_mutex_unlock(&barrier.mutex);
}

void __wrap_htw__alarm_set(struct htw__alarm *alarm, int64_t at_ns) {
    stop_if_at(BEFORE_THE_ALARM);
    atomic_fetch_add(&alarms_set, 1);
    __real_htw__alarm_set(alarm, at_ns);
}

int __wrap_sched_getcpu(void) {
    return this_cpu;
}

/* A thread that was replaced while it ran callbacks is a worker, and may be the deputy itself. */
static bool is_an_expirer(struct htw_scheduler *scheduler) {
    bool is_one = false;
    htw__mutex_lock(&scheduler->work_queue.mutex);
    for (uint32_t i = 0; i < htw__thread_count(scheduler); i++)
        is_one |= scheduler->threads[i].expirer != NULL &&
                  pthread_equal(scheduler->threads[i].id, pthread_self()) != 0;
    htw__mutex_unlock(&scheduler->work_queue.mutex);
    return is_one;
}

static bool disarms_deputy(struct htw_scheduler *scheduler, int fd,
                           const struct itimerspec *setting) {
    return fd == scheduler->work_queue.deputy.alarm.shared_fd && setting->it_value.tv_sec == 0 &&
           setting->it_value.tv_nsec == 0 && is_an_expirer(scheduler);
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *setting,
                           struct itimerspec *before) {
    stop_if_at(IN_THE_KERNEL);
    if (atomic_load(&counted) != NULL && disarms_deputy(atomic_load(&counted), fd, setting))
        atomic_fetch_add(&deputy_disarmed, 1);
    return __real_timerfd_settime(fd, flags, setting, before);
}

static void do_nothing(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
}

struct arming {
    pthread_t thread;
    struct htw_scheduler *scheduler;
    int64_t delay_ns;
    enum place place;
    int result;
};

static void *arm_slowly(void *arg) {
    struct arming *arming = arg;
    slow_place = arming->place;
    arming->result = htw_schedule(arming->scheduler, arming->delay_ns, do_nothing, NULL, NULL);
    return NULL;
}

/* A thread arms, and is stopped. */
static void start(struct arming *arming) {
    pthread_mutex_lock(&barrier.mutex);
    unsigned before = barrier.stopped;
    pthread_mutex_unlock(&barrier.mutex);
    assert_int_equal(pthread_create(&arming->thread, NULL, arm_slowly, arming), 0);
    pthread_mutex_lock(&barrier.mutex);
    while (barrier.stopped == before)
        pthread_cond_wait(&barrier.changed, &barrier.mutex);
    pthread_mutex_unlock(&barrier.mutex);
}

static void start_arming(struct arming *arming, struct htw_scheduler *scheduler, int64_t delay_ns) {
    *arming =
        (struct arming) { .scheduler = scheduler, .delay_ns = delay_ns, .place = BEFORE_THE_ALARM };
    start(arming);
}

/* Of those that are stopped it must be the first. */
static void finish_arming(struct arming *arming) {
    pthread_mutex_lock(&barrier.mutex);
    barrier.admitted++;
    pthread_cond_broadcast(&barrier.changed);
    pthread_mutex_unlock(&barrier.mutex);
    assert_int_equal(pthread_join(arming->thread, NULL), 0);
    assert_int_equal(arming->result, 0);
}

/* Nothing here runs by itself, and nothing falls due while the test lasts. */
static struct htw_scheduler *create(void) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    options.embedded = true;
    options.shards = 1;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    return scheduler;
}

static void arm(struct htw_scheduler *scheduler, int64_t delay_ns) {
    assert_int_equal(htw_schedule(scheduler, delay_ns, do_nothing, NULL, NULL), 0);
}

/* How long until the kernel's timer expires; 0: it is not set. */
static int64_t remaining_ns(struct htw_scheduler *scheduler) {
    struct itimerspec setting;
    assert_int_equal(timerfd_gettime(scheduler->expirers[0].waker.alarm.shared_fd, &setting), 0);
    return (int64_t)setting.it_value.tv_sec * HTW_SECOND + setting.it_value.tv_nsec;
}

UNIT_TEST(wake_of_a_stopped_thread_delays_no_other_timer) {
    struct htw_scheduler *scheduler = create();
    struct arming slow;
    arm(scheduler, 10 * HOUR_NS);
    start_arming(&slow, scheduler, 1 * HOUR_NS);
    int64_t before_ns = remaining_ns(scheduler);
    arm(scheduler, 2 * HOUR_NS);
    int64_t after_ns = remaining_ns(scheduler);
    finish_arming(&slow);
    assert_rings_within(before_ns, 9, 10);
    assert_rings_within(after_ns, 0, 2);
    assert_rings_within(remaining_ns(scheduler), 0, 1);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}

UNIT_TEST(wake_is_not_repeated_for_later_timers) {
    struct htw_scheduler *scheduler = create();
    struct arming slow;
    arm(scheduler, 10 * HOUR_NS);
    start_arming(&slow, scheduler, 1 * HOUR_NS);
    finish_arming(&slow);
    unsigned before = atomic_load(&alarms_set);
    arm(scheduler, 2 * HOUR_NS);
    assert_int_equal(atomic_load(&alarms_set), before);
    assert_int_equal(htw_scheduler_process(scheduler, 0, NULL), HTW_DONE);
    before = atomic_load(&alarms_set);
    arm(scheduler, 3 * HOUR_NS);
    assert_int_equal(atomic_load(&alarms_set), before);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}

/* ---- a thread that is stopped in the system call */

static void post(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    sem_post(arg);
}

static void start_arming_in_the_kernel(struct arming *arming, struct htw_scheduler *scheduler) {
    *arming =
        (struct arming) { .scheduler = scheduler, .delay_ns = 1 * HOUR_NS, .place = IN_THE_KERNEL };
    start(arming);
}

UNIT_TEST(wake_of_an_event_loop_does_not_wait_for_a_thread_stopped_in_the_kernel) {
    struct htw_scheduler *scheduler = create();
    struct pollfd loop = { htw_scheduler_fd(scheduler), POLLIN, 0 };
    struct arming slow;
    sem_t ran;
    int is_over;
    assert_int_equal(sem_init(&ran, 0, 0), 0);
    start_arming_in_the_kernel(&slow, scheduler);
    assert_int_equal(htw_schedule(scheduler, HTW_MILLISECOND, post, &ran, NULL), 0);
    do {
        assert_int_equal(poll(&loop, 1, -1), 1);
        assert_int_equal(htw_scheduler_process(scheduler, 0, NULL), HTW_DONE);
        assert_int_equal(sem_getvalue(&ran, &is_over), 0);
    } while (!is_over);
    assert_int_equal(poll(&loop, 1, 0), 0);
    finish_arming(&slow);
    assert_rings_within(remaining_ns(scheduler), 0, 1);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    sem_destroy(&ran);
}

/* ---- an expirer that sleeps for less time than the deputy */

static void await_deputy(struct htw_scheduler *scheduler) {
    bool present = false;
    while (!present) {
        sched_yield();
        htw__mutex_lock(&scheduler->work_queue.mutex);
        present = scheduler->work_queue.deputy.present;
        htw__mutex_unlock(&scheduler->work_queue.mutex);
    }
}

#define SHORT_SLEEPS 100

static void count_down(void *arg, const struct htw_expiration *expiration) {
    static unsigned runs;
    if (++runs < SHORT_SLEEPS)
        return;
    assert_int_equal(htw_cancel(expiration->scheduler, expiration->handle), HTW_RUNNING);
    sem_post(arg);
}

/* Otherwise each sleep of some microseconds would cost two more system calls. */
UNIT_TEST(deputy_stays_armed_while_the_expirer_sleeps_for_a_moment) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    sem_t over;
    options.tick_ns = 10 * HTW_MICROSECOND;
    options.start_threads = true;
    assert_int_equal(sem_init(&over, 0, 0), 0);
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    await_deputy(scheduler);
    atomic_store(&deputy_disarmed, 0);
    atomic_store(&counted, scheduler);
    assert_int_equal(htw_schedule_every(scheduler, 0, 50 * HTW_MICROSECOND, HTW_REPEAT_SKIP,
                                        count_down, &over, NULL),
                     0);
    assert_int_equal(sem_wait(&over), 0);
    atomic_store(&counted, NULL);
    assert_in_range(atomic_load(&deputy_disarmed), 0, SHORT_SLEEPS / 2);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
    sem_destroy(&over);
}
