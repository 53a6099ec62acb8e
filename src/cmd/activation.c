/* SPDX-License-Identifier: MIT */
/* activation.c - sockets that systemd has opened for the program. */
#include "activation.h"

#include "count.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_MAX 4096

enum { PID, FDS, NAMES, VARIABLES };
static const char *const variables[VARIABLES] = { "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES" };

/* Cuts the text at its colons. Returns how many names there are. */
static uint32_t split(char *text, struct htw__activation *activation) {
    uint32_t count = 0;
    for (char *name = text; name != NULL && count <= activation->count; count++) {
        if (count < activation->count)
            activation->names[count] = name;
        name = strchr(name, ':');
        if (name != NULL)
            *name++ = '\0';
    }
    return count;
}

static const char *read_names(const char *text, struct htw__activation *activation) {
    static char names[NAMES_MAX];
    for (uint32_t i = 0; i < activation->count; i++)
        activation->names[i] = "";
    if (text == NULL)
        return NULL;
    if (strlen(text) >= sizeof(names))
        return "LISTEN_FDNAMES is too long";
    strcpy(names, text);
    return split(names, activation) == activation->count
               ? NULL
               : "LISTEN_FDNAMES does not have as many names as LISTEN_FDS says";
}

static const char *read_variables(struct htw__activation *activation) {
    const char *values[VARIABLES];
    uint64_t pid, count;
    for (size_t i = 0; i < VARIABLES; i++)
        values[i] = getenv(variables[i]); /* NOLINT(concurrency-mt-unsafe) */
    if (values[PID] == NULL || values[FDS] == NULL)
        return NULL;
    if (!htw__count_parse(values[PID], &pid))
        return "LISTEN_PID is not a number";
    if (pid != (uint64_t)getpid())
        return NULL;
    if (!htw__count_parse(values[FDS], &count) || count > HTW__ACTIVATION_MAX)
        return "LISTEN_FDS is not a number up to 9";
    activation->count = (uint32_t)count;
    return read_names(values[NAMES], activation);
}

static const char *close_on_exec(const struct htw__activation *activation) {
    for (uint32_t i = 0; i < activation->count; i++)
        if (fcntl(HTW__ACTIVATION_FIRST + (int)i, F_SETFD, FD_CLOEXEC) != 0)
            return "LISTEN_FDS says more descriptors than there are";
    return NULL;
}

const char *htw__activation_take(struct htw__activation *activation) {
    activation->count = 0;
    const char *why = read_variables(activation);
    if (why == NULL)
        why = close_on_exec(activation);
    for (size_t i = 0; i < VARIABLES; i++)
        unsetenv(variables[i]); /* NOLINT(concurrency-mt-unsafe) */
    return why;
}
