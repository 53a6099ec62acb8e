/* SPDX-License-Identifier: MIT */
/*
 * journal.h - LPUSHIN and LPUSHAT in a file: values that are pushed later survive a crash.
 *
 * A value is a job of the journal until it is pushed. Its `OK` is sent when the job is on the disk.
 * So that a pipeline does not wait for the disk once for each request, the client executes all
 * requests of its turn, and keeps their replies. It has its next turn when all its jobs are durable;
 * then the `OK` of a job that has failed becomes an error, and all replies are sent, in order.
 */
#ifndef BROKER_JOURNAL_H
#define BROKER_JOURNAL_H

#include "command.h"

/* A job that is on its way to the disk. */
struct put {
    struct put *next;      /* of the same client, in order */
    struct put *next_done; /* in the list of the loop */
    struct client *client;
    size_t at; /* where its `OK` is in the replies that the client keeps */
    int result;
};

/* Returns false after it has written the reason to stderr. */
bool journal_open(struct broker *broker);
void journal_close(struct broker *broker);

/* LPUSHIN and LPUSHAT with a journal: arguments 1 and 3 are key and value. Writes a reply. */
void journal_put(struct call *call, int64_t when_ns);

/* The values that are to be pushed. */
uint64_t journal_pending(const struct broker *broker);

/* In the loop: takes the jobs whose results are known, and resumes clients that have no other. */
void journal_resume_clients(struct loop *loop);

/* Frees the jobs of a client, all of which are known, and moves the replies that it has kept to
   `reply`; NULL: the client is closed. */
void journal_take_replies(struct client *client, struct buffer *reply);

#endif /* BROKER_JOURNAL_H */
