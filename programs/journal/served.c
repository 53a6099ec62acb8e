/* SPDX-License-Identifier: MIT */
/* served.c - what `htw journal` asks of the `htw serve` that has a journal open: changes, and which jobs are leased. */
#include "served.h"

#include "../kit/terminal.h"
#include "../kit/times.h"
#include "ask.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text for an address, in new memory: `before`, and all but letters and digits as %XX. "" for NULL. */
static char *encode(const char *before, const char *text) {
    char *encoded = malloc(strlen(before) + 3 * (text == NULL ? 0 : strlen(text)) + 1), *end;
    if (encoded == NULL)
        return NULL;
    end = stpcpy(encoded, text == NULL ? "" : before);
    for (; text != NULL && *text != '\0'; text++)
        end += sprintf(end, isalnum((unsigned char)*text) ? "%c" : "%%%02X", (unsigned char)*text);
    return encoded;
}

/* Seconds since 1970; all before is as good as that. */
static const char *format_instant(int64_t instant_ns, char text[48]) {
    int64_t ns = instant_ns < 0 ? 0 : instant_ns;
    snprintf(text, 48, "%" PRId64 ".%09" PRId64, ns / HTW_SECOND, ns % HTW_SECOND);
    return text;
}

/* Asks for what `target`, which it frees, says, and takes the number behind `before` from the answer, if that is not NULL. */
static bool ask(const struct htw__journal_request *request, char *target, const struct htw_job *job,
                const char *before, uint64_t *ret_number) {
    struct htw__answer answer = { .text = NULL };
    enum htw__asked asked = HTW__ASKED_FAILED;
    if (target == NULL)
        htw__terminal_error("%s", strerror(ENOMEM));
    else
        asked = htw__journal_ask(request->path, "POST", target, job == NULL ? NULL : job->payload,
                                 job == NULL ? 0 : job->payload_size, &answer);
    free(target);
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
    char at[48], *target = NULL;
    char *queue = encode("&queue=", request->queue), *key = encode("&key=", request->key);
    if (queue == NULL || key == NULL ||
        asprintf(&target, "/jobs?at=%s&priority=%" PRIu32 "%s%s",
                 format_instant(request->deadline_ns, at), request->priority, queue, key) < 0)
        target = NULL;
    free(queue);
    free(key);
    return ask(request, target, job, "{\"put\":\"", &job->id);
}

bool htw__served_step(const struct htw__journal_request *request, uint64_t id) {
    static const char *const verbs[] = {
        [HTW_JOB_END] = "delete", [HTW_JOB_CANCEL] = "delete", [HTW_JOB_MOVE] = "move?at=",
        [HTW_JOB_BURY] = "bury",  [HTW_JOB_KICK] = "kick",     [HTW_JOB_RELEASE] = NULL
    };
    char at[48] = "", priority[32] = "", *target = NULL;
    if (verbs[request->step] == NULL) {
        htw__terminal_error("%s: htw serve has it open, whose workers alone release their jobs",
                            request->path);
        return false;
    }
    if (request->step == HTW_JOB_MOVE)
        format_instant(request->deadline_ns, at);
    if (request->has_priority)
        snprintf(priority, sizeof(priority), "&priority=%" PRIu32, request->priority);
    if (asprintf(&target, "/jobs/%" PRIu64 "/%s%s%s", id, verbs[request->step], at, priority) < 0)
        target = NULL;
    return ask(request, target, NULL, NULL, NULL);
}

bool htw__served_kick(const struct htw__journal_request *request, int *ret_count) {
    char *target = NULL, *queue = encode("&queue=", request->queue);
    uint64_t count = 0;
    if (queue == NULL ||
        asprintf(&target, "/queue/kick?count=%" PRIu64 "%s", request->limit, queue) < 0)
        target = NULL;
    free(queue);
    bool is_done = ask(request, target, NULL, "{\"kicked\":", &count);
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
