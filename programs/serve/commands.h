/* SPDX-License-Identifier: MIT */
/* commands.h - what the commands do. */
#ifndef HTW_SERVE_COMMANDS_H
#define HTW_SERVE_COMMANDS_H

#include "operation.h"

/* Whether the command may start now, beside the operations of the connection that are under way. */
bool htw__command_may_start(const struct htw__connection *connection, enum htw__verb verb);

/* Starts it: answers, or begins an operation. */
void htw__command_start(struct htw__connection *connection, const struct htw__serve_line *line);

/* Answers a command that has no operation, behind the answers of those that are under way: until then none starts. `text` must
   stay. */
void htw__command_answer(struct htw__connection *connection, const char *text);

/* The operation is back: does what follows from it, and answers if the connection is open. */
void htw__command_finish(struct htw__operation *operation);

#endif /* HTW_SERVE_COMMANDS_H */
