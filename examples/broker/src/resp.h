/* SPDX-License-Identifier: MIT */
/*
 * resp.h - the requests of the Redis protocol (RESP2), and inline ones: `SET key "a value"`.
 *
 * A pure function over a buffer. It keeps no state between calls: whoever has been told
 * RESP_MORE calls it again, from the start of the request, when `needed` bytes are there. That is
 * a lower bound which takes each argument that is missing as an empty one, so that the work
 * done more than once is bounded: O(n log n) for a request of n bytes, however it trickles in.
 */
#ifndef BROKER_RESP_H
#define BROKER_RESP_H

#include <stddef.h>

/* What a request may be at most; `max_request` is also a limit for each of its parts. */
#define RESP_ARGUMENTS_MAX 1048576u
#define RESP_INLINE_MAX 65536u

enum resp_result {
    RESP_REQUEST, /* here is one; of no arguments: an empty line, or "*0", to be passed over */
    RESP_MORE,    /* it goes on: call again when `needed` bytes are in the buffer */
    RESP_INVALID, /* no request: answer "-ERR " and `error`, and hang up */
    RESP_NO_MEMORY
};

struct resp_argument {
    const char *bytes; /* in the buffer */
    size_t size;
};

/* Zeroed it is ready; the array grows as needed, is used again, and is freed by resp_fini(). */
struct resp_request {
    struct resp_argument *arguments;
    size_t count;
    size_t capacity;
    size_t consumed; /* RESP_REQUEST: bytes of the buffer that were the request */
    size_t needed;   /* RESP_MORE: bytes, counted from the start, without which it cannot end */
    char error[64];  /* RESP_INVALID: the text */
};

/*
 * Parses one request, which starts at `buffer`. Bytes beyond it are not looked at. Of an inline
 * request that is complete the quoted parts are written anew, without quotes and escapes, in
 * place; otherwise the buffer is only read.
 */
enum resp_result resp_parse(struct resp_request *request, char *buffer, size_t size,
                            size_t max_request);

void resp_fini(struct resp_request *request);

#endif /* BROKER_RESP_H */
