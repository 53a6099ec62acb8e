/* SPDX-License-Identifier: MIT */
/*
 * rate_limit.c - at most one call to the same site in 5 seconds, for any number of sites.
 *
 * The only memory is a timer with the site's name for a key: while it is pending, the site is not
 * called. If many threads ask at once, exactly one may call, since finding the key and scheduling the
 * timer are one step. A site that is not called any more takes no memory.
 *
 * The demo uses the manual clock: it shows a minute, and takes none.
 */
#include <htw/scheduler.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PAUSE_NS (5 * HTW_SECOND)

static void pause_is_over(void *arg, const struct htw_expiration *expiration) {
    (void)arg; /* nothing to do: the key is free again when the timer comes due */
    (void)expiration;
}

/* 1: call the site, it counts; 0: it was called less than 5 seconds ago; otherwise an error. */
static int may_call(struct htw_scheduler *scheduler, const char *site) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = pause_is_over;
    spec.when_ns = PAUSE_NS;
    spec.key = site; /* copied */
    spec.key_size = strlen(site);
    spec.keep_existing = true;
    int result = htw_schedule_spec(scheduler, &spec, NULL, NULL);
    return result == 0 ? 1 : result == -EEXIST ? 0 : result;
}

/* ---- the demo: three sites, asked for at various paces */

struct site {
    const char *name;
    int every_s; /* how often a thread wants to call it */
    int64_t last_ns;
    unsigned asked, called, too_soon;
};

static int visit(struct htw_scheduler *scheduler, struct site *site) {
    int answer = may_call(scheduler, site->name);
    int64_t now_ns = htw_scheduler_now(scheduler);
    site->asked++;
    if (answer != 1)
        return answer;
    if (site->called++ > 0 && now_ns - site->last_ns < PAUSE_NS)
        site->too_soon++;
    site->last_ns = now_ns;
    printf("%2" PRId64 " s  %s\n", now_ns / HTW_SECOND, site->name);
    return 0;
}

int main(void) {
    struct site sites[] = {
        { .name = "example.org", .every_s = 1 },
        { .name = "example.com", .every_s = 2 },
        { .name = "example.net", .every_s = 20 },
    };
    const unsigned expected[] = { 12, 10, 3 }; /* every 5th, 6th and 20th second of a minute */
    const size_t count = sizeof(sites) / sizeof(sites[0]);
    struct htw_scheduler *scheduler;
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.clock = HTW_CLOCK_MANUAL;
    options.workers =
        HTW_NO_WORKERS; /* callbacks run inside htw_scheduler_advance(); there is no thread */
    if (htw_scheduler_create(&scheduler, &options) != 0)
        return 1;
    for (int second = 0; second < 60; second++) {
        for (size_t i = 0; i < count; i++)
            if (second % sites[i].every_s == 0 && visit(scheduler, &sites[i]) < 0)
                return 1;
        htw_scheduler_advance(scheduler, HTW_SECOND);
    }
    htw_scheduler_advance(scheduler, PAUSE_NS);
    bool good = htw_pending(scheduler) == 0; /* nothing is left behind */
    for (size_t i = 0; i < count; i++) {
        printf("%s: %u of %u calls\n", sites[i].name, sites[i].called, sites[i].asked);
        good = good && sites[i].called == expected[i] && sites[i].too_soon == 0;
    }
    htw_scheduler_destroy(scheduler);
    return good ? 0 : 1;
}
