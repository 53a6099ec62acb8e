/* SPDX-License-Identifier: MIT */
/*
 * test_delay_output.c - the queue of messages that are due, and the writes that empty it.
 * writev(), the clocks and what frees a message are replaced (-Wl,--wrap).
 */
#include "../../../programs/delay/output.h"
#include "../../../src/observe/distribution.h"

#include "capture.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* No header declares what the linker or the compiler calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define WRITES_MAX 128

static struct htw__output output;
static struct htw__report report;
static struct htw__timeline timeline;
static int64_t now_ns;
static int64_t write_ns; /* how long a write takes */

static size_t write_sizes[WRITES_MAX];
static int writes;
static size_t write_most; /* bytes that a write takes; 0: all */

int64_t __wrap_htw__clock_monotonic_ns(void) {
    return now_ns;
}

int64_t __wrap_htw__clock_realtime_ns(void) {
    return now_ns;
}

ssize_t __wrap_writev(int fd, const struct iovec *pieces, int count) {
    static char bytes[1024 * 1024];
    size_t size = 0;
    assert_in_range(writes, 0, WRITES_MAX - 1);
    for (int i = 0; i < count; i++) {
        assert_true(pieces[i].iov_len > 0);
        memcpy(bytes + size, pieces[i].iov_base, pieces[i].iov_len);
        size += pieces[i].iov_len;
    }
    write_sizes[writes++] = size;
    now_ns += write_ns;
    return write(fd, bytes, write_most != 0 && size > write_most ? write_most : size);
}

static uint64_t destroyed;

void __real_htw__message_destroy(struct htw__message *message);
void __wrap_htw__message_destroy(struct htw__message *message) {
    destroyed++;
    __real_htw__message_destroy(message);
}

static void start(int fd, bool has_timestamps) {
    now_ns = 0;
    writes = 0;
    destroyed = 0;
    write_most = 0;
    write_ns = 0;
    htw__timeline_init(&timeline, 1, false);
    htw__report_init(&report);
    htw__output_init(&output, fd, has_timestamps, &timeline, &report);
}

static void finish(void) {
    struct htw__message *message;
    while ((message = htw__output_pop(&output)) != NULL)
        htw__message_destroy(message);
}

/* What the tests write to: each has its own. */
static int file;
static int ends[2]; /* of a pipe */

static int new_file(void) {
    int fd = memfd_create("output", MFD_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void set_up(void) {
    file = new_file();
    assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
}

static void tear_down(void) {
    finish();
    close(file);
    close(ends[0]);
    close(ends[1]);
}

static void push(const char *bytes, size_t size, int64_t due_ns) {
    struct htw__message *message = htw__message_create(bytes, size, '\n');
    assert_non_null(message);
    message->due_ns = due_ns;
    htw__report_accepted(&report, htw__message_memory(message), 0);
    htw__output_push(&output, message);
}

static void push_text(const char *text) {
    push(text, strlen(text), 0);
}

/* What a file or a pipe has got, from the beginning or since the last time. */
static const char *content_of(int fd) {
    static char text[8192];
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    ssize_t size = S_ISREG(status.st_mode) ? pread(fd, text, sizeof(text) - 1, 0)
                                           : read(fd, text, sizeof(text) - 1);
    text[size > 0 ? size : 0] = '\0';
    return text;
}

UNIT_TEST_BETWEEN(set_up, tear_down, output_writes_many_messages_with_one_call) {
    start(file, false);
    push_text("a");
    push_text("");
    push_text("bc");
    assert_int_equal(output.count, 3);
    assert_int_equal(htw__output_write(&output), 0);
    assert_string_equal(content_of(file), "a\n\nbc\n");
    assert_int_equal(writes, 1);
    assert_int_equal(report.released, 3);
    assert_true(destroyed == 3);
    assert_int_equal(report.message_bytes, 0);
    assert_int_equal(output.count, 0);
    assert_int_equal(output.bytes, 0);
    assert_int_equal(htw__output_write(&output), 0);
    assert_int_equal(writes, 1);
    push_text("d");
    assert_int_equal(htw__output_write(&output), 0);
    assert_string_equal(content_of(file), "a\n\nbc\nd\n");
}

/* Whole messages up to PIPE_BUF bytes, which poll has promised room for. */
UNIT_TEST_BETWEEN(set_up, tear_down, output_to_a_pipe_writes_whole_messages_of_pipe_buf) {
    static char bytes[2 * PIPE_BUF];
    start(ends[1], false);
    push(bytes, PIPE_BUF - 3, 0); /* with its end 2 less than all */
    push_text("a");
    push_text("b");
    push(bytes, PIPE_BUF - 1, 0);
    push(bytes, PIPE_BUF, 0);
    push_text("c");
    assert_int_equal(htw__output_write(&output), 0);
    static const size_t wanted[] = { PIPE_BUF, 2, PIPE_BUF, PIPE_BUF, 3 };
    assert_int_equal(writes, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(write_sizes[i], wanted[i]);
    assert_int_equal(report.released, 6);
    assert_int_equal(output.head_written, 0);
}

UNIT_TEST_BETWEEN(set_up, tear_down, output_to_a_full_pipe_is_blocked_without_a_write) {
    static char bytes[PIPE_BUF];
    while (write(ends[1], bytes, sizeof(bytes)) > 0)
        continue;
    start(ends[1], false);
    push_text("x");
    assert_int_equal(htw__output_write(&output), 0);
    assert_true(output.is_blocked);
    assert_int_equal(writes, 0);
    assert_int_equal(output.count, 1);
    while (read(ends[0], bytes, sizeof(bytes)) > 0)
        continue;
    assert_int_equal(htw__output_write(&output), 0);
    assert_false(output.is_blocked);
    assert_string_equal(content_of(ends[0]), "x\n");
}

/* `PLANNED REAL LATENESS`: real is when the write began. */
UNIT_TEST_BETWEEN(set_up, tear_down, output_with_timestamps_has_a_prefix) {
    start(file, true);
    push("on time", 7, 1500000000);
    push("late", 4, 0);
    push("early", 5, 2750001999);
    now_ns = 1500000000;
    assert_int_equal(htw__output_write(&output), 0);
    assert_string_equal(
        content_of(file),
        "1970-01-01T00:00:01.500000Z 1970-01-01T00:00:01.500000Z +0.000000 on time\n"
        "1970-01-01T00:00:00.000000Z 1970-01-01T00:00:01.500000Z +1.500000 late\n"
        "1970-01-01T00:00:02.750001Z 1970-01-01T00:00:01.500000Z -1.250001 early\n");
}

/* However a write is cut, the bytes are those of an uncut one. */
UNIT_TEST_BETWEEN(set_up, tear_down, output_that_is_cut_anywhere_goes_on_there) {
    static const char prefix[] =
        "1970-01-01T00:00:00.000000Z 1970-01-01T00:00:01.000000Z +1.000000 ";
    char wanted[512];
    snprintf(wanted, sizeof(wanted), "%sab\n%scd\n%sef\n", prefix, prefix, prefix);
    for (size_t most = 1; most <= strlen(wanted); most++) {
        int fresh = new_file();
        start(fresh, true);
        push_text("ab");
        push_text("cd");
        push_text("ef");
        now_ns = HTW_SECOND;
        write_most = most;
        while (output.count > 0) {
            writes = 0;
            assert_int_equal(htw__output_write(&output), 0);
        }
        assert_string_equal(content_of(fresh), wanted);
        assert_int_equal(report.released, 3);
        assert_int_equal(output.head_written, 0);
        close(fresh);
    }
}

/* A message has waited until the write that ended it has returned. */
UNIT_TEST_BETWEEN(set_up, tear_down, output_gives_its_lateness_to_the_report) {
    start(file, false);
    now_ns = 100;
    write_ns = 7;
    push("a", 1, 100);
    push("b", 1, 101); /* given to the kernel before it was due */
    push("c", 1, 90);
    assert_int_equal(htw__output_write(&output), 0);
    assert_int_equal(report.early, 1);
    assert_true(htw__histogram_min(&report.lateness_ns) == 6);
    assert_true(htw__histogram_max(&report.lateness_ns) == 17);
}
