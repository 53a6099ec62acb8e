/* SPDX-License-Identifier: MIT */
/*
 * test_monitor.c - each system call of a monitor fails in turn, once: opening is refused with a named
 * error and leaves nothing behind, or goes on; a monitor that is open answers again afterwards.
 */
/* holds: monitor-5 */
#include "../support/failing_calls.h"
#include "../support/process.h"
#include "../support/test_folder.h"
#include "../unit/unit.h"

#include <htw/monitor.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* All calls are of one kind. */
#define WRAP(type, name, parameters, arguments) \
    FAILING_WRAP(0, -1, type, name, parameters, arguments)

WRAP(int, socket, (int a, int b, int c), (a, b, c))
WRAP(int, bind, (int a, const struct sockaddr *b, socklen_t c), (a, b, c))
WRAP(int, listen, (int a, int b), (a, b))
WRAP(int, fchmod, (int a, mode_t b), (a, b))
WRAP(int, flock, (int a, int b), (a, b))
WRAP(int, mkdir, (const char *a, mode_t b), (a, b))
WRAP(int, accept4, (int a, struct sockaddr *b, socklen_t *c, int d), (a, b, c, d))
WRAP(int, getsockopt, (int a, int b, int c, void *d, socklen_t *e), (a, b, c, d, e))
WRAP(int, poll, (struct pollfd * a, nfds_t b, int c), (a, b, c))
WRAP(ssize_t, recv, (int a, void *b, size_t c, int d), (a, b, c, d))
WRAP(ssize_t, send, (int a, const void *b, size_t c, int d), (a, b, c, d))
FAILING_WRAP(0, EAGAIN, int, pthread_create,
             (pthread_t * a, const pthread_attr_t *b, void *(*c)(void *), void *d), (a, b, c, d))

static char folder[TEST_FOLDER_SIZE], path[TEST_FOLDER_SIZE + 16];

/* Asks, as another process would. Whether the answer is whole. */
static bool ask(const char *where) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    char answer[4096];
    size_t size = 0;
    int fd = __real_socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(address.sun_path, where);
    bool is_connected = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
    if (is_connected && __real_send(fd, "json\n", 5, MSG_NOSIGNAL) == 5)
        for (ssize_t more;
             size < sizeof(answer) && (more = read(fd, answer + size, sizeof(answer) - size)) > 0;)
            size += (size_t)more;
    close(fd);
    return size > 3 && memcmp(answer + size - 3, "]}\n", 3) == 0;
}

static const int errors[] = { EMFILE, ENOMEM, EACCES, EINTR, EDQUOT };

/* Returns how many times opening was refused. */
static unsigned open_with_failures(const char *where, const char *in) {
    unsigned refused = 0;
    for (size_t i = 0; i < COUNT_OF(errors); i++) {
        for (unsigned nth = 1;; nth++) {
            struct htw_monitor *monitor = NULL;
            struct htw_monitor_options options = HTW_MONITOR_OPTIONS_INIT;
            unsigned descriptors = entries_of("/proc/self/fd"), files = entries_of(in);
            options.path = where;
            failing_calls_plan(0, nth, errors[i], false);
            int error = htw_monitor_open(&monitor, &options);
            bool has_failed = failing_calls_relent();
            if (error != 0) {
                refused++;
                assert_true(error < 0);
                assert_null(monitor);
            } else {
                assert_true(ask(htw_monitor_path(monitor)));
                htw_monitor_close(monitor);
            }
            assert_int_equal(entries_of("/proc/self/fd"), descriptors);
            assert_int_equal(entries_of(in), files);
            if (!has_failed)
                break;
        }
    }
    return refused;
}

static void setup(void) {
    assert_true(test_folder_create(folder));
    snprintf(path, sizeof(path), "%s/socket", folder);
}

static void teardown(void) {
    assert_true(test_folder_remove(folder));
}

UNIT_TEST_BETWEEN(setup, teardown, monitor_each_call_of_opening_fails_in_turn) {
    assert_true(open_with_failures(path, folder) > 10);
}

UNIT_TEST_BETWEEN(setup, teardown, monitor_each_call_of_opening_by_default_fails_in_turn) {
    char own[TEST_FOLDER_SIZE + 8];
    snprintf(own, sizeof(own), "%s/htw", folder);
    setenv("XDG_RUNTIME_DIR", folder, 1);
    assert_int_equal(mkdir(own, 0700), 0);
    assert_true(open_with_failures(NULL, own) > 10);
    unsetenv("XDG_RUNTIME_DIR");
}

UNIT_TEST_BETWEEN(setup, teardown, monitor_each_call_of_answering_fails_in_turn) {
    struct htw_monitor *monitor;
    struct htw_monitor_options options = HTW_MONITOR_OPTIONS_INIT;
    options.path = path;
    assert_int_equal(htw_monitor_open(&monitor, &options), 0);
    unsigned lost = 0;
    for (size_t i = 0; i < COUNT_OF(errors); i++) {
        for (unsigned nth = 1; nth <= 24; nth++) {
            failing_calls_plan(0, nth, errors[i], false);
            lost += !ask(path); /* this client may be lost */
            failing_calls_relent();
            assert_true(ask(path)); /* the next one is not */
        }
    }
    assert_true(lost > 0);
    htw_monitor_close(monitor);
    assert_int_not_equal(access(path, F_OK), 0);
}
