/* SPDX-License-Identifier: MIT */
/* activation.c - sockets that systemd has opened for the program. */
#include "activation.h"

#include "count.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { PID, FDS, NAMES, VARIABLES };
static const char *const variables[VARIABLES] = { "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES" };

static const char *read_variables(uint32_t *ret_count) {
    const char *pid_text = getenv(variables[PID]); /* NOLINT(concurrency-mt-unsafe) */
    const char *fds_text = getenv(variables[FDS]); /* NOLINT(concurrency-mt-unsafe) */
    uint64_t pid, count;
    if (pid_text == NULL || fds_text == NULL)
        return NULL;
    if (!htw__count_parse(pid_text, &pid))
        return "LISTEN_PID is not a number";
    if (pid != (uint64_t)getpid())
        return NULL;
    if (!htw__count_parse(fds_text, &count) || count > HTW__ACTIVATION_MAX)
        return "LISTEN_FDS is not a number up to 9";
    *ret_count = (uint32_t)count;
    return NULL;
}

const char *htw__activation_take(uint32_t *ret_count) {
    *ret_count = 0;
    const char *why = read_variables(ret_count);
    for (uint32_t i = 0; i < *ret_count && why == NULL; i++)
        if (fcntl(HTW__ACTIVATION_FIRST + (int)i, F_SETFD, FD_CLOEXEC) != 0)
            why = "LISTEN_FDS says more descriptors than there are";
    for (size_t i = 0; i < VARIABLES; i++)
        unsetenv(variables[i]); /* NOLINT(concurrency-mt-unsafe) */
    return why;
}
