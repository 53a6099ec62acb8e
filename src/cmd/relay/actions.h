/* SPDX-License-Identifier: MIT */
/* actions.h - `htw relay list`, `show`, `cancel` and `move`: what waits. */
#ifndef HTW_SRC_CMD_RELAY_ACTIONS_H
#define HTW_SRC_CMD_RELAY_ACTIONS_H

#include "options.h"

/* Does the action of a command, and returns the status of the process. */
int htw__relay_act(const struct htw__relay_command *command);

#endif /* HTW_SRC_CMD_RELAY_ACTIONS_H */
