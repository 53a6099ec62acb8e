/* SPDX-License-Identifier: MIT */
/* properties.h - properties of librdkafka, from files and from the command line. What comes later counts. */
#ifndef HTW_RELAY_COMMAND_PROPERTIES_H
#define HTW_RELAY_COMMAND_PROPERTIES_H

#include "../kafka.h"

struct htw__properties {
    struct htw__property *items;
    size_t count, room;
};

/* Each returns false when something is wrong, and has then said what. A value is never printed: it may be a secret. */

/* Adds NAME=VALUE. `where` is for errors, as in "-X". */
bool htw__properties_add(struct htw__properties *properties, const char *text, const char *where);

/* Adds those of a file: a line each; blank lines and lines that begin with # are left out. */
bool htw__properties_read(struct htw__properties *properties, const char *path);

void htw__properties_fini(struct htw__properties *properties);

#endif /* HTW_RELAY_COMMAND_PROPERTIES_H */
