/* SPDX-License-Identifier: MIT */
/* page_queues.c - the queues of a journal over HTTP, the first ones in an order, and the metrics. */
#include "page.h"

#include "../../src/observe/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Those of the metrics: the ones with the most jobs. */
#define METRICS_QUEUES_MAX 1000

enum number {
    NAME,
    DELAYED,
    READY,
    LEASED,
    BURIED,
    WAITING,
    JOBS, /* in any state; only of the metrics */
    NUMBERS
};

static const char *const names[] = { HTW__PAGE_SORTS }; /* by enum number */

/* A queue. */
struct row {
    char name[HTW_QUEUE_NAME_MAX + 1]; /* "": the default queue */
    union {
        uint64_t of[NUMBERS]; /* by enum number; of the name: 0 */
        struct {
            uint64_t of_name, delayed, ready, leased, buried, waiting;
        };
    };
    int64_t paused_until_ns;
};
_Static_assert(offsetof(struct row, waiting) == offsetof(struct row, of[WAITING]), "struct row");

/* The first `limit`, in order. One row more than these, the last one of `order`, is for the next queue. */
struct selection {
    const char *text; /* a part of the name; NULL: any */
    uint32_t sort;
    size_t limit, count;
    uint64_t found, queues, totals[NUMBERS];
    struct row *rows, **order;
};

/* ---- the first ones of all */

/* The most first, and by name where that is equal, as all are by name. */
static bool precedes(const struct selection *selection, const struct row *a, const struct row *b) {
    uint64_t left = a->of[selection->sort], right = b->of[selection->sort];
    return left != right ? left > right : strcmp(a->name, b->name) < 0;
}

/* Only what is used of it is written, as very many are passed. */
static void set_row(struct row *row, const struct htw_queue_stats *stats) {
    const char *name = stats->name == NULL ? "" : stats->name;
    row->of[DELAYED] = stats->delayed;
    row->of[READY] = stats->ready;
    row->of[LEASED] = stats->leased;
    row->of[BURIED] = stats->buried;
    row->of[WAITING] = stats->waiting;
    row->of[JOBS] = stats->delayed + stats->ready + stats->leased + stats->buried;
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
    set_row(row, stats);
    if (stats->name == NULL && row->of[JOBS] + row->of[WAITING] == 0)
        return true; /* it always exists */
    self->queues++;
    for (uint32_t i = DELAYED; i <= WAITING; i++)
        self->totals[i] += row->of[i];
    if (self->text != NULL && strstr(row->name, self->text) == NULL)
        return true;
    self->found++;
    if (self->count < self->limit || precedes(self, row, self->order[self->limit - 1]))
        insert(self, row);
    return true;
}

/* Fills it in; to be ended in any case. Returns 0 or an error of the journal. */
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

/* ---- JSON */

static void write_row(struct htw__json *json, const struct row *row) {
    htw__json_begin(json, NULL, '{');
    htw__json_text(json, "name", *row->name == '\0' ? NULL : row->name);
    for (uint32_t i = DELAYED; i <= WAITING; i++)
        htw__json_number(json, names[i], row->of[i]);
    htw__json_instant(json, "paused_until", row->paused_until_ns, INT64_MIN);
    htw__json_end(json, '}');
}

static void write_server(struct htw__page_ask *ask) {
    struct htw__server_numbers numbers = htw__server_numbers(ask->page->server);
    htw__json_begin(&ask->json, "server", '{');
    htw__json_number(&ask->json, "connections", numbers.connections);
    htw__json_number(&ask->json, "producers", numbers.producers);
    htw__json_number(&ask->json, "workers", numbers.workers);
    htw__json_number(&ask->json, "waiting", numbers.waiting);
    htw__json_bool(&ask->json, "draining", numbers.is_draining);
    htw__json_end(&ask->json, '}');
}

static void write_all(struct htw__page_ask *ask, const struct selection *self) {
    htw__json_begin(&ask->json, NULL, '{');
    htw__json_begin(&ask->json, "queues", '[');
    for (size_t i = 0; i < self->count; i++)
        write_row(&ask->json, self->order[i]);
    htw__json_end(&ask->json, ']');
    htw__json_number(&ask->json, "found", self->found);
    htw__json_number(&ask->json, "all", self->queues);
    for (uint32_t i = DELAYED; i <= BURIED; i++)
        htw__json_number(&ask->json, names[i], self->totals[i]);
    write_server(ask);
    htw__json_end(&ask->json, '}');
}

int htw__page_queues(struct htw__page_ask *ask) {
    struct selection self = { .text = ask->text, .sort = ask->sort, .limit = ask->limit };
    int error = select_queues(ask->journal, &self);
    if (error == 0)
        write_all(ask, &self);
    end_selection(&self);
    return error;
}

int htw__page_queue(struct htw__page_ask *ask) {
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    struct row row;
    int error = htw_journal_get_queue(ask->journal, ask->queue, &stats);
    if (error != 0)
        return error;
    stats.name = ask->queue;
    set_row(&row, &stats);
    write_row(&ask->json, &row);
    return 0;
}

/* ---- metrics */

/* A byte of the name may take two in the text. */
static void write_label(char *text, const char *name) {
    text = stpcpy(text, "queue=\"");
    for (; *name != '\0'; name++) {
        if (*name == '\\' || *name == '"' || *name == '\n')
            *text++ = '\\';
        *text++ = (char)(*name == '\n' ? 'n' : *name);
    }
    strcpy(text, "\"");
}

static void print_queues(FILE *out, const struct selection *self) {
    static const struct htw__metric table[] = { HTW__QUEUE_METRICS(struct row), HTW__METRICS_END };
    char label[2 * (size_t)HTW_QUEUE_NAME_MAX + sizeof("queue=\"\"")];
    for (const struct htw__metric *metric = table; metric->member != NULL; metric++) {
        htw__metric_describe(out, metric, table);
        for (size_t i = 0; i < self->count; i++) {
            write_label(label, self->order[i]->name);
            htw__metric_write(out, metric, label, self->order[i]);
        }
    }
}

struct metrics {
    struct htw__server_numbers server;
    uint64_t left_out;
};

static const struct htw__metric metrics[] = {
#define METRIC(name, member, help) HTW__METRIC(struct metrics, name, member, help)
    HTW__QUEUES_LEFT_OUT(struct metrics, left_out),
    METRIC("htw_serve_connections", server.connections, "connections now"),
    METRIC("htw_serve_producers", server.producers, "connections that have put jobs"),
    METRIC("htw_serve_workers", server.workers, "connections that have reserved jobs"),
    METRIC("htw_serve_waiting", server.waiting, "connections that wait for a job"),
    HTW__METRICS_END,
};

static void print_metrics(const struct htw__page_ask *ask, const struct selection *self) {
    FILE *out = ask->http->out;
    const struct metrics numbers = { htw__server_numbers(ask->page->server),
                                     self->queues - self->count };
    htw__prometheus_values(out, metrics, &numbers);
    print_queues(out, self);
}

int htw__page_metrics(struct htw__page_ask *ask) {
    struct selection self = { .sort = JOBS, .limit = METRICS_QUEUES_MAX };
    int error = select_queues(ask->journal, &self);
    if (error == 0)
        error = htw_journal_prometheus(ask->journal, ask->http->out);
    if (error == 0)
        print_metrics(ask, &self);
    ask->http->type = "text/plain; version=0.0.4; charset=utf-8";
    end_selection(&self);
    return error;
}
