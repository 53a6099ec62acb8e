/* SPDX-License-Identifier: MIT */
/*
 * page_jobs.c - jobs of a journal over HTTP: lists in pages, one job, and when those that are delayed are due.
 *
 * Where a list goes on is known to the journal alone (struct htw_list_place), which trusts it. So it stays here, and clients
 * receive a number for it; the places that were not used for the longest time are forgotten.
 */
#include "page.h"

#include "../../base/clock.h"
#include "../count.h"
#include "../job.h"
#include "../text.h"
#include "../times.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_MAX 256
#define PREVIEW_SIZE 200
#define SHOWN_SIZE 65536
#define TIMES_MAX 2000
#define TIMES_BYTES_MAX ((size_t)4 << 20)
#define BARS_MAX 60
#define LEASES_MAX 10000

/* ---- places */

static struct {
    pthread_mutex_t lock;
    uint64_t uses;
    struct {
        uint64_t number, used; /* 0: none */
        struct htw_list_place place;
    } of[PLACES_MAX];
} places = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool find_place(const char *text, struct htw_list_place *ret_place) {
    uint64_t number;
    bool is_found = false;
    if (!htw__count_parse(text, &number) || number == 0)
        return false;
    pthread_mutex_lock(&places.lock);
    for (size_t i = 0; i < PLACES_MAX && !is_found; i++) {
        is_found = places.of[i].number == number;
        if (!is_found)
            continue;
        places.of[i].used = ++places.uses;
        *ret_place = places.of[i].place;
    }
    pthread_mutex_unlock(&places.lock);
    return is_found;
}

/* The same place has the same number, so that a page which is read again and again takes one. */
static uint64_t keep_place(const struct htw_list_place *place) {
    size_t oldest = 0, i = 0;
    pthread_mutex_lock(&places.lock);
    for (; i < PLACES_MAX; i++) {
        if (places.of[i].number != 0 && memcmp(&places.of[i].place, place, sizeof(*place)) == 0)
            break;
        if (places.of[i].used < places.of[oldest].used)
            oldest = i;
    }
    if (i == PLACES_MAX) {
        i = oldest;
        places.of[i].number = places.uses + 1;
        places.of[i].place = *place;
    }
    places.of[i].used = ++places.uses;
    uint64_t number = places.of[i].number;
    pthread_mutex_unlock(&places.lock);
    return number;
}

/* ---- a list */

struct list {
    FILE *out;
    size_t count;
};

static bool print_job(void *context, const struct htw_job_info *job) {
    struct list *list = context;
    fputs(list->count++ == 0 ? "" : ",", list->out);
    htw__job_print_json(list->out, job, PREVIEW_SIZE);
    return true;
}

static int list_slices(const struct htw__page_ask *ask, enum htw_job_state state,
                       struct htw_list_place *place, size_t limit, htw_job_visit *visit,
                       void *context) {
    for (size_t shown = 0; shown < limit;) {
        uint32_t wanted =
            limit - shown < HTW__PAGE_SLICE ? (uint32_t)(limit - shown) : HTW__PAGE_SLICE;
        int got =
            htw_journal_list(ask->page->journal, ask->queue, state, place, wanted, visit, context);
        if (got < 0 || (uint32_t)got < wanted || htw__http_is_unwanted())
            return got < 0 ? got : 0;
        shown += wanted;
    }
    return 1; /* perhaps there are more */
}

void htw__page_jobs(const struct htw__page_ask *ask) {
    struct htw_list_place place = { { 0 } };
    struct list list = { ask->http->out, 0 };
    if (ask->after != NULL && !find_place(ask->after, &place)) {
        htw__http_refuse(ask->http, 410, "after: this page is forgotten: begin with the first one");
        return;
    }
    fputs("{\"jobs\":[", list.out);
    int more =
        list_slices(ask, (enum htw_job_state)ask->state, &place, ask->limit, print_job, &list);
    if (more < 0)
        htw__page_fail(ask, more);
    else if (more > 0)
        fprintf(list.out, "],\"after\":\"%" PRIu64 "\"}\n", keep_place(&place));
    else
        fputs("],\"after\":null}\n", list.out);
}

/* ---- all that are leased */

struct leases {
    struct list list;
    size_t queue_count, queue_capacity;
    char (*queues)[HTW_QUEUE_NAME_MAX + 1];
    bool has_failed;
};

static bool take_queue(void *context, const struct htw_queue_stats *stats) {
    struct leases *self = context;
    if (stats->leased == 0)
        return true;
    if (self->queue_count == self->queue_capacity) {
        size_t capacity = self->queue_capacity == 0 ? 16 : 2 * self->queue_capacity;
        void *queues = realloc(self->queues, capacity * sizeof(*self->queues));
        if (queues == NULL) {
            self->has_failed = true;
            return false;
        }
        self->queues = queues;
        self->queue_capacity = capacity;
    }
    strcpy(self->queues[self->queue_count++], stats->name == NULL ? "" : stats->name);
    return self->queue_count < LEASES_MAX;
}

static bool print_id(void *context, const struct htw_job_info *job) {
    struct list *list = context;
    fprintf(list->out, "%s\"%" PRIu64 "\"", list->count++ == 0 ? "" : ",", job->id);
    return true;
}

/* 1: there may be more, 0, or an error. */
static int print_leases(const struct htw__page_ask *ask, struct leases *self) {
    int more = htw_journal_list_queues(ask->page->journal, take_queue, self);
    if (self->has_failed)
        return -ENOMEM;
    for (size_t i = 0; i < self->queue_count && more == 0; i++) {
        struct htw__page_ask of_queue = *ask;
        struct htw_list_place place = { { 0 } };
        of_queue.queue = self->queues[i][0] == '\0' ? NULL : self->queues[i];
        more = list_slices(&of_queue, HTW_JOB_LEASED, &place, LEASES_MAX - self->list.count,
                           print_id, &self->list);
    }
    return more;
}

void htw__page_leases(const struct htw__page_ask *ask) {
    struct leases self = { .list = { ask->http->out, 0 } };
    fputs("{\"leased\":[", ask->http->out);
    int more = print_leases(ask, &self);
    if (more < 0)
        htw__page_fail(ask, more);
    else
        fprintf(ask->http->out, "],\"more\":%s}\n", more > 0 ? "true" : "false");
    free(self.queues);
}

/* ---- one job */

static bool print_whole(void *context, const struct htw_job_info *job) {
    FILE *out = context;
    htw__job_print_json(out, job, SHOWN_SIZE);
    putc('\n', out);
    return true;
}

void htw__page_job(const struct htw__page_ask *ask) {
    int error = htw_journal_peek(ask->page->journal, ask->id, print_whole, ask->http->out);
    if (error != 0)
        htw__page_fail(ask, error);
}

/* ---- when those that are delayed are due */

struct times {
    size_t count, bytes;
    int64_t of_s[TIMES_MAX];
    bool is_cut;
};

static bool take_time(void *context, const struct htw_job_info *job) {
    struct times *times = context;
    times->bytes += job->payload_size;
    times->is_cut = times->bytes > TIMES_BYTES_MAX;
    if (job->deadline_ns != HTW_NEVER_NS)
        times->of_s[times->count++] = job->deadline_ns / HTW__NS_PER_S;
    return job->deadline_ns != HTW_NEVER_NS &&
           !times->is_cut; /* those without a deadline come last */
}

/* The shortest bars that are few. */
static int64_t width_for(int64_t span_s) {
    static const int64_t widths[] = { 1,    5,     10,    60,     300,     900,
                                      3600, 21600, 86400, 604800, 2592000, 31536000 };
    size_t i = 0;
    while (i < sizeof(widths) / sizeof(*widths) - 1 && span_s / widths[i] >= BARS_MAX - 1)
        i++;
    return span_s / widths[i] < BARS_MAX - 1 ? widths[i] : span_s / (BARS_MAX - 1) + 1;
}

static void print_times(FILE *out, struct times *times, bool has_more) {
    int64_t now_s = htw__clock_realtime_ns() / HTW__NS_PER_S, first_s = now_s, last_s = now_s;
    uint64_t bars[BARS_MAX] = { 0 };
    for (size_t i = 0; i < times->count; i++) {
        if (times->of_s[i] < now_s)
            times->of_s[i] = now_s; /* about to be ready */
        if (times->of_s[i] > last_s)
            last_s = times->of_s[i];
    }
    int64_t width_s = width_for(last_s - first_s);
    first_s -= first_s % width_s;
    for (size_t i = 0; i < times->count; i++)
        bars[(times->of_s[i] - first_s) / width_s]++;
    fprintf(out,
            "{\"from_s\":%" PRId64 ",\"width_s\":%" PRId64 ",\"seen\":%zu,\"more\":%s,\"bars\":[",
            first_s, width_s, times->count, has_more ? "true" : "false");
    for (int64_t i = 0; i <= (last_s - first_s) / width_s; i++)
        fprintf(out, "%s%" PRIu64, i == 0 ? "" : ",", bars[i]);
    fputs("]}\n", out);
}

void htw__page_times(const struct htw__page_ask *ask) {
    struct htw_list_place place = { { 0 } };
    struct times times = { 0 };
    int more = list_slices(ask, HTW_JOB_DELAYED, &place, TIMES_MAX, take_time, &times);
    if (more < 0)
        htw__page_fail(ask, more);
    else
        print_times(ask->http->out, &times, more > 0 || times.is_cut);
}
