/* SPDX-License-Identifier: MIT */
/* queues.c - the queues of a journal, for an answer. */
#include "queues.h"

#include "../base/clock.h"

#include <stdio.h>

const struct htw__field htw__queue_fields[] = {
#define QUEUE(metric, member, help) HTW__FIELD(struct htw__queue_row, metric, member, help)
    QUEUE(NULL, delayed, NULL),
    QUEUE(NULL, ready, NULL),
    QUEUE(NULL, leased, NULL),
    QUEUE(NULL, buried, NULL),
    QUEUE("htw_journal_queue_waiting", waiting, "Requests that wait for a job of a queue."),
    HTW__FIELDS_END,
};

static void add_other(struct htw__queue_rows *self, const struct htw__queue_row *row) {
    self->others_count++;
    htw__fields_add(htw__queue_fields, &self->others, row);
}

/* The journal holds its lock. */
static bool take(void *context, const struct htw_queue_stats *stats) {
    struct htw__queue_rows *self = context;
    struct htw__queue_row row = { .delayed = stats->delayed,
                                  .ready = stats->ready,
                                  .leased = stats->leased,
                                  .buried = stats->buried,
                                  .waiting = stats->waiting,
                                  .is_paused = stats->paused_until_ns > self->now_ns };
    uint64_t weight = row.delayed + row.ready + row.leased + row.buried + row.waiting;
    bool is_taken;
    if (!htw__greatest_takes(&self->greatest, weight)) {
        add_other(self, &row);
        return true;
    }
    uint32_t place = htw__greatest_place(&self->greatest, weight, &is_taken);
    if (is_taken)
        add_other(self, &self->rows[place]);
    snprintf(row.name, sizeof(row.name), "%s", stats->name != NULL ? stats->name : "");
    self->rows[place] = row;
    return true;
}

int htw__queue_rows_take(struct htw__queue_rows *self, const struct htw_monitor_source *source,
                         uint32_t sources) {
    self->others_count = 0;
    self->others = (struct htw__queue_row) { .name = "" };
    self->now_ns = htw__clock_realtime_ns();
    htw__greatest_init(&self->greatest, sources);
    return source->of.journal.list_queues == NULL
               ? 0
               : source->of.journal.list_queues(source->of.journal.journal, take, self);
}
