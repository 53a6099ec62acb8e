/* SPDX-License-Identifier: MIT */
/* page.h - the page of `htw replay`, which plays a record. */
#ifndef HTW_SRC_CMD_REPLAY_PAGE_H
#define HTW_SRC_CMD_REPLAY_PAGE_H

#include "../page_parts.h"
#include "flight.h"
#include "record.h"

#include <stdio.h>

/* What a page shows. */
struct htw__page {
    const char *title;
    const struct htw__run *run;
    const struct htw__replay_record *record;
    const struct htw__replay_record *kafka; /* of the same run in Kafka's wheel */
    const struct htw__flight *flight;       /* where the run comes from; NULL: from lines */
    const uint32_t *timer_sites;            /* in `flight`, of each timer of the run */
};

/* Writes the page. Returns 0 or -ENOMEM; whether writing has failed, the stream knows. */
int htw__page_write(FILE *stream, const struct htw__page *page);

#endif /* HTW_SRC_CMD_REPLAY_PAGE_H */
