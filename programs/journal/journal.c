/* SPDX-License-Identifier: MIT */
/* journal.c - the command line of `htw journal`. */
#include "actions.h"

#include "../../src/base/clock.h"
#include "../kit/command_line.h"
#include "../kit/count.h"
#include "../kit/times.h"
#include "../kit/terminal.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) HTW__OPTION_AT(struct htw__journal_request, member)

static const char *const states[] = { "delayed", "ready", "leased", "buried", NULL };

static const struct htw__option options[] = {
    { 'J', "json", NULL, htw__set_flag, AT(json),
      .help = "print for programs: one JSON object in a line. Ids and\n"
              "nanoseconds are strings, since many programs read numbers as\n"
              "doubles. Bytes that are not UTF-8 are in Base64:\n"
              "\"payload_base64\" instead of \"payload\"" },
    { 'p', "payload", NULL, htw__set_flag, AT(payload),
      .help = "show: print the payloads alone, byte for byte" },
    { 'n', "limit", "N", htw__set_number, AT(limit), .least = 1, .most = UINT32_MAX,
      .help = "list: at most N jobs (default all); kick: at most N (up to 65536)" },
    { 'q', "queue", "NAME", htw__set_word, AT(queue),
      .help = "list: only jobs of this queue; put, lease, kick: the queue. '' is the\n"
              "default queue" },
    { 0, "state", "STATE", htw__set_choice, AT(state), .choice = states,
      .help = "list: only jobs in this state: delayed, ready, leased or buried" },
    { 0, "key", "KEY", htw__set_word, AT(key),
      .help = "put: the key of the job, which replaces the job that has it" },
    { 0, "priority", "N", htw__set_number, AT(priority),
      .also = offsetof(struct htw__journal_request, has_priority),
      .help = "put, move, release: the priority; 0, the default, comes first" },
    { 0, "exec", "COMMAND", htw__set_word, AT(command),
      .help = "lease: run this for each job, with the payload as its input and\n"
              "the id in JOB_ID. If it succeeds, the job ends; if not, it is\n"
              "given back, as the policy of the queue says, or for 1 second\n"
              "after the first attempt, 2 after the next, up to half an hour" },
    { 0, "attempts", "N", htw__set_number, AT(attempts), .least = 1, .most = UINT32_MAX,
      .help = "lease --exec: bury a job that has failed so often" },
};

static const struct htw__command_line line = {
    .program = "htw journal",
    .usage = "Usage: htw journal [OPTION]... ACTION FILE [ID]...\n",
    .about =
        "Look at a journal, a file of jobs, put jobs into it, and take them at their time.\n"
        "\n"
        "Actions:\n"
        "  list FILE              print the jobs: id, deadline, size, state, queue, key and payload.\n"
        "                         Of each queue those that are delayed come first, by deadline;\n"
        "                         then those that are ready, leased and buried\n"
        "  show FILE ID...        print these jobs, with the whole payload\n"
        "  stats FILE             print how many jobs of each queue are in each state, when the next\n"
        "                         one is due, how large the file is, and the mark of its program\n"
        "  check FILE             read all of the file, and print what is wrong with it\n"
        "  put FILE WHEN PAYLOAD  put a job, and print its id. WHEN is an instant, or +DURATION\n"
        "                         from now. Without PAYLOAD: all of standard input. Creates FILE\n"
        "  lease FILE             take the jobs of a queue as they come due, and print each. It ends\n"
        "                         when the next is asked for by a line of standard input, or with\n"
        "                         the success of --exec. Creates FILE as one that others may put\n"
        "                         jobs into meanwhile\n"
        "  cancel FILE ID...      remove these jobs, unless they are leased\n"
        "  delete FILE ID...      remove these jobs\n"
        "  move FILE ID WHEN      change the deadline of a job that is not leased\n"
        "  release FILE ID...     give leased jobs back, as the policy of their queue says\n"
        "  bury FILE ID...        put these jobs aside, until they are kicked\n"
        "  kick FILE ID...        make these jobs ready, which are buried or delayed\n"
        "  kick -n N FILE         make N jobs of a queue ready: buried ones, or, if there are none,\n"
        "                         delayed ones. Prints how many\n"
        "  compact FILE           write the file anew, without free space; takes as much space as\n"
        "                         the jobs need for a time\n"
        "\n"
        "list, show, stats and check change nothing, and work while a program has the journal open.\n"
        "A job that this program is delivering, or has leased not durably, is ready until it is\n"
        "done. The other actions are refused then, unless that program is `htw serve`: it is asked to do\n"
        "them. It refuses to change jobs of its workers, and release and compact.\n",
    .notes =
        "Exit status:\n"
        "  0    success\n"
        "  1    the file cannot be used, a job does not exist or is in another state, or check\n"
        "       has found a problem\n"
        "  2    the command line is wrong\n"
        "  141  the reader of standard output has gone (128 + SIGPIPE)\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
};

/* `words` are what follows FILE: i an id, I one or more, * any number of them, w WHEN, p a PAYLOAD, which may be missing. `options` are those that not every action has. */
static const struct action {
    const char *name;
    int (*run)(const struct htw__journal_request *request);
    const char *words, *options;
    enum htw_job_step step;
    const char *done;
} actions[] = {
    { "list", htw__journal_list, "", "--limit --queue --state", 0, NULL },
    { "show", htw__journal_show, "I", "--payload", 0, NULL },
    { "stats", htw__journal_stats, "", "", 0, NULL },
    { "check", htw__journal_check, "", "", 0, NULL },
    { "put", htw__journal_put, "wp", "--queue --key --priority", 0, NULL },
    { "lease", htw__journal_lease, "", "--queue --exec --attempts", 0, NULL },
    { "cancel", htw__journal_step, "I", "", HTW_JOB_CANCEL, "cancelled" },
    { "delete", htw__journal_step, "I", "", HTW_JOB_END, "deleted" },
    { "move", htw__journal_step, "iw", "--priority", HTW_JOB_MOVE, "moved" },
    { "release", htw__journal_step, "I", "--priority", HTW_JOB_RELEASE, "released" },
    { "bury", htw__journal_step, "I", "", HTW_JOB_BURY, "buried" },
    { "kick", htw__journal_kick, "*", "--queue --limit", HTW_JOB_KICK, "kicked" },
    { "compact", htw__journal_compact, "", "", 0, NULL },
};

static int complain(const char *what, const char *word) {
    htw__terminal_error("%s%s", what, word);
    (void)htw__command_line_complain(&line);
    return HTW__EXIT_USAGE;
}

static const struct action *find_action(const char *name) {
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (strcmp(actions[i].name, name) == 0)
            return &actions[i];
    return NULL;
}

/* The first option that the action does not have; NULL: none. */
static const char *find_misused(const struct action *action,
                                const struct htw__journal_request *request) {
    const struct {
        bool is_set;
        const char *name;
    } all[] = {
        { request->payload, "--payload" },      { request->limit != UINT64_MAX, "--limit" },
        { request->queue != NULL, "--queue" },  { request->state != HTW__STATE_ANY, "--state" },
        { request->key != NULL, "--key" },      { request->has_priority, "--priority" },
        { request->command != NULL, "--exec" }, { request->attempts != UINT32_MAX, "--attempts" },
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i].is_set && strstr(action->options, all[i].name) == NULL)
            return all[i].name;
    return NULL;
}

static int read_when(struct htw__journal_request *request, const char *word) {
    char what[80];
    const char *why =
        htw__instant_parse_after(word, htw__clock_realtime_ns(), &request->deadline_ns);
    if (why == NULL)
        return 0;
    snprintf(what, sizeof(what), "WHEN: %s: ", why);
    return complain(what, word);
}

/* What kick needs beside its words. */
static int check_kick(const struct htw__journal_request *request) {
    uint64_t limit = request->limit;
    if (request->id_count == 0 && limit == UINT64_MAX)
        return complain("ID or --limit expected after ", request->path);
    if (request->id_count > 0 && (limit != UINT64_MAX || request->queue != NULL))
        return complain("--limit and --queue: not with ", "an ID");
    if (limit != UINT64_MAX && limit > HTW_KICK_MAX)
        return complain("--limit: at most 65536 with kick", "");
    return 0;
}

/* Returns how many there are, or -1. */
static int read_ids(struct htw__journal_request *request, int count, char *words[], uint64_t *ids) {
    for (int i = 0; i < count; i++)
        if (!htw__count_parse(words[i], &ids[i])) {
            (void)complain("not an id: ", words[i]);
            return -1;
        }
    request->ids = ids;
    request->id_count = (size_t)count;
    return count;
}

/* Takes what `kind` says from the `count` words behind the first. Returns how many that are; -1: it is wrong, and was complained
   about. */
static int take(char kind, struct htw__journal_request *request, int count, char *words[],
                uint64_t *ids) {
    static const char *const missing[] = { ['i'] = "ID", ['I'] = "ID", ['w'] = "WHEN" };
    char what[32];
    if (count == 0 && kind != '*' && kind != 'p') {
        snprintf(what, sizeof(what), "%s expected after ", missing[(unsigned char)kind]);
        (void)complain(what, words[0]);
        return -1;
    }
    words++;
    switch (kind) {
    case 'i':
        return read_ids(request, 1, words, ids);
    case 'w':
        return read_when(request, words[0]) == 0 ? 1 : -1;
    case 'p':
        request->content = words[0];
        return count > 0;
    default: /* I and * */
        return read_ids(request, count, words, ids);
    }
}

/* `words` are FILE, and what else the action takes; NULL is behind them. */
static int run(const struct action *action, struct htw__journal_request *request, int count,
               char *words[]) {
    uint64_t *ids = calloc((size_t)count, sizeof(*ids));
    int used = 1, taken = 0, status = HTW__EXIT_USAGE;
    if (ids == NULL) {
        htw__terminal_error("%s", strerror(ENOMEM));
        return HTW__EXIT_FAILED;
    }
    request->path = words[0];
    for (const char *kind = action->words; *kind != '\0' && taken >= 0; kind++) {
        taken = take(*kind, request, count - used, words + used - 1, ids);
        used += taken;
    }
    if (taken >= 0 && used < count)
        (void)complain("not expected: ", words[used]);
    else if (taken >= 0 && (action->run != htw__journal_kick || check_kick(request) == 0))
        status = action->run(request);
    free(ids);
    return status;
}

int htw__journal_command(int argc, char *argv[]) {
    struct htw__journal_request request = { .state = HTW__STATE_ANY,
                                            .limit = UINT64_MAX,
                                            .deadline_ns = INT64_MIN,
                                            .attempts = UINT32_MAX };
    enum htw__wish wish = htw__command_line_read(&line, argc, argv, &request);
    if (wish != HTW__WISH_RUN)
        return htw__command_line_answer(&line, wish);
    if (optind == argc)
        return complain("ACTION expected", "");
    const struct action *action = find_action(argv[optind]);
    if (action == NULL)
        return complain("unknown action: ", argv[optind]);
    const char *misused = find_misused(action, &request);
    if (misused != NULL)
        return complain(misused, ": not with this action");
    if (request.payload && request.json)
        return complain("--payload: not with --json", "");
    if (optind + 1 == argc)
        return complain("FILE expected after ", action->name);
    request.step = action->step;
    request.done = action->done;
    return run(action, &request, argc - optind - 1, argv + optind + 1);
}
