/* SPDX-License-Identifier: MIT */
/* ask.h - requests to `htw relay http`: what they ask for. Who may is in ../http/ask.h. */
#ifndef HTW_RELAY_COMMAND_ASK_H
#define HTW_RELAY_COMMAND_ASK_H

#include "../../../kit/http/ask.h"
#include "options.h"

/* To actions: enum htw__relay_action. */
extern const struct htw__http_routes htw__ask_routes;

/* Takes a parameter of a list. Returns NULL, or why not (a static phrase). The value must stay. */
const char *htw__ask_set(void *command, const char *name, const char *value);

/* Reads the body of a move, {"at": "WHEN"}, with WHEN as for `htw relay move`. As above. It is changed. */
const char *htw__ask_when(char *body, int64_t *ret_ms);

#endif /* HTW_RELAY_COMMAND_ASK_H */
