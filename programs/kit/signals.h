/* SPDX-License-Identifier: MIT */
/*
 * signals.h - signals as a descriptor to poll: the handlers set a flag and write to a pipe, so that
 * none is missed between a check and a sleep. The state is one for the process.
 */
#ifndef HTW_KIT_SIGNALS_H
#define HTW_KIT_SIGNALS_H

#include <stdbool.h>

/*
 * Catches SIGTERM and SIGUSR1, SIGINT and SIGHUP unless they were ignored before, and ignores
 * SIGPIPE and SIGXFSZ. Returns 0 or a negative errno.
 */
int htw__signals_install(void);

/* Whether SIGPIPE was ignored before: a reader that goes away is then an error like others. */
bool htw__signals_pipe_was_ignored(void);

/* Restores the default handlers: the next signal ends the program. To be called when all is saved, in
 * case standard error blocks. */
void htw__signals_restore(void);

/* From now on calls that wait go on after a signal, and a stop signal that comes a second later or more ends the program: a save
 * takes too long. One that comes sooner is part of the first one: a terminal that closes sends SIGHUP twice. */
void htw__signals_begin_saving(void);

/* Becomes readable when a signal came. */
int htw__signals_fd(void);

/* Makes the descriptor unreadable again; the flags stay set. */
void htw__signals_clear(void);

/* The signal that asked the program to stop, or 0. It stays set. */
int htw__signals_stop(void);

/* Whether SIGUSR1 came since the last call. */
bool htw__signals_take_dump(void);

#endif /* HTW_KIT_SIGNALS_H */
