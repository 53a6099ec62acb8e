/* SPDX-License-Identifier: MIT */
/* replay.h - the command `htw replay`. */
#ifndef HTW_REPLAY_REPLAY_H
#define HTW_REPLAY_REPLAY_H

/* Runs the command; `argv[0]` is its name in messages. Returns the exit status. */
int htw__replay_command(int argc, char *argv[]);

#endif /* HTW_REPLAY_REPLAY_H */
