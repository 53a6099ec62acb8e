/* SPDX-License-Identifier: MIT */
/* base.c - htw/base.h: the version of the library, the texts of results, the member that was refused. */
#include "refusal.h"

#include <htw/base.h>

#include <errno.h>

#if defined(HTW_FREESTANDING)
#define PER_THREAD
#elif defined(_MSC_VER)
#define PER_THREAD __declspec(thread)
#else
#define PER_THREAD __thread
#endif

static PER_THREAD const char *refused_member;

int htw__refuse(const char *member) {
    refused_member = member;
    return -EINVAL;
}

const char *htw_invalid_member(void) {
    return refused_member;
}

const char *htw_version(void) {
    return HTW_VERSION;
}

const char *htw_strerror(int result) {
    if (result >= 0)
        return result == 0 ? "success" : "no error: an outcome or a count";
    switch (result) {
    case -EINVAL:
        return "an argument or option is NULL, out of range, or contradicts another";
    case -ENOMEM:
        return "no memory, or no thread could be started";
    case -EIO:
        return "reading or writing has failed: of a stream, a disk, or the file of a time zone";
        /* The wheel alone returns no others. It is also for systems that do not know them. */
#ifdef ESHUTDOWN
    case -EAGAIN:
        return "a limit is reached: no more timers, jobs or sources are accepted now";
    case -ESHUTDOWN:
        return "the scheduler is stopped, or the purgatory or journal is closed";
    case -EOWNERDEAD:
        return "the object belongs to the parent process, which has forked";
    case -EDEADLK:
        return "the call would wait for its own callback or hook";
    case -EBUSY:
        return "another thread is in such a call, or the object or file is in use";
    case -EEXIST:
        return "a timer of the same key, a job of the same key, or a file or source of the same "
               "name "
               "exists, and is kept";
    case -ENOENT:
        return "what is named does not exist or has ended: a timer, a timeout, a job, a file or a "
               "time zone";
    case -ECANCELED: /* from htw.hpp */
        return "the scheduler was stopped before the time had come, or the request was ended";
    case -EALREADY:
        return "the job has been delivered, or its state is another one";
    case -ETIMEDOUT:
        return "the time is over, and no job was ready";
#ifdef ESTALE /* only from the journal */
    case -ESTALE:
        return "the lease of the job has ended";
#endif
    case -ENOSPC:
        return "the disk is full";
    case -EMSGSIZE:
        return "a job or mark is too large";
    case -EBADMSG:
        return "the file is not a journal, or is damaged";
    case -EPROTONOSUPPORT:
        return "the file is a journal of a newer version";
    case -ENOTDIR:
        return "a part of the path is no folder";
    case -EISDIR:
        return "the path is that of a folder";
    case -EACCES:
        return "the file may not be written, or its folder not be searched";
    case -EROFS:
        return "the file system cannot be written";
    case -ENAMETOOLONG:
        return "the path is too long";
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
