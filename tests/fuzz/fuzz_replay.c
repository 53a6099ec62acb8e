/* SPDX-License-Identifier: MIT */
/*
 * fuzz_replay.c - the lines of `htw replay`: the record of the run, the one of Kafka's wheel, and the page.
 */
#include "run_input.h"

#include "../../src/cmd/replay/kafka.h"
#include "../../src/cmd/replay/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The ticks never go back, each timer is armed first, and what has ended does nothing more. */
static void check_record(const struct htw__replay_record *record, const struct htw__run *run) {
    bool *is_armed = calloc(run->timer_count + 1, sizeof(*is_armed));
    uint64_t tick = 0, armed = 0;
    for (size_t i = 0; i < record->count; i++) {
        const struct htw__event *event = &record->events[i];
        FUZZ_CHECK(event->tick >= tick && event->tick <= record->end);
        tick = event->tick;
        if (event->kind == HTW__EVENT_ADVANCED)
            continue;
        FUZZ_CHECK(event->timer < run->timer_count);
        FUZZ_CHECK(is_armed[event->timer] != (event->kind == HTW__EVENT_ARMED));
        armed += event->kind == HTW__EVENT_ARMED;
        is_armed[event->timer] =
            event->kind != HTW__EVENT_CANCELLED && event->kind != HTW__EVENT_EXPIRED;
        if (event->kind == HTW__EVENT_EXPIRED)
            FUZZ_CHECK(event->tick >= event->deadline);
    }
    FUZZ_CHECK(armed == run->timer_count);
    free(is_armed);
}

/* Both wheels expire the same timers at the same ticks. */
static void check_same(const struct htw__replay_record *a, const struct htw__replay_record *b) {
    FUZZ_CHECK(a->counts[HTW__EVENT_ARMED] == b->counts[HTW__EVENT_ARMED]);
    FUZZ_CHECK(a->counts[HTW__EVENT_MOVED] == b->counts[HTW__EVENT_MOVED]);
    FUZZ_CHECK(a->counts[HTW__EVENT_CANCELLED] == b->counts[HTW__EVENT_CANCELLED]);
}

/* The record is JSON inside a script element, which no name ends. */
static void check_page(const struct htw__run *run, const struct htw__replay_record *record,
                       const struct htw__replay_record *kafka) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        fuzz_fail("no memory");
    FUZZ_CHECK(htw__page_write(stream, &(struct htw__page) { .title = "<title>",
                                                             .run = run,
                                                             .record = record,
                                                             .kafka = kafka }) == 0);
    fclose(stream);
    const char *begin = strstr(text, "{\"tick_ns\""), *end = strstr(begin, "</script>");
    FUZZ_CHECK(end != NULL && memchr(begin, '<', (size_t)(end - begin)) == NULL);
    FUZZ_CHECK(strstr(text, "<title>&lt;title&gt;") != NULL);
    free(text);
}

static void run(const uint8_t *data, size_t size) {
    struct htw__run_options options;
    struct htw__replay_record record, kafka;
    struct htw__run run;
    char *name[1];
    if (size < RUN_INPUT_HEAD)
        return;
    run_input_options(data, size, &options, name);
    htw__record_init(&record);
    htw__record_init(&kafka);
    if (htw__record_run(&record, &run, &options) != 0 ||
        htw__kafka_record(&kafka, &record, (unsigned)__builtin_ctz(options.wheel_size)) != 0)
        fuzz_fail("no memory");
    check_record(&record, &run);
    check_same(&record, &kafka);
    if (data[1] & 1)
        check_page(&run, &record, &kafka);
    htw__run_fini(&run);
    htw__record_fini(&record);
    htw__record_fini(&kafka);
}

const struct fuzz_target fuzz_target = {
    .name = "replay",
    .run = run,
    .memory = { 4 << 20, 1000 },
    .steps = { 2000000, 600 },
    .attacks = run_input_attacks,
};
