/* SPDX-License-Identifier: MIT */
/* sites.c - the sites of a scheduler, for an answer. */
#include "sites.h"

const struct htw__field htw__site_fields[] = {
#define SITE(metric, member, help) HTW__FIELD(struct htw_site_stats, metric, member, help)
    SITE("htw_site_pending", pending, "Timers of a site that are pending."),
    SITE("htw_site_armed_total", armed, "Timers armed at a site."),
    SITE("htw_site_cancelled_total", cancelled, "Timers of a site cancelled."),
    SITE("htw_site_expired_total", expired, "Callbacks of a site started."),
    SITE("htw_site_late_total", late, "Callbacks of a site that started late."),
    SITE("htw_site_callback_seconds_total", callback_ns, "Time in callbacks of a site."),
    SITE("htw_site_wakeups_total", wakeups, "Times a timer of a site woke an expirer."),
    HTW__FIELDS_END,
};

/* How much a site does: its timers, what was counted of them, and the microseconds in its callbacks. */
static uint64_t weight_of(const struct htw_site_stats *stats) {
    return stats->pending + stats->armed + stats->expired + stats->wakeups + stats->late +
           stats->callback_ns / 1000;
}

static void add(struct htw_site_stats *sum, const struct htw_site_stats *stats) {
    htw__fields_add(htw__site_fields, sum, stats);
    if (stats->next_ns < sum->next_ns)
        sum->next_ns = stats->next_ns;
}

/* Adds a site to one that is the same for a reader, if there is one. */
static bool merge(struct htw__site_rows *self, const struct htw__origin *origin,
                  const struct htw_site_stats *stats) {
    for (uint32_t i = 0; i < self->greatest.count; i++) {
        struct htw__site_row *row = &self->rows[i];
        if (!htw__origin_is_like(&row->origin, origin))
            continue;
        add(&row->stats, stats);
        self->greatest.weights[i] = weight_of(&row->stats);
        return true;
    }
    return false;
}

static void add_other(struct htw__site_rows *self, const struct htw_site_stats *stats) {
    self->others_count++;
    add(&self->others, stats);
}

static void take(void *context, const struct htw_site_stats *stats) {
    struct htw__site_rows *self = context;
    struct htw__origin origin;
    bool is_taken;
    if (stats->address == NULL && stats->callback == NULL) {
        add(&self->others, stats); /* of those that found no room in the tables of the scheduler */
        return;
    }
    if (!htw__greatest_takes(&self->greatest, weight_of(stats))) {
        add_other(self, stats);
        return;
    }
    htw__origin_take(&origin, stats->site, stats->address, stats->callback);
    if (merge(self, &origin, stats))
        return;
    uint32_t place = htw__greatest_place(&self->greatest, weight_of(stats), &is_taken);
    if (is_taken)
        add_other(self, &self->rows[place].stats);
    self->rows[place] = (struct htw__site_row) { origin, *stats };
    self->rows[place].stats.site = NULL;
}

int htw__site_rows_take(struct htw__site_rows *self, struct htw_scheduler *scheduler) {
    self->others_count = 0;
    self->others = (struct htw_site_stats) { .next_ns = HTW_NEVER_NS };
    return htw_scheduler_visit_sites(scheduler, take, self);
}
