/* SPDX-License-Identifier: MIT */
/* leases.c - which jobs of a journal the workers of an `htw serve` have reserved. */
#include "leases.h"

#include "../kit/terminal.h"
#include "ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* {"leased":["1","2"],"more":false} */
static bool read(struct htw__leases *self, const char *text) {
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
    else if (!read(self, answer.content))
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
