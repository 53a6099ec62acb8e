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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USAGE                                             \
    "Usage: htw relay [OPTION]... --brokers LIST TOPIC\n" \
    "  or:  htw relay ACTION [OPTION]... --brokers LIST TOPIC [ID]...\n"

const char *const htw__relay_help[2] = {
    USAGE
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
    "\n",
    "  -b, --brokers LIST       HOST:PORT[,HOST:PORT]... of the cluster\n"
    "  -t, --to TOPIC           the default destination; it is allowed. list: only records for "
    "TOPIC\n"
    "  -a, --allow PATTERN      allow destinations that match, such as 'orders.*'; may be "
    "repeated\n"
    "  -d, --dead-letters TOPIC the topic of bad records (default TOPIC.dead)\n"
    "  -g, --group NAME         the consumer group (default TOPIC)\n"
    "  -c, --create-topics      make the topics that are missing, add partitions, and exit\n"
    "      --replication N      of topics that are made (default: that of TOPIC)\n"
    "  -w, --width DURATION     of the lowest buckets (default 1s); cannot be changed later\n"
    "      --size N             buckets of a level: a power of two from 4 to 1024 (default 64);\n"
    "                           cannot be changed later\n"
    "      --levels N           2 to 12 (default 5); cannot be changed later\n"
    "      --lead DURATION      load a bucket so long before its start (default 1s, or the width)\n"
    "  -i, --commit-interval DURATION\n"
    "                           between commits of what was delivered (default 100ms)\n"
    "      --recommit DURATION  commit positions again, so that they do not expire (default: a\n"
    "                           quarter of the broker's offsets.retention.minutes)\n"
    "      --at-least-once      without transactions: records become visible sooner; after a "
    "failure\n"
    "                           those of one commit interval may be delivered twice\n"
    "      --instance NAME      a name of this relay that stays: a restart replaces it at once\n"
    "  -m, --max-memory SIZE    of records in memory (default 256M)\n"
    "  -k, --keep-partition     deliver to the partition with the number of the input's\n"
    "      --recover            go on even if positions are missing: with all that is left\n"
    "      --metrics [ADDRESS:]PORT\n"
    "                           serve metrics for Prometheus (default address 127.0.0.1)\n"
    "      --log-format FORMAT  of what it says while it runs: text (time=... level=... msg=...), "
    "or "
    "json\n"
    "  -s, --stats              print statistics to standard error at the end\n"
    "  -p, --progress           show progress, if standard error is a terminal\n"
    "  -X, --property NAME=VALUE\n"
    "                           a property of librdkafka, such as security.protocol=ssl; those "
    "that the\n"
    "                           promises rest on are refused\n"
    "      --properties FILE    properties of librdkafka, a line each; # begins a comment\n"
    "                           Secrets belong there, or into the environment:\n"
    "                           HTW_RELAY_X_SASL_PASSWORD is sasl.password\n"
    "  -n, --limit N            list: at most N records (default 100)\n"
    "      --after CURSOR       list: those after the end of another page, which list has printed\n"
    "      --from WHEN          list: only records that wait for this time or a later one\n"
    "      --until WHEN         list: only records that wait for a time before this\n"
    "      --key KEY            list: only records with this key\n"
    "      --grep TEXT          list: only records with TEXT in value, key or htw-id\n"
    "  -J, --json               list, show, cancel, move: print for programs, a JSON object a "
    "line\n"
    "      --payload            show: print the values alone, byte for byte\n"
    "      --listen WHERE       http: [ADDRESS:]PORT or unix:PATH (default 127.0.0.1:8480). Other\n"
    "                           addresses than 127.0.0.0/8 need a token\n"
    "      --token-file FILE    http: the token of those who may cancel and move; or in the\n"
    "                           environment, HTW_RELAY_TOKEN\n"
    "  -h, --help               print this help\n"
    "  -V, --version            print the version\n"
    "\n"
    "SIGTERM, SIGINT and SIGHUP: commit what was done, leave the group, exit. SIGUSR1 prints the\n"
    "statistics.\n"
    "\n"
    "Exit status:\n"
    "  0  it was stopped by a signal, and everything was committed\n"
    "  1  it failed, or the last commit failed: a successor does that part again. An action: no\n"
    "     record has this id, or several have, or cancel or move did not surely come in time\n"
    "  2  the command line is wrong\n"
};

enum {
    REPLICATION = 256,
    SIZE,
    LEVELS,
    LEAD,
    RECOMMIT,
    AT_LEAST_ONCE,
    INSTANCE,
    RECOVER,
    METRICS,
    PROPERTIES,
    LOG_FORMAT,
    AFTER,
    FROM,
    UNTIL,
    KEY,
    GREP,
    PAYLOAD,
    LISTEN,
    TOKEN_FILE,
};

static const struct option long_options[] = {
    { "brokers", required_argument, NULL, 'b' },
    { "to", required_argument, NULL, 't' },
    { "allow", required_argument, NULL, 'a' },
    { "dead-letters", required_argument, NULL, 'd' },
    { "group", required_argument, NULL, 'g' },
    { "create-topics", no_argument, NULL, 'c' },
    { "replication", required_argument, NULL, REPLICATION },
    { "width", required_argument, NULL, 'w' },
    { "size", required_argument, NULL, SIZE },
    { "levels", required_argument, NULL, LEVELS },
    { "lead", required_argument, NULL, LEAD },
    { "commit-interval", required_argument, NULL, 'i' },
    { "recommit", required_argument, NULL, RECOMMIT },
    { "at-least-once", no_argument, NULL, AT_LEAST_ONCE },
    { "instance", required_argument, NULL, INSTANCE },
    { "max-memory", required_argument, NULL, 'm' },
    { "keep-partition", no_argument, NULL, 'k' },
    { "recover", no_argument, NULL, RECOVER },
    { "metrics", required_argument, NULL, METRICS },
    { "log-format", required_argument, NULL, LOG_FORMAT },
    { "stats", no_argument, NULL, 's' },
    { "progress", no_argument, NULL, 'p' },
    { "property", required_argument, NULL, 'X' },
    { "properties", required_argument, NULL, PROPERTIES },
    { "limit", required_argument, NULL, 'n' },
    { "after", required_argument, NULL, AFTER },
    { "from", required_argument, NULL, FROM },
    { "until", required_argument, NULL, UNTIL },
    { "key", required_argument, NULL, KEY },
    { "grep", required_argument, NULL, GREP },
    { "json", no_argument, NULL, 'J' },
    { "payload", no_argument, NULL, PAYLOAD },
    { "listen", required_argument, NULL, LISTEN },
    { "token-file", required_argument, NULL, TOKEN_FILE },
    { "help", no_argument, NULL, 'h' },
    { "version", no_argument, NULL, 'V' },
    { NULL, 0, NULL, 0 },
};

static bool set_ms(int64_t *ms, const char *name, const char *text, int64_t least_ms) {
    struct htw__time time = { 0, 0 };
    const char *why = htw__duration_parse(text, strlen(text), &time);
    int64_t ns = htw__time_to_ns(time);
    if (why == NULL &&
        (ns % HTW__NS_PER_MS != 0 || ns / HTW__NS_PER_MS < least_ms || ns == INT64_MAX))
        why = "not a whole number of milliseconds in the range that is allowed";
    if (why != NULL) {
        htw__terminal_error("%s: %s: %s", name, why, text);
        return false;
    }
    *ms = ns / HTW__NS_PER_MS;
    return true;
}

static bool set_number(uint32_t *number, const char *name, const char *text, uint32_t least,
                       uint32_t most) {
    uint64_t count;
    if (!htw__count_parse(text, &count) || count < least || count > most) {
        htw__terminal_error("%s: not a number from %u to %u: %s", name, least, most, text);
        return false;
    }
    *number = (uint32_t)count;
    return true;
}

static bool set_memory(size_t *size, const char *text) {
    uint64_t bytes;
    if (!htw__size_parse(text, &bytes) || bytes < 1024 || bytes > SIZE_MAX / 2) {
        htw__terminal_error("--max-memory: not a size of at least 1K, such as 256M: %s", text);
        return false;
    }
    *size = (size_t)bytes;
    return true;
}

static bool set_name(const char **name, const char *option, const char *text) {
    if (*text == '\0') {
        htw__terminal_error("%s: a name is missing", option);
        return false;
    }
    *name = text;
    return true;
}

static bool set_log_format(enum htw__log_format *format, const char *text) {
    *format = strcmp(text, "json") == 0 ? HTW__LOG_JSON : HTW__LOG_TEXT;
    if (*format == HTW__LOG_JSON || strcmp(text, "text") == 0)
        return true;
    htw__terminal_error("--log-format: neither text nor json: %s", text);
    return false;
}

static bool set_instance(const char **name, const char *text) {
    if (!htw__owner_is_valid(htw__bytes_of(text))) {
        htw__terminal_error("--instance: not 1 to %u letters, digits, '.', '_' and '-': %s",
                            HTW__RELAY_OWNER_MAX, text);
        return false;
    }
    *name = text;
    return true;
}

static bool set_levels(struct htw__levels *levels, int option, const char *argument) {
    if (option == 'w')
        return set_ms(&levels->width_ms, "--width", argument, 1);
    if (option == LEVELS)
        return set_number(&levels->count, "--levels", argument, HTW__RELAY_LEVELS_MIN,
                          HTW__RELAY_LEVELS_MAX);
    if (!set_number(&levels->size, "--size", argument, HTW__RELAY_SIZE_MIN, HTW__RELAY_SIZE_MAX))
        return false;
    if ((levels->size & (levels->size - 1)) == 0)
        return true;
    htw__terminal_error("--size: not a power of two: %s", argument);
    return false;
}

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

static bool set_moment(int64_t *ms, const char *name, const char *text) {
    const char *why = htw__relay_moment(text, ms);
    if (why != NULL)
        htw__terminal_error("%s: %s: %s", name, why, text);
    return why == NULL;
}

static bool set_limit(size_t *limit, const char *text) {
    uint64_t count;
    if (!htw__count_parse(text, &count) || count == 0 || count > SIZE_MAX / 4096) {
        htw__terminal_error("--limit: not a number of records: %s", text);
        return false;
    }
    *limit = (size_t)count;
    return true;
}

/* Takes one option of an action; false when its argument is wrong. */
static bool set_action(struct htw__relay_command *command, int option, const char *argument) {
    struct htw__waiting_filter *filter = &command->filter;
    command->has_action_options = true;
    switch (option) {
    case 'n':
        return set_limit(&command->limit, argument);
    case AFTER:
        if (htw__waiting_key_parse(argument, &filter->after))
            return true;
        htw__terminal_error("--after: not what list has printed: %s", argument);
        return false;
    case FROM:
        return set_moment(&filter->from_ms, "--from", argument);
    case UNTIL:
        return set_moment(&filter->until_ms, "--until", argument);
    case KEY:
        filter->key = argument;
        return true;
    case GREP:
        filter->text = argument;
        return true;
    case 'J':
        command->json = true;
        return true;
    case PAYLOAD:
        command->payload = true;
        return true;
    case LISTEN:
        return set_name(&command->listen, "--listen", argument);
    case TOKEN_FILE:
        return set_name(&command->token_file, "--token-file", argument);
    default: /* '?': getopt has complained */
        return false;
    }
}

/* Takes one option; false when its argument is wrong. */
static bool set(struct htw__relay_command *command, int option, char *argument) {
    struct htw__kafka_options *kafka = &command->kafka;
    struct htw__relay_options *relay = &kafka->relay;
    uint32_t number;
    switch (option) {
    case 'b':
        return set_name(&kafka->brokers, "--brokers", argument);
    case 't':
        return set_name(&relay->destinations.default_topic, "--to", argument);
    case 'a':
        command->patterns[relay->destinations.pattern_count++] = argument;
        return true;
    case 'd':
        return set_name(&relay->dead_letters, "--dead-letters", argument);
    case 'g':
        return set_name(&kafka->group, "--group", argument);
    case 'c':
        command->create_topics = true;
        return true;
    case REPLICATION:
        if (!set_number(&number, "--replication", argument, 1, INT16_MAX))
            return false;
        kafka->replication = (int)number;
        return true;
    case 'w':
    case SIZE:
    case LEVELS:
        return set_levels(&relay->levels, option, argument);
    case LEAD:
        return set_ms(&relay->lead_ms, "--lead", argument, 0);
    case 'i':
        return set_ms(&kafka->commit_ms, "--commit-interval", argument, 1);
    case RECOMMIT:
        return set_ms(&kafka->recommit_ms, "--recommit", argument, 1000);
    case AT_LEAST_ONCE:
        kafka->at_least_once = true;
        return true;
    case INSTANCE:
        return set_instance(&kafka->instance, argument);
    case 'm':
        return set_memory(&relay->max_memory, argument);
    case 'k':
        relay->keep_partition = true;
        return true;
    case RECOVER:
        relay->recover = true;
        return true;
    case METRICS:
        return set_name(&command->metrics, "--metrics", argument);
    case LOG_FORMAT:
        return set_log_format(&command->log_format, argument);
    case 's':
        command->stats = true;
        return true;
    case 'p':
        command->progress = true;
        return true;
    case 'X':
        return htw__properties_add(&command->properties, argument, "-X");
    case PROPERTIES:
        return htw__properties_read(&command->properties, argument);
    default:
        return set_action(command, option, argument);
    }
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
    if (action == HTW__RELAY_MOVE && !set_moment(&command->to_ms, "move", words[2]))
        return false;
    return complete(command, words[0]);
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
    int option;
    while ((option = getopt_long(argc, argv, "b:t:a:d:g:cw:i:m:kspX:n:JhV", long_options, NULL)) !=
           -1) {
        if (option == 'h')
            return HTW__RELAY_HELP;
        if (option == 'V')
            return HTW__RELAY_VERSION;
        if (!set(command, option, optarg))
            return complain();
    }
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
