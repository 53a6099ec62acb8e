/* SPDX-License-Identifier: MIT */
/* page_queues.c - the queues of a journal over HTTP, in pages, and the metrics. */
#include "page.h"

#include "../../base/prometheus.h"
#include "../text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Those of the metrics: the ones with the most jobs. */
#define METRICS_QUEUES_MAX 1000

/* ---- a page of all */

struct row {
    char name[HTW_QUEUE_NAME_MAX + 1]; /* "": the default queue */
    uint64_t of[HTW__SORT_WAITING + 1];
    int64_t paused_until_ns;
};

/* The first `limit` behind `after`, in order. One row more than these, the last one of `order`, is for the next queue. */
struct selection {
    const char *text; /* a part of the name; NULL: any */
    uint32_t sort;
    bool is_by_all; /* by the number of jobs */
    bool has_after;
    struct row after; /* what is compared of it */
    size_t limit, count;
    uint64_t found, behind, queues, totals[HTW__SORT_WAITING + 1];
    struct row *rows, **order;
};

static uint64_t rank_of(const struct selection *selection, const struct row *row) {
    return selection->is_by_all ? row->of[HTW__SORT_DELAYED] + row->of[HTW__SORT_READY] +
                                      row->of[HTW__SORT_LEASED] + row->of[HTW__SORT_BURIED]
                                : row->of[selection->sort];
}

/* The most first, and by name where that is equal, as all are by name. */
static bool precedes(const struct selection *selection, const struct row *a, const struct row *b) {
    uint64_t left = rank_of(selection, a), right = rank_of(selection, b);
    return left != right ? left > right : strcmp(a->name, b->name) < 0;
}

/* Only what is used of it is written, as very many are passed. */
static void set_row(struct row *row, const struct htw_queue_stats *stats) {
    const char *name = stats->name == NULL ? "" : stats->name;
    row->of[HTW__SORT_DELAYED] = stats->delayed;
    row->of[HTW__SORT_READY] = stats->ready;
    row->of[HTW__SORT_LEASED] = stats->leased;
    row->of[HTW__SORT_BURIED] = stats->buried;
    row->of[HTW__SORT_WAITING] = stats->waiting;
    row->paused_until_ns = stats->paused_until_ns;
    memcpy(row->name, name, strlen(name) + 1);
}

static void insert(struct selection *self, struct row *row) {
    size_t low = 0, high = self->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (precedes(self, self->order[middle], row))
            low = middle + 1;
        else
            high = middle;
    }
    size_t last = self->count < self->limit ? self->count++ : self->limit - 1;
    self->order[self->limit] = self->order[last]; /* the spare */
    memmove(&self->order[low + 1], &self->order[low], (last - low) * sizeof(*self->order));
    self->order[low] = row;
}

static bool consider(void *context, const struct htw_queue_stats *stats) {
    struct selection *self = context;
    struct row *row = self->order[self->limit];
    uint64_t all = 0;
    set_row(row, stats);
    for (uint32_t i = HTW__SORT_DELAYED; i <= HTW__SORT_WAITING; i++)
        all += row->of[i];
    if (stats->name == NULL && all == 0)
        return true; /* it always exists */
    self->queues++;
    for (uint32_t i = HTW__SORT_DELAYED; i <= HTW__SORT_WAITING; i++)
        self->totals[i] += row->of[i];
    if (self->text != NULL && strstr(row->name, self->text) == NULL)
        return true;
    self->found++;
    if (self->has_after && !precedes(self, &self->after, row))
        return true;
    self->behind++;
    if (self->count < self->limit || precedes(self, row, self->order[self->limit - 1]))
        insert(self, row);
    return true;
}

static int select_queues(struct htw_journal *journal, struct selection *self) {
    self->rows = calloc(self->limit + 1, sizeof(*self->rows));
    self->order = malloc((self->limit + 1) * sizeof(*self->order));
    if (self->rows == NULL || self->order == NULL)
        return -ENOMEM;
    for (size_t i = 0; i <= self->limit; i++)
        self->order[i] = &self->rows[i];
    return htw_journal_list_queues(journal, consider, self);
}

static void end_selection(struct selection *self) {
    free(self->rows);
    free(self->order);
}

/* ---- where the next page begins: RANK.NAME, the name in hexadecimal digits */

static void print_after(FILE *out, const struct selection *self) {
    const struct row *last = self->order[self->count - 1];
    fprintf(out, "\"%" PRIu64 ".", rank_of(self, last));
    for (const char *at = last->name; *at != '\0'; at++)
        fprintf(out, "%02x", (unsigned char)*at);
    putc('"', out);
}

static bool read_after(struct selection *self, const char *text) {
    char *end;
    uint64_t rank = strtoull(text, &end, 10);
    size_t size = strlen(end);
    if (*text < '0' || *text > '9' || *end != '.' || size % 2 == 0 ||
        size / 2 > HTW_QUEUE_NAME_MAX || strspn(end + 1, "0123456789abcdef") != size - 1)
        return false;
    self->after.of[self->sort] = rank;
    for (size_t i = 0; i < size / 2; i++) {
        char digits[3] = { end[1 + 2 * i], end[2 + 2 * i], '\0' };
        self->after.name[i] = (char)strtoul(digits, NULL, 16);
    }
    self->has_after = true;
    return true;
}

/* ---- JSON */

static void print_row(FILE *out, const struct row *row) {
    bool is_default = row->name[0] == '\0';
    putc('{', out);
    htw__text_print_json(out, "name", is_default ? NULL : row->name, strlen(row->name));
    fprintf(out,
            ",\"delayed\":%" PRIu64 ",\"ready\":%" PRIu64 ",\"leased\":%" PRIu64
            ",\"buried\":%" PRIu64 ",\"waiting\":%" PRIu64 ",",
            row->of[HTW__SORT_DELAYED], row->of[HTW__SORT_READY], row->of[HTW__SORT_LEASED],
            row->of[HTW__SORT_BURIED], row->of[HTW__SORT_WAITING]);
    htw__text_print_json_instant(out, "paused_until", row->paused_until_ns, INT64_MIN);
    putc('}', out);
}

static void print_server(const struct htw__page_ask *ask) {
    struct htw__page_numbers numbers = { 0 };
    if (ask->page->count == NULL) {
        fputs("null", ask->http->out);
        return;
    }
    ask->page->count(ask->page->context, &numbers);
    fprintf(ask->http->out,
            "{\"connections\":%" PRIu64 ",\"producers\":%" PRIu64 ",\"workers\":%" PRIu64
            ",\"waiting\":%" PRIu64 ",\"draining\":%s}",
            numbers.connections, numbers.producers, numbers.workers, numbers.waiting,
            numbers.is_draining ? "true" : "false");
}

static void print_all(const struct htw__page_ask *ask, const struct selection *self) {
    FILE *out = ask->http->out;
    fputs("{\"queues\":[", out);
    for (size_t i = 0; i < self->count; i++) {
        fputs(i == 0 ? "" : ",", out);
        print_row(out, self->order[i]);
    }
    fprintf(out,
            "],\"found\":%" PRIu64 ",\"all\":%" PRIu64 ",\"delayed\":%" PRIu64 ",\"ready\":%" PRIu64
            ",\"leased\":%" PRIu64 ",\"buried\":%" PRIu64 ",\"server\":",
            self->found, self->queues, self->totals[HTW__SORT_DELAYED],
            self->totals[HTW__SORT_READY], self->totals[HTW__SORT_LEASED],
            self->totals[HTW__SORT_BURIED]);
    print_server(ask);
    fputs(",\"after\":", out);
    if (self->behind > self->count)
        print_after(out, self);
    else
        fputs("null", out);
    fputs("}\n", out);
}

void htw__page_queues(const struct htw__page_ask *ask) {
    struct selection self = { .text = ask->text, .sort = ask->sort, .limit = ask->limit };
    if (ask->after != NULL && !read_after(&self, ask->after)) {
        htw__http_refuse(ask->http, 400, "after: not of another page");
        return;
    }
    int error = select_queues(ask->page->journal, &self);
    if (error == 0)
        print_all(ask, &self);
    else
        htw__page_fail(ask, error);
    end_selection(&self);
}

void htw__page_queue(const struct htw__page_ask *ask) {
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    struct row row;
    int error = htw_journal_get_queue(ask->page->journal, ask->queue, &stats);
    if (error != 0) {
        htw__page_fail(ask, error);
        return;
    }
    stats.name = ask->queue;
    set_row(&row, &stats);
    print_row(ask->http->out, &row);
    putc('\n', ask->http->out);
}

/* ---- metrics */

static void print_label(FILE *out, const char *name) {
    for (; *name != '\0'; name++) {
        if (*name == '\\' || *name == '"')
            putc('\\', out);
        if (*name == '\n')
            fputs("\\n", out);
        else
            putc(*name, out);
    }
}

static void print_metric(FILE *out, const struct selection *self, const char *name,
                         const char *help, uint32_t from, uint32_t to) {
    static const char *const states[] = { "", "delayed", "ready", "leased", "buried", "" };
    htw__prometheus_describe(out, name, "gauge", help);
    for (size_t i = 0; i < self->count; i++) {
        for (uint32_t state = from; state <= to; state++) {
            fprintf(out, "%s{queue=\"", name);
            print_label(out, self->order[i]->name);
            if (from != to)
                fprintf(out, "\",state=\"%s", states[state]);
            fprintf(out, "\"} %" PRIu64 "\n", self->order[i]->of[state]);
        }
    }
}

static void print_metrics(const struct htw__page_ask *ask, const struct selection *self) {
    FILE *out = ask->http->out;
    struct htw__page_numbers numbers = { 0 };
    htw__prometheus_value(
        out, "htw_journal_queues_left_out",
        "queues that the metrics of each queue leave out: those with the fewest jobs",
        self->queues - self->count);
    print_metric(out, self, "htw_journal_queue_jobs", "jobs of a queue now", HTW__SORT_DELAYED,
                 HTW__SORT_BURIED);
    print_metric(out, self, "htw_journal_queue_waiting", "requests that wait for a job of a queue",
                 HTW__SORT_WAITING, HTW__SORT_WAITING);
    if (ask->page->count == NULL)
        return;
    ask->page->count(ask->page->context, &numbers);
    htw__prometheus_value(out, "htw_serve_connections", "connections now", numbers.connections);
    htw__prometheus_value(out, "htw_serve_producers", "connections that have put jobs",
                          numbers.producers);
    htw__prometheus_value(out, "htw_serve_workers", "connections that have reserved jobs",
                          numbers.workers);
    htw__prometheus_value(out, "htw_serve_waiting", "connections that wait for a job",
                          numbers.waiting);
}

void htw__page_metrics(const struct htw__page_ask *ask) {
    struct selection self = { .is_by_all = true, .limit = METRICS_QUEUES_MAX };
    int error = select_queues(ask->page->journal, &self);
    if (error == 0)
        error = htw_journal_prometheus(ask->page->journal, ask->http->out);
    if (error == 0)
        print_metrics(ask, &self);
    else
        htw__page_fail(ask, error);
    ask->http->type = "text/plain; version=0.0.4; charset=utf-8";
    end_selection(&self);
}
