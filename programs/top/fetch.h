/* SPDX-License-Identifier: MIT */
/* fetch.h - asks a monitor, without waiting: a descriptor to poll for, and a text at the end. */
#ifndef HTW_TOP_FETCH_H
#define HTW_TOP_FETCH_H

#include <stddef.h>
#include <stdint.h>

/* How long a monitor may take to answer. */
#define HTW__FETCH_NS INT64_C(3000000000)

/* The longest request. */
#define HTW__FETCH_REQUEST_MAX 160

struct htw__fetch {
    int fd;           /* -1: nothing is under way */
    int64_t until_ns; /* by the monotonic clock */
    char *bytes;
    size_t size, capacity;
};

#define HTW__FETCH_INIT \
    { .fd = -1 }

/* Connects, and sends a request such as "json". 0 or a negative errno; -EAGAIN: the monitor has too many
   clients. */
int htw__fetch_begin(struct htw__fetch *fetch, const char *path, const char *request);

/* Reads what is there. 1: the answer is complete, in `bytes`, until the next begin; 0: it is not; or a
   negative errno, and nothing is under way any more: -ETIMEDOUT, -EMSGSIZE, -ENOMEM, -ECONNRESET or
   others. */
int htw__fetch_go_on(struct htw__fetch *fetch);

/* Waits for the whole of an answer. 0 or a negative errno. */
int htw__fetch_all(struct htw__fetch *fetch, const char *path, const char *request);

/* Ends what is under way, and frees the answer. */
void htw__fetch_end(struct htw__fetch *fetch);

/* What a failure means to the user. */
const char *htw__fetch_sentence(int error);

#endif /* HTW_TOP_FETCH_H */
