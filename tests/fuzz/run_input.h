/* SPDX-License-Identifier: MIT */
/* run_input.h - what fuzz_draw and fuzz_replay have in common: an input is two bytes of options, and lines. */
#ifndef TESTS_FUZZ_RUN_INPUT_H
#define TESTS_FUZZ_RUN_INPUT_H

#include "fuzz.h"

#include "../../src/cmd/draw/run.h"

enum { RUN_INPUT_HEAD = 2 };

/* The first byte sets the tick, the size of the wheel and the separator. `name` is where the path goes. */
static inline void run_input_options(const uint8_t *data, size_t size,
                                     struct htw__run_options *options, char *name[1]) {
    static const int64_t ticks_ns[] = { 1,          7,           1000,           1000000,
                                        1000000000, 60000000000, 86400000000000, 999999999 };
    htw__run_options_init(options);
    name[0] = (char *)(uintptr_t)fuzz_file(data + RUN_INPUT_HEAD, size - RUN_INPUT_HEAD);
    options->names = name;
    options->start = htw__time_of(1700000000, 5);
    options->tick_ns = ticks_ns[data[0] & 7];
    options->wheel_size = 2u << (data[0] >> 3 & 7);
    options->separator = data[0] & 64 ? '\0' : '\n';
}

/* A tick of a millisecond, and 256, 16 or 2 buckets a level; a tick of a nanosecond and 256. The second byte is
   for fuzz_draw 2^16 seconds, and for fuzz_replay a page. */
#define HEAD_256 "\x3b\x81"
#define HEAD_16 "\x1b\x81"
#define HEAD_2 "\x03\x81"
#define HEAD_NS "\x38\x81"

static const struct fuzz_attack run_input_attacks[] = {
    { "timers of one time", HEAD_256, "", { "9 \n" } },
    { "timers of different names", HEAD_256, "", { "9 %zu\n" } },
    { "timers of different times", HEAD_256, "", { "%zu \n" } },
    { "timers of far times, in 2 buckets a level", HEAD_2, "", { "%zu00000000 \n" } },
    { "timers that are cancelled", HEAD_256, "", { "9 %zu\n", "cancel %zu\n" } },
    { "timers of one name that are cancelled", HEAD_256, "", { "9 \n", "cancel \n" } },
    { "a timer that is cancelled often", HEAD_256, "", { "9 \ncancel \n" } },
    { "timers that are moved", HEAD_256, "", { "9 %zu\n", "move 99 %zu\n" } },
    { "a timer that is moved often", HEAD_256 "9 \n", "", { "move %zu \n" } },
    { "timers of one name, and time passes", HEAD_256, "", { "9 \n", "9 a\nwait 9\ncancel \n" } },
    { "names that are not there", HEAD_256, "", { "cancel %zu\n" } },
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

#endif /* TESTS_FUZZ_RUN_INPUT_H */
