/* SPDX-License-Identifier: MIT */
/* destinations.c - chooses the topic to which a record is delivered. */
#include "destinations.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

static bool is_own(const struct htw__destinations *self, const char *topic) {
    for (size_t i = 0; i < self->own_count; i++)
        if (strcmp(topic, self->own[i]) == 0)
            return true;
    return false;
}

static bool is_allowed(const struct htw__destinations *self, const char *topic) {
    if (self->default_topic != NULL && strcmp(topic, self->default_topic) == 0)
        return true;
    for (size_t i = 0; i < self->pattern_count; i++)
        if (fnmatch(self->patterns[i], topic, 0) == 0)
            return true;
    return false;
}

const char *htw__destinations_choose(const struct htw__destinations *self, struct htw__bytes to,
                                     char ret_topic[HTW__TOPIC_NAME_SIZE]) {
    if (to.bytes == NULL && self->default_topic == NULL)
        return "no htw-deliver-to, and the relay has no default topic";
    if (to.bytes == NULL)
        to = htw__bytes_of(self->default_topic);
    if (to.size >= HTW__TOPIC_NAME_SIZE)
        return "htw-deliver-to is not the name of a topic";
    memcpy(ret_topic, to.bytes, to.size);
    ret_topic[to.size] = '\0';
    if (is_own(self, ret_topic) || !is_allowed(self, ret_topic))
        return "htw-deliver-to is not a topic to which the relay may deliver";
    return NULL;
}
