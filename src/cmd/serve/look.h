/* SPDX-License-Identifier: MIT */
/* look.h - commands that look at jobs or tubes: they are read by a reader (reader.h). */
#ifndef HTW_SRC_CMD_SERVE_LOOK_H
#define HTW_SRC_CMD_SERVE_LOOK_H

#include "operation.h"

/* Submit, as those of operation.h. The job with the id, or the first of the tube in a state; all tubes; the urgent jobs of
   `tubes`. */
bool htw__look_peek(struct htw__operation *operation);
bool htw__look_peek_first(struct htw__operation *operation);
bool htw__look_survey(struct htw__operation *operation);
bool htw__look_tube(struct htw__operation *operation);

/* Looks at the job with the id, and removes it. */
bool htw__look_cancel(struct htw__operation *operation);

#endif /* HTW_SRC_CMD_SERVE_LOOK_H */
