/* SPDX-License-Identifier: MIT */
/* journal.c - the command line of `htw journal`. */
#include "journal.h"

#include "../command_line.h"
#include "../count.h"
#include "../status.h"
#include "../terminal.h"
#include "actions.h"
#include "file.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) HTW__OPTION_AT(struct htw__journal_request, member)

static const struct htw__option options[] = {
    { 'J', "json", NULL, htw__set_flag, AT(json),
      .help = "print for programs: one JSON object in a line. Ids and\n"
              "nanoseconds are strings, since many programs read numbers as\n"
              "doubles. Bytes that are not UTF-8 are in Base64:\n"
              "\"payload_base64\" instead of \"payload\"" },
    { 'p', "payload", NULL, htw__set_flag, AT(payload),
      .help = "show: print the payloads alone, byte for byte" },
    { 'n', "limit", "N", htw__set_number, AT(limit), .help = "list: print the first N jobs only" },
};

static const struct htw__command_line line = {
    .program = "htw journal",
    .usage = "Usage: htw journal [OPTION]... ACTION FILE [ID]...\n",
    .about =
        "Look at a journal, the file of `htw delay --journal` and other programs, and mend it.\n"
        "\n"
        "Actions:\n"
        "  list FILE          print the jobs in order of deadline: id, deadline, size, payload\n"
        "  show FILE          print how many jobs there are, how many are overdue, when the next\n"
        "                     one is due, how large the file is, and the mark of its program\n"
        "  show FILE ID...    print these jobs, with the whole payload\n"
        "  check FILE         read all of the file, and print what is wrong with it\n"
        "  cancel FILE ID...  remove these jobs\n"
        "  compact FILE       write the file anew, without free space; takes as much space as the\n"
        "                     jobs need for a time\n"
        "\n"
        "list, show and check change nothing, and work while a program has the journal open. A job\n"
        "that this program is delivering is listed until it is done. cancel and compact are\n"
        "refused then.\n",
    .notes = "Exit status:\n"
             "  0    success\n"
             "  1    the file cannot be used, a job does not exist, or check has found a problem\n"
             "  2    the command line is wrong\n"
             "  141  the reader of standard output has gone (128 + SIGPIPE)\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
};

static const struct action {
    const char *name;
    int (*run)(const struct htw__journal_request *request);
    bool takes_ids, needs_ids;
} actions[] = {
    { "list", htw__journal_list, false, false },
    { "show", htw__journal_show, true, false },
    { "check", htw__journal_check, false, false },
    { "cancel", htw__journal_cancel, true, true },
    { "compact", htw__journal_compact, false, false },
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

/* `words` are FILE and ids. */
static int run(const struct action *action, struct htw__journal_request *request, int count,
               char *words[]) {
    if (count == 0)
        return complain("FILE expected after ", action->name);
    if (count > 1 && !action->takes_ids)
        return complain("not expected: ", words[1]);
    if (count == 1 && action->needs_ids)
        return complain("ID expected after ", words[0]);
    uint64_t *ids = calloc((size_t)count, sizeof(*ids));
    if (ids == NULL) {
        htw__terminal_error("%s", strerror(ENOMEM));
        return HTW__EXIT_FAILED;
    }
    int status = 0;
    for (int i = 1; i < count && status == 0; i++)
        if (!htw__count_parse(words[i], &ids[i - 1]))
            status = complain("not an id: ", words[i]);
    request->path = words[0];
    request->ids = ids;
    request->id_count = (size_t)count - 1;
    if (status == 0)
        status = action->run(request);
    free(ids);
    return status;
}

int htw__journal_command(int argc, char *argv[]) {
    struct htw__journal_request request = { .limit = UINT64_MAX };
    htw__terminal_name(argv[0]);
    enum htw__wish wish = htw__command_line_read(&line, argc, argv, &request);
    if (wish != HTW__WISH_RUN)
        return htw__command_line_answer(&line, wish);
    if (optind == argc)
        return complain("ACTION expected", "");
    const struct action *action = find_action(argv[optind]);
    if (action == NULL)
        return complain("unknown action: ", argv[optind]);
    if (request.payload && (request.json || action->run != htw__journal_show))
        return complain("--payload: only with show, and without --json", "");
    if (request.limit != UINT64_MAX && action->run != htw__journal_list)
        return complain("--limit: only with list", "");
    return run(action, &request, argc - optind - 1, argv + optind + 1);
}
