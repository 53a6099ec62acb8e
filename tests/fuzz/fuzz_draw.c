/* SPDX-License-Identifier: MIT */
/* fuzz_draw.c - the lines of `htw draw`, run up to a time, and the pictures of the wheel then. */
#include "run_input.h"

#include "../../src/cmd/draw/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An SVG picture has one size, whatever is in the wheel, and nothing of the input. */
static void check_picture(const struct htw__run *run, enum htw__picture_shape shape) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        fuzz_fail("no memory");
    htw__picture_write(run->wheel, run->options->tick_ns, shape, stream);
    fclose(stream);
    FUZZ_CHECK(size < 1 << 20 && strlen(text) == size);
    FUZZ_CHECK(memcmp(text, "<svg ", 5) == 0 && strcmp(text + size - 7, "</svg>\n") == 0);
    FUZZ_CHECK(strstr(text, "nan") == NULL && strstr(text, "<script") == NULL);
    free(text);
}

/* The second byte: how far time goes on after the lines, and the shape. */
static void run(const uint8_t *data, size_t size) {
    struct htw__run_options options;
    struct htw__run run;
    char *name[1];
    if (size < RUN_INPUT_HEAD)
        return;
    run_input_options(data, size, &options, name);
    options.until = htw__time_of((INT64_C(1) << (data[1] >> 3)) - 1, 0);
    if (htw__run_init(&run, &options, NULL, NULL) != 0 || htw__run_read(&run) != 0)
        fuzz_fail("no memory");
    htw__run_advance(&run, options.until);
    (void)htw_wheel_next(run.wheel);
    FUZZ_CHECK(htw_wheel_check(run.wheel) == 0);
    FUZZ_CHECK(htw_wheel_count(run.wheel) <= run.timer_count);
    check_picture(&run, data[1] & 1 ? HTW__PICTURE_RINGS : HTW__PICTURE_STRIPS);
    FUZZ_CHECK(htw_wheel_dump(run.wheel, stderr) == 0);
    htw__run_fini(&run);
}

const struct fuzz_target fuzz_target = {
    .name = "draw",
    .run = run,
    .memory = { 2 << 20, 100 },
    .steps = { 2000000, 100 },
    .attacks = run_input_attacks,
};
