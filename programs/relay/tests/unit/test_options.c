/* SPDX-License-Identifier: MIT */
/* test_relay_options.c - the command line of `htw relay`. */
#include "../../src/command/options.h"

#include "../../../kit/terminal.h"
#include "unit/cmd/capture.h"

#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#define ARGUMENTS_MAX 24

static struct htw__relay_command command;
static const char *complaint;

/* Parses up to ARGUMENTS_MAX words, with standard error in `complaint`. The command stays until the next
 * call. */
static enum htw__wish parse(const char *const arguments[ARGUMENTS_MAX]) {
    static char texts[ARGUMENTS_MAX][320];
    static char name[] = "htw relay";
    static char *words[ARGUMENTS_MAX + 2];
    int count = 1;
    words[0] = name;
    for (size_t i = 0; i < ARGUMENTS_MAX && arguments[i] != NULL; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%s", arguments[i]);
        words[count++] = texts[i];
    }
    words[count] = NULL;
    optind = 0; /* as for a new program */
    htw__terminal_name(name);
    htw__relay_command_fini(&command);
    capture_begin();
    enum htw__wish wish = htw__relay_command_parse(count, words, &command);
    complaint = capture_end();
    return wish;
}

#define PARSE(...) parse((const char *const[ARGUMENTS_MAX]) { __VA_ARGS__ })

UNIT_TEST(relay_options_not_given_have_defaults) {
    assert_int_equal(PARSE("-bhost:9092", "-tout", "later"), HTW__WISH_RUN);
    const struct htw__kafka_options *kafka = &command.kafka;
    const struct htw__relay_options *relay = &kafka->relay;
    assert_string_equal(complaint, "");
    assert_string_equal(kafka->group, "later");
    assert_true(kafka->property_count == 0 && kafka->commit_ms == 100);
    assert_true(kafka->instance == NULL && relay->dead_letters == NULL && command.metrics == NULL);
    assert_true(relay->levels.width_ms == 1000 && relay->levels.size == 64 &&
                relay->levels.count == 5);
    assert_true(relay->lead_ms == 1000 && relay->retry_ms == 60000);
    assert_int_equal(relay->max_memory, 256 << 20);
    assert_int_equal(relay->destinations.pattern_count, 0);
    assert_false(kafka->at_least_once || relay->keep_partition || relay->recover ||
                 command.create_topics);
}

UNIT_TEST(relay_options_are_taken) {
    assert_int_equal(PARSE("-ba:1,b:2", "-tout", "-ap*", "-aq", "-ddead", "-ggroup", "-c",
                           "-w250ms", "-i20ms", "-m64M", "-k", "-Xa=b=c", "--size=8", "--levels=7",
                           "--at-least-once", "--instance=Relay-1.a_b", "--recover",
                           "--metrics=[127.0.0.1]:9100", "in"),
                     HTW__WISH_RUN);
    const struct htw__kafka_options *kafka = &command.kafka;
    const struct htw__relay_options *relay = &kafka->relay;
    const char *const words[][2] = {
        { complaint, "" },
        { kafka->brokers, "a:1,b:2" },
        { kafka->group, "group" },
        { kafka->input, "in" },
        { kafka->instance, "Relay-1.a_b" },
        { relay->destinations.default_topic, "out" },
        { relay->destinations.patterns[0], "p*" },
        { relay->destinations.patterns[1], "q" },
        { relay->dead_letters, "dead" },
        { kafka->properties[0].name, "a" },
        { kafka->properties[0].value, "b=c" },
        { command.metrics, "[127.0.0.1]:9100" },
    };
    for (size_t i = 0; i < COUNT_OF(words); i++)
        assert_string_equal(words[i][0], words[i][1]);
    assert_true(relay->levels.width_ms == 250 && relay->levels.size == 8 &&
                relay->levels.count == 7);
    assert_true(relay->lead_ms == 250 && kafka->commit_ms == 20);
    assert_int_equal(relay->max_memory, 64 << 20);
    assert_true(command.create_topics && relay->keep_partition && relay->recover &&
                kafka->at_least_once);
}

/* Nothing is delivered then. */
UNIT_TEST(relay_options_to_create_topics_need_no_destination) {
    assert_int_equal(PARSE("-bx", "-c", "in"), HTW__WISH_RUN);
    assert_int_equal(PARSE("-bx", "in"), HTW__WISH_WRONG);
}

#define OWN(name) name " is set by the relay itself, whose promises rest on it"

#define TRY                                                              \
    "Usage: htw relay [OPTION]... --brokers LIST TOPIC\n"                \
    "  or:  htw relay ACTION [OPTION]... --brokers LIST TOPIC [ID]...\n" \
    "Try 'htw relay --help' for more information.\n"

UNIT_TEST(relay_options_that_are_wrong_are_named) {
    static const char ms[] = "not a whole number of milliseconds in the range that is allowed";
    static const char instance[] = "not 1 to 64 letters, digits, '.', '_' and '-'";
    static char long_instance[128] = "--instance=";
    const struct {
        const char *word, *name, *why, *value;
    } cases[] = {
        { "-b", NULL, NULL, NULL }, /* its argument is TOPIC, which is missing then */
        { "--brokers=", "--brokers", "a name is missing", NULL },
        { "--width=0", "--width", ms, "0" },
        { "--width=1500us", "--width", ms, "1500us" },
        { "--width=-1s", "--width", "negative delay", "-1s" },
        { "--size=2", "--size", "not a power of two from 4 to 1024", "2" },
        { "--levels=1", "--levels", "not a number from 2 to 12", "1" },
        { "-m1023", "--max-memory", "not a number of bytes from 1024 to 9223372036854775807",
          "1023" },
        { "--instance=a/b", "--instance", instance, "a/b" },
        { long_instance, "--instance", instance, long_instance + strlen("--instance=") },
        { "-Xname", "-X", "not NAME=VALUE", NULL },
        { "-Xacks=1", "-X", OWN("acks"), NULL },
        { "-Xenable.idempotence=false", "-X", OWN("enable.idempotence"), NULL },
        { "--properties=/nowhere/at/all", "cannot read /nowhere/at/all",
          "No such file or directory", NULL },
        { "--levels=12", "--width, --size and --levels", "the highest level is too wide", NULL },
        { "more", "more words than expected", "more", NULL },
    };
    char wanted[1024];
    memset(long_instance + strlen(long_instance), 'x', 65);
    for (size_t i = 1; i < COUNT_OF(cases); i++) {
        assert_int_equal(PARSE("-bx", "-tout", "in", cases[i].word), HTW__WISH_WRONG);
        snprintf(wanted, sizeof(wanted), "htw relay: %s: %s%s%s\n" TRY, cases[i].name, cases[i].why,
                 cases[i].value == NULL ? "" : ": ", cases[i].value == NULL ? "" : cases[i].value);
        assert_string_equal(complaint, wanted);
    }
    assert_int_equal(PARSE("-tout", "in"), HTW__WISH_WRONG);
    assert_string_equal(complaint, "htw relay: --brokers is missing\n" TRY);
    assert_int_equal(PARSE("-bx", "-tout"), HTW__WISH_WRONG);
    assert_string_equal(complaint, "htw relay: TOPIC is missing\n" TRY);
    assert_int_equal(PARSE("-bx", "in"), HTW__WISH_WRONG);
    assert_string_equal(complaint,
                        "htw relay: no destination is allowed: --to or --allow is missing\n" TRY);
    assert_int_equal(PARSE("-bx", "-tout", "in", "--unknown"), HTW__WISH_WRONG);
    assert_non_null(strstr(complaint, "--unknown"));
}

static enum htw__wish parse_file(const char *text) {
    char path[] = "/tmp/htw-properties-XXXXXX", option[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    snprintf(option, sizeof(option), "--properties=%s", path);
    enum htw__wish wish = PARSE("-bx", "-tout", option, "-Xlast=1", "in");
    unlink(path);
    return wish;
}

UNIT_TEST(relay_options_take_properties_from_files) {
    assert_int_equal(parse_file("# a comment\n\n  sasl.username=a name=1 \nssl.key.password==\n"),
                     HTW__WISH_RUN);
    static const char *const wanted[][2] = { { "sasl.username", "a name=1" },
                                             { "ssl.key.password", "=" },
                                             { "last", "1" } };
    assert_int_equal(command.kafka.property_count, COUNT_OF(wanted));
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        assert_string_equal(command.kafka.properties[i].name, wanted[i][0]);
        assert_string_equal(command.kafka.properties[i].value, wanted[i][1]);
    }
}

/* Values are not printed: they may be secrets. */
UNIT_TEST(relay_options_say_which_property_is_wrong) {
    assert_int_equal(parse_file("a=b\nsecret\n"), HTW__WISH_WRONG);
    assert_non_null(strstr(complaint, ": line 2: not NAME=VALUE\n"));
    assert_null(strstr(complaint, "secret"));
    assert_int_equal(parse_file("group.id=secret\n"), HTW__WISH_WRONG);
    assert_non_null(strstr(complaint, ": line 1: " OWN("group.id")));
    assert_null(strstr(complaint, "secret"));
    assert_int_equal(PARSE("-bx", "-tout", "--properties=/dev/zero", "in"), HTW__WISH_WRONG);
    assert_non_null(strstr(complaint, "/dev/zero: line 1: too long, or has a zero byte\n"));
}

UNIT_TEST(relay_options_of_actions_are_taken) {
    assert_int_equal(PARSE("list", "-bx", "later", "-tout", "-n5", "--from=10", "--until=20.5",
                           "--key=k", "--grep=g", "-J", "--after=5.0000000000000002"),
                     HTW__WISH_RUN);
    assert_string_equal(complaint, "");
    assert_int_equal(command.action, HTW__RELAY_LIST);
    assert_string_equal(command.kafka.input, "later");
    assert_string_equal(command.filter.to, "out");
    assert_int_equal(command.limit, 5);
    assert_int_equal(command.filter.from_ms, 10000);
    assert_int_equal(command.filter.until_ms, 20500);
    assert_int_equal(command.filter.after.print, 2);
    assert_string_equal(command.filter.key, "k");
    assert_string_equal(command.filter.text, "g");
    assert_true(command.json);
    assert_int_equal(PARSE("-bx", "cancel", "later", "a", "b"), HTW__WISH_RUN);
    assert_int_equal(command.id_count, 2);
    assert_string_equal(command.ids[1], "b");
    assert_int_equal(PARSE("-bx", "move", "later", "a", "1970-01-01T00:00:00.0001Z"),
                     HTW__WISH_RUN);
    assert_int_equal(command.id_count, 1);
    assert_int_equal(command.to_ms, 1);
    assert_int_equal(PARSE("-bx", "-tout", "list"), HTW__WISH_RUN); /* a topic of this name */
    assert_string_equal(command.kafka.input, "list");
}

UNIT_TEST(relay_options_of_actions_that_are_wrong_are_refused) {
    static const struct {
        const char *words[ARGUMENTS_MAX], *why;
    } samples[] = {
        { { "-bx", "list", "in", "more" }, "more words than expected: more" },
        { { "-bx", "cancel", "in" }, ": ID expected" },
        { { "-bx", "move", "in", "a" }, ": ID and WHEN expected" },
        { { "-bx", "move", "in", "a", "soon" }, ": soon\n" },
        { { "-bx", "list", "in", "-n0" }, "--limit: not a number from 1 to " },
        { { "-bx", "list", "in", "--after=5" }, "--after: not what list has printed: 5" },
        { { "-bx", "-tout", "in", "-J" }, "an option of list, show, cancel, move or http" },
        { { "list", "in" }, "--brokers is missing" },
    };
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        assert_int_equal(parse(samples[i].words), HTW__WISH_WRONG);
        assert_non_null(strstr(complaint, samples[i].why));
    }
}

UNIT_TEST(relay_options_of_http_are_for_it_alone) {
    assert_int_equal(PARSE("http", "-bx", "later", "--listen=unix:/a", "--token-file", "b"),
                     HTW__WISH_RUN);
    assert_int_equal(command.action, HTW__RELAY_HTTP);
    assert_string_equal(command.listen, "unix:/a");
    assert_string_equal(command.token_file, "b");
    assert_string_equal(command.kafka.input, "later");
    assert_int_equal(PARSE("http", "-bx", "later", "more"), HTW__WISH_WRONG);
    assert_int_equal(PARSE("list", "-bx", "later", "--listen=1"), HTW__WISH_WRONG);
    assert_non_null(strstr(complaint, "--listen and --token-file are for http"));
    assert_int_equal(PARSE("-bx", "-tout", "later", "--listen=1"), HTW__WISH_WRONG);
}
