/* SPDX-License-Identifier: MIT */
/* actions.h - `htw relay list`, `show`, `cancel` and `move`: what waits. By the command line, and over HTTP (http.c). */
#ifndef HTW_RELAY_COMMAND_ACTIONS_H
#define HTW_RELAY_COMMAND_ACTIONS_H

#include "options.h"

enum htw__relay_result {
    HTW__RELAY_DONE,
    HTW__RELAY_UNSURE,  /* of a change: it may have come too late, or no relay has read it yet */
    HTW__RELAY_MISSING, /* no such record waits */
    HTW__RELAY_REFUSED, /* it cannot be changed */
    HTW__RELAY_FAILED   /* `kafka->error` says why */
};

/* Why a record is missing, or the change of it refused: a sentence. */
#define HTW__RELAY_REASON_SIZE 768

/* Does the action of a command for one record that waits, or where `id` is NULL for all. `kafka` is opened. */
enum htw__relay_result htw__relay_do(struct htw__kafka *kafka,
                                     const struct htw__relay_command *command, const char *id,
                                     char reason[HTW__RELAY_REASON_SIZE]);

/* Does all of a command, and returns the status of the process. */
int htw__relay_act(const struct htw__relay_command *command);

/* `htw relay http`: serves until a signal, and returns the status of the process. */
int htw__http_run(struct htw__relay_command *command);

#endif /* HTW_RELAY_COMMAND_ACTIONS_H */
