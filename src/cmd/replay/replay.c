/* SPDX-License-Identifier: MIT */
/* replay.c - the command `htw replay`: runs timers in virtual time, and writes a page that plays the run. */
#include "replay.h"

#include "kafka.h"
#include "page.h"
#include "record.h"
#include "../draw/run.h"
#include "../draw/save.h"
#include "../status.h"
#include "../terminal.h"
#include "../../base/bitmap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A page with more could not be played. */
#define TIMERS_MAX 200000

struct options {
    struct htw__run_options run;
    const char *html; /* NULL: only counts */
    const char *title;
};

#define AT(member) HTW__OPTION_AT(struct options, member)

static const struct htw__option rows[] = {
    { 'o', "html", "FILE", htw__set_word, AT(html),
      .help = "replace FILE by a page for a browser; `-`: write it to standard\n"
              "output. It needs no network, and no other file. Errors of the\n"
              "input leave FILE as it was" },
    { 'T', "title", "TEXT", htw__set_word, AT(title), .help = "the title of the page" },
    HTW__RUN_OPTIONS(struct options),
};

static const struct htw__command_line line = {
    .program = "htw replay",
    .usage = "Usage: htw replay [OPTION]... [FILE]...\n",
    .about =
        "Run the timers of the input in a timing wheel, and count what the wheel does; with --html,\n"
        "write a page in which the run plays.\n"
        "\n" HTW__RUN_INPUT_HELP,
    .notes =
        "The counts, and a switch in the page, compare the wheel with the one of Apache "
        "Kafka: what it\n"
        "would do with the same timers, tick and number of buckets. A run has up to 200000 timers.\n"
        "\n"
        "Exit status:\n"
        "  0        success\n"
        "  1        a line was bad, or reading or writing failed\n"
        "  2        the command line is wrong\n",
    .options = rows,
    .option_count = sizeof(rows) / sizeof(rows[0]),
};

static void put_counts(FILE *stream, const struct htw__replay_record *record,
                       const struct htw__replay_record *kafka) {
    static const char *const names[HTW__EVENT_KINDS] = { "armed",     "demoted", "moved",
                                                         "cancelled", "expired", "clock advances" };
    fprintf(stream, "%-16s %12s %12s\n", "", "htw", "Kafka's way");
    for (int i = 0; i < HTW__EVENT_KINDS; i++)
        fprintf(stream, "%-16s %12" PRIu64 " %12" PRIu64 "\n", names[i], record->counts[i],
                kafka->counts[i]);
}

static int save(const struct options *options, const struct htw__run *run,
                const struct htw__replay_record *record, const struct htw__replay_record *kafka) {
    struct htw__save save;
    int error = htw__save_begin(&save);
    if (error != 0)
        return error;
    if (options->html == NULL)
        put_counts(save.stream, record, kafka);
    else
        htw__page_write(save.stream, options->title, run, record, kafka);
    bool is_file = options->html != NULL && strcmp(options->html, "-") != 0;
    return htw__save_end(&save, is_file ? options->html : NULL, run->has_failed);
}

static int replay(const struct options *options) {
    struct htw__run run;
    struct htw__replay_record record, kafka;
    htw__record_init(&record);
    htw__record_init(&kafka);
    const char *what = "cannot run";
    int error = htw__record_run(&record, &run, &options->run);
    if (error == -E2BIG)
        htw__terminal_error("more than %d timers", TIMERS_MAX);
    if (error == 0)
        error = htw__kafka_record(&kafka, &record, htw__lowest_bit(options->run.wheel_size));
    if (error == 0) {
        what = options->html == NULL ? "standard output" : options->html;
        error = save(options, &run, &record, &kafka);
    }
    if (error != 0 && error != -E2BIG)
        htw__terminal_error("%s: %s", what, strerror(-error));
    bool has_failed = run.has_failed || error != 0;
    htw__record_fini(&record);
    htw__record_fini(&kafka);
    htw__run_fini(&run);
    return has_failed ? HTW__EXIT_FAILED : 0;
}

int htw__replay_command(int argc, char *argv[]) {
    struct options options = { .title = "A timing wheel at work" };
    htw__terminal_name(argv[0]);
    htw__run_options_init(&options.run);
    options.run.max_timers = TIMERS_MAX;
    enum htw__wish wish = htw__run_options_read(&line, argc, argv, &options.run);
    if (wish != HTW__WISH_RUN)
        return htw__command_line_answer(&line, wish);
    return replay(&options);
}
