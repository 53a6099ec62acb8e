/* SPDX-License-Identifier: MIT */
/* fetch.h - asks a monitor for a text. */
#ifndef HTW_TOP_FETCH_H
#define HTW_TOP_FETCH_H

#include <stddef.h>

/* The longest request. */
#define HTW__FETCH_REQUEST_MAX 160

struct htw__fetch {
    char *bytes;
    size_t size; /* a NUL follows */
};

/* Sends a request such as "json", and waits for the whole of the answer, which stays in `bytes` until the next request. 0; or
   a negative errno: -EAGAIN: the monitor has too many clients; -ETIMEDOUT: it has not answered for three seconds; -ECANCELED:
   one of `wakes`, which may be NULL, can be read. */
int htw__fetch_ask(struct htw__fetch *fetch, const char *path, const char *request,
                   const int wakes[2]);

/* Frees the answer. */
void htw__fetch_end(struct htw__fetch *fetch);

/* What a failure means to the user. */
const char *htw__fetch_sentence(int error);

#endif /* HTW_TOP_FETCH_H */
