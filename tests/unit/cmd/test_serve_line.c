/* SPDX-License-Identifier: MIT */
/* test_serve_line.c - the lines of the protocol of `htw serve`. */
/* holds: serve-4 */
#include "../../../src/cmd/serve/line.h"

#include "../unit.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct htw__serve_line line;
static size_t consumed;

static enum htw__serve_line_result read_text(const char *text) {
    return htw__serve_line_read(text, strlen(text), &line, &consumed);
}

static void assert_command(const char *text, enum htw__verb verb) {
    assert_int_equal(read_text(text), HTW__SERVE_LINE_COMMAND);
    assert_int_equal(line.verb, verb);
    assert_int_equal(consumed, strlen(text));
}

UNIT_TEST(serve_line_has_the_arguments_of_its_command) {
    assert_command("put 1 02  3 4294967295\r\n", HTW__VERB_PUT);
    assert_int_equal(line.priority, 1);
    assert_int_equal(line.delay_s, 2);
    assert_int_equal(line.ttr_s, 3);
    assert_int_equal(line.size, UINT32_MAX);
    assert_command("release 18446744073709551615 7 8\r\n", HTW__VERB_RELEASE);
    assert_true(line.id == UINT64_MAX);
    assert_int_equal(line.priority, 7);
    assert_int_equal(line.delay_s, 8);
    assert_command("bury 5 6\r\n", HTW__VERB_BURY);
    assert_int_equal(line.id, 5);
    assert_int_equal(line.priority, 6);
    assert_command("pause-tube  a 60\r\n", HTW__VERB_PAUSE_TUBE);
    assert_string_equal(line.name, "a");
    assert_int_equal(line.delay_s, 60);
    assert_command("use aZ09-+/;.$_()\r\n", HTW__VERB_USE);
    assert_string_equal(line.name, "aZ09-+/;.$_()");
    assert_command("kick 9 and more\r\n", HTW__VERB_KICK);
    assert_int_equal(line.count, 9);
    assert_command("kick +1\r\n", HTW__VERB_KICK);
    assert_int_equal(line.count, 1);
    assert_command("kick -1\r\n", HTW__VERB_KICK);
    assert_int_equal(line.count, UINT32_MAX);
}

UNIT_TEST(serve_line_of_each_word_is_its_command) {
    static const struct {
        const char *text;
        enum htw__verb verb;
    } cases[] = {
        { "put 0 0 0 0\r\n", HTW__VERB_PUT },
        { "peek 1\r\n", HTW__VERB_PEEK },
        { "peek-ready\r\n", HTW__VERB_PEEK_READY },
        { "peek-delayed\r\n", HTW__VERB_PEEK_DELAYED },
        { "peek-buried\r\n", HTW__VERB_PEEK_BURIED },
        { "reserve\r\n", HTW__VERB_RESERVE },
        { "reserve-with-timeout 1\r\n", HTW__VERB_RESERVE_WITH_TIMEOUT },
        { "reserve-job 1\r\n", HTW__VERB_RESERVE_JOB },
        { "delete 1\r\n", HTW__VERB_DELETE },
        { "release 1 1 1\r\n", HTW__VERB_RELEASE },
        { "bury 1 1\r\n", HTW__VERB_BURY },
        { "kick 1\r\n", HTW__VERB_KICK },
        { "kick-job 1\r\n", HTW__VERB_KICK_JOB },
        { "touch 1\r\n", HTW__VERB_TOUCH },
        { "stats\r\n", HTW__VERB_STATS },
        { "stats-job 1\r\n", HTW__VERB_STATS_JOB },
        { "stats-tube a\r\n", HTW__VERB_STATS_TUBE },
        { "use a\r\n", HTW__VERB_USE },
        { "watch a\r\n", HTW__VERB_WATCH },
        { "ignore a\r\n", HTW__VERB_IGNORE },
        { "list-tubes\r\n", HTW__VERB_LIST_TUBES },
        { "list-tube-used\r\n", HTW__VERB_LIST_TUBE_USED },
        { "list-tubes-watched\r\n", HTW__VERB_LIST_TUBES_WATCHED },
        { "pause-tube a 1\r\n", HTW__VERB_PAUSE_TUBE },
        { "quit\r\n", HTW__VERB_QUIT },
        { "quit now\r\n", HTW__VERB_QUIT },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_command(cases[i].text, cases[i].verb);
}

UNIT_TEST(serve_line_says_how_long_a_reserve_waits) {
    static const struct {
        const char *text;
        int64_t timeout_s;
    } cases[] = {
        { "reserve\r\n", -1 },
        { "reserve-with-timeout 0\r\n", 0 },
        { "reserve-with-timeout 7s\r\n", 7 },
        { "reserve-with-timeout -7\r\n", -7 },
        { "reserve-with-timeout x\r\n", 0 },
        { "reserve-with-timeout \r\n", 0 },
        { "reserve-with-timeout -\r\n", 0 },
        { "reserve-with-timeout 9223372036854775807\r\n", INT64_MAX },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(read_text(cases[i].text), HTW__SERVE_LINE_COMMAND);
        assert_true(line.timeout_s == cases[i].timeout_s);
    }
}

UNIT_TEST(serve_line_with_wrong_arguments_is_bad) {
    static const char *const bad[] = {
        "put 1 0 1\r\n",
        "put 1 0 1 1 \r\n",
        "put +1 0 1 1\r\n",
        "put -1 0 1 1\r\n",
        "put 1 0 1 1x\r\n",
        "put 4294967296 0 1 1\r\n",
        "put 1 0 1 4294967296\r\n",
        "peek x\r\n",
        "peek 1 \r\n",
        "peek-readyx\r\n",
        "reserve \r\n",
        "reserve-with-timeout\r\n",
        "reserve-with-timeout 9223372036854775808\r\n",
        "kick \r\n",
        "kick -\r\n",
        "delete 18446744073709551616\r\n",
        "release 1 1\r\n",
        "bury 1\r\n",
        "kick x\r\n",
        "kick 9223372036854775808\r\n",
        "statsx\r\n",
        "stats-tube \r\n",
        "use -a\r\n",
        "use  a\r\n",
        "use a!\r\n",
        "use a b\r\n",
        "pause-tube a\r\n",
        "list-tube-used\r\r\n",
        "watch a\rb\r\n",
    };
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(read_text(bad[i]), HTW__SERVE_LINE_BAD);
    assert_int_equal(htw__serve_line_read("stats\0\r\n", 8, &line, &consumed), HTW__SERVE_LINE_BAD);
    assert_int_equal(consumed, 8);
}

UNIT_TEST(serve_line_that_is_no_command_is_unknown) {
    static const char *const unknown[] = { "\r\n",       "foo\r\n", "put\r\n", "PUT 1 0 1 1\r\n",
                                           "delete\r\n", "\n\r\n" };
    for (size_t i = 0; i < COUNT(unknown); i++) {
        assert_int_equal(read_text(unknown[i]), HTW__SERVE_LINE_UNKNOWN);
        assert_int_equal(consumed, strlen(unknown[i]));
    }
}

UNIT_TEST(serve_line_of_a_browser_is_told_apart) {
    assert_int_equal(read_text("GET / HTTP/1.1\r\n"), HTW__SERVE_LINE_HTTP);
    assert_int_equal(read_text("POST /put HTTP/1.0\r\n"), HTW__SERVE_LINE_HTTP);
}

UNIT_TEST(serve_line_ends_with_both_bytes) {
    static const char text[] = "stats\r\nstats\r\n";
    for (size_t size = 0; size < 7; size++)
        assert_int_equal(htw__serve_line_read(text, size, &line, &consumed), HTW__SERVE_LINE_MORE);
    assert_int_equal(read_text(text), HTW__SERVE_LINE_COMMAND);
    assert_int_equal(consumed, 7);
    assert_int_equal(read_text("stats\n"), HTW__SERVE_LINE_MORE);
}

UNIT_TEST(serve_line_has_a_length_at_most) {
    char text[HTW__SERVE_LINE_MAX + 3] = "watch ";
    memset(text + 6, 'a', sizeof(text) - 6);
    assert_int_equal(htw__serve_line_read(text, HTW__SERVE_LINE_MAX - 1, &line, &consumed),
                     HTW__SERVE_LINE_MORE);
    assert_int_equal(htw__serve_line_read(text, HTW__SERVE_LINE_MAX, &line, &consumed),
                     HTW__SERVE_LINE_TOO_LONG);
    assert_int_equal(consumed, 0);
    memcpy(text + 6 + HTW__TUBE_NAME_MAX, "\r\n", 3);
    assert_command(text, HTW__VERB_WATCH);
    assert_int_equal(strlen(line.name), HTW__TUBE_NAME_MAX);
    memcpy(text + 6 + HTW__TUBE_NAME_MAX, "a\r\n", 4);
    assert_int_equal(read_text(text), HTW__SERVE_LINE_BAD);
}
