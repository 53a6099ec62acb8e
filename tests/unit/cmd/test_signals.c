/* SPDX-License-Identifier: MIT */
/* test_signals.c - the command notes signals, and restores their handlers at the end. */
#include "../../../programs/kit/signals.h"

#include "../unit.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

static void (*handler_of(int number))(int) {
    struct sigaction action;
    assert_int_equal(sigaction(number, NULL, &action), 0);
    return action.sa_handler;
}

UNIT_SETUP(install) {
    signal(SIGHUP, SIG_IGN); /* as nohup does */
    signal(SIGINT, SIG_DFL); /* which a shell ignores for the background of a script */
    assert_int_equal(htw__signals_install(), 0);
}

UNIT_TEST(signals_that_ask_for_an_end_are_noted_and_wake_a_poll) {
    struct pollfd wake = { .fd = htw__signals_fd(), .events = POLLIN };
    assert_int_equal(htw__signals_stop(), 0);
    assert_int_equal(poll(&wake, 1, 0), 0);
    raise(SIGTERM);
    raise(SIGINT);
    assert_int_equal(htw__signals_stop(), SIGTERM); /* the first */
    assert_int_equal(poll(&wake, 1, 0), 1);
    htw__signals_clear();
    assert_int_equal(poll(&wake, 1, 0), 0);
}

UNIT_TEST(signals_that_ask_for_a_dump_are_taken_once) {
    assert_false(htw__signals_take_dump());
    raise(SIGUSR1);
    assert_true(htw__signals_take_dump());
    assert_false(htw__signals_take_dump());
}

UNIT_TEST(signals_ignored_from_the_start_stay_ignored) {
    assert_true(handler_of(SIGHUP) == SIG_IGN);
    assert_false(htw__signals_pipe_was_ignored());
    assert_true(handler_of(SIGPIPE) == SIG_IGN);
    assert_true(handler_of(SIGXFSZ) == SIG_IGN);
}

UNIT_TEST(signals_restored_end_the_program_again) {
    assert_true(handler_of(SIGTERM) != SIG_DFL);
    htw__signals_restore();
    assert_true(handler_of(SIGTERM) == SIG_DFL);
    assert_true(handler_of(SIGINT) == SIG_DFL);
    assert_true(handler_of(SIGUSR1) == SIG_IGN); /* its default would kill the program at its end */
    assert_true(handler_of(SIGHUP) == SIG_IGN);
}
