/* SPDX-License-Identifier: MIT */
/* options.c - reads the command line of `htw relay`. */
#include "options.h"

#include "../../base/clock.h"
#include "../count.h"
#include "../duration.h"
#include "../instant.h"
#include "../terminal.h"
#include "../times.h"

#include <getopt.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USAGE                                             \
    "Usage: htw relay [OPTION]... --brokers LIST TOPIC\n" \
    "  or:  htw relay ACTION [OPTION]... --brokers LIST TOPIC [ID]...\n"

static const char about[] = USAGE
    "Deliver each record of a Kafka topic to another topic when its time has come.\n"
    "\n"
    "A record of TOPIC says what is wanted in its headers, as decimal text:\n"
    "  htw-deliver-at  when: milliseconds since 1970; a past one: at once\n"
    "  htw-delay       or: milliseconds after the timestamp of the record\n"
    "  htw-deliver-to  the topic to which it is delivered; without it, that of --to\n"
    "  htw-id          a name of up to 256 bytes, by which it can be cancelled\n"
    "  htw-cancel      a record with this header, and with the key and the htw-deliver-at of "
    "another\n"
    "                  one, cancels that one if it has this htw-id\n"
    "It is delivered with its key, value and other headers, and with htw-delivered-for, the time\n"
    "that was wanted. Records wait in topics TOPIC.l0, TOPIC.l1, ...; bad ones go to TOPIC.dead, "
    "with\n"
    "the reason in htw-reason. Run as many relays as you like: they share the work.\n"
    "\n"
    "Actions:\n"
    "  list TOPIC          print the records that wait, in order of time: time, size, id,\n"
    "                      destination, key and value. At most --limit; what --after says goes on\n"
    "  show TOPIC          print how many records wait, where, and when the next one is due\n"
    "  show TOPIC ID...    print these records, with the whole value\n"
    "  cancel TOPIC ID...  cancel these records\n"
    "  move TOPIC ID WHEN  deliver this record at another time: an instant, or +DURATION from now\n"
    "  http TOPIC          serve these over HTTP, with a page, until a SIGTERM\n"
    "\n"
    "An ID is a htw-id, or the @ and 16 digits that list prints where there is none. All read\n"
    "everything that waits from the topics themselves, while relays run or not. cancel and move\n"
    "need a htw-id. Each says whether it came in time.\n"
    "\n";

static const char ending[] =
    "\n"
    "SIGTERM, SIGINT and SIGHUP: commit what was done, leave the group, exit. SIGUSR1 prints the\n"
    "statistics.\n"
    "\n"
    "Exit status:\n"
    "  0  it was stopped by a signal, and everything was committed\n"
    "  1  it failed, or the last commit failed: a successor does that part again. An action: no\n"
    "     record has this id, or several have, or cancel or move did not surely come in time\n"
    "  2  the command line is wrong\n";

const char *htw__relay_moment(const char *text, int64_t *ret_ms) {
    struct htw__time time = { 0, 0 };
    const char *why;
    if (*text == '+') {
        why = htw__duration_parse(text, strlen(text), &time);
        time = htw__time_add(time, htw__time_of(0, htw__clock_realtime_ns()));
    } else {
        why = htw__instant_parse(text, strlen(text), &time);
    }
    if (why == NULL && (time.s < 0 || time.s > HTW__RELAY_DEADLINE_MAX / 1000 - 1))
        why = "not between the years 1970 and 9999";
    if (why == NULL)
        *ret_ms = time.s * 1000 + (time.ns + HTW__NS_PER_MS - 1) / HTW__NS_PER_MS;
    return why;
}

struct row;

/* Takes the argument of an option; false when it is wrong, and then has said why. */
typedef bool setter(const struct row *row, void *member, const char *argument);

enum use { RUN, ACTION }; /* an option of the relay, or of actions alone */

/* An option. */
struct row {
    enum use use;
    char letter; /* 0: none */
    const char *name;
    const char *argument; /* NULL: none */
    setter *set;          /* NULL: --help and --version, which end the parsing */
    size_t offset;        /* of the member that is set */
    uint32_t least, most; /* of numbers; of durations the least, in milliseconds */
    const char *help;     /* its lines */
};

static bool complain_of(const struct row *row, const char *why, const char *argument) {
    htw__terminal_error("--%s: %s: %s", row->name, why, argument);
    return false;
}

static bool set_flag(const struct row *row, void *member, const char *argument) {
    (void)row, (void)argument;
    *(bool *)member = true;
    return true;
}

static bool set_word(const struct row *row, void *member, const char *argument) {
    (void)row;
    *(const char **)member = argument;
    return true;
}

static bool set_name(const struct row *row, void *member, const char *argument) {
    if (*argument != '\0')
        return set_word(row, member, argument);
    htw__terminal_error("--%s: a name is missing", row->name);
    return false;
}

static bool set_instance(const struct row *row, void *member, const char *argument) {
    _Static_assert(HTW__RELAY_OWNER_MAX == 64, "the message says so");
    return htw__owner_is_valid(htw__bytes_of(argument))
               ? set_word(row, member, argument)
               : complain_of(row, "not 1 to 64 letters, digits, '.', '_' and '-'", argument);
}

static bool set_ms(const struct row *row, void *member, const char *argument) {
    struct htw__time time = { 0, 0 };
    const char *why = htw__duration_parse(argument, strlen(argument), &time);
    int64_t ns = htw__time_to_ns(time), ms = ns / HTW__NS_PER_MS;
    if (why == NULL && (ns % HTW__NS_PER_MS != 0 || ms < row->least || ns == INT64_MAX))
        why = "not a whole number of milliseconds in the range that is allowed";
    if (why != NULL)
        return complain_of(row, why, argument);
    *(int64_t *)member = ms;
    return true;
}

static bool set_number(const struct row *row, void *member, const char *argument) {
    uint64_t count;
    if (!htw__count_parse(argument, &count) || count < row->least || count > row->most) {
        htw__terminal_error("--%s: not a number from %u to %u: %s", row->name, row->least,
                            row->most, argument);
        return false;
    }
    *(uint32_t *)member = (uint32_t)count;
    return true;
}

static bool set_size(const struct row *row, void *member, const char *argument) {
    const uint32_t *size = member;
    return set_number(row, member, argument) &&
           ((*size & (*size - 1)) == 0 || complain_of(row, "not a power of two", argument));
}

static bool set_memory(const struct row *row, void *member, const char *argument) {
    uint64_t bytes;
    if (!htw__size_parse(argument, &bytes) || bytes < 1024 || bytes > SIZE_MAX / 2)
        return complain_of(row, "not a size of at least 1K, such as 256M", argument);
    *(size_t *)member = (size_t)bytes;
    return true;
}

static bool set_limit(const struct row *row, void *member, const char *argument) {
    uint64_t count;
    if (!htw__count_parse(argument, &count) || count == 0 || count > SIZE_MAX / 4096)
        return complain_of(row, "not a number of records", argument);
    *(size_t *)member = (size_t)count;
    return true;
}

static bool set_log_format(const struct row *row, void *member, const char *argument) {
    enum htw__log_format *format = member;
    *format = strcmp(argument, "json") == 0 ? HTW__LOG_JSON : HTW__LOG_TEXT;
    return *format == HTW__LOG_JSON || strcmp(argument, "text") == 0 ||
           complain_of(row, "neither text nor json", argument);
}

static bool set_moment(const struct row *row, void *member, const char *argument) {
    const char *why = htw__relay_moment(argument, member);
    return why == NULL || complain_of(row, why, argument);
}

static bool set_after(const struct row *row, void *member, const char *argument) {
    return htw__waiting_key_parse(argument, member) ||
           complain_of(row, "not what list has printed", argument);
}

static bool add_pattern(const struct row *row, void *member, const char *argument) {
    struct htw__relay_command *command = member;
    (void)row;
    command->patterns[command->kafka.relay.destinations.pattern_count++] = argument;
    return true;
}

static bool add_property(const struct row *row, void *member, const char *argument) {
    (void)row;
    return htw__properties_add(member, argument, "-X");
}

static bool read_properties(const struct row *row, void *member, const char *argument) {
    (void)row;
    return htw__properties_read(member, argument);
}

#define AT(member) offsetof(struct htw__relay_command, member)

static const struct row rows[] = {
    { RUN, 'b', "brokers", "LIST", set_name, AT(kafka.brokers), 0, 0,
      "HOST:PORT[,HOST:PORT]... of the cluster" },
    { RUN, 't', "to", "TOPIC", set_name, AT(kafka.relay.destinations.default_topic), 0, 0,
      "the default destination; it is allowed. list: only records for TOPIC" },
    { RUN, 'a', "allow", "PATTERN", add_pattern, 0, 0, 0,
      "allow destinations that match, such as 'orders.*'; may be repeated" },
    { RUN, 'd', "dead-letters", "TOPIC", set_name, AT(kafka.relay.dead_letters), 0, 0,
      "the topic of bad records (default TOPIC.dead)" },
    { RUN, 'g', "group", "NAME", set_name, AT(kafka.group), 0, 0,
      "the consumer group (default TOPIC)" },
    { RUN, 'c', "create-topics", NULL, set_flag, AT(create_topics), 0, 0,
      "make the topics that are missing, add partitions, and exit" },
    { RUN, 0, "replication", "N", set_number, AT(kafka.replication), 1, INT16_MAX,
      "of topics that are made (default: that of TOPIC)" },
    { RUN, 'w', "width", "DURATION", set_ms, AT(kafka.relay.levels.width_ms), 1, 0,
      "of the lowest buckets (default 1s); cannot be changed later" },
    { RUN, 0, "size", "N", set_size, AT(kafka.relay.levels.size), HTW__RELAY_SIZE_MIN,
      HTW__RELAY_SIZE_MAX,
      "buckets of a level: a power of two from 4 to 1024 (default 64);\n"
      "cannot be changed later" },
    { RUN, 0, "levels", "N", set_number, AT(kafka.relay.levels.count), HTW__RELAY_LEVELS_MIN,
      HTW__RELAY_LEVELS_MAX, "2 to 12 (default 5); cannot be changed later" },
    { RUN, 0, "lead", "DURATION", set_ms, AT(kafka.relay.lead_ms), 0, 0,
      "load a bucket so long before its start (default 1s, or the width)" },
    { RUN, 'i', "commit-interval", "DURATION", set_ms, AT(kafka.commit_ms), 1, 0,
      "between commits of what was delivered (default 100ms)" },
    { RUN, 0, "recommit", "DURATION", set_ms, AT(kafka.recommit_ms), 1000, 0,
      "commit positions again, so that they do not expire (default: a\n"
      "quarter of the broker's offsets.retention.minutes)" },
    { RUN, 0, "at-least-once", NULL, set_flag, AT(kafka.at_least_once), 0, 0,
      "without transactions: records become visible sooner; after a failure\n"
      "those of one commit interval may be delivered twice" },
    { RUN, 0, "instance", "NAME", set_instance, AT(kafka.instance), 0, 0,
      "a name of this relay that stays: a restart replaces it at once" },
    { RUN, 'm', "max-memory", "SIZE", set_memory, AT(kafka.relay.max_memory), 0, 0,
      "of records in memory (default 256M)" },
    { RUN, 'k', "keep-partition", NULL, set_flag, AT(kafka.relay.keep_partition), 0, 0,
      "deliver to the partition with the number of the input's" },
    { RUN, 0, "recover", NULL, set_flag, AT(kafka.relay.recover), 0, 0,
      "go on even if positions are missing: with all that is left" },
    { RUN, 0, "metrics", "[ADDRESS:]PORT", set_name, AT(metrics), 0, 0,
      "serve metrics for Prometheus (default address 127.0.0.1)" },
    { RUN, 0, "log-format", "FORMAT", set_log_format, AT(log_format), 0, 0,
      "of what it says while it runs: text (time=... level=... msg=...), or json" },
    { RUN, 's', "stats", NULL, set_flag, AT(stats), 0, 0,
      "print statistics to standard error at the end" },
    { RUN, 'p', "progress", NULL, set_flag, AT(progress), 0, 0,
      "show progress, if standard error is a terminal" },
    { RUN, 'X', "property", "NAME=VALUE", add_property, AT(properties), 0, 0,
      "a property of librdkafka, such as security.protocol=ssl; those that the\n"
      "promises rest on are refused" },
    { RUN, 0, "properties", "FILE", read_properties, AT(properties), 0, 0,
      "properties of librdkafka, a line each; # begins a comment\n"
      "Secrets belong there, or into the environment:\n"
      "HTW_RELAY_X_SASL_PASSWORD is sasl.password" },
    { ACTION, 'n', "limit", "N", set_limit, AT(limit), 0, 0,
      "list: at most N records (default 100)" },
    { ACTION, 0, "after", "CURSOR", set_after, AT(filter.after), 0, 0,
      "list: those after the end of another page, which list has printed" },
    { ACTION, 0, "from", "WHEN", set_moment, AT(filter.from_ms), 0, 0,
      "list: only records that wait for this time or a later one" },
    { ACTION, 0, "until", "WHEN", set_moment, AT(filter.until_ms), 0, 0,
      "list: only records that wait for a time before this" },
    { ACTION, 0, "key", "KEY", set_word, AT(filter.key), 0, 0, "list: only records with this key" },
    { ACTION, 0, "grep", "TEXT", set_word, AT(filter.text), 0, 0,
      "list: only records with TEXT in value, key or htw-id" },
    { ACTION, 'J', "json", NULL, set_flag, AT(json), 0, 0,
      "list, show, cancel, move: print for programs, a JSON object a line" },
    { ACTION, 0, "payload", NULL, set_flag, AT(payload), 0, 0,
      "show: print the values alone, byte for byte" },
    { ACTION, 0, "listen", "WHERE", set_name, AT(listen), 0, 0,
      "http: [ADDRESS:]PORT or unix:PATH (default 127.0.0.1:8480). Other\n"
      "addresses than 127.0.0.0/8 need a token" },
    { ACTION, 0, "token-file", "FILE", set_name, AT(token_file), 0, 0,
      "http: the token of those who may cancel and move; or in the\n"
      "environment, HTW_RELAY_TOKEN" },
    { RUN, 'h', "help", NULL, NULL, 0, 0, 0, "print this help" },
    { RUN, 'V', "version", NULL, NULL, 0, 0, 0, "print the version" },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Where the texts of options begin. */
#define COLUMN 27

static void print_row(FILE *stream, const struct row *row) {
    const char letter[] = { '-', row->letter, ',', '\0' };
    int size =
        fprintf(stream, "  %3s --%s%s%s", row->letter != 0 ? letter : "", row->name,
                row->argument != NULL ? " " : "", row->argument != NULL ? row->argument : "");
    if (size >= COLUMN) {
        fputc('\n', stream);
        size = 0;
    }
    for (const char *line = row->help; line != NULL; size = 0) {
        const char *end = strchr(line, '\n');
        int length = end != NULL ? (int)(end - line) : (int)strlen(line);
        fprintf(stream, "%*s%.*s\n", COLUMN - size, "", length, line);
        line = end != NULL ? end + 1 : NULL;
    }
}

bool htw__relay_help(FILE *stream) {
    fputs(about, stream);
    for (size_t i = 0; i < ROWS; i++)
        print_row(stream, &rows[i]);
    fputs(ending, stream);
    return fflush(stream) == 0 && ferror(stream) == 0;
}

/* TOPIC.SUFFIX */
static bool write_name(char name[HTW__TOPIC_NAME_SIZE], const char *topic, const char *suffix) {
    int size = snprintf(name, HTW__TOPIC_NAME_SIZE, "%s.%s", topic, suffix);
    if (size > 0 && size < HTW__TOPIC_NAME_SIZE)
        return true;
    htw__terminal_error("the name of the topic is too long: %s", topic);
    return false;
}

/* The topics to which the relay delivers nothing: its own. */
static bool name_topics(struct htw__relay_command *command, const char *topic) {
    struct htw__relay_options *relay = &command->kafka.relay;
    size_t count = 0;
    for (uint32_t level = 0; level < relay->levels.count; level++) {
        char suffix[16];
        snprintf(suffix, sizeof(suffix), "l%u", level);
        if (!write_name(command->names[count], topic, suffix))
            return false;
        command->own[count] = command->names[count];
        count++;
    }
    if (relay->dead_letters == NULL) {
        if (!write_name(command->names[count], topic, "dead"))
            return false;
        relay->dead_letters = command->names[count];
    }
    command->own[count++] = relay->dead_letters;
    if (!write_name(command->names[count], topic, "ids"))
        return false;
    command->own[count] = command->names[count];
    count++;
    command->own[count++] = topic;
    relay->destinations.own = command->own;
    relay->destinations.own_count = count;
    relay->destinations.patterns = command->patterns;
    return true;
}

/* Whether everything is there, and goes together. */
static bool complete(struct htw__relay_command *command, const char *topic) {
    struct htw__kafka_options *kafka = &command->kafka;
    struct htw__relay_options *relay = &kafka->relay;
    const char *own_topic = relay->destinations.default_topic;
    if (kafka->brokers == NULL) {
        htw__terminal_error("--brokers is missing");
        return false;
    }
    if (!htw__levels_are_valid(&relay->levels)) {
        htw__terminal_error("--width, --size and --levels: the highest level is too wide");
        return false;
    }
    kafka->input = topic;
    kafka->properties = command->properties.items;
    kafka->property_count = command->properties.count;
    if (kafka->group == NULL)
        kafka->group = topic;
    if (relay->lead_ms < 0)
        relay->lead_ms = relay->levels.width_ms < 1000 ? relay->levels.width_ms : 1000;
    if (!name_topics(command, topic))
        return false;
    for (size_t i = 0; own_topic != NULL && i < relay->destinations.own_count; i++) {
        if (strcmp(own_topic, command->own[i]) == 0) {
            htw__terminal_error("--to: a topic of the relay itself: %s", own_topic);
            return false;
        }
    }
    if (own_topic == NULL && relay->destinations.pattern_count == 0 && !command->create_topics &&
        command->action == HTW__RELAY_NO_ACTION) {
        htw__terminal_error("no destination is allowed: --to or --allow is missing");
        return false;
    }
    return true;
}

static enum htw__relay_wish complain(void) {
    fputs(USAGE "Try 'htw relay --help' for more information.\n", stderr);
    return HTW__RELAY_WRONG;
}

static const struct {
    const char *name;
    int words_least, words_most; /* after TOPIC */
} actions[] = {
    [HTW__RELAY_LIST] = { "list", 0, 0 },           [HTW__RELAY_SHOW] = { "show", 0, INT_MAX },
    [HTW__RELAY_CANCEL] = { "cancel", 1, INT_MAX }, [HTW__RELAY_MOVE] = { "move", 2, 2 },
    [HTW__RELAY_HTTP] = { "http", 0, 0 },
};

/* A topic may have the name of an action: what is alone is a topic. */
static enum htw__relay_action find_action(int count, char *words[]) {
    for (int i = HTW__RELAY_LIST; count > 1 && i <= HTW__RELAY_HTTP; i++)
        if (strcmp(words[0], actions[i].name) == 0)
            return (enum htw__relay_action)i;
    return HTW__RELAY_NO_ACTION;
}

static bool fits(const struct htw__relay_command *command, bool is_wrong, const char *what) {
    if (is_wrong)
        htw__terminal_error("%s: %s",
                            command->action == HTW__RELAY_NO_ACTION ? "relay"
                                                                    : actions[command->action].name,
                            what);
    return !is_wrong;
}

/* `words` are TOPIC and what follows. */
static bool complete_action(struct htw__relay_command *command, int count, char *words[]) {
    const enum htw__relay_action action = command->action;
    command->ids = words + 1;
    command->id_count = action == HTW__RELAY_MOVE ? 1 : (size_t)count - 1;
    command->filter.to = command->kafka.relay.destinations.default_topic;
    command->kafka.at_least_once = true; /* it has no transactions */
    if (!fits(command, count - 1 < actions[action].words_least,
              action == HTW__RELAY_MOVE ? "ID and WHEN expected" : "ID expected") ||
        !fits(command, count - 1 > actions[action].words_most, "more words than expected") ||
        !fits(command,
              command->payload && (action != HTW__RELAY_SHOW || command->json || count == 1),
              "--payload is for show ID, without --json") ||
        !fits(command,
              action != HTW__RELAY_HTTP && (command->listen != NULL || command->token_file != NULL),
              "--listen and --token-file are for http"))
        return false;
    const char *why =
        action == HTW__RELAY_MOVE ? htw__relay_moment(words[2], &command->to_ms) : NULL;
    if (why != NULL) {
        htw__terminal_error("move: %s: %s", why, words[2]);
        return false;
    }
    return complete(command, words[0]);
}

/* What getopt_long() returns for rows[0]; a letter, or what it has complained of, is less. */
#define FIRST_ROW 256

static const struct row *find_row(int option) {
    for (size_t i = 0; i < ROWS; i++)
        if (option == FIRST_ROW + (int)i || option == rows[i].letter)
            return &rows[i];
    return NULL;
}

/* Returns HTW__RELAY_RUN when all of them are in order. */
static enum htw__relay_wish take_options(struct htw__relay_command *command, int argc,
                                         char *argv[]) {
    struct option names[ROWS + 1] = { { 0 } };
    char letters[2 * ROWS + 1] = "", *last = letters;
    int option;
    for (size_t i = 0; i < ROWS; i++) {
        names[i] =
            (struct option) { rows[i].name, rows[i].argument != NULL, NULL, FIRST_ROW + (int)i };
        if (rows[i].letter != 0)
            last += sprintf(last, "%c%s", rows[i].letter, rows[i].argument != NULL ? ":" : "");
    }
    while ((option = getopt_long(argc, argv, letters, names, NULL)) != -1) {
        const struct row *row = find_row(option);
        if (row != NULL && row->set == NULL)
            return row->letter == 'h' ? HTW__RELAY_HELP : HTW__RELAY_VERSION;
        if (row == NULL || !row->set(row, (char *)command + row->offset, optarg))
            return complain();
        command->has_action_options |= row->use == ACTION;
    }
    return HTW__RELAY_RUN;
}

enum htw__relay_wish htw__relay_command_parse(int argc, char *argv[],
                                              struct htw__relay_command *command) {
    *command = (struct htw__relay_command) {
        .kafka = { .commit_ms = 100,
                   .replication = -1,
                   .relay = { .retry_ms = 60000,
                              .catch_up_ms = 10000,
                              .levels = { 1000, 64, 5 },
                              .lead_ms = -1,
                              .max_memory = (size_t)256 << 20 } },
        .limit = 100,
        .out = stdout,
        .filter = HTW__WAITING_ALL,
        /* There are no more than arguments. */
        .patterns = calloc((size_t)argc + 1, sizeof(char *)),
    };
    if (command->patterns == NULL) {
        htw__terminal_error("out of memory");
        return HTW__RELAY_WRONG;
    }
    if (!htw__properties_from(&command->properties, environ))
        return HTW__RELAY_WRONG;
    enum htw__relay_wish wish = take_options(command, argc, argv);
    if (wish != HTW__RELAY_RUN)
        return wish;
    command->action = find_action(argc - optind, argv + optind);
    if (command->action != HTW__RELAY_NO_ACTION)
        return !complete_action(command, argc - optind - 1, argv + optind + 1) ? complain()
               : command->action == HTW__RELAY_HTTP                            ? HTW__RELAY_SERVE
                                                                               : HTW__RELAY_ACT;
    if (!fits(command, command->has_action_options,
              "an option of list, show, cancel, move or http"))
        return complain();
    if (argc - optind != 1) {
        htw__terminal_error(argc == optind ? "TOPIC is missing"
                                           : "one TOPIC expected, not more: %s",
                            argc == optind ? "" : argv[optind + 1]);
        return complain();
    }
    return complete(command, argv[optind]) ? HTW__RELAY_RUN : complain();
}

void htw__relay_command_fini(struct htw__relay_command *command) {
    free(command->patterns);
    htw__properties_fini(&command->properties);
}
