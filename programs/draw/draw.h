/* SPDX-License-Identifier: MIT */
/* draw.h - the command `htw draw`. */
#ifndef HTW_DRAW_DRAW_H
#define HTW_DRAW_DRAW_H

/* Runs the command; `argv[0]` is its name in messages. Returns the exit status. */
int htw__draw_command(int argc, char *argv[]);

#endif /* HTW_DRAW_DRAW_H */
