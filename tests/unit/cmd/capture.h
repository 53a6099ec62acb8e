/* SPDX-License-Identifier: MIT */
/* capture.h - what the code under test writes to standard error, as a text. */
#ifndef TESTS_UNIT_CMD_CAPTURE_H
#define TESTS_UNIT_CMD_CAPTURE_H

#include "../unit.h"

#include <sys/mman.h>
#include <unistd.h>

static int captured_stderr = -1;

static inline void capture_begin(void) {
    int file = memfd_create("stderr", MFD_CLOEXEC);
    captured_stderr = dup(STDERR_FILENO);
    assert_true(file >= 0 && captured_stderr >= 0);
    assert_true(dup2(file, STDERR_FILENO) >= 0);
    close(file);
}

/* Stays valid until the next call. */
static inline const char *capture_end(void) {
    static char text[65536];
    ssize_t size = pread(STDERR_FILENO, text, sizeof(text) - 1, 0);
    dup2(captured_stderr, STDERR_FILENO);
    close(captured_stderr);
    assert_true(size >= 0);
    text[size] = '\0';
    return text;
}

#endif /* TESTS_UNIT_CMD_CAPTURE_H */
