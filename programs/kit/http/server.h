/* SPDX-License-Identifier: MIT */
/*
 * server.h - the HTTP listener of commands: a page, and a service beneath it. The state is one for the process, which may listen at
 * several places.
 *
 * Each connection has a thread of libmicrohttpd and one request, and ends after some seconds in which no byte comes or is taken.
 * Where a place is half full, each new connection ends the oldest one: so clients that are slow or say nothing shut no other out. At
 * most `at_once` requests are answered at the same time; others are told to come again.
 */
#ifndef HTW_KIT_HTTP_SERVER_H
#define HTW_KIT_HTTP_SERVER_H

#include "ask.h"

#include <stdint.h>
#include <stdio.h>

#define HTW__HTTP_BODY_MAX 512 /* unless the route takes a payload */
#define HTW__HTTP_PLACES 2
#define HTW__HTTP_WHY_MAX 1024

/* A request that may, and its answer. */
struct htw__http_request {
    const struct htw__http_target *target;
    char *body;                  /* "": none. The service may change it */
    size_t body_size;            /* a payload may have NULs */
    void *connection;            /* of libmicrohttpd */
    FILE *out;                   /* of the answer */
    unsigned status;             /* 200, unless the service says another one */
    const char *type;            /* "application/json" at first */
    char why[HTW__HTTP_WHY_MAX]; /* "": there is no error */
};

/* Makes {"error":"WHY"} the answer. */
void htw__http_refuse(struct htw__http_request *request, unsigned status, const char *why);

/* Calls `set` with each parameter of the address, until it returns why one is wrong (a static phrase). Returns false, and has
 * refused the request, if one is. The values stay until the request ends. */
typedef const char *htw__http_set(void *context, const char *name, const char *value);
bool htw__http_read(struct htw__http_request *request, htw__http_set *set, void *context);

/* Whether no client waits any more for what this thread answers. */
bool htw__http_is_unwanted(void);

struct htw__http_service {
    struct htw__http_routes routes;
    const char *page; /* HTML */
    unsigned at_once;
    bool is_open;         /* all is open, and no token is read */
    uint64_t payload_max; /* of the routes that take one */
    const char *option;   /* which says where to listen, for messages: `--listen` */
    const char *token_file,
        *token_variable; /* NULL file: the variable of the environment, if it is set */
    const char *hosts;   /* as in struct htw__http_guard */
    void (*answer)(void *context, struct htw__http_request *request);
    void *context;
};

struct htw__http_place {
    const char *where; /* NULL: `fd` is a socket that listens, and stays the caller's */
    int fd;
    bool is_owners; /* who reaches it may change things without a token */
};

/* Serves from now on. The service must stay. Returns false, and has said why, if that cannot be. */
bool htw__http_start(const struct htw__http_service *service, const struct htw__http_place *places,
                     size_t count);

/* Where it listens first and what it lacks, for people. */
const char *htw__http_name(void);

/* Refuses what comes, and ends what is answered. Returns false if some of that has not ended after two seconds; the process must then end
 * with what this uses still in place. */
bool htw__http_stop(void);

#endif /* HTW_KIT_HTTP_SERVER_H */
