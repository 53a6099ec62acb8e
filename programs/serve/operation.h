/* SPDX-License-Identifier: MIT */
/*
 * operation.h - what a command asks of the journal, on its way there and back.
 *
 * The loop submits it. A notice of the journal, in the loop or in the thread that writes, or a reader (reader.h) adds what was
 * found, and posts it to the mailbox; the loop takes it from there, and gives the answers of each connection in order. Nothing is freed
 * before that, so a connection that was closed stays until its operations are back.
 */
#ifndef HTW_SERVE_OPERATION_H
#define HTW_SERVE_OPERATION_H

#include "buffer.h"
#include "server.h"

#include "../../src/base/clock.h"

/* A job that was found or leased, with a copy of its body. */
struct htw__serve_found {
    struct htw_job_info info; /* its pointers are NULL */
    char tube[HTW_QUEUE_NAME_MAX + 1];
    size_t size;
    char body[];
};

struct htw__operation {
    struct htw__operation *next;      /* of the connection, in the order of its commands */
    struct htw__operation *next_done; /* in the mailbox */
    struct htw__server *server;
    struct htw__connection *connection;
    enum htw__verb verb;
    bool is_done;                         /* back in the loop */
    int result;                           /* of the notice */
    uint64_t id;                          /* of the job */
    uint32_t attempt;                     /* of its lease */
    size_t bytes;                         /* of the body of a put */
    struct htw__tube *tube;               /* that it holds; NULL: none */
    struct htw__reservation *reservation; /* of a reserve: for the job that may come */
    struct htw__serve_found *found;
    struct htw__serve_reader *reader;               /* of a look, */
    void (*read)(struct htw__operation *operation); /* ... what that does, and ends with, */
    size_t read_bytes;                              /* ... and what it has copied */
    struct htw__buffer
        tubes; /* look.h; stats: the names of those with READY jobs, each with its NUL; list-tubes: the answer */
    uint64_t urgent;            /* of these, the jobs with a small priority */
    struct htw_queue_stats sum; /* of stats: all tubes, */
    uint64_t tube_count;        /* ... and how many there are */
};

/* A copy; NULL: no memory. */
struct htw__serve_found *htw__found_copy(const struct htw_job_info *info);

/* Ends an operation, in any thread: also the notice of a change. */
htw_durable htw__operation_post;

/* What is under way. Returns whether `error`, of the submission, is 0. */
bool htw__operation_is_under_way(struct htw__operation *operation, int error);

/* Submit; `result` of the operation has the error where false is returned, and it is not under way. */
bool htw__operation_put(struct htw__operation *operation, const struct htw__serve_line *line);
bool htw__operation_update(struct htw__operation *operation, const struct htw_job_update *update);
bool htw__operation_kick(struct htw__operation *operation, uint32_t count);

/* Leases a job of the tubes, or that with the id. `*ret_request` is for htw_journal_lease_cancel(). */
bool htw__operation_lease(struct htw__operation *operation, const char *const *tubes, size_t count,
                          bool waits, uint64_t *ret_request);

/* Ends the reserve of a connection that waits, if there is one. */
void htw__operation_end_wait(struct htw__connection *connection, enum htw__wait_end end);

/* Takes all operations of the mailbox, the oldest first. */
struct htw__operation *htw__operations_take(struct htw__server *server);

#endif /* HTW_SERVE_OPERATION_H */
