/* SPDX-License-Identifier: MIT */
/*
 * failing_calls.h - calls that fail when told to: the n-th of a kind, once or with all later ones.
 *
 * A test numbers its kinds. Each wrapper of a call (-Wl,--wrap, or what a library lets a program replace) asks
 * failing_call() first. All is atomic: calls come from any thread.
 */
#ifndef TESTS_FAILING_CALLS_H
#define TESTS_FAILING_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>

enum { FAILING_KINDS = 40 };

/** Calls of this process count, and may fail. */
extern _Atomic bool failing_calls_count;

struct failing_calls {
    struct failing_kind {
        _Atomic unsigned made, failed; /* since it was planned */
        _Atomic unsigned nth;          /* the call that fails, from 1; 0: none */
        _Atomic bool is_lasting;
        _Atomic int error;
    } kinds[FAILING_KINDS];
};

/** Of this process, or in memory that it shares with others. */
extern struct failing_calls *failing_calls;

/** From now on calls count, from 0, and the `nth` call of this kind fails, or with 0 none; the plans of other kinds stay. */
void failing_calls_plan(unsigned kind, unsigned nth, int error, bool is_lasting);

/** None fails any more, and none counts. Returns whether one has failed. */
bool failing_calls_relent(void);

/** Counts a call. True: it fails, and errno says why. */
bool failing_call(unsigned kind);

/** The call after `nth` that is tried next: each, or with a `density` fewer and fewer behind the first ones. */
static inline unsigned failing_next(unsigned nth, unsigned density) {
    return nth + 1 + (density == 0 ? 0 : nth / density);
}

/** Defines the wrapper of a call, which returns `failure` when it fails. */
#define FAILING_WRAP(kind, failure, type, name, parameters, arguments)   \
    type __real_##name parameters;                                       \
    type __wrap_##name parameters;                                       \
    type __wrap_##name parameters {                                      \
        return failing_call(kind) ? (failure) : __real_##name arguments; \
    }

/** The same for calls that need more than that. The descriptor is closed all the same, as on Linux. */
#define FAILING_WRAP_CLOSE(kind)              \
    int __real_close(int fd);                 \
    int __wrap_close(int fd);                 \
    int __wrap_close(int fd) {                \
        bool is_failing = failing_call(kind); \
        int error = errno;                    \
        int result = __real_close(fd);        \
        errno = is_failing ? error : errno;   \
        return is_failing ? -1 : result;      \
    }

#define FAILING_WRAP_OPEN64(kind)                                             \
    int __real_open64(const char *path, int flags, ...);                      \
    int __wrap_open64(const char *path, int flags, ...);                      \
    int __wrap_open64(const char *path, int flags, ...) {                     \
        va_list arguments;                                                    \
        va_start(arguments, flags);                                           \
        mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0; \
        va_end(arguments);                                                    \
        return failing_call(kind) ? -1 : __real_open64(path, flags, mode);    \
    }

#endif /* TESTS_FAILING_CALLS_H */
