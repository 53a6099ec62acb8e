/* SPDX-License-Identifier: MIT */
/* served.c - what `htw journal` asks of the `htw serve` that has a journal open: changes, and which jobs are leased. */
#include "served.h"

#include "../kit/terminal.h"
#include "../kit/times.h"
#include "ask.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The target of a request; `text` is written by the stream. */
struct target {
    FILE *stream;
    char *text;
    size_t size;
    bool has_parameters;
};

static void add(struct target *self, const char *name, const char *value) {
    htw__journal_print_parameter(self->stream, !self->has_parameters, name, value);
    self->has_parameters = true;
}

/* Seconds since 1970; all before is as good as that. */
static void add_instant(struct target *self, int64_t instant_ns) {
    char text[48];
    int64_t ns = instant_ns < 0 ? 0 : instant_ns;
    snprintf(text, sizeof(text), "%" PRId64 ".%09" PRId64, ns / HTW_SECOND, ns % HTW_SECOND);
    add(self, "at", text);
}

static void add_number(struct target *self, const char *name, uint64_t number) {
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, number);
    add(self, name, text);
}

static bool begin(struct target *self) {
    *self = (struct target) { .stream = NULL };
    self->stream = open_memstream(&self->text, &self->size);
    if (self->stream == NULL)
        htw__terminal_error("%s", strerror(errno));
    return self->stream != NULL;
}

/* Asks, and takes the number behind `before` from the answer, if that is not NULL. */
static bool end(struct target *self, const struct htw__journal_request *request,
                const void *payload, size_t size, const char *before, uint64_t *ret_number) {
    struct htw__answer answer = { .text = NULL };
    enum htw__asked asked = HTW__ASKED_FAILED;
    if (fclose(self->stream) != 0)
        htw__terminal_error("%s", strerror(errno));
    else
        asked = htw__journal_ask(request->path, "POST", self->text, payload, size, &answer);
    free(self->text);
    if (asked == HTW__ASKED_NOBODY)
        htw__terminal_error("%s: the htw serve that had it open has ended: try again",
                            request->path);
    if (asked != HTW__ASKED_ANSWERED)
        return false;
    bool is_done = answer.status == 200;
    if (!is_done)
        htw__journal_print_refusal(request->path, &answer);
    else if (before != NULL && strncmp(answer.content, before, strlen(before)) == 0)
        *ret_number = strtoull(answer.content + strlen(before), NULL, 10);
    free(answer.text);
    return is_done;
}

bool htw__served_put(const struct htw__journal_request *request, struct htw_job *job) {
    struct target target;
    if (!begin(&target))
        return false;
    fputs("/jobs", target.stream);
    add_instant(&target, request->deadline_ns);
    add_number(&target, "priority", request->priority);
    if (request->queue != NULL)
        add(&target, "queue", request->queue);
    if (request->key != NULL)
        add(&target, "key", request->key);
    return end(&target, request, job->payload, job->payload_size, "{\"put\":\"", &job->id);
}

bool htw__served_step(const struct htw__journal_request *request, uint64_t id) {
    static const char *const verbs[] = {
        [HTW_JOB_END] = "delete", [HTW_JOB_CANCEL] = "delete", [HTW_JOB_MOVE] = "move",
        [HTW_JOB_BURY] = "bury",  [HTW_JOB_KICK] = "kick",     [HTW_JOB_RELEASE] = NULL
    };
    struct target target;
    if (verbs[request->step] == NULL) {
        htw__terminal_error("%s: htw serve has it open, whose workers alone release their jobs",
                            request->path);
        return false;
    }
    if (!begin(&target))
        return false;
    fprintf(target.stream, "/jobs/%" PRIu64 "/%s", id, verbs[request->step]);
    if (request->step == HTW_JOB_MOVE)
        add_instant(&target, request->deadline_ns);
    if (request->has_priority)
        add_number(&target, "priority", request->priority);
    return end(&target, request, NULL, 0, NULL, NULL);
}

bool htw__served_kick(const struct htw__journal_request *request, int *ret_count) {
    struct target target;
    uint64_t count = 0;
    if (!begin(&target))
        return false;
    fputs("/queue/kick", target.stream);
    add_number(&target, "count", request->limit);
    if (request->queue != NULL)
        add(&target, "queue", request->queue);
    bool is_done = end(&target, request, NULL, 0, "{\"kicked\":", &count);
    *ret_count = (int)count;
    return is_done;
}

/* ---- which jobs its workers have reserved */

static int compare(const void *a, const void *b) {
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* {"leased":["1","2"],"more":false} */
static bool read_ids(struct htw__leases *self, const char *text) {
    size_t quotes = 0;
    for (const char *at = text; *at != '\0'; at++)
        quotes += *at == '"';
    self->ids = calloc(quotes / 2 + 1, sizeof(*self->ids));
    if (self->ids == NULL)
        return false;
    const char *at = strchr(text, '[');
    while (at != NULL && (*at == '[' || *at == ',') && at[1] == '"') {
        char *end;
        self->ids[self->count++] = strtoull(at + 2, &end, 10);
        at = end + 1; /* behind the quote */
    }
    qsort(self->ids, self->count, sizeof(*self->ids), compare);
    return true;
}

void htw__leases_ask(struct htw__leases *self, const char *file) {
    struct htw__answer answer;
    *self = (struct htw__leases) { NULL, 0 };
    if (htw__journal_ask(file, "GET", "/leases", NULL, 0, &answer) != HTW__ASKED_ANSWERED)
        return;
    if (answer.status != 200)
        htw__journal_print_refusal(file, &answer);
    else if (!read_ids(self, answer.content))
        htw__terminal_error("%s", strerror(ENOMEM));
    else if (strstr(answer.content, "\"more\":true") != NULL)
        htw__terminal_error("%s: more than %zu jobs are reserved: the others are shown as ready",
                            file, self->count);
    free(answer.text);
}

void htw__leases_free(struct htw__leases *self) {
    free(self->ids);
}

bool htw__leases_have(const struct htw__leases *self, uint64_t id) {
    return self->count > 0 &&
           bsearch(&id, self->ids, self->count, sizeof(*self->ids), compare) != NULL;
}
