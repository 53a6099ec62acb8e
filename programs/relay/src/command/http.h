/* SPDX-License-Identifier: MIT */
/* http.h - `htw relay http`: what waits over HTTP, and a page. Who may ask is in ../../../kit/http/ask.h. */
#ifndef HTW_RELAY_COMMAND_HTTP_H
#define HTW_RELAY_COMMAND_HTTP_H

#include "../../../kit/http/ask.h"
#include "options.h"

/* To actions: enum htw__relay_action. */
extern const struct htw__http_routes htw__ask_routes;

/* Reads the body of a move, {"at": "WHEN"}, with WHEN as for `htw relay move`, and changes it. Returns NULL, or why it is
 * wrong (a static phrase). */
const char *htw__ask_when(char *body, int64_t *ret_ms);

/* Serves until a signal, and returns the status of the process. */
int htw__http_run(struct htw__relay_command *command);

#endif /* HTW_RELAY_COMMAND_HTTP_H */
