/* SPDX-License-Identifier: MIT */
/* http.h - HTTP of a server (page.h): the page, with --http, and beside its file. */
#ifndef HTW_SERVE_HTTP_H
#define HTW_SERVE_HTTP_H

#include "server.h"

/* False: it has said why. */
bool htw__serve_http_start(struct htw__server *server);

/* Where the page is, for people; NULL: nowhere. */
const char *htw__serve_http_name(void);

/* Ends it, before the journal is closed. False: a request still waits for the disk, and so the process must end as it is. */
bool htw__serve_http_stop(void);

#endif /* HTW_SERVE_HTTP_H */
