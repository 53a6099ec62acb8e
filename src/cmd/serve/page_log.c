/* SPDX-License-Identifier: MIT */
/* page_log.c - what was changed over HTTP: each is a line of standard error, and the last ones are kept. */
#include "page.h"

#include "../../base/clock.h"
#include "../terminal.h"
#include "../text.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#define KEPT 100

struct change {
    int64_t at_ns;
    const char *done; /* a word */
    uint64_t id, count;
    char who[HTW__HTTP_WHO];
    char queue[HTW_QUEUE_NAME_MAX + 1];
};

static struct {
    pthread_mutex_t lock;
    uint64_t count; /* of all; the last KEPT are in `of`, each at its number modulo that */
    struct change of[KEPT];
} changes = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void say(const struct change *change) {
    char count[32] = "";
    if (change->count > 0)
        snprintf(count, sizeof(count), " %" PRIu64 " jobs of", change->count);
    if (change->id != 0)
        htw__terminal_error("%s: %s job %" PRIu64, change->who, change->done, change->id);
    else
        htw__terminal_error("%s: %s%s queue %s", change->who, change->done, count, change->queue);
}

void htw__page_log(const struct htw__page_ask *ask, const char *done, uint64_t id, uint64_t count) {
    struct change change = {
        .at_ns = htw__clock_realtime_ns(), .done = done, .id = id, .count = count
    };
    memcpy(change.who, ask->http->who, sizeof(change.who));
    strcpy(change.queue, ask->queue == NULL ? "" : ask->queue);
    pthread_mutex_lock(&changes.lock);
    changes.of[changes.count++ % KEPT] = change;
    pthread_mutex_unlock(&changes.lock);
    say(&change);
}

static void print(FILE *out, const struct change *change) {
    putc('{', out);
    htw__text_print_json_instant(out, "at", change->at_ns, INT64_MIN);
    fprintf(out, ",\"who\":\"%s\",\"done\":\"%s\",", change->who, change->done);
    if (change->id != 0)
        fprintf(out, "\"id\":\"%" PRIu64 "\",", change->id);
    else
        fputs("\"id\":null,", out);
    if (change->count != 0)
        fprintf(out, "\"count\":%" PRIu64 ",", change->count);
    htw__text_print_json(out, "queue", *change->queue == '\0' ? NULL : change->queue,
                         strlen(change->queue));
    putc('}', out);
}

/* The last ones first. */
void htw__page_changes(const struct htw__page_ask *ask) {
    FILE *out = ask->http->out;
    pthread_mutex_lock(&changes.lock);
    uint64_t shown = changes.count < KEPT ? changes.count : KEPT;
    fprintf(out, "{\"all\":%" PRIu64 ",\"changes\":[", changes.count);
    for (uint64_t i = 0; i < shown; i++) {
        fputs(i == 0 ? "" : ",", out);
        print(out, &changes.of[(changes.count - 1 - i) % KEPT]);
    }
    pthread_mutex_unlock(&changes.lock);
    fputs("]}\n", out);
}
