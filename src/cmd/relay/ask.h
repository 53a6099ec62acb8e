/* SPDX-License-Identifier: MIT */
/*
 * ask.h - requests over HTTP: what they ask for, and whether they may. It knows no server.
 *
 * WHO MAY. Without a token everything that changes something is refused, and reads are for those who reach the listener: the
 * machine itself, or at a path its user. A browser on this machine reaches it, too, so that any page of the web could ask in its
 * user's name:
 * - A page under a name that is made to lead here (DNS rebinding) is refused by the Host that its browser sends: only an
 *   address in digits and `localhost` are taken.
 * - One under its own name is refused by the Origin or the Sec-Fetch-Site of its browser. It could not read the answer, as no answer
 *   permits that; but it could have everything read from Kafka again and again.
 * - Changes have a token in a header, which no other page can send, and no method that a form has.
 * At an address that others reach, reads need the token as well.
 */
#ifndef HTW_SRC_CMD_RELAY_ASK_H
#define HTW_SRC_CMD_RELAY_ASK_H

#include "options.h"

#define HTW__ASK_TOKEN_LEAST 16
#define HTW__ASK_TOKEN_MAX 256
#define HTW__ASK_LIMIT_MAX 1000
#define HTW__ASK_BODY_MAX 512

/* Whom to serve. */
struct htw__ask_guard {
    char token[HTW__ASK_TOKEN_MAX + 1]; /* "": none */
    bool is_local;                      /* reads need none */
};

/* What a request has; header fields that it has not are NULL. */
struct htw__ask {
    const char *method, *path;
    const char *host, *origin, *site, *type, *authorization;
};

/* What it asks for. */
struct htw__ask_target {
    enum htw__relay_action action; /* none: the page */
    const char *id;
    /* Why not, if not. */
    unsigned status; /* of HTTP; 0: it may */
    const char *why; /* a sentence */
    const char *methods;
};
struct htw__ask_target htw__ask_route(const struct htw__ask *ask,
                                      const struct htw__ask_guard *guard);

/* Takes a parameter of a list. Returns NULL, or why not (a static phrase). The value must stay. */
const char *htw__ask_set(struct htw__relay_command *command, const char *name, const char *value);

/* Reads the body of a move, {"at": "WHEN"}, with WHEN as for `htw relay move`. As above. It is changed. */
const char *htw__ask_when(char *body, int64_t *ret_ms);

/* Takes a token, without the white space around it. As above. */
const char *htw__ask_set_token(struct htw__ask_guard *guard, const char *text);

#endif /* HTW_SRC_CMD_RELAY_ASK_H */
