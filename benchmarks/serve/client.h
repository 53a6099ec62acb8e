/* SPDX-License-Identifier: MIT */
/*
 * client.h - connections that speak beanstalkd's protocol, all in one thread. No body has a line end, so that all
 * that a server sends is lines.
 */
#ifndef BENCH_SERVE_CLIENT_H
#define BENCH_SERVE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BODY_SIZE 32
#define READY_MAX 256

struct client {
    int socket;
    size_t at, size; /* of the input: what was read, and what is there */
    char input[512];
    int64_t sent_ns; /* the rest is for the workload */
    unsigned state;
};

struct clients {
    int epoll;
    unsigned count, ready_count;
    struct client *of, *ready[READY_MAX];
};

/* Waits until the server listens. */
void client_connect(struct client *client, unsigned port);
void clients_connect(struct clients *clients, unsigned port, unsigned count);

/* Until some have input, which are in `ready` then, or an instant of CLOCK_MONOTONIC. */
void clients_wait(struct clients *clients, int64_t until_ns);

void client_send(struct client *client, const char *bytes, size_t size);
void client_say(struct client *client, const char *command);

/* The instant of the realtime clock in the body. */
void client_put(struct client *client, unsigned delay_s);

/* Writes such a put into `text`, without the instant. Returns its size. */
size_t client_write_put(char *text, unsigned delay_s);

/* Reads what there is, once; waits for it if `blocks`. */
void client_receive(struct client *client, bool blocks);

/* The next whole line, which stays until client_receive(); NULL: there is none yet. */
const char *client_line(struct client *client);

/* Waits for the next line, which has to begin with `answer`. Returns it. */
const char *client_expect(struct client *client, const char *answer);

/* Ends the run unless the line begins with `answer`. */
void client_check(const char *line, const char *answer);

/* How long it is since client_put(), from the body. */
int64_t client_age_ns(const char *body);

#endif
