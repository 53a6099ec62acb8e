/* SPDX-License-Identifier: MIT */
/*
 * manual_clock_test.c - tests of code that uses timers, with a scheduler on the manual clock.
 *
 * Without workers all callbacks run inside htw_scheduler_advance(), in this thread. A day passes in a
 * millisecond, no test sleeps, and none fails because the machine is slow.
 */
#include <htw/scheduler.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <pthread.h>

/* ---- the code under test: sessions that end after half an hour in which they are not used.
   It works in threads as well, where a session may end just as it is being used. */

#define SESSIONS_MAX 1000
#define SESSION_NS (30 * HTW_MINUTE)

struct sessions {
    struct htw_scheduler *scheduler;
    pthread_mutex_t mutex;
    struct session {
        struct sessions *all;
        htw_handle timer;
        bool is_open;
    } of_user[SESSIONS_MAX];
};

static void session_expired(void *arg, const struct htw_expiration *expiration) {
    struct session *session = arg;
    pthread_mutex_lock(&session->all->mutex);
    if (session->timer == expiration->handle) /* not if it was opened again meanwhile */
        session->is_open = false;
    pthread_mutex_unlock(&session->all->mutex);
}

static bool session_open(struct sessions *sessions, unsigned user) {
    struct session *session = &sessions->of_user[user];
    pthread_mutex_lock(&sessions->mutex);
    session->all = sessions;
    /* 0 names no timer, which is allowed. The session is not the timer's: the outcome is the same. */
    htw_cancel(sessions->scheduler, session->timer);
    session->is_open = htw_schedule(sessions->scheduler, SESSION_NS, session_expired, session,
                                    &session->timer) == 0;
    bool opened = session->is_open;
    pthread_mutex_unlock(&sessions->mutex);
    return opened;
}

/* Whether the session was open; if so, its half hour begins anew. */
static bool session_use(struct sessions *sessions, unsigned user) {
    struct session *session = &sessions->of_user[user];
    pthread_mutex_lock(&sessions->mutex);
    bool used = session->is_open &&
                htw_reschedule(sessions->scheduler, session->timer, SESSION_NS) == HTW_MOVED;
    pthread_mutex_unlock(&sessions->mutex);
    return used;
}

/* ---- its tests */

static struct sessions sessions;

static int setup(void **state) {
    (void)state;
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.clock = HTW_CLOCK_MANUAL;
    options.workers = HTW_NO_WORKERS;
    sessions = (struct sessions) { .mutex = PTHREAD_MUTEX_INITIALIZER };
    return htw_scheduler_create(&sessions.scheduler, &options);
}

static int teardown(void **state) {
    (void)state;
    return htw_scheduler_destroy(sessions.scheduler);
}

static void advance(int64_t delta_ns) {
    assert_int_equal(htw_scheduler_advance(sessions.scheduler, delta_ns), 0);
}

static void session_unused_ends_after_exactly_half_an_hour(void **state) {
    (void)state;
    assert_true(session_open(&sessions, 7));
    advance(30 * HTW_MINUTE - 1);
    assert_true(sessions.of_user[7].is_open);
    advance(1);
    assert_false(sessions.of_user[7].is_open);
    assert_false(session_use(&sessions, 7));
}

static void session_used_every_29_minutes_lasts_a_day(void **state) {
    (void)state;
    assert_true(session_open(&sessions, 7));
    for (int minute = 0; minute < 24 * 60; minute += 29) {
        advance(29 * HTW_MINUTE);
        assert_true(session_use(&sessions, 7));
    }
    advance(30 * HTW_MINUTE);
    assert_false(sessions.of_user[7].is_open);
}

static void session_opened_again_is_not_ended_by_the_old_timer(void **state) {
    (void)state;
    assert_true(session_open(&sessions, 7));
    advance(20 * HTW_MINUTE);
    assert_true(session_open(&sessions, 7));
    advance(20 * HTW_MINUTE);
    assert_true(session_use(&sessions, 7));
}

static void sessions_opened_a_minute_apart_end_a_minute_apart(void **state) {
    (void)state;
    for (unsigned user = 0; user < SESSIONS_MAX; user++) {
        assert_true(session_open(&sessions, user));
        advance(HTW_MINUTE);
        assert_int_equal(htw_pending(sessions.scheduler), user < 29 ? user + 1 : 29);
    }
    advance(29 * HTW_MINUTE);
    assert_int_equal(htw_pending(sessions.scheduler), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(session_unused_ends_after_exactly_half_an_hour, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(session_used_every_29_minutes_lasts_a_day, setup, teardown),
        cmocka_unit_test_setup_teardown(session_opened_again_is_not_ended_by_the_old_timer, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(sessions_opened_a_minute_apart_end_a_minute_apart, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
