/* SPDX-License-Identifier: MIT */
/*
 * fuzz_options.c - the arguments of `htw delay`, and of the commands whose options are read apart from
 * what they do: `htw top` and `htw relay`, where these are built.
 *
 * The first byte is the command; arguments end with a zero byte.
 */
#include "fuzz.h"

#include "../../programs/delay/options.h"
#ifdef HTW_HAS_TOP
#include "../../programs/top/options.h"
#endif
#ifdef HTW_HAS_RELAY
#include "../../programs/relay/src/command/options.h"
#endif

#include <htw/wheel.h>

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static void run_delay(int argc, char **argv) {
    struct htw__options options;
    if (htw__options_parse(argc, argv, &options) != HTW__WISH_RUN)
        return;
    FUZZ_CHECK(options.tick_ns > 0 && options.name_count > 0 && options.names[0] != NULL);
    FUZZ_CHECK(options.wheel_size >= 2 && options.wheel_size <= 4096 &&
               (options.wheel_size & (options.wheel_size - 1)) == 0);
    FUZZ_CHECK(options.max_line > 0 && options.max_pending > 0);
}

#ifdef HTW_HAS_TOP
static void run_top(int argc, char **argv) {
    struct htw__top_options options;
    if (htw__top_options_parse(argc, argv, &options) == HTW__WISH_RUN)
        FUZZ_CHECK(options.interval_ns > 0 && options.sort < HTW__SORT_COUNT);
}
#endif

#ifdef HTW_HAS_RELAY
static void run_relay(int argc, char **argv) {
    struct htw__relay_command command;
    if (htw__relay_command_parse(argc, argv, &command) == HTW__WISH_RUN) {
        FUZZ_CHECK(htw__levels_are_valid(&command.kafka.relay.levels));
        FUZZ_CHECK(command.kafka.brokers != NULL && command.kafka.input != NULL);
        FUZZ_CHECK(command.kafka.relay.lead_ms >= 0 && command.kafka.commit_ms > 0);
    }
    htw__relay_command_fini(&command);
}
#endif

static void run(const uint8_t *data, size_t size) {
    static char name[] = "htw";
    if (size == 0)
        return;
    char *text = malloc(size), **argv = malloc((size + 2) * sizeof(*argv));
    int argc = 0;
    if (text == NULL || argv == NULL)
        fuzz_fail("no memory");
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    argv[argc++] = name;
    for (char *at = text; at < text + size; at += strlen(at) + 1)
        argv[argc++] = at;
    argv[argc] = NULL;
    optind = 0; /* glibc begins anew */
    switch (*data % 3) {
#ifdef HTW_HAS_TOP
    case 1:
        run_top(argc, argv);
        break;
#endif
#ifdef HTW_HAS_RELAY
    case 2:
        run_relay(argc, argv);
        break;
#endif
    default:
        run_delay(argc, argv);
        break;
    }
    free(text);
    free(argv);
}

static const struct fuzz_attack attacks[] = {
    { "a long argument", "0--tick=", "", { "1" } },
    { "a long option", "0--", "", { "t" } },
    { "short options", "0-", "", { "f" } },
    { .name = NULL },
};

const struct fuzz_target fuzz_target = {
    .name = "options",
    .run = run,
    .memory = { 64 << 10, 24 },
    .steps = { 5000, 20 },
    .attacks = attacks,
};
