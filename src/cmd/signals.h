/* SPDX-License-Identifier: MIT */
/*
 * signals.h - signals as something to poll for: the handlers set a flag and write to a
 * pipe, so that none is missed between looking and sleeping. Of a process there is one.
 */
#ifndef HTW_SRC_CMD_SIGNALS_H
#define HTW_SRC_CMD_SIGNALS_H

#include <stdbool.h>

/*
 * Catches SIGTERM and SIGUSR1, SIGINT and SIGHUP unless they were ignored before, and ignores
 * SIGPIPE and SIGXFSZ. Returns 0 or a negative errno.
 */
int htw__signals_install(void);

/* Whether SIGPIPE was ignored before: then a reader that goes away is an error like others. */
bool htw__signals_pipe_was_ignored(void);

/* Nothing is left to lose: the next signal ends the program, should standard error be stuck. */
void htw__signals_let_go(void);

/*
 * From now on, something is saved. Whether a stop signal came meanwhile, a second or more after
 * the beginning: saving takes too long. One that came sooner is part of the first: a terminal
 * that closes sends SIGHUP twice.
 */
void htw__signals_begin_saving(void);
bool htw__signals_gives_up(void);

/* Becomes readable when a signal came. */
int htw__signals_fd(void);

/* Makes the descriptor unreadable again; flags stay. */
void htw__signals_clear(void);

/* The signal that asks the program to stop, or 0. It stays. */
int htw__signals_stop(void);

/* Whether SIGUSR1 came since the last call. */
bool htw__signals_take_dump(void);

#endif /* HTW_SRC_CMD_SIGNALS_H */
