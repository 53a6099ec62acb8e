/* SPDX-License-Identifier: MIT */
/*
 * test_bubble.c - what waits in a bubble, what ends it, and what is reported.
 *
 * Time stands still while a thread runs. So a thread whose wait was ended reads the time at which that was, and one whose
 * wait has timed out reads its deadline, to the nanosecond.
 */
#include <htw/bubble.h>

#include "../support/child.h"
#include "../support/random.h"
#include "../unit/unit.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>

#define HOUR 3600
#define HOUR_MS (HOUR * 1000)
#define MS_NS INT64_C(1000000)
#define SECOND_NS (1000 * MS_NS)

/* A thread that waits, and what ends its wait. */
struct waiter {
    pthread_t thread;
    clockid_t clock; /* of deadlines */
    pthread_mutex_t mutex;
    bool is_waiting; /* under the mutex, as are the next two */
    int64_t ended_ns;
    long woken; /* threads, that waited for the word */
    pthread_cond_t condition;
    sem_t semaphore;
    _Atomic uint32_t word;
    int in, out, epoll;   /* what is written to `out` is read from `in`, which the epoll watches */
    pthread_mutex_t held; /* by another thread until it ends the wait */
};

static int64_t ns_by(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

static int64_t now_ns(void) {
    return ns_by(CLOCK_MONOTONIC);
}

/* The epoll watches others, too, which the kernel lists in any order. */
static void prepare(struct waiter *waiter, clockid_t clock, int in, int out) {
    struct epoll_event event = { .events = EPOLLIN };
    pthread_condattr_t attributes;
    int never = eventfd(0, 0);
    *waiter = (struct waiter) { .clock = clock, .in = in, .out = out, .epoll = epoll_create1(0) };
    pthread_mutex_init(&waiter->mutex, NULL);
    pthread_mutex_init(&waiter->held, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, clock);
    pthread_cond_init(&waiter->condition, &attributes);
    sem_init(&waiter->semaphore, 0, 0);
    EXPECT(epoll_ctl(waiter->epoll, EPOLL_CTL_ADD, in, &event) == 0);
    for (int i = 0; i < 4; i++) {
        int other = epoll_create1(0);
        EXPECT(epoll_ctl(other, EPOLL_CTL_ADD, never, &event) == 0);
        EXPECT(epoll_ctl(waiter->epoll, EPOLL_CTL_ADD, other, &event) == 0);
    }
}

static struct waiter waiters[20], *const one = &waiters[0];
static _Atomic int running = COUNT_OF(waiters);

UNIT_SETUP(prepare_all) {
    int ends[2];
    for (size_t i = 0; i < COUNT_OF(waiters); i++) {
        EXPECT(pipe(ends) == 0);
        prepare(&waiters[i], i % 2 == 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME, ends[0], ends[1]);
    }
}

static void begin(void) {
    EXPECT(htw_bubble_begin() == 0);
}

static void end(void) {
    EXPECT(htw_bubble_end() == 0);
}

static void start(struct waiter *waiter, void *(*main)(void *)) {
    EXPECT(pthread_create(&waiter->thread, NULL, main, waiter) == 0);
}

/* ---- kinds of wait, with a deadline after `delay_ms`, or with none if it is -1. Each returns whether it has timed out. */

static struct timespec after(clockid_t clock, int delay_ms) {
    int64_t at_ns = ns_by(clock) + delay_ms * MS_NS;
    return (struct timespec) { at_ns / SECOND_NS, at_ns % SECOND_NS };
}

static bool wait_for_instant(struct waiter *waiter, int delay_ms) {
    const struct timespec at = after(waiter->clock, delay_ms);
    return clock_nanosleep(waiter->clock, TIMER_ABSTIME, &at, NULL) == 0;
}

static bool wait_for_timer(struct waiter *waiter, int delay_ms) {
    const struct itimerspec times = { { HOUR / 2, 0 },
                                      after(waiter->clock, delay_ms - HOUR_MS / 2) };
    int timer = timerfd_create(waiter->clock, TFD_CLOEXEC);
    uint64_t counts[2];
    EXPECT(timerfd_settime(timer, TFD_TIMER_ABSTIME, &times, NULL) == 0);
    EXPECT(read(timer, &counts[0], 8) == 8 && read(timer, &counts[1], 8) == 8);
    close(timer);
    return counts[0] == 1 && counts[1] == 1;
}

static bool wait_for_condition(struct waiter *waiter, int delay_ms) {
    const struct timespec at = after(waiter->clock, delay_ms);
    int result = 0;
    pthread_mutex_lock(&waiter->mutex);
    while (waiter->is_waiting && result == 0)
        result = delay_ms < 0 ? pthread_cond_wait(&waiter->condition, &waiter->mutex)
                              : pthread_cond_timedwait(&waiter->condition, &waiter->mutex, &at);
    pthread_mutex_unlock(&waiter->mutex);
    return result == ETIMEDOUT;
}

static bool wait_for_semaphore(struct waiter *waiter, int delay_ms) {
    const struct timespec at = after(waiter->clock, delay_ms);
    int result = delay_ms < 0 ? sem_wait(&waiter->semaphore)
                              : sem_clockwait(&waiter->semaphore, waiter->clock, &at);
    return result != 0 && errno == ETIMEDOUT;
}

static bool wait_for_futex(struct waiter *waiter, int delay_ms) {
    const struct timespec at = after(waiter->clock, delay_ms);
    int clock = waiter->clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0;
    long result = syscall(SYS_futex, &waiter->word, FUTEX_WAIT_BITSET_PRIVATE | clock, 0,
                          delay_ms < 0 ? NULL : &at, NULL, FUTEX_BITSET_MATCH_ANY);
    return result != 0 && errno == ETIMEDOUT;
}

static bool wait_by_poll(struct waiter *waiter, int delay_ms) {
    return poll(&(struct pollfd) { .fd = waiter->in, .events = POLLIN }, 1, delay_ms) == 0;
}

static bool wait_by_epoll(struct waiter *waiter, int delay_ms) {
    return epoll_wait(waiter->epoll, &(struct epoll_event) { 0 }, 1, delay_ms) == 0;
}

static bool wait_by_read(struct waiter *waiter, int delay_ms) {
    uint64_t bytes;
    (void)delay_ms;
    EXPECT(read(waiter->in, &bytes, 8) == 8);
    return false;
}

static bool wait_for_mutex(struct waiter *waiter, int delay_ms) {
    (void)delay_ms;
    pthread_mutex_lock(&waiter->held);
    pthread_mutex_unlock(&waiter->held);
    return false;
}

/* Those before READ have deadlines; another thread can end those from CONDITION on. */
enum { INSTANT, TIMER, CONDITION, SEMAPHORE, FUTEX, POLL, EPOLL, READ, MUTEX, KINDS };
static bool (*const waits[KINDS])(struct waiter *,
                                  int) = { wait_for_instant,   wait_for_timer, wait_for_condition,
                                           wait_for_semaphore, wait_for_futex, wait_by_poll,
                                           wait_by_epoll,      wait_by_read,   wait_for_mutex };

/* ---- ends of waits */

/* Ends it, of whatever kind it is. */
static void end_wait(struct waiter *waiter) {
    pthread_mutex_lock(&waiter->mutex);
    if (waiter->is_waiting) {
        waiter->is_waiting = false;
        waiter->ended_ns = now_ns();
        waiter->word = 1;
        waiter->woken = syscall(SYS_futex, &waiter->word, FUTEX_WAKE_PRIVATE, 2);
        pthread_cond_signal(&waiter->condition);
        sem_post(&waiter->semaphore);
        EXPECT(write(waiter->out, &(uint64_t) { 1 }, 8) == 8);
    }
    pthread_mutex_unlock(&waiter->mutex);
}

/* When it has ended, and what is left is taken: returns when another thread has ended it; -1: no thread. */
static int64_t take_end(struct waiter *waiter) {
    pthread_mutex_lock(&waiter->mutex);
    int64_t ended_ns = waiter->is_waiting ? -1 : waiter->ended_ns;
    waiter->is_waiting = false;
    waiter->word = 0;
    sem_trywait(&waiter->semaphore);
    if (!wait_by_poll(waiter, 0))
        wait_by_read(waiter, -1);
    pthread_mutex_unlock(&waiter->mutex);
    return ended_ns;
}

UNIT_TEST_BETWEEN(begin, end, bubble_timeout_passes_at_once) {
    for (int i = 0; i < 2 * READ; i++) { /* by both clocks */
        int64_t began_ns = now_ns();
        time_t began = time(NULL);
        waiters[i % 2].is_waiting = true;
        assert_true(waits[i / 2](&waiters[i % 2], HOUR_MS));
        assert_int_equal(now_ns() - began_ns, HOUR * SECOND_NS);
        assert_int_equal(time(NULL) - began, HOUR);
    }
}

static void *end_in_an_hour(void *argument) {
    struct waiter *waiter = argument;
    pthread_mutex_lock(&waiter->held);
    sleep(HOUR);
    pthread_mutex_unlock(&waiter->held);
    end_wait(waiter);
    return NULL;
}

static void require_hour(struct waiter *waiter, int kind) {
    int64_t began_ns = now_ns();
    waiter->is_waiting = true;
    start(waiter, end_in_an_hour);
    assert_int_equal(htw_bubble_settle(), 0); /* it sleeps */
    assert_false(waits[kind](waiter, -1));
    assert_int_equal(now_ns() - began_ns, HOUR * SECOND_NS);
    pthread_join(waiter->thread, NULL);
    assert_int_equal(take_end(waiter), now_ns());
    assert_int_equal(waiter->woken, kind == FUTEX);
}

UNIT_TEST_BETWEEN(begin, end, bubble_other_thread_ends_wait) {
    for (int kind = CONDITION; kind < KINDS; kind++)
        require_hour(one, kind);
}

static void use_ends(int in, int out) {
    struct waiter waiter;
    prepare(&waiter, CLOCK_MONOTONIC, in, out);
    for (int kind = POLL; kind <= READ; kind++)
        require_hour(&waiter, kind);
}

UNIT_TEST_BETWEEN(begin, end, bubble_data_ends_wait) {
    struct sockaddr address;
    socklen_t size = sizeof(address);
    int ends[2], event = eventfd(0, 0), client = socket(AF_INET, SOCK_STREAM, 0),
                 listener = socket(AF_INET, SOCK_STREAM, 0);
    use_ends(event, event);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    use_ends(ends[0], ends[1]);
    assert_int_equal(listen(listener, 1), 0); /* at a port that the kernel chooses */
    assert_int_equal(getsockname(listener, &address, &size), 0);
    assert_int_equal(connect(client, &address, size), 0);
    use_ends(client, accept(listener, NULL, NULL));
}

static void *wait_and_end_others(void *argument) {
    struct waiter *waiter = argument;
    struct random_source random = { (uint64_t)(waiter - waiters) };
    for (int i = 0; i < 200; i++) {
        int kind = CONDITION + (int)random_below(&random, MUTEX - CONDITION);
        int delay_ms = 1 + (int)random_below(&random, 1000);
        int64_t deadline_ns = now_ns() + delay_ms * MS_NS;
        pthread_mutex_lock(&waiter->mutex);
        waiter->is_waiting = true;
        pthread_mutex_unlock(&waiter->mutex);
        waits[kind](waiter, delay_ms);
        int64_t back_ns = now_ns(), ended_ns = take_end(waiter);
        EXPECT(back_ns == (ended_ns < 0 ? deadline_ns : ended_ns));
        end_wait(&waiters[random_below(&random, COUNT_OF(waiters))]);
    }
    running--;
    return NULL;
}

UNIT_TEST_BETWEEN(begin, end, bubble_no_wait_ends_early_or_late) {
    for (size_t i = 0; i < COUNT_OF(waiters); i++)
        start(&waiters[i], wait_and_end_others);
    for (size_t i = 0; running > 0; i++) { /* those that wait without a deadline */
        usleep(1000);
        end_wait(&waiters[i % COUNT_OF(waiters)]);
    }
    for (size_t i = 0; i < COUNT_OF(waiters); i++)
        pthread_join(waiters[i].thread, NULL);
}

/* ---- what else ends or holds a wait */

static void *run(void *waiter) {
    while (((struct waiter *)waiter)->word == 0)
        ;
    return NULL;
}

UNIT_TEST_BETWEEN(begin, end, bubble_deadline_that_has_passed_needs_no_other_thread_to_wait) {
    const struct timespec passed = { 0 };
    start(one, run);
    assert_int_equal(sem_timedwait(&one->semaphore, &passed), -1);
    assert_int_equal(errno, ETIMEDOUT);
    one->word = 1;
    pthread_join(one->thread, NULL);
    one->word = 0;
}

static void ignore(int signal) {
    (void)signal;
}

/* Lives in real time, and has the only end to write. */
static void be_outside(int to_write) {
    EXPECT(htw_bubble_end() == 0);
    usleep(20000);
    kill(getppid(), SIGUSR1);
    for (int i = 0; i < 2; i++) {
        usleep(20000);
        EXPECT(write(to_write, "outside", 8) == 8);
    }
    _exit(0);
}

static void *wait_for_outside(void *argument) {
    struct waiter *waiter = argument;
    wait_by_epoll(waiter, -1);
    for (int i = 0; i < 2; i++)
        wait_by_read(waiter, -1);
    waiter->ended_ns = now_ns();
    return NULL;
}

UNIT_TEST_BETWEEN(begin, end, bubble_cancelled_thread_ends_its_wait) {
    int64_t began_ns = now_ns();
    start(one, wait_for_outside);
    htw_bubble_settle();
    pthread_cancel(one->thread);
    pthread_join(one->thread, NULL);
    assert_int_equal(now_ns(), began_ns);
}

UNIT_TEST_BETWEEN(begin, end, bubble_input_from_outside_holds_time) {
    int64_t began_ns = now_ns();
    struct waiter waiter;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    prepare(&waiter, CLOCK_MONOTONIC, ends[0], ends[1]);
    signal(SIGUSR1, ignore);
    pid_t child = fork();
    if (child == 0)
        be_outside(ends[1]);
    close(ends[1]);
    start(&waiter, wait_for_outside);
    assert_int_equal(sleep(HOUR), HOUR); /* the signal ends it */
    assert_int_equal(sleep(HOUR), 0);
    assert_int_equal(pthread_join(waiter.thread, NULL), 0);
    assert_int_equal(waiter.ended_ns, began_ns);
    assert_int_equal(now_ns(), began_ns + HOUR * SECOND_NS);
    assert_int_equal(child_end(child), 0);
}

UNIT_TEST_BETWEEN(begin, NULL, bubble_ends_after_its_threads) {
    int64_t began_ns = now_ns();
    start(one, end_in_an_hour);
    sleep(1);
    start(&waiters[1], end_in_an_hour);
    assert_int_equal(htw_bubble_begin(), -EALREADY);
    assert_int_equal(htw_bubble_end(), -EBUSY);
    pthread_join(one->thread, NULL);
    assert_int_equal(now_ns(), began_ns + HOUR * SECOND_NS); /* before the other one ends */
    pthread_join(waiters[1].thread, NULL);
    end();
    assert_int_equal(htw_bubble_end(), -EINVAL);
    assert_int_equal(htw_bubble_settle(), -EINVAL);
}

/* ---- reports of a child */

static void wait_for_each_other(void *unused) {
    begin();
    start(one, wait_for_outside);
    pthread_join(one->thread, unused);
}

UNIT_TEST(bubble_deadlock_is_reported) {
    char text[4096];
    assert_int_equal(child_run(wait_for_each_other, NULL, text, sizeof(text)), -SIGABRT);
    assert_non_null(strstr(text, "htw-bubble: deadlock"));
    assert_non_null(strstr(text, "waits in a lock of the C library for the end of thread "));
    assert_non_null(strstr(text, "waits in epoll_pwait\n"));
}

static void read_clocks(void *unused) {
    begin();
    alarm(6); /* in real time */
    while (time(unused) > 0)
        ;
}

UNIT_TEST(bubble_thread_that_never_waits_is_reported) {
    char text[4096];
    assert_int_equal(child_run(read_clocks, NULL, text, sizeof(text)), -SIGALRM);
    assert_non_null(strstr(text, "time has stood still for 5 s"));
    assert_non_null(strstr(text, " runs\n"));
}
