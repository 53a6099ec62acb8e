/* SPDX-License-Identifier: MIT */
/* replay.c - the command `htw replay`: runs timers in virtual time, or reads what those of a program did, and writes
 * a page that plays it. */
#include "replay.h"

#include "flight_input.h"
#include "flight_table.h"
#include "flight_wheel.h"
#include "kafka.h"
#include "page.h"
#include "record.h"
#include "../draw/run.h"
#include "../draw/save.h"
#include "../status.h"
#include "../terminal.h"
#include "../../base/bitmap.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A page with more could not be played. */
#define TIMERS_MAX 200000

struct options {
    struct htw__run_options run;
    const char *html;    /* NULL: only counts */
    const char *title;   /* NULL: one of the command's own */
    const char *monitor; /* NULL: the input is a file */
};

#define AT(member) HTW__OPTION_AT(struct options, member)

static const struct htw__option rows[] = {
    { 'o', "html", "FILE", htw__set_word, AT(html),
      .help = "replace FILE by a page for a browser; `-`: write it to standard\n"
              "output. It needs no network, and no other file. Errors of the\n"
              "input leave FILE as it was" },
    { 'm', "monitor", "PROGRAM", htw__set_word, AT(monitor),
      .help = "instead of a FILE, the flight record of a running program: the\n"
              "number of its process, or the path of its socket" },
    { 'T', "title", "TEXT", htw__set_word, AT(title), .help = "the title of the page" },
    HTW__RUN_OPTIONS(struct options),
};

static const struct htw__command_line line = {
    .program = "htw replay",
    .usage = "Usage: htw replay [OPTION]... [FILE]...\n"
             "  or:  htw replay [OPTION]... --monitor PROGRAM\n",
    .about =
        "Run the timers of the input in a timing wheel, and count what the wheel does; with --html,\n"
        "write a page in which the run plays. Of the flight record of a program, count what each site\n"
        "did that arms timers; the page shows which timers have woken the program, and when.\n"
        "\n" HTW__RUN_INPUT_HELP "\n"
        "A FILE with a flight record is what a monitor has answered to `events`.\n",
    .notes =
        "The counts, and a switch in the page, compare the wheel with the one of Apache "
        "Kafka: what it\n"
        "would do with the same timers, tick and number of buckets. A run has up to 200000 timers,\n"
        "a flight record up to 500000 events, and the tick and the buckets of the program.\n"
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

/* Replaces the file of --html, or prints. */
static int save(const struct options *options, const struct htw__page *page) {
    struct htw__save save;
    int error = htw__save_begin(&save), write_error = 0;
    if (error != 0)
        return error;
    if (options->html != NULL)
        write_error = htw__page_write(save.stream, page);
    else
        put_counts(save.stream, page->record, page->kafka);
    bool is_file = options->html != NULL && strcmp(options->html, "-") != 0;
    error = htw__save_end(&save, is_file ? options->html : NULL,
                          page->run->has_failed || write_error != 0);
    return error != 0 ? error : write_error;
}

/* Of a run that was recorded. */
static int compare_and_save(const struct options *options, const struct htw__page *page,
                            unsigned bits) {
    struct htw__replay_record kafka;
    struct htw__page compared = *page;
    const char *what = "cannot run";
    htw__record_init(&kafka);
    kafka.limit = page->record->limit;
    compared.kafka = &kafka;
    int error = htw__kafka_record(&kafka, page->record, bits);
    if (error == 0) {
        what = options->html == NULL ? "standard output" : options->html;
        error = save(options, &compared);
    }
    if (error != 0)
        htw__terminal_error("%s: %s", what, strerror(-error));
    htw__record_fini(&kafka);
    return error;
}

static int replay(const struct options *options) {
    struct htw__run run;
    struct htw__replay_record record;
    struct htw__page page = { .title = options->title, .run = &run, .record = &record };
    if (page.title == NULL)
        page.title = "A timing wheel at work";
    htw__record_init(&record);
    int error = htw__record_run(&record, &run, &options->run);
    if (error == -E2BIG)
        htw__terminal_error("more than %d timers", TIMERS_MAX);
    else if (error != 0)
        htw__terminal_error("cannot run: %s", strerror(-error));
    if (error == 0)
        error = compare_and_save(options, &page, htw__lowest_bit(options->run.wheel_size));
    bool has_failed = run.has_failed || error != 0;
    htw__record_fini(&record);
    htw__run_fini(&run);
    return has_failed ? HTW__EXIT_FAILED : 0;
}

/* ---- flight records */

#ifdef HTW_HAS_TOP

static int replay_in_wheel(const struct options *options, const struct htw__flight *flight,
                           uint32_t *timer_sites) {
    struct htw__run_options run_options;
    struct htw__run run;
    struct htw__replay_record record;
    char title[HTW__FLIGHT_NAME_MAX + 64];
    snprintf(title, sizeof(title), "What wakes %s (process %" PRId64 ")", flight->program,
             flight->pid);
    struct htw__page page = {
        .title = options->title == NULL ? title : options->title,
        .run = &run,
        .record = &record,
        .flight = flight,
        .timer_sites = timer_sites,
    };
    htw__flight_wheel_options(flight, &run_options);
    htw__record_init(&record);
    int error = htw__flight_wheel_record(flight, &record, &run, &run_options, timer_sites);
    if (error != 0)
        htw__terminal_error("cannot run: %s",
                            error == -E2BIG ? "the wheel takes too many steps" : strerror(-error));
    else
        error = compare_and_save(options, &page, htw__lowest_bit(run_options.wheel_size));
    htw__record_fini(&record);
    htw__run_fini(&run);
    return error;
}

static int print_table(const struct htw__flight *flight) {
    struct htw__save save;
    int error = htw__save_begin(&save), write_error = 0;
    if (error == 0) {
        write_error = htw__flight_table_write(save.stream, flight);
        error = htw__save_end(&save, NULL, false);
    }
    error = error != 0 ? error : write_error;
    if (error != 0)
        htw__terminal_error("standard output: %s", strerror(-error));
    return error;
}

static int play_flight(const struct options *options, const struct htw__flight *flight) {
    uint32_t *timer_sites = calloc(flight->event_count + 1, sizeof(*timer_sites));
    int error = -ENOMEM;
    if (timer_sites == NULL)
        htw__terminal_error("cannot run: %s", strerror(ENOMEM));
    else
        error = replay_in_wheel(options, flight, timer_sites);
    free(timer_sites);
    return error;
}

static int replay_flight(const struct options *options, struct htw__input *input) {
    struct htw__flight flight;
    htw__flight_init(&flight);
    bool is_read = input == NULL ? htw__flight_fetch(&flight, options->monitor)
                                 : htw__flight_read(&flight, input);
    int error = !is_read                ? -EIO
                : options->html == NULL ? print_table(&flight)
                                        : play_flight(options, &flight);
    htw__flight_fini(&flight);
    return error != 0 ? HTW__EXIT_FAILED : 0;
}

#else

static int replay_flight(const struct options *options, struct htw__input *input) {
    (void)options, (void)input;
    htw__terminal_error("this htw was built without jansson, and so reads no flight records");
    return HTW__EXIT_USAGE;
}

#endif

/* The first line says what the input is. */
static int replay_input(struct options *options) {
    struct htw__input input;
    int error = htw__run_open(&input, &options->run), status = HTW__EXIT_FAILED;
    options->run.input = &input;
    if (error != 0)
        htw__terminal_error("cannot run: %s", strerror(-error));
    else if (htw__run_begins(&input, '{'))
        status = replay_flight(options, &input);
    else
        status = replay(options);
    htw__input_fini(&input);
    return status;
}

int htw__replay_command(int argc, char *argv[]) {
    struct options options = { .title = NULL };
    htw__terminal_name(argv[0]);
    htw__run_options_init(&options.run);
    options.run.max_timers = TIMERS_MAX;
    enum htw__wish wish = htw__run_options_read(&line, argc, argv, &options.run);
    if (wish == HTW__WISH_RUN && options.monitor != NULL && optind < argc) {
        htw__terminal_error("--monitor and a FILE do not go together: %s", argv[optind]);
        wish = htw__command_line_complain(&line);
    }
    if (wish != HTW__WISH_RUN)
        return htw__command_line_answer(&line, wish);
    return options.monitor != NULL ? replay_flight(&options, NULL) : replay_input(&options);
}
