/* SPDX-License-Identifier: MIT */
/* start.h - opens and closes a server, and accepts connections. */
#ifndef HTW_SERVE_START_H
#define HTW_SERVE_START_H

#include "server.h"

/* False: it has said why. In both cases htw__server_close() is due, which says whether all is in the file. */
bool htw__server_open(struct htw__server *server, const struct htw__serve_options *options);
bool htw__server_close(struct htw__server *server);

void htw__server_accept(struct htw__server *server, const struct htw__listener *listener);
void htw__server_stop_listening(struct htw__server *server);

#endif /* HTW_SERVE_START_H */
