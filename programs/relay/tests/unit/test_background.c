/* SPDX-License-Identifier: MIT */
/* test_background.c - a thread that does jobs, beside one that does not wait for it. */
#include "../../src/background.h"

#include "unit/unit.h"

#include <poll.h>
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

static int wanted, result;

static struct htw__background make(void) {
    return (struct htw__background) {
        .job = commit, .context = &wanted, .name = "commit", .event_fd = eventfd(0, EFD_CLOEXEC)
    };
}

/* holds: relay-17 */
UNIT_TEST(background_waits_and_its_caller_does_not) {
    struct htw__background background = make();
    wanted = -5;
    assert_false(htw__background_take(&background, true, &result)); /* none is in flight */
    htw__background_begin(&background);
    await_commit(1);
    assert_true(background.is_in_flight);
    assert_false(htw__background_take(&background, false, &result));
    let_end(true);
    struct pollfd readable = { .fd = background.event_fd, .events = POLLIN };
    assert_int_equal(poll(&readable, 1, -1), 1); /* its end wakes the caller */
    assert_true(htw__background_take(&background, false, &result));
    assert_int_equal(result, -5);
    assert_false(htw__background_take(&background, true, &result));
    for (int i = 2; i <= 4; i++) {
        wanted = i;
        htw__background_begin(&background);
        assert_true(htw__background_take(&background, true, &result));
        assert_int_equal(result, i);
    }
    assert_int_equal(commits, 4);
    close(background.event_fd);
}
