/* SPDX-License-Identifier: MIT */
/* page.h - the page of `htw replay`, which shows a flight record in a browser. */
#ifndef HTW_REPLAY_PAGE_H
#define HTW_REPLAY_PAGE_H

#include "flight.h"

#include <stdio.h>

/* Writes the page; `title` may be NULL. Returns 0 or -ENOMEM; whether writing has failed, the stream knows. */
int htw__page_write(FILE *stream, const struct htw__flight *flight, const char *title);

#endif /* HTW_REPLAY_PAGE_H */
