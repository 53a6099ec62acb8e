/* SPDX-License-Identifier: MIT */
/* options.h - the command line of `htw relay`. */
#ifndef HTW_RELAY_COMMAND_OPTIONS_H
#define HTW_RELAY_COMMAND_OPTIONS_H

#include "../kafka.h"
#include "../waiting.h"
#include "../../../kit/command_line.h"
#include "log.h"
#include "properties.h"

#include <stdio.h>

enum htw__relay_action {
    HTW__RELAY_NO_ACTION,
    HTW__RELAY_LIST,
    HTW__RELAY_SHOW,
    HTW__RELAY_CANCEL,
    HTW__RELAY_MOVE,
    HTW__RELAY_HTTP
};

struct htw__relay_command {
    struct htw__kafka_options kafka;
    bool create_topics;
    const char *metrics; /* NULL, or [ADDRESS:]PORT */
    enum htw__relay_action action;
    bool has_action_options;
    struct htw__waiting_filter filter;
    size_t limit;
    bool json;
    FILE *out; /* of JSON */
    char **ids;
    size_t id_count;
    int64_t to_ms; /* of a move */
    /* Of HTTP: */
    const char *listen;     /* [ADDRESS:]PORT, or unix:PATH */
    const char *token_file; /* NULL: none */
    const char *hosts;      /* NULL: none */
    /* What the options lead to. */
    const char **patterns;
    struct htw__properties properties;
};

/* Reads the arguments, of which the first is the prefix of error messages. The command must not move
 * afterwards, and htw__relay_command_fini() ends its use in all cases. */
enum htw__wish htw__relay_command_parse(int argc, char *argv[], struct htw__relay_command *command);
void htw__relay_command_fini(struct htw__relay_command *command);

/* An instant, or +DURATION from now, rounded up to a millisecond. Returns NULL, or why the text is none of these (a static
 * phrase). */
const char *htw__relay_moment(const char *text, int64_t *ret_ms);

extern const struct htw__command_line htw__relay_line;

#endif /* HTW_RELAY_COMMAND_OPTIONS_H */
