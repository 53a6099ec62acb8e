/* SPDX-License-Identifier: MIT */
/*
 * reader.h - threads that read the journal for commands which only look, so that the loop and the writer go on.
 *
 * A reader takes its operations one after the other. One reader looks at jobs, the other one at tubes, which may take
 * long where there are very many. Each begins with its first operation.
 *
 * Bodies that were read and are not yet in the output of a connection are limited: a reader waits until the loop has
 * taken them. So a round of the loop has few of them to copy, however many a client asks for.
 */
#ifndef HTW_SERVE_READER_H
#define HTW_SERVE_READER_H

#include "operation.h"

void htw__readers_init(struct htw__server *server);

/* Ends the threads; nothing may be under way. */
void htw__readers_fini(struct htw__server *server);

/* The thread calls `read` of the operation, which ends it. In any thread. 0 or -ENOMEM. */
int htw__reader_add(struct htw__operation *operation);

/* Ends an operation which has found a job. In a reader. */
void htw__reader_post(struct htw__operation *operation, int result);

/* What the operation has found is in the output. */
void htw__reader_release(struct htw__operation *operation);

#endif /* HTW_SERVE_READER_H */
