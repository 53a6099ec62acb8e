/* SPDX-License-Identifier: MIT */
/* path.h - which socket an argument means. */
#ifndef HTW_TOP_PATH_H
#define HTW_TOP_PATH_H

#define HTW__FIND_PATH_MAX 108

/* The path that an argument means: the number of a process, or a path. 0 or -ENAMETOOLONG. */
int htw__find_path(const char *argument, char path[HTW__FIND_PATH_MAX]);

#endif /* HTW_TOP_PATH_H */
