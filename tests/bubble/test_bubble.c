/* SPDX-License-Identifier: MIT */
/* test_bubble.c - what waits in a bubble, what ends it, and what is reported. */
#include <htw/bubble.h>

#include "../unit/unit.h"

#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HOUR 3600
#define SECOND_NS INT64_C(1000000000)
#define HOUR_NS (HOUR * SECOND_NS)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static uint32_t word;
static volatile bool runs = true;
static int in, out; /* two ends of what two threads share */

static void begin(void) {
    assert_int_equal(htw_bubble_begin(), 0);
}

static void end(void) {
    assert_int_equal(htw_bubble_end(), 0);
}

static struct timespec read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now;
}

static int64_t now_ns(void) {
    struct timespec now = read_clock(CLOCK_MONOTONIC);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

static pthread_t start(void *(*main)(void *)) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, main, NULL), 0);
    return thread;
}

/* ---- calls that wait for an hour, in vain. Each returns its result. */

static struct timespec monotonic, real; /* in an hour */

static int wait_for_sleep(void) {
    return (int)sleep(HOUR);
}

static int wait_for_instant(void) {
    return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &real, NULL);
}

static int wait_for_condition(void) {
    pthread_mutex_lock(&mutex);
    int result = pthread_cond_timedwait(&condition, &mutex, &real);
    pthread_mutex_unlock(&mutex);
    return result - ETIMEDOUT;
}

static int wait_for_semaphore(void) {
    return sem_clockwait(&semaphore, CLOCK_MONOTONIC, &monotonic) + (errno == ETIMEDOUT);
}

static int wait_for_futex(void) {
    const struct timespec delay = { .tv_sec = HOUR };
    return (int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &delay) + (errno == ETIMEDOUT);
}

static int wait_by_poll(void) {
    return poll(&(struct pollfd) { .fd = in, .events = POLLIN }, 1, HOUR * 1000);
}

static int wait_by_epoll(void) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = { .events = EPOLLIN };
    assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, in, &event), 0);
    return epoll_wait(epoll, &event, 1, HOUR * 1000);
}

static int wait_for_timer(void) {
    const struct itimerspec times = { .it_value.tv_sec = HOUR / 2, .it_interval.tv_sec = HOUR / 2 };
    int timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
    uint64_t counts[2];
    assert_int_equal(timerfd_settime(timer, 0, &times, NULL), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(read(timer, &counts[i], 8), 8);
    close(timer);
    return counts[0] == 1 && counts[1] == 1 ? 0 : -1;
}

UNIT_TEST_BETWEEN(begin, end, bubble_timeout_passes_at_once) {
    static int (*const waits[])(void) = { wait_for_sleep,     wait_for_instant, wait_for_condition,
                                          wait_for_semaphore, wait_for_futex,   wait_by_poll,
                                          wait_by_epoll,      wait_for_timer };
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    in = ends[0];
    out = ends[1];
    for (size_t i = 0; i < COUNT_OF(waits); i++) {
        int64_t began_ns = now_ns();
        time_t began = time(NULL);
        monotonic = read_clock(CLOCK_MONOTONIC);
        real = read_clock(CLOCK_REALTIME);
        monotonic.tv_sec += HOUR;
        real.tv_sec += HOUR;
        assert_int_equal(waits[i](), 0);
        assert_int_equal(now_ns() - began_ns, HOUR_NS);
        assert_int_equal(time(NULL) - began, HOUR);
    }
}

/* ---- calls that another thread ends after an hour: both take the same number */

/* Semaphores: tests/bubble/stress.c. */
enum { MUTEX, CONDITION, FUTEX, JOIN, READ, POLL, WAITS };

static int kind;

static void *end_later(void *unused) {
    if (kind == MUTEX)
        pthread_mutex_lock(&mutex);
    sleep(HOUR);
    if (kind == MUTEX)
        pthread_mutex_unlock(&mutex);
    else if (kind == CONDITION)
        pthread_cond_signal(&condition);
    else if (kind == FUTEX)
        assert_int_equal(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 2), 1);
    else if (kind >= READ)
        assert_int_equal(write(out, &(uint64_t) { 1 }, 8), 8);
    return unused;
}

static void *wait_for_end(void *ret_ended_ns) {
    struct pollfd fd = { .fd = in, .events = POLLIN };
    uint64_t bytes;
    if (kind == MUTEX || kind == CONDITION)
        pthread_mutex_lock(&mutex);
    if (kind == CONDITION)
        pthread_cond_wait(&condition, &mutex);
    if (kind == MUTEX || kind == CONDITION)
        pthread_mutex_unlock(&mutex);
    else if (kind == FUTEX)
        assert_int_equal(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL), 0);
    else if (kind == POLL)
        assert_int_equal(poll(&fd, 1, -1), 1);
    if (kind >= READ)
        assert_int_equal(read(in, &bytes, 8), 8);
    if (ret_ended_ns != NULL)
        *(int64_t *)ret_ended_ns = now_ns();
    return NULL;
}

static void require_hour(int of_kind) {
    int64_t began_ns = now_ns();
    kind = of_kind;
    pthread_t thread = start(end_later);
    assert_int_equal(htw_bubble_settle(), 0); /* it sleeps */
    wait_for_end(NULL);
    pthread_join(thread, NULL);
    assert_int_equal(now_ns() - began_ns, HOUR_NS);
}

UNIT_TEST_BETWEEN(begin, end, bubble_other_thread_ends_wait) {
    for (int of_kind = 0; of_kind < WAITS; of_kind++)
        require_hour(of_kind);
}

static void use_ends(int to_read, int to_write) {
    in = to_read;
    out = to_write;
    require_hour(READ);
    require_hour(POLL);
}

UNIT_TEST_BETWEEN(begin, end, bubble_data_ends_wait) {
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr *address = (struct sockaddr *)&to;
    socklen_t size = sizeof(to);
    int ends[2], event = eventfd(0, 0), client = socket(AF_INET, SOCK_STREAM, 0),
                 listener = socket(AF_INET, SOCK_STREAM, 0);
    use_ends(event, event);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    use_ends(ends[0], ends[1]);
    assert_int_equal(bind(listener, address, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, address, &size), 0);
    assert_int_equal(connect(client, address, size), 0);
    use_ends(client, accept(listener, NULL, NULL));
}

/* ---- what else ends or holds a wait */

static void *run(void *unused) {
    while (runs)
        ;
    return unused;
}

UNIT_TEST_BETWEEN(begin, end, bubble_deadline_that_has_passed_needs_no_other_thread_to_wait) {
    const struct timespec passed = { 0 };
    pthread_t thread = start(run);
    assert_int_equal(sem_timedwait(&semaphore, &passed), -1);
    assert_int_equal(errno, ETIMEDOUT);
    runs = false;
    pthread_join(thread, NULL);
    runs = true;
}

static void *sleep_for_ever(void *unused) {
    while (sleep(HOUR) == 0)
        ;
    return unused;
}

UNIT_TEST_BETWEEN(begin, end, bubble_cancelled_thread_ends_with_its_wait) {
    int64_t began_ns = now_ns();
    pthread_t thread = start(sleep_for_ever);
    htw_bubble_settle();
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    assert_int_equal(now_ns(), began_ns + HOUR_NS);
}

static void ignore(int signal) {
    (void)signal;
}

/* By an epoll, which watches others, too, in any order. */
static void *wait_for_epolls(void *ret_ended_ns) {
    struct epoll_event event = { .events = EPOLLIN };
    int outer = epoll_create1(EPOLL_CLOEXEC), event_fd = eventfd(0, EFD_CLOEXEC);
    assert_int_equal(epoll_ctl(outer, EPOLL_CTL_ADD, in, &event), 0);
    for (int i = 0; i < 8; i++) {
        int inner = epoll_create1(EPOLL_CLOEXEC);
        assert_int_equal(epoll_ctl(inner, EPOLL_CTL_ADD, event_fd, &event), 0);
        assert_int_equal(epoll_ctl(outer, EPOLL_CTL_ADD, inner, &event), 0);
    }
    assert_int_equal(epoll_wait(outer, &event, 1, -1), 1);
    *(int64_t *)ret_ended_ns = now_ns();
    return NULL;
}

/* Lives in real time, and has the only end to write. */
static void be_outside(int to_write) {
    int result = htw_bubble_end();
    usleep(20000);
    kill(getppid(), SIGUSR1);
    usleep(20000);
    _exit(result != 0 || write(to_write, "outside", 8) < 0);
}

static void require_to_hold_time(void *(*main)(void *)) {
    const struct sigaction action = { .sa_handler = ignore };
    int64_t began_ns = now_ns(), received_ns = 0;
    int ends[2], status;
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    pid_t child = fork();
    if (child == 0)
        be_outside(ends[1]);
    close(ends[1]);
    in = ends[0];
    kind = READ;
    assert_int_equal(pthread_create(&thread, NULL, main, &received_ns), 0);
    assert_int_equal(sleep(HOUR), HOUR); /* the signal ends it */
    assert_int_equal(sleep(HOUR), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(received_ns, began_ns);
    assert_int_equal(now_ns(), began_ns + HOUR_NS);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

UNIT_TEST_BETWEEN(begin, end, bubble_input_from_outside_holds_time) {
    require_to_hold_time(wait_for_end);
    require_to_hold_time(wait_for_epolls);
}

UNIT_TEST_BETWEEN(begin, NULL, bubble_ends_after_its_threads) {
    kind = JOIN;
    pthread_t thread = start(end_later);
    assert_int_equal(htw_bubble_begin(), -EALREADY);
    assert_int_equal(htw_bubble_end(), -EBUSY);
    pthread_join(thread, NULL);
    end();
    assert_int_equal(htw_bubble_end(), -EINVAL);
    assert_int_equal(htw_bubble_settle(), -EINVAL);
}

/* ---- reports */

/* What a child says that does this in a bubble. Returns its status. */
static int report_of(void (*act)(void), char *text, size_t size) {
    int ends[2], status;
    size_t length = 0;
    ssize_t more;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        begin();
        act();
        _exit(0);
    }
    close(ends[1]);
    while ((more = read(ends[0], text + length, size - 1 - length)) > 0)
        length += (size_t)more;
    text[length] = '\0';
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void wait_for_each_other(void) {
    kind = CONDITION;
    pthread_join(start(wait_for_end), NULL);
}

UNIT_TEST(bubble_deadlock_is_reported) {
    char text[4096];
    int status = report_of(wait_for_each_other, text, sizeof(text));
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "htw-bubble: deadlock"));
    assert_non_null(strstr(text, "waits in a lock of the C library for the end of thread "));
    assert_non_null(strstr(text, "waits in pthread_cond_wait for "));
}

static void sleep_beside_running(void) {
    start(run);
    alarm(6); /* in real time */
    sleep(1);
}

UNIT_TEST(bubble_thread_that_runs_for_ever_is_reported) {
    char text[4096];
    int status = report_of(sleep_beside_running, text, sizeof(text));
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    assert_non_null(strstr(text, "time has stood still for 5 s"));
    assert_non_null(strstr(text, "waits in clock_nanosleep, "));
    assert_non_null(strstr(text, " runs\n"));
}
