/* SPDX-License-Identifier: MIT */
/*
 * htw/log.h - a function of the program that receives what no return value and no notice tells: what the libraries
 * otherwise only count, or write to standard error. docs/debugging.md has the list.
 */
#ifndef HTW_LOG_H
#define HTW_LOG_H

#include <htw/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How bad it is. */
enum htw_log_level {
    HTW_LOG_WARNING = 1, /**< it goes on, later or worse than it should */
    HTW_LOG_ERROR = 2,   /**< an object works no more: a journal has stopped */
    HTW_LOG_FATAL = 3    /**< the process aborts when this returns, or another thread fails */
};

/**
 * Receives a message. Must return.
 *
 * @param level     how bad it is.
 * @param subsystem which library or part says it: "scheduler", "journal", "monitor"; "htw" with HTW_LOG_FATAL.
 * @param message   a sentence in English, without a full stop or a line feed; valid until the function returns.
 *
 * Threads: any that calls the libraries or that they have, several at once. No lock of the libraries is held, except with
 * HTW_LOG_FATAL. It may schedule, move and cancel timers. It must not wait for the libraries: not destroy, stop or close
 * anything, nor make a change of a journal durable. With HTW_LOG_FATAL it must not call them at all. What the message is about waits
 * until it returns. A child process that it forks must leave by exec or _exit().
 */
typedef void htw_log_function(enum htw_log_level level, const char *subsystem, const char *message);

/**
 * Sets the function that receives the messages of all libraries in this process.
 *
 * With a function, what would be written to standard error goes to it instead. Each object sends at most one message of
 * a kind in a second. After a message with HTW_LOG_FATAL no function is set.
 *
 * @param function NULL: none, as at first.
 * @return the function that was set before; NULL: none. A call of it that another thread has begun may still run: neither
 *         unload it nor free what it uses.
 *
 * Threads: any, at any time, also in the function. Cost: O(1). While none is set, nothing costs more.
 */
HTW_API htw_log_function *htw_set_log(htw_log_function *function);

#ifdef __cplusplus
}
#endif

#endif /* HTW_LOG_H */
