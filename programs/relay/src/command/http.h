/* SPDX-License-Identifier: MIT */
/* http.h - `htw relay http`: what waits over HTTP, and a page. */
#ifndef HTW_RELAY_COMMAND_HTTP_H
#define HTW_RELAY_COMMAND_HTTP_H

#include "options.h"

/* Serves until a signal, and returns the status of the process. */
int htw__http_run(struct htw__relay_command *command);

#endif /* HTW_RELAY_COMMAND_HTTP_H */
