/* SPDX-License-Identifier: MIT */
/* journal.c - LPUSHIN and LPUSHAT in a file, and replies that wait for the disk. */
#include "journal.h"

#include "blocking.h"
#include "list_key.h"
#include "loop.h"
#include "reply.h"

#include <htw/journal.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK "+OK\r\n" /* as reply_status() writes it */

/* The payload of a job is the value, and its length before that the key: the key of a job would be
   unique. */
typedef uint32_t key_length;

/* Runs under the store's lock, see loop.c. A value that cannot be pushed because there is no memory
   stays in the journal, and is pushed after the next start. */
static void deliver(void *context, const struct htw_delivery *delivery) {
    struct broker *broker = context;
    const char *key = (const char *)delivery->payload + sizeof(key_length);
    key_length size;
    memcpy(&size, delivery->payload, sizeof(size));
    struct item *value = item_create(key + size, delivery->payload_size - sizeof(size) - size);
    bool wrong_type = false;
    if (value == NULL)
        return;
    if (!list_key_push(broker, key, size, LIST_LEFT, value)) {
        free(value);
        list_key_find(&broker->store, key, size, &wrong_type);
        broker->deliveries_failed++;
        if (!wrong_type)
            return;
    }
    (void)htw_journal_done_later(delivery->journal, delivery->id, NULL, NULL);
    blocking_serve(broker);
}

/* In the journal's thread. */
static void stopped(void *context, const char *why) {
    (void)context;
    fprintf(stderr, "broker: %s\n", why);
}

bool journal_open(struct broker *broker) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = deliver;
    options.stopped = stopped;
    options.context = broker;
    options.gather_ns = 1; /* a turn gathers */
    if (htw_journal_open(&broker->journal, broker->wall_scheduler, broker->options.journal,
                         &options) == 0)
        return true;
    fprintf(stderr, "broker: %s\n", htw_journal_error());
    return false;
}

void journal_close(struct broker *broker) {
    if (htw_journal_close(broker->journal) != 0)
        fprintf(stderr, "broker: %s\n", htw_journal_error());
}

uint64_t journal_pending(const struct broker *broker) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    return htw_journal_get_stats(broker->journal, &stats) == 0 ? stats.jobs : 0;
}

/* ---- a job on its way to the disk */

/* In the journal's thread. */
static void put_ended(void *arg, int result) {
    struct put *put = arg;
    struct loop *loop = put->client->loop;
    put->result = result;
    pthread_mutex_lock(&loop->mutex);
    bool was_empty = loop->puts == NULL;
    put->next_done = loop->puts;
    loop->puts = put;
    pthread_mutex_unlock(&loop->mutex);
    if (was_empty)
        mailbox_wake(&loop->mailbox);
}

static void reply_failure(struct buffer *reply, int error) {
    if (error == -ENOMEM || error == -EAGAIN)
        reply_error(reply, REPLY_NO_MEMORY);
    else
        reply_error(reply, "ERR the journal does not take the value: %s", htw_strerror(error));
}

static char *payload_of(const struct call *call, size_t *ret_size) {
    const struct resp_argument *key = &call->arguments[1], *value = &call->arguments[3];
    key_length length = (key_length)key->size;
    char *payload = malloc(sizeof(length) + key->size + value->size);
    if (payload == NULL)
        return NULL;
    memcpy(payload, &length, sizeof(length));
    memcpy(payload + sizeof(length), key->bytes, key->size);
    memcpy(payload + sizeof(length) + key->size, value->bytes, value->size);
    *ret_size = sizeof(length) + key->size + value->size;
    return payload;
}

void journal_put(struct call *call, int64_t when_ns) {
    struct client *client = call->client;
    size_t size = 0;
    int error = -ENOMEM;
    struct put *put = malloc(sizeof(*put));
    char *payload = payload_of(call, &size);
    if (put != NULL && payload != NULL) {
        *put = (struct put) { .client = client, .at = call->reply->size };
        error = htw_journal_put_later(call->broker->journal, when_ns, payload, size, put_ended, put,
                                      NULL);
    }
    free(payload);
    if (error != 0) {
        free(put);
        reply_failure(call->reply, error);
        return;
    }
    *(client->puts == NULL ? &client->puts : &client->last_put->next) = put;
    client->last_put = put;
    client->undurable++;
    reply_status(call->reply, "OK");
}

void journal_resume_clients(struct loop *loop) {
    pthread_mutex_lock(&loop->mutex);
    struct put *put = loop->puts, *next;
    loop->puts = NULL;
    pthread_mutex_unlock(&loop->mutex);
    for (; put != NULL; put = next) {
        next = put->next_done;
        if (--put->client->undurable == 0)
            client_durable(put->client);
    }
}

void journal_take_replies(struct client *client, struct buffer *reply) {
    const struct buffer *kept = &client->kept;
    size_t at = 0;
    for (struct put *put = client->puts, *next; put != NULL; put = next) {
        next = put->next;
        if (put->result != 0 && reply != NULL) {
            buffer_append(reply, kept->bytes + at, put->at - at);
            reply_failure(reply, put->result);
            at = put->at + strlen(OK);
        }
        free(put);
    }
    client->puts = NULL;
    if (reply != NULL)
        buffer_append(reply, kept->bytes + at, kept->size - at);
    buffer_fini(&client->kept);
}
