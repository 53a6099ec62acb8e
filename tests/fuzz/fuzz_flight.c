/* SPDX-License-Identifier: MIT */
/* fuzz_flight.c - flight records as `htw replay` reads them: the counts, the table, and the page. */
#include "fuzz.h"

#include "../../programs/replay/flight.h"

static void check_counts(const struct htw__flight *flight) {
    uint64_t marks = 0, others = 0;
    for (size_t i = 0; i < flight->site_count; i++) {
        const struct htw__flight_site *site = &flight->sites[i];
        FUZZ_CHECK(site->name[0] != '\0' && site->late <= site->expired);
        marks += site->expired + site->wakeups;
        others += site->armed + site->moved + site->cancelled;
    }
    FUZZ_CHECK(marks == flight->mark_count && marks + others <= flight->event_count);
    for (size_t i = 0; i < flight->mark_count; i++) {
        FUZZ_CHECK(flight->marks[i].site < flight->site_count);
        FUZZ_CHECK(flight->marks[i].time_ns >= flight->begin_ns);
        FUZZ_CHECK(flight->marks[i].time_ns <= flight->end_ns);
        FUZZ_CHECK(i == 0 || flight->marks[i].time_ns >= flight->marks[i - 1].time_ns);
    }
}

/* No text of the record is markup, nor does it change a terminal. */
static void check_texts(const struct htw__flight *flight) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        fuzz_fail("no memory");
    htw__page_write(stream, flight);
    fclose(stream);
    const char *begin = strstr(text, "{\"program\""), *end = strstr(begin, "</script>");
    FUZZ_CHECK(end != NULL && memchr(begin, '<', (size_t)(end - begin)) == NULL);
    free(text);
    stream = open_memstream(&text, &size);
    if (stream == NULL)
        fuzz_fail("no memory");
    htw__flight_table_write(stream, flight);
    fclose(stream);
    for (size_t i = 0; i < size; i++)
        FUZZ_CHECK(text[i] == '\n' || (unsigned char)text[i] >= ' ');
    free(text);
}

static void run(const uint8_t *data, size_t size) {
    struct htw__flight flight;
    const char *line = (const char *)data, *end = line + size, *why = NULL;
    htw__flight_init(&flight);
    while (line < end && why == NULL) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop == NULL ? end : stop;
        why = htw__flight_take(&flight, line, (size_t)(stop - line));
        line = stop + (stop < end);
    }
    if (htw__flight_finish(&flight) != 0)
        fuzz_fail("no memory");
    check_counts(&flight);
    if (flight.has_head)
        check_texts(&flight);
    htw__flight_fini(&flight);
}

#define HEAD(size)                                                                                         \
    "{\"htw\":\"1\",\"kind\":\"events\",\"format\":1,\"schedulers\":[{\"tick_ns\":1,\"wheel_size\":" #size \
    "}]}\n"
#define SITE "{\"site\":0,\"name\":\"a\"}\n"

static const struct fuzz_attack attacks[] = {
    { "timers of one time", HEAD(256) SITE, "", { "[1,\"armed\",0,0,\"%zu\",9]\n" } },
    { "timers of a far time, in 2 buckets a level",
      HEAD(2),
      "[2000000000000000000,\"woken\",0,-1,0]",
      { "[1,\"armed\",0,-1,\"%zu\",1999999999999999999]\n" } },
    { "timers of different times, in 2 buckets a level",
      HEAD(2),
      "[2000000000000000000,\"woken\",0,-1,0]",
      { "[%zu,\"armed\",0,-1,\"1\",null]\n", "[1,\"armed\",0,-1,\"%zu\",1999999999999999999]\n" } },
    { "a timer that is moved often", HEAD(256), "", { "[1,\"moved\",0,-1,\"1\",%zu]\n" } },
    { "a timer that expires often",
      HEAD(256),
      "",
      { "[%zu,\"armed\",0,-1,\"1\",1]\n", "[%zu,\"started\",0,-1,\"1\",1]\n" } },
    { "wake-ups", HEAD(256), "", { "[1,\"woken\",0,-1,0]\n" } },
    { "sites", HEAD(256), "", { "{\"site\":%zu}\n" } },
    { "ends without a start", HEAD(256), "", { "[9,\"ended\",0,-1,\"%zu\",8]\n" } },
    { "events backwards in time",
      HEAD(256),
      "",
      { "[9,\"armed\",0,-1,\"1\",1]\n[8,\"cancelled\",0,-1,\"1\"]\n" } },
    { "schedulers",
      "{\"htw\":\"1\",\"kind\":\"events\",\"format\":1,\"schedulers\":[{}",
      "]}",
      { ",{}" } },
    { "arrays in arrays", HEAD(256), "", { "[" } },
    { "a long name", HEAD(256) "{\"site\":0,\"name\":\"", "\"}", { "x" } },
    { "empty lines", HEAD(256), "", { "\n" } },
    { .name = NULL },
};

const struct fuzz_target fuzz_target = {
    .name = "flight",
    .run = run,
    .memory = { 8 << 20, 300 },
    .steps = { 4000000, 200 },
    .attacks = attacks,
};
