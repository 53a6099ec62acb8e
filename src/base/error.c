/* SPDX-License-Identifier: MIT */
/* error.c - htw_strerror(): the texts of results. */
#include <htw/base.h>

#include <errno.h>

const char *htw_strerror(int result) {
    if (result >= 0)
        return result == 0 ? "success" : "no error: an outcome or a count";
    switch (result) {
    case -EINVAL:
        return "an argument or option is NULL, out of range, or contradicts another";
    case -ENOMEM:
        return "no memory, or no thread could be started";
    case -EIO:
        return "the stream could not be written, or the file of a time zone not be read";
        /* The wheel alone returns no others. It is also for systems that do not know them. */
#ifdef ESHUTDOWN
    case -EAGAIN:
        return "max_pending is reached: no more timers are accepted now";
    case -ESHUTDOWN:
        return "the scheduler is stopped or the purgatory is closed";
    case -EOWNERDEAD:
        return "the object belongs to the parent process, which has forked";
    case -EDEADLK:
        return "the call would wait for its own callback or hook";
    case -EBUSY:
        return "another thread is in such a call, or the object is in use";
    case -EEXIST:
        return "a timer of the same key exists, and is kept";
    case -ENOENT:
        return "the timer or the timeout has ended, or there was none; or there is no such time "
               "zone";
    case -ECANCELED: /* from htw.hpp */
        return "the scheduler was stopped before the time had come";
    case -ENOTSUP:
        return "the scheduler was not created for this call";
    case -EMFILE:
        return "the process has too many open files";
    case -ENFILE:
        return "the system has too many open files";
#endif
    default:
        return "not a result of htw";
    }
}
