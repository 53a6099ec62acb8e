/* SPDX-License-Identifier: MIT */
/*
 * leaks.c - a program that ends while its scheduler and purgatory are in use. LeakSanitizer must be
 * silent; with an argument, it must report what is lost.
 */
#define _GNU_SOURCE
#include "parcel.h"

/* More than a page of records, so that not only the first one is known. */
#define TIMERS 5000

static struct htw_scheduler *scheduler;
static struct htw_purgatory *purgatory;

struct wait {
    struct htw_request request;
    char *name;
};

static void do_nothing(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
}

static void end(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context, (void)request, (void)reason;
}

/* Nothing but the library points to the arguments. */
static void schedule(void) {
    for (int i = 0; i < TIMERS; i++)
        REQUIRE(htw_schedule(scheduler, HTW_HOUR, do_nothing, strdup("session"), NULL) == 0);
    REQUIRE(htw_schedule_every(scheduler, HTW_HOUR, HTW_HOUR, HTW_REPEAT_SKIP, do_nothing,
                               strdup("heart"), NULL) == 0);
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = do_nothing;
    spec.arg = strdup("keyed");
    spec.when_ns = HTW_HOUR;
    spec.key = "key";
    spec.key_size = 3;
    REQUIRE(htw_schedule_spec(scheduler, &spec, NULL, NULL) == 0);
}

static void submit(void) {
    struct wait *wait = malloc(sizeof(*wait));
    REQUIRE(wait != NULL);
    wait->name = strdup("request");
    htw_request_init(&wait->request);
    struct htw_key key = { "topic", 5 };
    REQUIRE(htw_purgatory_try_complete_else_watch(purgatory, &wait->request, &key, 1, HTW_HOUR) ==
            HTW_WATCHED);
}

int main(int argc, char **argv) {
    REQUIRE(htw_scheduler_create(&scheduler, NULL) == 0);
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    options.on_complete = end;
    REQUIRE(htw_purgatory_create(&purgatory, scheduler, &options) == 0);
    schedule();
    submit();
    if (argc > 1 && strcmp(argv[1], "lost") == 0) {
        REQUIRE(htw_purgatory_destroy(purgatory) == 0);
        REQUIRE(htw_scheduler_destroy(scheduler) == 0); /* the arguments of its timers are lost */
    }
    return 0;
}
