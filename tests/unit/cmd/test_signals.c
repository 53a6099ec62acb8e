/* SPDX-License-Identifier: MIT */
/* test_signals.c - the command notes signals, and restores their handlers at the end. */
#include "../../../src/cmd/signals.h"

#include "../unit.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

static void (*handler_of(int number))(int) {
    struct sigaction action;
    assert_int_equal(sigaction(number, NULL, &action), 0);
    return action.sa_handler;
}

static int install(void **state) {
    (void)state;
    signal(SIGHUP, SIG_IGN); /* as nohup does */
    signal(SIGINT, SIG_DFL); /* which a shell ignores for the background of a script */
    return htw__signals_install();
}

static void signals_that_ask_for_an_end_are_noted_and_wake_a_poll(void **state) {
    (void)state;
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

static void signals_that_ask_for_a_dump_are_taken_once(void **state) {
    (void)state;
    assert_false(htw__signals_take_dump());
    raise(SIGUSR1);
    assert_true(htw__signals_take_dump());
    assert_false(htw__signals_take_dump());
}

static void signals_ignored_from_the_start_stay_ignored(void **state) {
    (void)state;
    assert_true(handler_of(SIGHUP) == SIG_IGN);
    assert_false(htw__signals_pipe_was_ignored());
    assert_true(handler_of(SIGPIPE) == SIG_IGN);
    assert_true(handler_of(SIGXFSZ) == SIG_IGN);
}

static void signals_restored_end_the_program_again(void **state) {
    (void)state;
    assert_true(handler_of(SIGTERM) != SIG_DFL);
    htw__signals_restore();
    assert_true(handler_of(SIGTERM) == SIG_DFL);
    assert_true(handler_of(SIGINT) == SIG_DFL);
    assert_true(handler_of(SIGUSR1) == SIG_IGN); /* its default would kill the program at its end */
    assert_true(handler_of(SIGHUP) == SIG_IGN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_that_ask_for_an_end_are_noted_and_wake_a_poll),
        cmocka_unit_test(signals_that_ask_for_a_dump_are_taken_once),
        cmocka_unit_test(signals_ignored_from_the_start_stay_ignored),
        cmocka_unit_test(signals_restored_end_the_program_again),
    };
    return cmocka_run_group_tests(tests, install, NULL);
}
