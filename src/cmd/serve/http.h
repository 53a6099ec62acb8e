/* SPDX-License-Identifier: MIT */
/* http.h - HTTP of a server (page.h): the page, with --http, and beside its file. Without libmicrohttpd these do nothing. */
#ifndef HTW_SRC_CMD_SERVE_HTTP_H
#define HTW_SRC_CMD_SERVE_HTTP_H

#include "server.h"

#ifndef HTW_WITHOUT_HTTP

/* False: it has said why. */
bool htw__serve_http_start(struct htw__server *server);

/* Where the page is, for people; NULL: nowhere. */
const char *htw__serve_http_name(void);

/* Ends it, before the journal is closed. False: a request still waits for the disk, and so the process must end as it is. */
bool htw__serve_http_stop(void);

#else

static inline bool htw__serve_http_start(struct htw__server *server) {
    (void)server;
    return true;
}

static inline const char *htw__serve_http_name(void) {
    return NULL;
}

static inline bool htw__serve_http_stop(void) {
    return true;
}

#endif

#endif /* HTW_SRC_CMD_SERVE_HTTP_H */
