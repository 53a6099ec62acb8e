/* SPDX-License-Identifier: MIT */
/* find.h - which programs can be watched. */
#ifndef HTW_TOP_FIND_H
#define HTW_TOP_FIND_H

#include "path.h"

#include <stdio.h>

/* Finds the programs of this user that can be watched, and returns how many there are, or a negative
   errno. `path` receives that of one of them. With a stream it prints a line for each. */
int htw__find_all(char path[HTW__FIND_PATH_MAX], FILE *stream);

#endif /* HTW_TOP_FIND_H */
