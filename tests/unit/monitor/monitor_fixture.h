/* SPDX-License-Identifier: MIT */
/*
 * monitor_fixture.h - what the tests of the monitor start from: a monitor with a socket in a folder of
 * its own, an allocator that counts and refuses, and clients.
 */
#ifndef TESTS_MONITOR_FIXTURE_H
#define TESTS_MONITOR_FIXTURE_H

#include "../../support/test_folder.h"
#include "../unit.h"

#include <htw/monitor.h>

#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MAX 262144

struct monitor_fixture {
    char folder[TEST_FOLDER_SIZE];
    char path[TEST_FOLDER_SIZE + 16];
    struct htw_allocator allocator;
    _Atomic long live, calls, fail_at; /* the value of `calls` that is refused; 0: none */
    struct htw_monitor *monitor;
};

/** The fixture of the tests that follow. */
extern struct monitor_fixture monitor_fixture;

/** Opens a monitor at f->path. */
void monitor_setup(void);

/** Closes it; all memory must be given back, and no descriptor be left open. */
void monitor_teardown(void);

#define MONITOR_TEST(name) \
    UNIT_TEST_ON(struct monitor_fixture *f, &monitor_fixture, monitor_setup, monitor_teardown, name)

/** Opens or closes the monitor of the fixture. */
int monitor_open(struct monitor_fixture *f);
void monitor_close(struct monitor_fixture *f);

/** A client: a descriptor, which must be one. */
int client_connect(const char *path);

/** Writes a text, and reads all to the end. The answer is static. The size counts what was read. */
void client_send(int fd, const char *text);
const char *client_read(int fd, size_t *ret_size);

/** Connects, sends, reads and closes. */
const char *client_ask(const char *path, const char *request);

/** The answer has the text in it. */
#define assert_says(answer, text) monitor_assert_says(answer, text, __FILE__, __LINE__)
void monitor_assert_says(const char *answer, const char *text, const char *file, int line);

#endif /* TESTS_MONITOR_FIXTURE_H */
