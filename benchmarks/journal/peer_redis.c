/* SPDX-License-Identifier: MIT */
/*
 * peer_redis.c - redis-server with its append-only file. The jobs are a sorted set by deadline, which
 * the consumer polls; a round is one ZREM, one ZADD and one ZRANGEBYSCORE, sent together.
 */
#include "files.h"
#include "peer.h"

#include "../common/report.h"
#include "../common/server.h"

#include <hiredis/hiredis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOCKET "redis.sock"
#define DIGITS 24 /* of a deadline, with its end */

struct connection {
    redisContext *redis;
    char key[16]; /* a set for each client: none delivers what another has taken */
    redisReply *taken;
    char (*payloads)[PAYLOAD_MAX + 1];
    char (*scores)[DIGITS];
    const char **arguments;
    size_t *sizes;
};

static int sets;

/* NULL: it does not answer yet, or loads its file. */
static redisContext *try_to_connect(void) {
    redisContext *redis = redisConnectUnix(SOCKET);
    redisReply *reply = NULL;
    if (redis == NULL)
        report_out_of_memory();
    if (redis->err == 0)
        reply = redisCommand(redis, "PING");
    bool is_ready = reply != NULL && reply->type == REDIS_REPLY_STATUS;
    freeReplyObject(reply);
    if (is_ready)
        return redis;
    redisFree(redis);
    return NULL;
}

static void *connect_to(void) {
    struct connection *self = calloc(1, sizeof(*self));
    size_t count = 2 * ROUND_MAX; /* of a first round, that replaces, too */
    if (self == NULL || (self->payloads = calloc(count, sizeof(*self->payloads))) == NULL ||
        (self->scores = calloc(count, sizeof(*self->scores))) == NULL ||
        (self->arguments = calloc(2 * count + 2, sizeof(*self->arguments))) == NULL ||
        (self->sizes = calloc(2 * count + 2, sizeof(*self->sizes))) == NULL)
        report_out_of_memory();
    snprintf(self->key, sizeof(self->key), "jobs%d", sets++);
    while ((self->redis = try_to_connect()) == NULL)
        server_await();
    return self;
}

static void start(const struct peer *peer, size_t in_flight) {
    (void)in_flight;
    const char *path = server_find("redis-server", "/usr/bin/redis-server");
    const char *sync = strcmp(peer->name, "redis") == 0 ? "always" : "everysec";
    const char *const arguments[] = {
        path,  "--port", "0", "--unixsocket",  SOCKET, "--appendonly",
        "yes", "--save", "",  "--appendfsync", sync,   NULL,
    };
    server_start("redis-server", arguments);
    redisContext *redis;
    while ((redis = try_to_connect()) == NULL)
        server_await();
    redisFree(redis);
}

/* ---- commands */

static redisReply *receive(struct connection *self, int type) {
    redisReply *reply;
    if (redisGetReply(self->redis, (void **)&reply) != REDIS_OK)
        report_failure("redis: %s", self->redis->errstr);
    if (reply->type != type)
        report_failure("redis: %s",
                       reply->type == REDIS_REPLY_ERROR ? reply->str : "a wrong reply");
    return reply;
}

static void expect(struct connection *self, size_t number) {
    redisReply *reply = receive(self, REDIS_REPLY_INTEGER);
    if ((size_t)reply->integer != number)
        report_failure("redis: %lld jobs in place of %zu", reply->integer, number);
    freeReplyObject(reply);
}

static void set(struct connection *self, size_t at, const char *bytes, size_t size) {
    self->arguments[at] = bytes;
    self->sizes[at] = size;
}

/* Its scores are doubles, which are exact in microseconds. Rounded up, so that no job is early. */
static void format_score(char *text, int64_t deadline_ns) {
    snprintf(text, DIGITS, "%lld", (long long)(deadline_ns / 1000 + 1));
}

static void send_command(struct connection *self, const char *name, size_t count) {
    set(self, 0, name, strlen(name));
    set(self, 1, self->key, strlen(self->key));
    redisAppendCommandArgv(self->redis, (int)count, self->arguments, self->sizes);
}

static void send_ends(struct connection *self) {
    for (size_t i = 0; i < self->taken->elements; i++)
        set(self, 2 + i, self->taken->element[i]->str, self->taken->element[i]->len);
    send_command(self, "ZREM", 2 + self->taken->elements);
}

static void send_puts(struct connection *self, struct load *load, size_t puts) {
    for (size_t i = 0; i < puts; i++) {
        int64_t deadline_ns = load_next(load, self->payloads[i]);
        format_score(self->scores[i], deadline_ns);
        set(self, 2 + 2 * i, self->scores[i], strlen(self->scores[i]));
        set(self, 3 + 2 * i, self->payloads[i], load->payload_size);
    }
    send_command(self, "ZADD", 2 + 2 * puts);
}

/* ---- the peer */

static void put(void *connection, int64_t deadline_ns, const char *payload, size_t size) {
    struct connection *self = connection;
    format_score(self->scores[0], deadline_ns);
    set(self, 2, self->scores[0], strlen(self->scores[0]));
    set(self, 3, payload, size);
    send_command(self, "ZADD", 4);
    expect(self, 1);
}

static void take(struct connection *self, struct load *load) {
    redisAppendCommand(self->redis, "ZRANGEBYSCORE %s -inf %lld LIMIT 0 %d", self->key,
                       (long long)(clock_wall_ns() / 1000), (int)load->in_flight);
}

static void make_round(void *connection, struct load *load) {
    struct connection *self = connection;
    size_t ended = self->taken == NULL ? 0 : self->taken->elements;
    size_t puts = load->put_next + (load->replaces ? ended : 0);
    load->put_next = 0;
    if (ended > 0)
        send_ends(self);
    if (puts > 0)
        send_puts(self, load, puts);
    take(self, load);
    if (ended > 0)
        expect(self, ended);
    load_end(load, ended);
    if (puts > 0)
        expect(self, puts);
    freeReplyObject(self->taken);
    self->taken = receive(self, REDIS_REPLY_ARRAY);
    for (size_t i = 0; i < self->taken->elements; i++)
        load_delivered(load, self->taken->element[i]->str, self->taken->element[i]->len);
}

static uint64_t count(void) {
    static redisContext *redis;
    while (redis == NULL && (redis = try_to_connect()) == NULL)
        server_await();
    uint64_t sum = 0;
    redisReply *keys = redisCommand(redis, "KEYS jobs*");
    for (size_t i = 0; keys != NULL && i < keys->elements; i++) {
        redisReply *reply = redisCommand(redis, "ZCARD %s", keys->element[i]->str);
        sum += reply == NULL ? 0 : (uint64_t)reply->integer;
        freeReplyObject(reply);
    }
    freeReplyObject(keys);
    return sum;
}

static uint64_t disk_bytes(void) {
    return files_total("appendonlydir/");
}

#define PEER_REDIS(name_, about_)                                                          \
    {                                                                                      \
        .name = name_, .about = about_, .clients = 2, .start = start, .stop = server_stop, \
        .connect = connect_to, .put = put, .round = make_round, .count = count,            \
        .disk_bytes = disk_bytes, .resident_bytes = server_resident_bytes                  \
    }

const struct peer peer_redis =
    PEER_REDIS("redis", "redis-server, appendfsync always: fdatasync before the replies");
const struct peer peer_redis_everysec =
    PEER_REDIS("redis-everysec", "appendfsync everysec: fdatasync each second");
