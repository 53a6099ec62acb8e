/* SPDX-License-Identifier: MIT */
/*
 * user_code.h - calls code of the user: callbacks, hooks, visitors, executors, notices. All of it must
 * return, and a child that it forks must leave by exec or _exit().
 */
#ifndef HTW_SRC_BASE_USER_CODE_H
#define HTW_SRC_BASE_USER_CODE_H

#include "compiler.h"
#include "fork.h"

#include <stddef.h>

struct htw__user_code {
    const char *what; /* NULL: it has returned */
    void *address;
};

/* Says which code did not return, and aborts: htw__fatal(). */
HTW__SHARED __attribute__((cold)) _Noreturn void htw__user_code_left(const char *what,
                                                                     void *address);

/* In a child that returns from the code in which it was forked: writes that to standard error, and
   ends the child by _exit(1), without the parent's exit handlers. */
HTW__SHARED __attribute__((cold)) _Noreturn void htw__user_code_forked(const char *what,
                                                                       void *address);

/* Passes values on and no address, so that the guard needs no memory. */
static inline __attribute__((always_inline)) void
htw__user_code_end(const struct htw__user_code *code) {
    if (code->what != NULL)
        htw__user_code_left(code->what, code->address);
}

/*
 * Runs a statement that calls `function`, which is `what` in messages. An exception, pthread_exit() or
 * a cancellation that leaves it ends the process: what a caller further up has taken or locked would
 * stay so. The guard costs nothing where the function returns.
 *
 * `owner` is the object for which the code runs. It belongs to this process, because each public
 * function refuses that of a parent. If it belongs to the parent after the call, the code has forked,
 * and this is the child. It ends here: a lock may be held by a thread that the child does not have,
 * and the alarm is the parent's.
 */
#define HTW__CALL_USER(code_name, owner, function, ...)                                         \
    do {                                                                                        \
        struct htw__user_code htw__called                                                       \
            __attribute__((cleanup(htw__user_code_end))) = { (code_name),                       \
                                                             __extension__(void *)(function) }; \
        __VA_ARGS__;                                                                            \
        if (HTW__UNLIKELY((owner)->fork_count != htw__fork_count()))                            \
            htw__user_code_forked(htw__called.what, htw__called.address);                       \
        htw__called.what = NULL;                                                                \
    } while (0)

#endif /* HTW_SRC_BASE_USER_CODE_H */
