/* SPDX-License-Identifier: MIT */
/* delayed.c - LPUSHIN and LPUSHAT: a timer for each value, or a job of the journal. */
#include "delayed.h"

#include "blocking.h"
#include "command.h"
#include "journal.h"
#include "list_key.h"
#include "reply.h"

#include <stdlib.h>
#include <string.h>

/* A value that is pushed later. Its memory counts in the store's from the start. */
struct delivery {
    struct broker *broker;
    struct item *value;
    size_t key_size;
    char key[];
};

static size_t delivery_cost(const struct delivery *delivery) {
    return block_cost(sizeof(*delivery) + delivery->key_size) + item_cost(delivery->value) +
           TIMER_COST;
}

static void delivery_free(struct delivery *delivery) {
    if (delivery == NULL)
        return;
    free(delivery->value);
    free(delivery);
}

/* Pushes the value. Runs under the store's lock, see loop.c. If the key holds a string, no client
   waits for an error, so the failure is only counted. */
static void deliver(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    struct delivery *delivery = arg;
    struct broker *broker = delivery->broker;
    broker->deliveries--;
    broker->store.memory -= delivery_cost(delivery);
    if (list_key_push(broker, delivery->key, delivery->key_size, LIST_LEFT, delivery->value))
        delivery->value = NULL;
    else
        broker->deliveries_failed++;
    blocking_serve(broker);
    delivery_free(delivery);
}

void delayed_discard(void *context, const struct htw_unexpired *unexpired) {
    (void)context;
    if (unexpired->callback == deliver)
        delivery_free(unexpired->arg);
}

static struct delivery *delivery_create(struct call *call) {
    const struct resp_argument *key = &call->arguments[1], *value = &call->arguments[3];
    struct delivery *delivery = malloc(sizeof(*delivery) + key->size);
    if (delivery == NULL)
        return NULL;
    *delivery = (struct delivery) { .broker = call->broker,
                                    .value = item_create(value->bytes, value->size),
                                    .key_size = key->size };
    memcpy(delivery->key, key->bytes, key->size);
    if (delivery->value == NULL) {
        delivery_free(delivery);
        return NULL;
    }
    return delivery;
}

/* The instant of the wall clock, by which a journal goes, that is as far ahead. Not before it: the
   wall clock is read last. */
static int64_t by_wall(const struct broker *broker, int64_t when_ns) {
    int64_t left_ns = when_ns - htw_scheduler_now(broker->scheduler);
    int64_t now_ns = htw_scheduler_now(broker->wall_scheduler);
    return __builtin_add_overflow(now_ns, left_ns, &when_ns) ? HTW_NEVER_NS - 1 : when_ns;
}

/* `when_ns` is by the clock of the scheduler. */
static void schedule(struct call *call, struct htw_scheduler *scheduler, int64_t when_ns) {
    struct broker *broker = call->broker;
    bool wrong_type;
    list_key_find(&call->broker->store, call->arguments[1].bytes, call->arguments[1].size,
                  &wrong_type);
    if (wrong_type) {
        reply_error(call->reply, REPLY_WRONG_TYPE);
        return;
    }
    if (broker->journal != NULL) {
        journal_put(call, scheduler == broker->wall_scheduler ? when_ns : by_wall(broker, when_ns));
        return;
    }
    struct delivery *delivery = delivery_create(call);
    if (delivery == NULL || htw_schedule_at(scheduler, when_ns, deliver, delivery, NULL) != 0) {
        delivery_free(delivery);
        reply_error(call->reply, REPLY_NO_MEMORY);
        return;
    }
    /* It may be due already, but no callback runs while a command holds the lock. */
    call->broker->deliveries++;
    call->broker->store.memory += delivery_cost(delivery);
    reply_status(call->reply, "OK");
}

/* LPUSHIN key milliseconds value. By the monotonic clock. */
void command_lpushin(struct call *call) {
    int64_t delay_ms, when_ns;
    if (!command_integer(call, 2, &delay_ms))
        return;
    if (delay_ms < 0)
        reply_error(call->reply, "ERR value is out of range, must be positive");
    else if (__builtin_mul_overflow(delay_ms, HTW_MILLISECOND, &when_ns) ||
             __builtin_add_overflow(when_ns, htw_scheduler_now(call->broker->scheduler), &when_ns))
        reply_error(call->reply, REPLY_NOT_AN_INTEGER);
    else
        schedule(call, call->broker->scheduler, when_ns);
}

/* LPUSHAT key unix-milliseconds value. By the wall clock, also after it is set. */
void command_lpushat(struct call *call) {
    int64_t when_ms, when_ns;
    if (!command_integer(call, 2, &when_ms))
        return;
    if (when_ms < 0)
        reply_error(call->reply, "ERR value is out of range, must be positive");
    else if (__builtin_mul_overflow(when_ms, HTW_MILLISECOND, &when_ns))
        reply_error(call->reply, REPLY_NOT_AN_INTEGER);
    else
        schedule(call, call->broker->wall_scheduler, when_ns);
}
