/* SPDX-License-Identifier: MIT */
/* find.h - which socket an argument means, and which programs can be watched. */
#ifndef HTW_TOP_FIND_H
#define HTW_TOP_FIND_H

#include <stdio.h>

#define HTW__FIND_PATH_MAX 108

/* The path that an argument means: the number of a process, or a path. 0 or -ENAMETOOLONG. */
int htw__find_path(const char *argument, char path[HTW__FIND_PATH_MAX]);

/* Finds the programs of this user that can be watched, and returns how many there are, or a negative
   errno. `path` receives that of one of them. With a stream it prints a line for each. */
int htw__find_all(char path[HTW__FIND_PATH_MAX], FILE *stream);

#endif /* HTW_TOP_FIND_H */
