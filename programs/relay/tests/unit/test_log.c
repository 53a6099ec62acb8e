/* SPDX-License-Identifier: MIT */
/* test_relay_log.c - the log of `htw relay`. */
#include "../../src/command/log.h"

#include "unit/cmd/capture.h"

/* What `text` is logged as, after its time, which the line must begin with. */
static const char *logged(enum htw__severity level, const char *text) {
    static const char head[] = "time=";
    capture_begin();
    htw__log(level, text);
    const char *line = capture_end();
    assert_memory_equal(line, head, strlen(head));
    line += strlen(head);
    static const char like[] = "2026-01-01T00:00:00.000000Z";
    for (const char *at = like; *at != '\0'; at++, line++)
        assert_true(*at >= '0' && *at <= '9' ? *line >= '0' && *line <= '9' : *line == *at);
    return line;
}

UNIT_TEST(relay_log_lines_have_a_level_and_a_sentence) {
    assert_string_equal(logged(HTW__LOG_INFO, "ready"), " level=info msg=\"ready\"\n");
    assert_string_equal(logged(HTW__LOG_WARNING, "a: b=c"), " level=warning msg=\"a: b=c\"\n");
}

/* Brokers choose some of the text: nothing in it ends the line, the quotes, or changes the terminal. */
UNIT_TEST(relay_log_escapes_what_others_wrote) {
    assert_string_equal(logged(HTW__LOG_INFO, "a\nb \x1b[2J\xff \"c\" \\"),
                        " level=info msg=\"a\\\\x0ab \\\\x1b[2J\\\\xff \\\"c\\\" \\\\\"\n");
    assert_string_equal(logged(HTW__LOG_ERROR, "\"\t\xc2\x9b\xc3\xbc\xc3"),
                        " level=error msg=\"\\\"\\\\x09\\\\xc2\\\\x9b\xc3\xbc\\\\xc3\"\n");
}

UNIT_TEST(relay_log_says_nothing_twice_in_a_row) {
    logged(HTW__LOG_INFO, "once");
    capture_begin();
    htw__log(HTW__LOG_INFO, "once");
    assert_string_equal(capture_end(), "");
    logged(HTW__LOG_INFO, "another");
    logged(HTW__LOG_INFO, "once");
}
