/* SPDX-License-Identifier: MIT */
/*
 * delay_faults.h - system calls of `htw delay` that fail: those named in the list are linked to
 * wrappers (-Wl,--wrap), which fail as the plan says. It lies in memory that a test shares with
 * the process in which it runs the command.
 */
#ifndef HTW_TESTS_FAULT_DELAY_FAULTS_H
#define HTW_TESTS_FAULT_DELAY_FAULTS_H

#include "../support/failing_calls.h"

#include <stdint.h>
#include <stdio.h>

/* All calls that may fail: return type, name, parameters, arguments. */
#define DELAY_FAULTS(CALL)                                                                 \
    CALL(int, access, (const char *path, int mode), (path, mode))                          \
    CALL(int, dup, (int fd), (fd))                                                         \
    CALL(int, fchmod, (int fd, mode_t mode), (fd, mode))                                   \
    CALL(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))                \
    CALL(FILE *, fdopen, (int fd, const char *mode), (fd, mode))                           \
    CALL(int, fflush, (FILE * stream), (stream))                                           \
    CALL(int, fstat64, (int fd, struct stat *status), (fd, status))                        \
    CALL(int, fstatfs64, (int fd, struct statfs *status), (fd, status))                    \
    CALL(int, fsync, (int fd), (fd))                                                       \
    CALL(int, lstat64, (const char *path, struct stat *status), (path, status))            \
    CALL(int, mkostemp64, (char *name, int flags), (name, flags))                          \
    CALL(int, pipe2, (int ends[2], int flags), (ends, flags))                              \
    CALL(int, poll, (struct pollfd * fds, nfds_t count, int limit), (fds, count, limit))   \
    CALL(ssize_t, read, (int fd, void *bytes, size_t size), (fd, bytes, size))             \
    CALL(char *, realpath, (const char *path, char *resolved), (path, resolved))           \
    CALL(int, rename, (const char *from, const char *to), (from, to))                      \
    CALL(int, sigaction, (int number, const struct sigaction *new, struct sigaction *old), \
         (number, new, old))                                                               \
    CALL(int, stat64, (const char *path, struct stat *status), (path, status))             \
    CALL(int, unlink, (const char *path), (path))                                          \
    CALL(void *, malloc, (size_t size), (size))                                            \
    CALL(void *, realloc, (void *memory, size_t size), (memory, size))                     \
    CALL(char *, strdup, (const char *text), (text))

#define DELAY_FAULTS_NAME(type, name, parameters, arguments) FAULT_##name,
enum fault_call {
    DELAY_FAULTS(DELAY_FAULTS_NAME)
    /* These do more than to pass the call on. */
    FAULT_close,
    FAULT_fclose,
    FAULT_fwrite,
    FAULT_open64,
    FAULT_ppoll,
    FAULT_write,
    FAULT_writev,
    FAULT_COUNT
};

/* In place of an error: a write or a read of a part. */
#define FAULT_SHORT 0

struct fault_plan {
    struct failing_calls calls; /* those of failing_calls.h */
    enum fault_call call;       /* FAULT_COUNT: none fails */
    unsigned number;
    int error;
    bool is_lasting;

    bool stops_asleep;        /* SIGTERM comes when nothing is left but to sleep for long */
    unsigned stop_at_fwrite;  /* SIGTERM comes again there, two seconds later */
    int64_t shift_at_stop_ns; /* so much time passes before the first SIGTERM */
    int64_t clock_shift_ns;
    bool has_created_readable; /* a file that others may read, if only for a moment */
};

extern struct fault_plan *fault_plan;

extern const char *const fault_names[FAULT_COUNT];

#endif /* HTW_TESTS_FAULT_DELAY_FAULTS_H */
