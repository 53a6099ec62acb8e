/* SPDX-License-Identifier: MIT */
/* reply.h - replies of the Redis protocol (RESP2), appended to a buffer. */
#ifndef BROKER_REPLY_H
#define BROKER_REPLY_H

#include "buffer.h"

#include <stdint.h>

#define REPLY_WRONG_TYPE "WRONGTYPE Operation against a key holding the wrong kind of value"
#define REPLY_NO_MEMORY "OOM command not allowed when used memory > 'maxmemory'."
#define REPLY_NOT_AN_INTEGER "ERR value is not an integer or out of range"
#define REPLY_SYNTAX "ERR syntax error"

void reply_status(struct buffer *reply, const char *text);

/* `format` begins with the code, such as ERR. Line ends in the text become spaces. */
void reply_error(struct buffer *reply, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void reply_integer(struct buffer *reply, int64_t value);
void reply_bulk(struct buffer *reply, const void *bytes, size_t size);
void reply_string(struct buffer *reply, const char *text);
void reply_null(struct buffer *reply);

/* Starts an array of `count` elements, which must follow. */
void reply_array(struct buffer *reply, size_t count);
void reply_null_array(struct buffer *reply);

#endif /* BROKER_REPLY_H */
