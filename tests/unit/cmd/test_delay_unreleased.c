/* SPDX-License-Identifier: MIT */
/*
 * test_delay_unreleased.c - what a run that ends before its time has not released. fwrite() and what
 * frees a message are replaced (-Wl,--wrap), so that writes fail on demand.
 */
#include "../../../programs/delay/unreleased.h"

#include "capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

static struct htw__output output;
static struct htw__report report;
static struct htw__timeline timeline;
static struct htw__input input;
static struct htw__unreleased unreleased;
static struct htw_wheel *wheel;
static char folder[32];
static char target[64];
static char input_name[64];
static char *const names[] = { input_name };

static int writes; /* after so many, one fails; negative: none */

size_t __real_fwrite(const void *bytes, size_t size, size_t count, FILE *stream);
size_t __wrap_fwrite(const void *bytes, size_t size, size_t count, FILE *stream);
size_t __wrap_fwrite(const void *bytes, size_t size, size_t count, FILE *stream) {
    if (writes-- != 0)
        return __real_fwrite(bytes, size, count, stream);
    errno = ENOSPC;
    return __real_fwrite(bytes, size, count / 2, stream);
}

static int destroyed;

void __real_htw__message_destroy(struct htw__message *message);
void __wrap_htw__message_destroy(struct htw__message *message);
void __wrap_htw__message_destroy(struct htw__message *message) {
    destroyed++;
    __real_htw__message_destroy(message);
}

static int open_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void set_up(void) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    snprintf(folder, sizeof(folder), "/tmp/htw-left-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(target, sizeof(target), "%s/target", folder);
    assert_int_equal(setenv("TMPDIR", folder, 1), 0);
    options.strict_fifo = true;
    assert_int_equal(htw_wheel_create(&wheel, &options), 0);
    htw__timeline_init(&timeline, 1, true);
    htw__report_init(&report);
    htw__output_init(&output, STDOUT_FILENO, false, &timeline, &report);
    writes = -1;
    unreleased = (struct htw__unreleased) { .input = &input };
}

static void tear_down(void) {
    char command[64];
    htw__unreleased_fini(&unreleased);
    htw__input_fini(&input);
    htw_wheel_destroy(wheel);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* The input's content, of which the first bytes were read. */
static void begin_input(const char *content, size_t read_size) {
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    snprintf(input_name, sizeof(input_name), "/proc/self/fd/%d", fds[0]);
    assert_int_equal(htw__input_init(&input, names, 1, '\n', 1000), 0);
    htw__input_advance(&input);
    close(fds[0]);
    assert_int_equal(write(fds[1], content, read_size), read_size);
    if (read_size > 0)
        assert_int_equal(htw__input_read(&input), 0);
    close(fds[1]);
}

/* Then the rest is never read. */
static void begin_input_ended(const char *content) {
    begin_input(content, strlen(content));
    assert_int_equal(htw__input_read(&input), 0);
    assert_int_equal(htw__input_fd(&input), -1);
}

static struct htw__message *message_of(const char *text, int64_t due_ns) {
    struct htw__message *message = htw__message_create(text, strlen(text), '\n');
    assert_non_null(message);
    message->due_ns = due_ns;
    return message;
}

static void schedule(const char *text, int64_t due_ns, int64_t instant_ns) {
    struct htw__message *message = message_of(text, due_ns);
    message->instant_ns = instant_ns;
    assert_int_equal(htw_wheel_schedule(wheel, &message->in.timer, (uint64_t)due_ns), 0);
}

static const char *content_of(const char *path) {
    static char text[8192];
    FILE *stream = fopen(path, "r");
    if (stream == NULL)
        return "nothing there";
    text[fread(text, 1, sizeof(text) - 1, stream)] = '\0';
    fclose(stream);
    return text;
}

static void assert_saved(const char *wanted, uint64_t count) {
    struct htw__saved saved = htw__unreleased_save(&unreleased, target);
    assert_int_equal(saved.error, 0);
    assert_true(unreleased.count == count);
    assert_null(saved.path);
    assert_string_equal(content_of(target), wanted);
}

UNIT_TEST_BETWEEN(set_up, tear_down, unreleased_is_in_order_of_time_then_the_input) {
    const int64_t s = HTW_SECOND;
    begin_input_ended("7 i\nbad\n\n@9 j");
    schedule("far", INT64_MAX - 1, INT64_MAX);
    schedule("b", 3 * s, INT64_MAX);
    schedule("a", 2 * s + 500000001, INT64_MAX);
    schedule("c", 3 * s, 5 * s + 1);
    schedule("d", 4 * s, -1);
    htw__output_push(&output, message_of("due", 1));
    htw__output_push(&output, message_of("now", 2 * s));
    unreleased.now_ns = 2 * s;
    htw__unreleased_collect(&unreleased, &output, wheel);
    assert_true(unreleased.count == 11);
    assert_true(unreleased.fragment_line == 0);
    assert_int_equal(output.count, 0);
    assert_int_equal(htw_wheel_count(wheel), 0);
    destroyed = 0;
    assert_saved("0.000000000 due\n"
                 "0.000000000 now\n"
                 "0.500000001 a\n"
                 "1.000000000 b\n"
                 "@5.000000001 c\n"
                 "@0.000000000 d\n"
                 "9223372034.854775806 far\n"
                 "7 i\nbad\n\n@9 j\n",
                 11);
    htw__unreleased_fini(&unreleased);
    assert_int_equal(destroyed, 7);
    assert_null(unreleased.messages);
}

UNIT_TEST_BETWEEN(set_up, tear_down, unreleased_of_input_stays_as_it_came) {
    begin_input_ended("7 i\nbad\n\n@9 j");
    unreleased.now_ns = 2 * HTW_SECOND;
    htw__unreleased_collect(&unreleased, &output, wheel);
    assert_true(unreleased.count == 4);
    assert_saved("7 i\nbad\n\n@9 j\n", 4);
}

UNIT_TEST_BETWEEN(set_up, tear_down, unreleased_from_start_has_the_delays_that_remain) {
    begin_input_ended("7 i\n1 late\nbad x\n@9 j\n3\n");
    unreleased.now_ns = 2 * HTW_SECOND;
    unreleased.from_start = true;
    htw__unreleased_collect(&unreleased, &output, wheel);
    assert_true(unreleased.count == 5);
    assert_saved("5.000000000 i\n0.000000000 late\nbad x\n@9 j\n1.000000000 \n", 5);
}

#define RECORDS "7 one\n8 two\n9 three\n"

/* holds: delay-3 */
UNIT_TEST_BETWEEN(set_up, tear_down, unreleased_that_fills_the_disk_is_kept_elsewhere) {
    begin_input_ended(RECORDS);
    htw__unreleased_collect(&unreleased, &output, wheel);
    int descriptors = open_descriptors();
    for (int failing = 0; failing < 6; failing++) { /* a record is two */
        writes = failing;
        struct htw__saved saved = htw__unreleased_save(&unreleased, target);
        assert_int_equal(saved.error, -ENOSPC);
        assert_string_equal(content_of(target), "nothing there");
        assert_non_null(strstr(saved.path, "/htw-delay-unreleased."));
        assert_string_equal(content_of(saved.path), RECORDS);
        unlink(saved.path);
        free(saved.path);
        assert_int_equal(open_descriptors(), descriptors);
    }
}
