/* SPDX-License-Identifier: MIT */
/* fuzz_draw.c - an input is two bytes of options, and the lines of `htw draw`, run up to a time, and the pictures of the wheel then. */
#include "fuzz.h"

#include "../../programs/draw/draw.h"

#include <htw/scheduler.h>
#include <htw/wheel_inspect.h>

enum { HEAD_BYTES = 2 };

/* An SVG picture has one size, whatever is in the wheel, and nothing of the input. */
static void check_picture(const struct htw__run *run) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        fuzz_fail("no memory");
    htw__picture_write(run->wheel, run->tick_ns, stream);
    fclose(stream);
    FUZZ_CHECK(size < 1 << 20 && strlen(text) == size);
    FUZZ_CHECK(memcmp(text, "<svg ", 5) == 0 && strcmp(text + size - 7, "</svg>\n") == 0);
    FUZZ_CHECK(strstr(text, "nan") == NULL && strstr(text, "<script") == NULL);
    free(text);
}

/* The first byte sets the tick, the size of the wheel and the separator; the second one, how far time goes on after the lines. */
static void run(const uint8_t *data, size_t size) {
    static const int64_t ticks_ns[] = { 1,          7,           1000,           1000000,
                                        1000000000, 60000000000, 86400000000000, 999999999 };
    if (size < HEAD_BYTES)
        return;
    char *name = (char *)(uintptr_t)fuzz_file(data + HEAD_BYTES, size - HEAD_BYTES);
    struct htw__run run = { .tick_ns = ticks_ns[data[0] & 7],
                            .wheel_size = 2u << (data[0] >> 3 & 7),
                            .separator = data[0] & 64 ? '\0' : '\n',
                            .until_ns = ((INT64_C(1) << (data[1] >> 3)) - 1) * HTW_SECOND,
                            .has_time = true,
                            .start_ns = 1700000000 * HTW_SECOND + 5 };
    if (htw__run_lines(&run, &name, 1) != 0)
        fuzz_fail("no memory");
    (void)htw_wheel_next(run.wheel);
    FUZZ_CHECK(htw_wheel_check(run.wheel) == 0);
    check_picture(&run);
    FUZZ_CHECK(htw_wheel_dump(run.wheel, stderr) == 0);
    htw__run_fini(&run);
}

/* A tick of a millisecond, and 256, 16 or 2 buckets a level; a tick of a nanosecond and 256. The second byte
   says 2^16 seconds. */
#define HEAD_256 "\x3b\x81"
#define HEAD_16 "\x1b\x81"
#define HEAD_2 "\x03\x81"
#define HEAD_NS "\x38\x81"

static const struct fuzz_attack attacks[] = {
    { "timers of one time", HEAD_256, "", { "9 \n" } },
    { "timers of different names", HEAD_256, "", { "9 %zu\n" } },
    { "timers of different times", HEAD_256, "", { "%zu \n" } },
    { "timers of far times, in 2 buckets a level", HEAD_2, "", { "%zu00000000 \n" } },
    { "timers of one name, and time passes", HEAD_256, "", { "9 \n", "9 a\nwait 9\n" } },
    { "short waits", HEAD_NS "9999d \n", "", { "wait 1ns\n" } },
    { "long waits", HEAD_NS "9999d \n", "", { "wait 9d\n" } },
    { "timers, and long waits", HEAD_16, "", { "%zue6 %zu\n", "wait 9d\n" } },
    { "a wait that is too long", HEAD_NS "wait 1e", "", { "9" } },
    { "a long name", HEAD_256 "9 ", "", { "x" } },
    { "long names", HEAD_256, "", { "9 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx%zu\n" } },
    { "empty lines", HEAD_256, "", { "\n" } },
    { "lines that are wrong", HEAD_256, "", { "x\n" } },
    { .name = NULL },
};

const struct fuzz_target fuzz_target = {
    .name = "draw",
    .run = run,
    .memory = { 2 << 20, 100 },
    .steps = { 2000000, 100 },
    .attacks = attacks,
};
