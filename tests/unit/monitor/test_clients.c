/* SPDX-License-Identifier: MIT */
/*
 * test_clients.c - clients that do what they should not. The time of the monitor is injected: a client
 * is given up when the test says that its time is over.
 */
#include "../../support/memcheck.h"
#include "../../support/process.h"
#include "../../support/told.h"
#include "monitor_fixture.h"

#include <poll.h>
#include <semaphore.h>
#include <sys/un.h>
#include <time.h>

#define CLIENTS 8 /* of a monitor at a time */

int64_t __real_htw__clock_monotonic_ns(void);
int64_t __wrap_htw__clock_monotonic_ns(void);

static _Atomic int64_t ahead_ns;

int64_t __wrap_htw__clock_monotonic_ns(void) {
    return __real_htw__clock_monotonic_ns() + ahead_ns;
}

int __real_clock_gettime(clockid_t clock, struct timespec *ret_time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time);

/* An answer takes no time of the CPU, so that the pause after it does not depend on the machine. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time) {
    if (clock != CLOCK_THREAD_CPUTIME_ID)
        return __real_clock_gettime(clock, ret_time);
    *ret_time = (struct timespec) { 0 };
    return 0;
}

static sem_t is_refused; /* for want of a descriptor */

int __real_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags) {
    int result = __real_accept4(fd, address, size, flags), error = errno;
    if (result < 0 && error == EMFILE)
        sem_post(&is_refused);
    errno = error;
    return result;
}

static _Atomic unsigned polls;

int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms) {
    polls++;
    return __real_poll(fds, count, timeout_ms);
}

static bool is_json(const char *answer) {
    return strncmp(answer, "{\"htw\":", 7) == 0 && strstr(answer, "]}\n") != NULL;
}

/* holds: monitor-4 */
MONITOR_TEST(monitor_refuses_a_line_that_is_too_long) {
    static char line[300] = "GET /json?";
    memset(line + 10, 'x', sizeof(line) - 11); /* its end is still to come */
    assert_non_null(strstr(client_ask(f->path, line), "HTTP/1.0 400 "));
    memcpy(line, "json /json", 10);
    assert_string_equal(client_ask(f->path, line), "error: the request is too long\n");
}

/* holds: monitor-4 */
MONITOR_TEST(monitor_refuses_a_head_without_end) {
    int fd = client_connect(f->path);
    client_send(fd, "GET /json HTTP/1.1\r\n");
    for (int i = 0; i < 1000; i++) /* it may have hung up */
        (void)!send(fd, "X-Header: 1\r\n", 13, MSG_NOSIGNAL);
    assert_non_null(strstr(client_read(fd, NULL), "HTTP/1.0 400 "));
    close(fd);
    assert_true(is_json(client_ask(f->path, "json\n")));
}

MONITOR_TEST(monitor_answers_a_request_that_ends_with_the_stream) {
    int fd = client_connect(f->path);
    client_send(fd, "json");
    shutdown(fd, SHUT_WR);
    assert_true(is_json(client_read(fd, NULL)));
    close(fd);
    fd = client_connect(f->path); /* nothing at all */
    shutdown(fd, SHUT_WR);
    assert_string_equal(client_read(fd, NULL), "");
    close(fd);
    fd = client_connect(f->path); /* half of a head */
    client_send(fd, "GET /json HTTP/1.0\r\n");
    shutdown(fd, SHUT_WR);
    assert_string_equal(client_read(fd, NULL), "");
    close(fd);
}

/* It waits for its turn: answers are 10 ms apart. */
/* holds: monitor-4a */
MONITOR_TEST(monitor_sleeps_while_a_client_waits_that_has_sent_more) {
    char request[4096] = "json\n";
    memset(request + 5, 'x', sizeof(request) - 6);
    client_ask(f->path, "json\n");
    unsigned before = polls;
    assert_true(is_json(client_ask(f->path, request)));
    assert_in_range(polls - before, 1, 20);
}

/* holds: monitor-4 */
MONITOR_TEST(monitor_survives_clients_that_vanish) {
    static const char *const parts[] = { "", "js", "json\n", "GET /json HTTP/1.0\r\n" };
    for (int i = 0; i < 100; i++) {
        int fd = client_connect(f->path);
        client_send(fd, parts[(size_t)i % COUNT_OF(parts)]);
        close(fd);
    }
    assert_true(is_json(client_ask(f->path, "json\n")));
}

/* holds: monitor-4 */
MONITOR_TEST(monitor_answers_clients_that_wait_for_a_place) {
    int fds[CLIENTS + 16]; /* so many may wait */
    /* The places are taken by clients that say nothing; they lose them when their time is over. */
    for (size_t i = 0; i < COUNT_OF(fds); i++)
        fds[i] = client_connect(f->path);
    for (size_t i = CLIENTS; i < COUNT_OF(fds); i++)
        client_send(fds[i], "json\n");
    ahead_ns += 6000000000;
    client_send(fds[0], "x"); /* so that the thread sees the time */
    for (size_t i = 0; i < COUNT_OF(fds); i++) {
        const char *answer = client_read(fds[i], NULL);
        if (i < CLIENTS)
            assert_string_equal(answer, "");
        else
            assert_true(is_json(answer));
        close(fds[i]);
    }
}

/* holds: monitor-4 */
MONITOR_TEST(monitor_gives_up_a_client_that_does_not_read) {
    struct htw_scheduler *schedulers[64];
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    char name[16];
    options.clock = HTW_CLOCK_MANUAL;
    options.workers = HTW_NO_WORKERS;
    for (size_t i = 0; i < COUNT_OF(schedulers); i++) { /* an answer that fills the socket */
        snprintf(name, sizeof(name), "n%zu", i);
        assert_int_equal(htw_scheduler_create(&schedulers[i], &options), 0);
        assert_int_equal(htw_monitor_add_scheduler(f->monitor, name, schedulers[i], NULL), 0);
    }
    int fds[CLIENTS - 1];
    for (size_t i = 0; i < COUNT_OF(fds); i++) {
        int small = 1;
        fds[i] = client_connect(f->path);
        setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
        client_send(fds[i], i % 2 == 0 ? "metrics\n" : "GET /metrics HTTP/1.0\r\n\r\n");
    }
    assert_true(is_json(client_ask(f->path, "json\n"))); /* the others do not wait for them */
    ahead_ns += 6000000000;
    assert_true(is_json(client_ask(f->path, "json\n")));
    for (size_t i = 0; i < COUNT_OF(fds); i++) {
        struct pollfd hangup = { .fd = fds[i] };
        assert_int_equal(poll(&hangup, 1, 30000), 1);
        assert_true((hangup.revents & POLLHUP) != 0);
        close(fds[i]);
    }
    monitor_close(f);
    for (size_t i = 0; i < COUNT_OF(schedulers); i++)
        htw_scheduler_destroy(schedulers[i]);
}

/* holds: monitor-4 */
MONITOR_TEST(monitor_closes_at_once_with_clients_in_every_state) {
    int fds[CLIENTS];
    static const char *const parts[] = { "", "js", "json\n", "GET /json HTTP/1.0\r\n" };
    for (size_t i = 0; i < COUNT_OF(fds); i++) {
        fds[i] = client_connect(f->path);
        client_send(fds[i], parts[i % COUNT_OF(parts)]);
    }
    monitor_close(f);
    for (size_t i = 0; i < COUNT_OF(fds); i++)
        close(fds[i]);
}

/* ---- the process may have no more descriptors than before, or fewer than it has */

/* A client that asks, and for which the monitor gets no descriptor. Returns the limit before. valgrind accepts a client
   before it looks at the limit, and then drops it. */
static rlim_t begin_without(struct monitor_fixture *f, rlim_t most, int *ret_client) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (RUNNING_ON_VALGRIND)
        skip();
    sem_init(&is_refused, 0, 0);
    *ret_client = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(address.sun_path, f->path);
    rlim_t before = limit_descriptors(most);
    assert_int_equal(connect(*ret_client, (struct sockaddr *)&address, sizeof(address)), 0);
    client_send(*ret_client, "json\n");
    sem_wait(&is_refused);
    return before;
}

/* holds: monitor-5a */
MONITOR_TEST(monitor_closes_whatever_the_limit_of_descriptors_is) {
    for (rlim_t most = 0; most < 3; most++) {
        int client;
        rlim_t before = begin_without(f, most, &client);
        monitor_close(f);
        limit_descriptors(before);
        assert_string_equal(client_read(client, NULL), "");
        close(client);
        assert_int_equal(monitor_open(f), 0);
    }
}

/* holds: monitor-5a */
MONITOR_TEST(monitor_without_a_descriptor_for_a_client_answers_it_later) {
    int client;
    begin_told(keep_told);
    rlim_t before = begin_without(f, 0, &client);
    sem_wait(&is_refused); /* it tries again */
    limit_descriptors(before);
    assert_told("a client cannot be accepted: the process has too many open files");
    assert_memory_equal(told.text, "1 monitor: ", 11);
    assert_memory_equal(client_read(client, NULL), "{\"htw\":", 7);
    close(client);
}
