/* SPDX-License-Identifier: MIT */
/* destinations.h - to which topics the relay delivers: those that the operator allows. */
#ifndef HTW_RELAY_DESTINATIONS_H
#define HTW_RELAY_DESTINATIONS_H

#include "record.h"

/* All strings are the caller's and outlive their use. */
struct htw__destinations {
    const char *const *patterns; /* as fnmatch(3) has them */
    size_t pattern_count;
    const char *const *own; /* topics of the relay itself: never allowed, whatever the patterns */
    size_t own_count;
    const char *default_topic; /* NULL: none. It is allowed. */
};

/* The bytes of the longest topic name, with a final NUL. */
#define HTW__TOPIC_NAME_SIZE 250

/* Chooses the topic of a record; `to` is absent, or a valid name. Returns NULL, or why there is none
 * (a static phrase). */
const char *htw__destinations_choose(const struct htw__destinations *destinations,
                                     struct htw__bytes to, char ret_topic[HTW__TOPIC_NAME_SIZE]);

#endif /* HTW_RELAY_DESTINATIONS_H */
