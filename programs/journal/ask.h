/* SPDX-License-Identifier: MIT */
/* ask.h - asks the `htw serve` that has a journal open, by HTTP at the socket beside the file (../beside.h). */
#ifndef HTW_JOURNAL_ASK_H
#define HTW_JOURNAL_ASK_H

#include <stdbool.h>
#include <stddef.h>

/* Whether one listens there that belongs to the owner of the file, to this user, or to root. */
bool htw__journal_is_served(const char *file);

struct htw__answer {
    int status;    /* of HTTP */
    char *text;    /* a NUL follows; to be freed */
    char *content; /* of the text: behind the head */
};

enum htw__asked {
    HTW__ASKED_NOBODY, /* it is not served */
    HTW__ASKED_FAILED, /* why was printed: it is not known what the server has done */
    HTW__ASKED_ANSWERED
};

/* Sends a request with a payload, which may be NULL; `target` is the path with what follows it. Asks again for some seconds while
 * the server is busy. */
enum htw__asked htw__journal_ask(const char *file, const char *method, const char *target,
                                 const void *payload, size_t size, struct htw__answer *ret_answer);

/* Prints why a request was refused. */
void htw__journal_print_refusal(const char *file, const struct htw__answer *answer);

#endif /* HTW_JOURNAL_ASK_H */
