/* SPDX-License-Identifier: MIT */
/*
 * test_delay_end.c - how a run of `htw delay` ends: its messages, what it saves, and its exit
 * status.
 */
#include "delay_runs.h"

UNIT_TEST(delay_run_that_cannot_wait_reports_it_and_ends) {
    struct run run = run_with("10ms a\n20ms b\n");
    run.events = EVENTS({ .kind = PASSES }, { .kind = PASSES }, { .kind = PASSES },
                        { .kind = FAILS, .number = ENOMEM });
    assert_run(&run, HTW__EXIT_FAILED, "a\n",
               "htw delay: cannot wait: Cannot allocate memory\n"
               "htw delay: 1 not released\n");
}

UNIT_TEST(delay_run_stopped_writes_what_is_due) {
    struct run run = run_with("0 a\n10ms b\n20ms c\n");
    run.events =
        EVENTS({ .kind = PASSES }, { .kind = SIGNAL, .number = SIGTERM, .more_ns = 10 * MS });
    run.is_open = true;
    assert_run(&run, HTW__EXIT_SIGNAL + SIGTERM, "a\nb\n",
               "htw delay: stopped by a signal after -:3: 1 not released\n");
}

UNIT_TEST(delay_run_to_a_closed_reader_is_quiet) {
    struct run run = run_with("10ms a\n");
    run.has_reader_gone = true;
    run.is_open = true;
    assert_run(&run, HTW__EXIT_SIGNAL + SIGPIPE, NULL, "");
}

UNIT_TEST(delay_run_to_a_closed_reader_fails_if_sigpipe_was_ignored) {
    struct run run = run_with("10ms a\n");
    run.has_reader_gone = true;
    run.ignores_sigpipe = true;
    assert_run(&run, HTW__EXIT_FAILED, NULL,
               "htw delay: standard output: Broken pipe\n"
               "htw delay: stopped after -:0: 1 not released\n");
}

UNIT_TEST(delay_run_to_a_full_disk_reports_it_and_fails) {
    struct run run = run_with("10ms a\n20ms b\n");
    run.is_full = true;
    run.events = EVENTS({ .kind = PASSES }, { .kind = PASSES });
    assert_run(&run, HTW__EXIT_FAILED, NULL,
               "htw delay: standard output: No space left on device\n"
               "htw delay: 2 not released\n");
}

/* A name that no other run of the tests has. */
static const char *unreleased_name(void) {
    static char name[64];
    snprintf(name, sizeof(name), "/tmp/htw-run-%ld", (long)getpid());
    return name;
}

static const char *taken_content_of(const char *path) {
    static char text[1024];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    unlink(path);
    return file < 0 ? "nothing there" : content_of(file, text, sizeof(text));
}

UNIT_TEST(delay_run_stopped_saves_what_is_left) {
    static const struct event events[] = {
        { .kind = PASSES },
        { .kind = SIGNAL, .number = SIGTERM, .more_ns = 1 * MS },
    };
    static const struct {
        const char *input;
        bool is_open;
        const char *told; /* before the name of the file */
        const char *more; /* behind it */
        const char *saved;
    } cases[] = {
        { "1s a\n@1005 b\n3s", true, "stopped by a signal after -:2: 2 not released, written to ",
          "htw delay: -:3: read in part only, and left out\n",
          "0.999000000 a\n@1005.000000000 b\n" },
        { "1s a\n2s b\n", false, "stopped by a signal after -:2: 2 not released, written to ", "",
          "0.999000000 a\n1.999000000 b\n" },
    };
    char wanted[512];
    for (size_t i = 0; i < 2; i++) {
        struct run run = run_with(cases[i].input);
        run.is_open = cases[i].is_open;
        run.events = events;
        run.options.unreleased_path = unreleased_name();
        const struct result *result = result_of(&run);
        snprintf(wanted, sizeof(wanted), "htw delay: %s%s\n%s", cases[i].told, unreleased_name(),
                 cases[i].more);
        assert_string_equal(result->err, wanted);
        assert_string_equal(taken_content_of(unreleased_name()), cases[i].saved);
        assert_int_equal(result->status, HTW__EXIT_SIGNAL + SIGTERM);
    }
}

/* The input had ended: the message does not say how far it was read. */
UNIT_TEST(delay_run_stopped_after_its_input_reports_only_the_count) {
    struct run run = run_with("1s a\n");
    run.events =
        EVENTS({ .kind = PASSES }, { .kind = PASSES }, { .kind = SIGNAL, .number = SIGTERM });
    run.options.stats = true;
    const struct result *result = result_of(&run);
    assert_int_equal(result->status, HTW__EXIT_SIGNAL + SIGTERM);
    const char told[] =
        "htw delay: stopped by a signal: 1 not released\nread 1, bad 0, released 0, "
        "unreleased 1\n";
    assert_memory_equal(result->err, told, sizeof(told) - 1);
}

UNIT_TEST(delay_run_that_cannot_save_does_not_start) {
    struct run run = run_with("1s a\n");
    run.options.unreleased_path = "/nowhere/at all";
    const struct result *result = assert_run(
        &run, HTW__EXIT_FAILED, NULL, "htw delay: /nowhere/at all: No such file or directory\n");
    assert_int_equal(result->sleeps, 0);
}

UNIT_TEST(delay_run_that_would_replace_its_input_does_not_start) {
    char wanted[256];
    char name[64];
    char second[] = "/dev/null";
    char *const names[] = { second, name };
    snprintf(name, sizeof(name), "%s", unreleased_name());
    close(open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    struct run run = run_with("");
    run.options.names = names;
    run.options.name_count = 2;
    run.options.unreleased_path = unreleased_name();
    const struct result *result = result_of(&run);
    assert_string_equal(taken_content_of(name), "");
    assert_int_equal(result->status, HTW__EXIT_FAILED);
    snprintf(wanted, sizeof(wanted),
             "htw delay: %s: is to be read, and so cannot be the --unreleased file\n", name);
    assert_string_equal(result->err, wanted);
}
