/* SPDX-License-Identifier: MIT */
/* delay_faults.c - the system calls that fail as the plan of a test says. */
#include "delay_faults.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

/* No header declares what the linker or the compiler calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

struct fault_plan *fault_plan;

#define NAME_OF(type, name, parameters, arguments) [FAULT_##name] = #name,
const char *const fault_names[FAULT_COUNT] = {
    DELAY_FAULTS(NAME_OF)[FAULT_close] = "close",
    [FAULT_fclose] = "fclose",
    [FAULT_fwrite] = "fwrite",
    [FAULT_open64] = "open64",
    [FAULT_ppoll] = "ppoll",
    [FAULT_write] = "write",
    [FAULT_writev] = "writev",
};

/* The handler wakes the loop through a pipe, which fails only when it is full. */
static void stop(void) {
    failing_calls_count = false;
    raise(SIGTERM);
    failing_calls_count = true;
}

static bool is_short(void) {
    return fault_plan->error == FAULT_SHORT;
}

/* What a call that fails returns: -1, or NULL. */
#define FAILURE(type) _Generic((type)0, char * : NULL, void * : NULL, FILE * : NULL, default : -1)

#define WRAP(type, name, parameters, arguments) \
    FAILING_WRAP(FAULT_##name, FAILURE(type), type, name, parameters, arguments)

DELAY_FAULTS(WRAP)
FAILING_WRAP_CLOSE(FAULT_close)

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if ((mode & 077) != 0 && fault_plan != NULL)
        fault_plan->has_created_readable = true;
    return failing_call(FAULT_open64) ? -1 : __real_open64(path, flags, mode);
}

int __real_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *limit,
                 const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *limit,
                 const sigset_t *mask) {
    static const struct timespec none;
    if (failing_call(FAULT_ppoll))
        return -1;
    if (fault_plan != NULL && (limit == NULL || limit->tv_sec > 0) &&
        __real_ppoll(fds, count, &none, mask) == 0) {
        if (fault_plan->stops_asleep) {
            fault_plan->clock_shift_ns = fault_plan->shift_at_stop_ns;
            stop();
        }
    }
    return __real_ppoll(fds, count, limit, mask);
}

int __real_fclose(FILE *stream);
int __wrap_fclose(FILE *stream) {
    bool is_failing = failing_call(FAULT_fclose);
    int error = errno, result = __real_fclose(stream);
    errno = is_failing ? error : errno;
    return is_failing ? EOF : result;
}

size_t __real_fwrite(const void *bytes, size_t size, size_t count, FILE *stream);
size_t __wrap_fwrite(const void *bytes, size_t size, size_t count, FILE *stream) {
    bool failed = failing_call(FAULT_fwrite);
    int error = errno;
    if (fault_plan != NULL && fault_plan->stop_at_fwrite > 0 && failing_calls_count &&
        failing_calls->kinds[FAULT_fwrite].made == fault_plan->stop_at_fwrite) {
        fault_plan->clock_shift_ns = INT64_C(2000000000);
        stop();
    }
    size_t written = __real_fwrite(bytes, size, failed ? count / 2 : count, stream);
    stream->_flags |= failed ? _IO_ERR_SEEN : 0; /* as glibc has ferror() */
    errno = failed && is_short() ? ENOSPC : error;
    return written;
}

ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size) {
    bool failed = failing_call(FAULT_write);
    if (failed && !is_short())
        return -1;
    return __real_write(fd, bytes, failed ? (size + 1) / 2 : size);
}

ssize_t __real_writev(int fd, const struct iovec *pieces, int count);
ssize_t __wrap_writev(int fd, const struct iovec *pieces, int count) {
    if (!failing_call(FAULT_writev))
        return __real_writev(fd, pieces, count);
    return is_short() ? __real_write(fd, pieces[0].iov_base, (pieces[0].iov_len + 1) / 2) : -1;
}

int64_t __real_htw__clock_monotonic_ns(void);
int64_t __wrap_htw__clock_monotonic_ns(void) {
    int64_t shift_ns = fault_plan != NULL ? fault_plan->clock_shift_ns : 0;
    return __real_htw__clock_monotonic_ns() + shift_ns;
}
