/* SPDX-License-Identifier: MIT */
/* actions.h - what `htw journal` can do. Each returns the exit status. */
#ifndef HTW_SRC_CMD_JOURNAL_ACTIONS_H
#define HTW_SRC_CMD_JOURNAL_ACTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct htw__journal_request {
    const char *path;
    bool json;
    bool payload;   /* show: the bytes of the payload alone */
    uint64_t limit; /* list: the most jobs */
    const uint64_t *ids;
    size_t id_count;
};

int htw__journal_list(const struct htw__journal_request *request);
int htw__journal_show(const struct htw__journal_request *request);
int htw__journal_check(const struct htw__journal_request *request);
int htw__journal_cancel(const struct htw__journal_request *request);
int htw__journal_compact(const struct htw__journal_request *request);

#endif /* HTW_SRC_CMD_JOURNAL_ACTIONS_H */
