/* SPDX-License-Identifier: MIT */
/* options.c - reads the command line of `htw relay`. */
#include "options.h"

#include "../../../../src/base/clock.h"
#include "../../../kit/times.h"
#include "../../../kit/terminal.h"

#include <getopt.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *htw__relay_moment(const char *text, int64_t *ret_ms) {
    int64_t ns = 0;
    const char *why = htw__instant_parse_after(text, htw__clock_realtime_ns(), &ns);
    if (why == NULL && ns < 0)
        why = "before 1970";
    if (why == NULL)
        *ret_ms = ns / HTW_MILLISECOND + (ns % HTW_MILLISECOND != 0);
    return why;
}

static bool set_instance(const struct htw__option *option, void *member, const char *argument) {
    _Static_assert(HTW__RELAY_OWNER_MAX == 64, "the message says so");
    return htw__bytes_are_name(htw__bytes_of(argument), HTW__RELAY_OWNER_MAX)
               ? htw__set_word(option, member, argument)
               : htw__option_refuse(option, "not 1 to 64 letters, digits, '.', '_' and '-'",
                                    argument);
}

static bool set_ms(const struct htw__option *option, void *member, const char *argument) {
    int64_t ns = 0;
    const char *why = htw__duration_parse(argument, strlen(argument), &ns);
    int64_t ms = ns / HTW_MILLISECOND;
    if (why == NULL && (ns % HTW_MILLISECOND != 0 || ms < (int64_t)option->least))
        why = "not a whole number of milliseconds in the range that is allowed";
    if (why != NULL)
        return htw__option_refuse(option, why, argument);
    *(int64_t *)member = ms;
    return true;
}

static bool set_moment(const struct htw__option *option, void *member, const char *argument) {
    const char *why = htw__relay_moment(argument, member);
    return why == NULL || htw__option_refuse(option, why, argument);
}

static bool set_after(const struct htw__option *option, void *member, const char *argument) {
    return htw__waiting_key_parse(argument, member) ||
           htw__option_refuse(option, "not what list has printed", argument);
}

static bool add_pattern(const struct htw__option *option, void *member, const char *argument) {
    struct htw__relay_command *command = member;
    (void)option;
    command->patterns[command->kafka.relay.destinations.pattern_count++] = argument;
    return true;
}

static bool add_property(const struct htw__option *option, void *member, const char *argument) {
    (void)option;
    return htw__properties_add(member, argument, "-X");
}

static bool read_properties(const struct htw__option *option, void *member, const char *argument) {
    (void)option;
    return htw__properties_read(member, argument);
}

#define AT(member) HTW__OPTION_AT(struct htw__relay_command, member)

/* An option of actions alone. */
#define ACTION offsetof(struct htw__relay_command, has_action_options)

static const struct htw__option rows[] = {
    { 'b', "brokers", "LIST", htw__set_name, AT(kafka.brokers),
      .help = "HOST:PORT[,HOST:PORT]... of the cluster" },
    { 't', "to", "TOPIC", htw__set_name, AT(kafka.relay.destinations.default_topic),
      .help = "the default destination; it is allowed. list: only records for TOPIC" },
    { 'a', "allow", "PATTERN", add_pattern, 0, 0,
      .help = "allow destinations that match, such as 'orders.*'; may be repeated" },
    { 'd', "dead-letters", "TOPIC", htw__set_name, AT(kafka.relay.dead_letters),
      .help = "the topic of bad records (default TOPIC.dead)" },
    { 'g', "group", "NAME", htw__set_name, AT(kafka.group),
      .help = "the consumer group (default TOPIC)" },
    { 'c', "create-topics", NULL, htw__set_flag, AT(create_topics),
      .help = "make the topics that are missing, add partitions, and exit" },
    { 'w', "width", "DURATION", set_ms, AT(kafka.relay.levels.width_ms), .least = 1,
      .help = "of the lowest buckets (default 1s); cannot be changed later" },
    { 0, "size", "N", htw__set_power, AT(kafka.relay.levels.size), .least = HTW__RELAY_SIZE_MIN,
      .most = HTW__RELAY_SIZE_MAX,
      .help = "buckets of a level: a power of two from 4 to 1024 (default 64);\n"
              "cannot be changed later" },
    { 0, "levels", "N", htw__set_number, AT(kafka.relay.levels.count),
      .least = HTW__RELAY_LEVELS_MIN, .most = HTW__RELAY_LEVELS_MAX,
      .help = "2 to 12 (default 5); cannot be changed later" },
    { 'i', "commit-interval", "DURATION", set_ms, AT(kafka.commit_ms), .least = 1,
      .help = "between commits of what was delivered (default 100ms)" },
    { 0, "at-least-once", NULL, htw__set_flag, AT(kafka.at_least_once),
      .help = "without transactions: records become visible sooner; after a failure\n"
              "those of one commit interval may be delivered twice" },
    { 0, "instance", "NAME", set_instance, AT(kafka.instance),
      .help = "a name of this relay that stays: a restart replaces it at once" },
    { 'm', "max-memory", "SIZE", htw__set_size, AT(kafka.relay.max_memory), .least = 1024,
      .most = SIZE_MAX / 2, .help = "of records in memory (default 256M)" },
    { 'k', "keep-partition", NULL, htw__set_flag, AT(kafka.relay.keep_partition),
      .help = "deliver to the partition with the number of the input's" },
    { 0, "recover", NULL, htw__set_flag, AT(kafka.relay.recover),
      .help = "go on even if positions are missing, or entries of TOPIC.ids: with all that\n"
              "is left, records that were delivered or cancelled before, too" },
    { 0, "metrics", "[ADDRESS:]PORT", htw__set_name, AT(metrics),
      .help = "serve metrics for Prometheus (default address 127.0.0.1)" },
    { 'X', "property", "NAME=VALUE", add_property, AT(properties),
      .help = "a property of librdkafka, such as security.protocol=ssl; those that the\n"
              "promises rest on are refused" },
    { 0, "properties", "FILE", read_properties, AT(properties),
      .help = "properties of librdkafka, a line each; # begins a comment\n"
              "Secrets belong there" },
    { 'n', "limit", "N", htw__set_number, AT(limit), .least = 1, .most = SIZE_MAX / 4096,
      .also = ACTION, .help = "list: at most N records (default 100)" },
    { 0, "after", "CURSOR", set_after, AT(filter.after), .also = ACTION,
      .help = "list: those after the end of another page, which list has printed" },
    { 0, "from", "WHEN", set_moment, AT(filter.from_ms), .also = ACTION,
      .help = "list: only records that wait for this time or a later one" },
    { 0, "until", "WHEN", set_moment, AT(filter.until_ms), .also = ACTION,
      .help = "list: only records that wait for a time before this" },
    { 0, "key", "KEY", htw__set_word, AT(filter.key), .also = ACTION,
      .help = "list: only records with this key. show, cancel, move: the key of the\n"
              "record; without it, it has none" },
    { 0, "grep", "TEXT", htw__set_word, AT(filter.text), .also = ACTION,
      .help = "list: only records with TEXT in value, key or htw-id" },
    { 'J', "json", NULL, htw__set_flag, AT(json), .also = ACTION,
      .help = "list, show, cancel, move: print for programs, a JSON object a line" },
    { 0, "listen", "WHERE", htw__set_name, AT(listen), .also = ACTION,
      .help = "http: [ADDRESS:]PORT or unix:PATH (default 127.0.0.1:8480). Other\n"
              "addresses than 127.0.0.0/8 need a token" },
    { 0, "token-file", "FILE", htw__set_name, AT(token_file), .also = ACTION,
      .help = "http: the token of those who may show, cancel and move; or in\n"
              "the environment, HTW_RELAY_TOKEN" },
    { 0, "host", "NAME[,NAME]...", htw__set_name, AT(hosts), .also = ACTION,
      .help = "http: names besides localhost and addresses by which it is asked" },
};

const struct htw__command_line htw__relay_line = {
    .program = "htw relay",
    .usage = "Usage: htw relay [OPTION]... --brokers LIST TOPIC\n"
             "  or:  htw relay ACTION [OPTION]... --brokers LIST TOPIC [ID]...\n",
    .about = "Deliver each record of a Kafka topic to another topic when its time has come.\n"
             "\n"
             "A record of TOPIC says what is wanted in its headers, as decimal text:\n"
             "  htw-deliver-at  when: milliseconds since 1970; a past one: at once\n"
             "  htw-delay       or: milliseconds after the timestamp of the record\n"
             "  htw-deliver-to  the topic to which it is delivered; without it, that of --to\n"
             "  htw-id          a name of up to 256 bytes; a later record with the same key\n"
             "                  and id replaces it\n"
             "  htw-if-offset   with htw-id: replaces only the one with this offset in TOPIC\n"
             "  htw-cancel      this record cancels the one with this id and the same key\n"
             "  htw-every       it comes again after each duration, as 15m; needs a htw-id\n"
             "  htw-cron        or: by this cron expression, in the time zone htw-zone\n"
             "  htw-until       no more at this time or later, in milliseconds since 1970\n"
             "  htw-catch-up    how many missed times come late (1)\n"
             "It is delivered with its key, value and other headers, and with\n"
             "htw-delivered-for, the time that was wanted. Records wait in topics TOPIC.l0,\n"
             "TOPIC.l1, ...; bad ones go to TOPIC.dead, with the reason in htw-reason. Run as\n"
             "many relays as you like: they share the work.\n"
             "\n"
             "Actions:\n"
             "  list TOPIC          print the records that wait, in order of time: time, size,\n"
             "                      id, destination, key and value. At most --limit; what\n"
             "                      --after says goes on\n"
             "  show TOPIC ID...    print these records, with the whole value\n"
             "  cancel TOPIC ID...  cancel these records\n"
             "  move TOPIC ID WHEN  deliver this record at another time: an instant, or\n"
             "                      +DURATION from now\n"
             "  http TOPIC          serve these over HTTP, with a page, until a SIGTERM\n"
             "\n"
             "An ID is a htw-id, of a record whose key is that of --key. list reads what waits\n"
             "from the topics, while relays run or not. The others ask the relay that has the\n"
             "record; cancel and move say whether they surely came in time.\n",
    .notes = "SIGTERM, SIGINT and SIGHUP: commit what was done, leave the group, exit.\n"
             "\n"
             "Exit status:\n"
             "  0  it was stopped by a signal, and everything was committed\n"
             "  1  it failed, or the last commit failed: a successor does that part again. An\n"
             "     action: no record has this id and key, no relay has answered, or cancel or\n"
             "     move did not surely come in time\n"
             "  2  the command line is wrong\n",
    .options = rows,
    .option_count = sizeof(rows) / sizeof(rows[0]),
};

static const struct {
    const char *name;
    int words_least, words_most; /* after TOPIC */
} actions[] = {
    [HTW__RELAY_NO_ACTION] = { "", 0, 0 },      [HTW__RELAY_LIST] = { "list", 0, 0 },
    [HTW__RELAY_SHOW] = { "show", 1, INT_MAX }, [HTW__RELAY_CANCEL] = { "cancel", 1, INT_MAX },
    [HTW__RELAY_MOVE] = { "move", 2, 2 },       [HTW__RELAY_HTTP] = { "http", 0, 0 },
};

/* A topic may have the name of an action: what is alone is a topic. */
static enum htw__relay_action find_action(int count, char *words[]) {
    for (int i = HTW__RELAY_LIST; count > 1 && i <= HTW__RELAY_HTTP; i++)
        if (strcmp(words[0], actions[i].name) == 0)
            return (enum htw__relay_action)i;
    return HTW__RELAY_NO_ACTION;
}

/* What is missing, or does not go together; NULL: nothing. `words` are TOPIC and what follows; `ret_word` is one that is wrong. */
static const char *find_mistake(struct htw__relay_command *command, int count, char *words[],
                                const char **ret_word) {
    const struct htw__relay_options *relay = &command->kafka.relay;
    const enum htw__relay_action action = command->action;
    bool delivers = action == HTW__RELAY_NO_ACTION && !command->create_topics;
    if (count == 0)
        return "TOPIC is missing";
    if (count - 1 < actions[action].words_least)
        return action == HTW__RELAY_MOVE ? "ID and WHEN expected" : "ID expected";
    if (count - 1 > actions[action].words_most) {
        *ret_word = words[actions[action].words_most + 1];
        return "more words than expected";
    }
    if (action == HTW__RELAY_NO_ACTION && command->has_action_options)
        return "an option of list, show, cancel, move or http";
    if (action != HTW__RELAY_HTTP && (command->listen != NULL || command->token_file != NULL))
        return "--listen and --token-file are for http";
    if (command->kafka.brokers == NULL)
        return "--brokers is missing";
    if (!htw__levels_are_valid(&relay->levels))
        return "--width, --size and --levels: the highest level is too wide";
    if (delivers && relay->destinations.default_topic == NULL &&
        relay->destinations.pattern_count == 0)
        return "no destination is allowed: --to or --allow is missing";
    if (action != HTW__RELAY_MOVE)
        return NULL;
    *ret_word = words[2];
    return htw__relay_moment(words[2], &command->to_ms);
}

static void complete(struct htw__relay_command *command, int count, char *words[]) {
    struct htw__kafka_options *kafka = &command->kafka;
    struct htw__relay_options *relay = &kafka->relay;
    kafka->input = words[0];
    kafka->properties = command->properties.items;
    kafka->property_count = command->properties.count;
    if (kafka->group == NULL)
        kafka->group = words[0];
    relay->lead_ms = relay->levels.width_ms < 1000 ? relay->levels.width_ms : 1000;
    relay->destinations.patterns = command->patterns;
    if (command->action == HTW__RELAY_NO_ACTION)
        return;
    command->ids = words + 1;
    command->id_count = command->action == HTW__RELAY_MOVE ? 1 : (size_t)count - 1;
    command->filter.to = relay->destinations.default_topic;
    kafka->at_least_once = true; /* it has no transactions */
}

enum htw__wish htw__relay_command_parse(int argc, char *argv[],
                                        struct htw__relay_command *command) {
    *command = (struct htw__relay_command) {
        .kafka = { .commit_ms = 100,
                   .relay = { .retry_ms = 60000,
                              .catch_up_ms = 10000,
                              .levels = { 1000, 64, 5 },
                              .max_memory = (size_t)256 << 20 } },
        .limit = 100,
        .out = stdout,
        .filter = HTW__WAITING_ALL,
        /* There are no more than arguments. */
        .patterns = calloc((size_t)argc + 1, sizeof(char *)),
    };
    if (command->patterns == NULL) {
        htw__terminal_error("out of memory");
        return HTW__WISH_WRONG;
    }
    enum htw__wish wish = htw__command_line_read(&htw__relay_line, argc, argv, command);
    if (wish != HTW__WISH_RUN)
        return wish;
    command->action = find_action(argc - optind, argv + optind);
    int first = optind + (command->action != HTW__RELAY_NO_ACTION);
    const char *word = NULL;
    const char *why = find_mistake(command, argc - first, argv + first, &word);
    if (why != NULL) {
        htw__terminal_error("%s%s%s", why, word != NULL ? ": " : "", word != NULL ? word : "");
        return htw__command_line_complain(&htw__relay_line);
    }
    complete(command, argc - first, argv + first);
    return HTW__WISH_RUN;
}

void htw__relay_command_fini(struct htw__relay_command *command) {
    free(command->patterns);
    htw__properties_fini(&command->properties);
}
