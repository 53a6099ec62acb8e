/* SPDX-License-Identifier: MIT */
/* test_background.c - a thread that does jobs, beside one that does not wait for it. */
#include "../../src/background.h"

#include "unit/unit.h"

#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A commit that takes until it is told to end. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool may_end;
static int commits;

static int commit(void *context) {
    int *result = context;
    pthread_mutex_lock(&lock);
    commits++;
    pthread_cond_broadcast(&changed);
    while (!may_end)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return *result;
}

static void await_commit(int number) {
    pthread_mutex_lock(&lock);
    while (commits < number)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void let_end(bool may) {
    pthread_mutex_lock(&lock);
    may_end = may;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* holds: relay-17 */
UNIT_TEST(background_waits_and_its_caller_does_not) {
    struct htw__background background;
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), wanted = -5, result = 0;
    assert_int_equal(htw__background_start(&background, "commit", commit, &wanted, fd), 0);
    assert_false(htw__background_take(&background, true, &result)); /* none is in flight */
    htw__background_begin(&background);
    await_commit(1);
    assert_true(background.is_in_flight);
    assert_false(htw__background_take(&background, false, &result));
    let_end(true);
    struct pollfd readable = { .fd = fd, .events = POLLIN };
    assert_int_equal(poll(&readable, 1, -1), 1); /* its end wakes the caller */
    assert_true(htw__background_take(&background, true, &result));
    assert_int_equal(result, -5);
    assert_false(background.is_in_flight);
    assert_false(htw__background_take(&background, true, &result));
    htw__background_stop(&background);
    close(fd);
}

UNIT_TEST(background_that_is_stopped_ends_what_is_in_flight) {
    struct htw__background background, idle = { .job = NULL };
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), wanted = 0, result = -1;
    commits = 0;
    may_end = true;
    htw__background_stop(&idle);
    assert_int_equal(htw__background_start(&background, "commit", commit, &wanted, fd), 0);
    for (int i = 0; i < 3; i++) {
        htw__background_begin(&background);
        assert_true(htw__background_take(&background, true, &result));
        assert_int_equal(result, 0);
    }
    htw__background_begin(&background);
    htw__background_stop(&background);
    assert_int_equal(commits, 4);
    close(fd);
}
