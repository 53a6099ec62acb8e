/* SPDX-License-Identifier: MIT */
/* look.h - commands that look at jobs or tubes: they are read by a reader (reader.h). */
#ifndef HTW_SERVE_LOOK_H
#define HTW_SERVE_LOOK_H

#include "operation.h"

/* Submits it, as those of operation.h: the job with the id, or the first of the tube in a state; all tubes; the urgent jobs of
   `tubes`. A delete looks at the job, and removes it. */
bool htw__look(struct htw__operation *operation);

#endif /* HTW_SERVE_LOOK_H */
