/* SPDX-License-Identifier: MIT */
/* options.c - the options of htw-bench-wheel. */
#include "options.h"

#include "../common/options.h"
#include "implementations.h"

#include <stdio.h>

#define OPERATIONS 4000000
#define QUICK_OPERATIONS 400000
#define MANY_TIMERS 1000000

static struct options given = { .seed = 1 };
static const char *name; /* of the implementation; a plugin may define it after --peer */
static bool is_quick;

static const char *set_name(const char *text) {
    name = text;
    return NULL;
}

static struct bench_option table[] = {
    OPTION_SET("peer", NULL, set_name, "one of the list below"),
    OPTION_SET("plugin", NULL, implementations_load,
               "a shared object that defines bench_plugin; may be repeated"),
    OPTION_COUNT("n", "churn fifo fifo-time expire long slack keep-alive memory", &given.timers, 1,
                 1e9, "how many timers"),
    OPTION_COUNT("seed", NULL, &given.seed, 1, 1e9, "of the random numbers (1)"),
    OPTION_FLAG("check-end", NULL, &given.has_end,
                "let all timers expire in the end, and check that"),
    OPTION_FLAG("quick", NULL, &is_quick, "fewer operations"),
    { 0 },
};

static void print_peers(void) {
    puts("\npeers:");
    for (const struct bench_implementation *const *i = implementations(); *i != NULL; i++)
        options_print_named((*i)->name, (*i)->about);
}

void options_read(struct options *options, int argc, char **argv) {
    given.workload = options_parse(table, print_peers, argc, argv);
    if (name == NULL)
        options_wrong("--peer is missing", "--help lists the peers");
    given.implementation = implementation_named(name);
    if (given.implementation == NULL)
        options_wrong("no such peer", name);
    if (given.timers == 0)
        given.timers = given.workload->count;
    /* With ten million timers a slow implementation takes microseconds for each operation. */
    given.operations = given.timers > MANY_TIMERS ? OPERATIONS / 4 : OPERATIONS;
    if (is_quick)
        given.operations = QUICK_OPERATIONS;
    *options = given;
}
