/* SPDX-License-Identifier: MIT */
/*
 * fuzz_delay.c - the lines of `htw delay`, run in simulated time. All that is right comes out, and in
 * order: by deadline, and lines with the same one as they came. A time that is written is read as the same.
 *
 * The first byte sets the tick, the size of the wheel and the separator.
 */
#include "fuzz.h"

#include "../../programs/kit/input.h"
#include "../../programs/delay/state.h"

#include <sys/mman.h>
#include <unistd.h>

static struct htw__options options_of(uint8_t form) {
    static const int64_t ticks_ns[] = { 1, 999, HTW_MILLISECOND, HTW_DAY };
    return (struct htw__options) {
        .tick_ns = ticks_ns[form & 3],
        .wheel_size = 2u << (form >> 2 & 3) * 3,
        .max_pending = SIZE_MAX,
        .max_line = form & 64 ? 64 : (size_t)16 << 20,
        .separator = form & 128 ? '\0' : '\n',
        .simulate = true,
        .name_count = 1,
    };
}

static void begin(struct htw__delay *delay, const struct htw__options *options, int out) {
    struct htw_wheel_options wheel_options = HTW_WHEEL_OPTIONS_INIT;
    wheel_options.size = options->wheel_size;
    wheel_options.strict_fifo = true;
    *delay = (struct htw__delay) { .options = options };
    htw__timeline_init(&delay->timeline, options->tick_ns, true);
    delay->timeline.start_ns = delay->timeline.wall_offset_ns = 0;
    htw__report_init(&delay->report);
    htw__output_init(&delay->output, out, false, &delay->timeline, &delay->report);
    if (htw_wheel_create(&delay->wheel, &wheel_options) != 0 ||
        htw__input_init(&delay->input, options->names, 1, options->separator, options->max_line) !=
            0)
        fuzz_fail("no memory");
}

static bool has_line(struct htw__delay *delay) {
    const char *bytes;
    size_t size;
    return htw__input_peek(&delay->input, &bytes, &size);
}

/* As in delay.c with --simulate. */
static void loop(struct htw__delay *delay) {
    htw__input_advance(&delay->input);
    for (;;) {
        while (htw__delay_collect_due(delay) || delay->output.count > 0)
            FUZZ_CHECK(htw__output_write(&delay->output) == 0);
        htw__delay_accept_lines(delay);
        if (htw__delay_wants_input(delay)) {
            if (!has_line(delay))
                FUZZ_CHECK(htw__input_read(&delay->input) == 0);
            continue;
        }
        uint64_t tick = htw_wheel_next(delay->wheel);
        if (tick == HTW_NEVER_TICK)
            return;
        htw__timeline_jump(&delay->timeline, tick);
    }
}

/* ---- what is expected */

struct expected {
    uint64_t tick;
    size_t number; /* in the order of the lines */
    const char *message;
    size_t size;
};

static int compare(const void *left, const void *right) {
    const struct expected *a = left, *b = right;
    if (a->tick != b->tick)
        return a->tick < b->tick ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void check_time(int64_t ns, int64_t tick_ns) {
    int64_t again;
    char written[HTW__INSTANT_FORMAT_SIZE];
    size_t length = htw__instant_format(0, ns, written);
    FUZZ_CHECK(length == strlen(written) && length < sizeof(written));
    FUZZ_CHECK(htw__instant_parse(written, length, &again) == NULL);
    FUZZ_CHECK(again <= ns && ns - again < HTW_MICROSECOND);
    uint64_t tick = htw__time_tick_after(ns, tick_ns);
    int64_t begin_ns = htw__time_of_tick(tick, tick_ns);
    FUZZ_CHECK(begin_ns >= ns && htw__time_tick_before(begin_ns, tick_ns) == tick);
}

/* The lines, read once more; all are read before any time passes. */
static size_t expect(const struct htw__options *options, const char *text, size_t size,
                     struct expected *lines, size_t *ret_records) {
    size_t count = 0, records = 0;
    for (size_t at = 0, length; at < size; at += length + 1, records++) {
        const char *end = memchr(text + at, options->separator, size - at);
        struct htw__line line;
        length = end == NULL ? size - at : (size_t)(end - (text + at));
        if (length > options->max_line || htw__line_parse(text + at, length, &line) != NULL)
            continue;
        if (line.when_ns >= 0)
            check_time(line.when_ns, options->tick_ns);
        uint64_t tick = line.when_ns > 0 ? htw__time_tick_after(line.when_ns, options->tick_ns) : 0;
        lines[count] = (struct expected) { tick, count, line.message, line.message_size };
        count++;
    }
    *ret_records = records;
    qsort(lines, count, sizeof(*lines), compare);
    return count;
}

static void check_output(const struct htw__options *options, int out, const struct expected *lines,
                         size_t count) {
    off_t size = lseek(out, 0, SEEK_END);
    char *text = malloc((size_t)size + 1), *at = text;
    if (text == NULL || pread(out, text, (size_t)size, 0) != size)
        fuzz_fail("cannot read the output");
    for (size_t i = 0; i < count; i++) {
        FUZZ_CHECK((size_t)(text + size - at) > lines[i].size);
        FUZZ_CHECK(memcmp(at, lines[i].message, lines[i].size) == 0);
        FUZZ_CHECK(at[lines[i].size] == options->separator);
        at += lines[i].size + 1;
    }
    FUZZ_CHECK(at == text + size);
    free(text);
}

static void run(const uint8_t *data, size_t size) {
    static struct htw__delay the_run;
    struct htw__delay *delay = &the_run;
    static int out = -1;
    if (size == 0)
        return;
    struct htw__options options = options_of(*data);
    char *names[] = { (char *)(uintptr_t)fuzz_file(data + 1, size - 1) };
    struct expected *lines = malloc(size * sizeof(*lines));
    size_t records;
    options.names = names;
    if (out < 0)
        out = memfd_create("output", MFD_CLOEXEC);
    if (out < 0 || lines == NULL || ftruncate(out, 0) != 0 || lseek(out, 0, SEEK_SET) != 0)
        fuzz_fail("no file for the output");
    size_t count = expect(&options, (const char *)data + 1, size - 1, lines, &records);
    begin(delay, &options, out);
    loop(delay);
    FUZZ_CHECK(delay->report.read == records);
    FUZZ_CHECK(delay->report.released == count);
    FUZZ_CHECK(delay->report.early == 0);
    check_output(&options, out, lines, count);
    FUZZ_CHECK(htw_wheel_count(delay->wheel) == 0);
    FUZZ_CHECK(records == count + delay->report.bad);
    htw_wheel_destroy(delay->wheel);
    htw__input_fini(&delay->input);
    free(lines);
}

/* A tick of a millisecond, and 16 buckets a level. */
#define HEAD "\x06"
/* The same, and lines of up to 64 bytes. */
#define HEAD_SHORT "\x46"

static const struct fuzz_attack attacks[] = {
    { "lines due at once", HEAD, "", { "0 \n" } },
    { "lines of one time", HEAD, "", { "9 \n" } },
    { "lines of different times", HEAD, "", { "%zu \n" } },
    { "lines of different times in 2 buckets a level", "\x01", "", { "%zu0000 \n" } },
    { "lines for the end of time", HEAD, "", { "9e9 \n" } },
    { "instants", HEAD, "", { "@%zu \n" } },
    { "a long message", HEAD "1s ", "", { "x" } },
    { "a line that is too long", HEAD_SHORT "1s ", "", { "x" } },
    { "a delay of many parts", HEAD, "", { "1ns" } },
    { "a delay of many digits", HEAD "0.", "", { "0" } },
    { "a delay with a large exponent", HEAD "1e", "", { "9" } },
    { "a delay of a long unit", HEAD "1", "", { "s" } },
    { "blanks", HEAD, "", { " " } },
    { "empty lines", HEAD, "", { "\n" } },
    { "lines that are wrong", HEAD, "", { "x\n" } },
    { .name = NULL },
};

const struct fuzz_target fuzz_target = {
    .name = "delay",
    .run = run,
    .memory = { 2 << 20, 100 },
    .steps = { 500000, 160 },
    .attacks = attacks,
};
