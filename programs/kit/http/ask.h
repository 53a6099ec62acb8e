/* SPDX-License-Identifier: MIT */
/*
 * ask.h - requests over HTTP: which route they take, and whether they may. It knows no server.
 *
 * WHO MAY. Without a token everything that changes or writes something is refused, and reads are for those who reach the
 * listener: the machine itself, or at a path its user. A browser on this machine reaches it, too, so that any page of the web could ask in its
 * user's name:
 * - A page under a name that is made to lead here (DNS rebinding) is refused by the Host that its browser sends: only an
 *   address in digits, `localhost` and the names that the operator has listed are taken.
 * - One under its own name is refused by the Origin or the Sec-Fetch-Site of its browser. It could not read the answer, as no answer
 *   permits that; but it could have everything read again and again.
 * - Changes have a token in a header, which no other page can send.
 * At an address that others reach, reads need the token as well. At a path that is made for the owner of what is served, whoever the
 * path lets in may change things, too: no browser gets there.
 */
#ifndef HTW_KIT_HTTP_ASK_H
#define HTW_KIT_HTTP_ASK_H

#include <stdbool.h>
#include <stddef.h>

#define HTW__HTTP_TOKEN_LEAST 16
#define HTW__HTTP_TOKEN_MAX 256

/* Whom to serve. */
struct htw__http_guard {
    char token[HTW__HTTP_TOKEN_MAX + 1]; /* "": none */
    bool is_local;                       /* reads need none */
    bool is_owners;                      /* changes need none */
    const char *hosts; /* names that the Host may be, with commas between them; NULL: none */
};

/* Takes a token, without the white space around it. Returns NULL, or why not (a static phrase). */
const char *htw__http_set_token(struct htw__http_guard *guard, const char *text);

/* What a request has; header fields that it has not are NULL. */
struct htw__http_ask {
    const char *method, *path;
    const char *host, *origin, *site, *authorization;
};

enum htw__http_right {
    HTW__HTTP_HEALTH, /* that the server answers: without a token, under any Host */
    HTW__HTTP_OPEN,   /* what the service answers, for the same */
    HTW__HTTP_PAGE,   /* the page itself, which tells nothing */
    HTW__HTTP_READ,
    HTW__HTTP_CHANGE /* or a read that writes something */
};

struct htw__http_route {
    const char *method; /* GET is HEAD, too */
    const char *path;   /* a `*` stands for a name of at least one byte */
    enum htw__http_right right;
    int action;         /* for the service */
    bool takes_payload; /* a body of any bytes; others have at most a short text */
};

struct htw__http_routes {
    const struct htw__http_route *all;
    size_t count;
    const char *paths; /* for those who ask for another one */
};

/* What it asks for. */
struct htw__http_target {
    const struct htw__http_route *route;
    const char *name; /* what the `*` is; it ends where the path does, or after `name_size` bytes */
    size_t name_size;
    /* Why not, if not. */
    unsigned status;  /* of HTTP; 0: it may */
    const char *why;  /* a sentence */
    char methods[64]; /* 405: those of the path */
};
struct htw__http_target htw__http_find(const struct htw__http_routes *routes,
                                       const struct htw__http_ask *ask,
                                       const struct htw__http_guard *guard);

/* Reads the parameter `limit`: 1 to 1000. Returns NULL, or why not (a static phrase). */
#define HTW__HTTP_LIMIT_MAX 1000
const char *htw__http_set_limit(size_t *limit, const char *value);

#endif /* HTW_KIT_HTTP_ASK_H */
