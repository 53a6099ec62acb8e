/* SPDX-License-Identifier: MIT */
/*
 * resp.h - parses requests of the Redis protocol (RESP2), and inline ones: `SET key "a value"`.
 *
 * The parser keeps no state between calls. After RESP_MORE, call it again from the start of the
 * request when the buffer has `needed` bytes. That number is a lower bound, which counts each
 * missing argument as an empty one. So repeated work is bounded: O(n log n) for a request of n
 * bytes, in whatever pieces it arrives.
 */
#ifndef BROKER_RESP_H
#define BROKER_RESP_H

#include <stddef.h>

/* The limits of a request. `max_request` also limits each of its parts. */
#define RESP_ARGUMENTS_MAX 1048576u
#define RESP_INLINE_MAX 65536u

enum resp_result {
    RESP_REQUEST, /* a request; with no arguments it is an empty line or "*0", and is ignored */
    RESP_MORE,    /* incomplete: call again when the buffer has `needed` bytes */
    RESP_INVALID, /* not a request: reply "-ERR " and `error`, and close */
    RESP_NO_MEMORY
};

struct resp_argument {
    const char *bytes; /* in the buffer */
    size_t size;
};

/* Zeroed, it is ready. The array grows as needed and is used again; resp_fini() frees it. */
struct resp_request {
    struct resp_argument *arguments;
    size_t count;
    size_t capacity;
    size_t consumed; /* after RESP_REQUEST: bytes of the request */
    size_t needed;   /* after RESP_MORE: the least size of the whole request */
    char error[64];  /* after RESP_INVALID */
};

/*
 * Parses the request at the start of `buffer`. Does not read beyond it. In a complete inline
 * request it replaces quoted parts by their values, in place; otherwise it does not write to the
 * buffer.
 */
enum resp_result resp_parse(struct resp_request *request, char *buffer, size_t size,
                            size_t max_request);

void resp_fini(struct resp_request *request);

#endif /* BROKER_RESP_H */
