/* SPDX-License-Identifier: MIT */
/* dump.c - writes which timers are pending, by site, the next wake-ups, what was counted of each site, and the groups
   with most timers. */
#include "symbol.h"
#include "sites.h"

#include <inttypes.h>
#include <stdlib.h>

/* Texts come from the program, and go to a terminal: no byte of them may change it. */
static void write_text(FILE *stream, const char *text) {
    for (; *text != 0; text++)
        fputc(*text >= ' ' && *text < 0x7f ? *text : '?', stream);
}

/* As a number of at most 4 digits, right in 9 columns. */
static void write_left(FILE *stream, int64_t left_ns) {
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = { { HTW_DAY, "d" },    { HTW_HOUR, "h" },         { HTW_MINUTE, "min" },
                  { HTW_SECOND, "s" }, { HTW_MILLISECOND, "ms" }, { HTW_MICROSECOND, "us" } };
    const size_t last = sizeof(units) / sizeof(units[0]) - 1;
    size_t i = 0;
    if (left_ns == HTW_NEVER_NS || left_ns <= 0) {
        fprintf(stream, "%9s", left_ns <= 0 ? "due" : "never");
        return;
    }
    while (i < last && left_ns < 10 * units[i].ns)
        i++;
    fprintf(stream, "%5" PRId64 " %-3s", left_ns / units[i].ns, units[i].name);
}

static void write_place(FILE *stream, const struct htw_site *site) {
    if (site->function != NULL) {
        fputc(' ', stream);
        write_text(stream, site->function);
        fputs("()", stream);
    }
    if (site->file != NULL) {
        fputc(' ', stream);
        write_text(stream, site->file);
        fprintf(stream, ":%" PRIu32, site->line);
    }
}

static void write_site(FILE *stream, const struct htw__safe_copy *copy, htw__origin origin) {
    struct htw__site_text text;
    char symbol[HTW__SYMBOL_MAX];
    struct htw_origin shown = htw__site_show(copy, origin, &text);
    if (shown.site != NULL) {
        write_text(stream, shown.site->name != NULL ? shown.site->name : "-");
        write_place(stream, shown.site);
    } else if (shown.address != NULL) {
        fprintf(stream, "site 0x%" PRIxPTR ", which cannot be read", (uintptr_t)shown.address);
    } else if (shown.callback != NULL) {
        fprintf(stream, "callback %s", htw__symbol_text(copy, (uintptr_t)shown.callback, symbol));
    } else {
        fputs("all others", stream);
    }
    fputc('\n', stream);
}

static void write_count(FILE *stream, const struct htw__safe_copy *copy,
                        const struct htw__site_count *count, bool has_numbers) {
    const uint64_t *n = count->numbers;
    const uint64_t shown[] = { n[HTW__SITE_WAKEUPS],   n[HTW__SITE_ARMED],
                               n[HTW__SITE_CANCELLED], n[HTW__SITE_EXPIRED],
                               n[HTW__SITE_LATE],      n[HTW__SITE_CALLBACK_NS] / HTW_MILLISECOND };
    fprintf(stream, "%10" PRIu64 "  ", count->pending);
    write_left(stream, count->next_ns);
    for (size_t i = 0; has_numbers && i < sizeof(shown) / sizeof(shown[0]); i++)
        fprintf(stream, "%10" PRIu64, shown[i]);
    fputs("  ", stream);
    write_site(stream, copy, count->origin);
}

/* Of sites without a timer those follow of which something was counted. */
static void write_sites(FILE *stream, const struct htw__safe_copy *copy,
                        const struct htw__census *census, bool has_numbers) {
    for (uint32_t i = 0; i < census->site_count; i++) {
        const struct htw__site_count *count = &census->sites[i];
        if (count->pending > 0 || (has_numbers && htw__site_is_counted(count)))
            write_count(stream, copy, count, has_numbers);
    }
}

static void write_census(FILE *stream, const struct htw__safe_copy *copy,
                         const struct htw_scheduler *scheduler, const struct htw__census *census) {
    bool has_numbers = htw__mode(scheduler) & HTW_OBSERVE_SITES;
    uint64_t pending = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < census->site_count; i++) {
        pending += census->sites[i].pending;
        count += census->sites[i].origin != 0 && census->sites[i].pending > 0;
    }
    fprintf(stream, "scheduler %s: %" PRIu64 " pending, %" PRIu32 " %s\n", scheduler->thread_name,
            pending, count, count == 1 ? "site" : "sites");
    if (pending > 0 || has_numbers)
        fprintf(stream, "   pending  the first%s  site\n",
                has_numbers ? "  wake-ups     armed cancelled   expired      late  ms in it" : "");
    write_sites(stream, copy, census, has_numbers);
    if (census->tick_count > 0)
        fputs("next        timers  the first    site\n", stream);
    for (uint32_t i = 0; i < census->tick_count; i++) {
        const struct htw__due_tick *due = &census->ticks[i];
        write_left(stream, due->left_ns);
        fprintf(stream, "%9" PRIu64 "  0x%" PRIx64 "  ", due->timers, due->handle);
        write_site(stream, copy, due->origin);
    }
}

/* ---- groups */

#define GROUPS_MAX 10u

struct groups {
    uint64_t count;
    uint32_t kept; /* the one with most timers is first */
    struct {
        struct htw_group_stats stats;
        char name[32];
    } most[GROUPS_MAX];
};

static void add_group(void *context, const union htw_visited *visited) {
    struct groups *groups = context;
    const struct htw_group_stats *stats = &visited->group;
    uint32_t place = groups->kept;
    groups->count++;
    while (place > 0 && stats->count > groups->most[place - 1].stats.count)
        place--;
    if (!htw__make_place(groups->most, sizeof(groups->most[0]), GROUPS_MAX, &groups->kept, place))
        return;
    groups->most[place].stats = *stats;
    snprintf(groups->most[place].name, sizeof(groups->most[place].name), "%s", stats->name);
}

static void write_groups(FILE *stream, const struct groups *groups) {
    if (groups->count == 0)
        return;
    fprintf(stream, "    timers  of %" PRIu64 " %s\n", groups->count,
            groups->count == 1 ? "group" : "groups");
    for (uint32_t i = 0; i < groups->kept; i++) {
        const struct htw_group_stats *stats = &groups->most[i].stats;
        fprintf(stream, "%10" PRIu64 "  ", stats->count);
        write_text(stream, groups->most[i].name[0] != 0 ? groups->most[i].name : "-");
        fputs(stats->paused ? ", paused\n" : "\n", stream);
    }
}

int htw_scheduler_dump(struct htw_scheduler *scheduler, FILE *stream) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (stream == NULL)
        return -EINVAL;
    struct htw__census *census = htw__census_take(scheduler);
    if (census == NULL)
        return -ENOMEM;
    struct htw__safe_copy copy;
    htw__safe_copy_init(&copy);
    write_census(stream, &copy, scheduler, census);
    if (census->has_stacks)
        htw__stack_census_write(&census->stacks, &copy, stream);
    htw__census_release(scheduler, census);
    struct groups groups = { .count = 0 };
    (void)htw_scheduler_visit(scheduler, HTW_VISIT_GROUPS, 0, add_group,
                              &groups); /* it cannot fail */
    write_groups(stream, &groups);
    int error = ferror(stream) != 0 || fflush(stream) != 0 ? -EIO : 0;
    htw__safe_copy_fini(&copy);
    return error;
}
