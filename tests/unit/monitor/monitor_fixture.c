/* SPDX-License-Identifier: MIT */
/* monitor_fixture.c - a monitor in a folder of its own, and clients. */
#include "monitor_fixture.h"

#include "../../support/process.h"

#include <sys/un.h>

static unsigned descriptors_before;

/* The thread of the monitor calls these, too. */
static void *allocate(void *context, size_t size, size_t alignment) {
    struct monitor_fixture *f = context;
    if (++f->calls == f->fail_at)
        return NULL;
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory != NULL) {
        memset(memory, 0xA5, size);
        f->live++;
    }
    return memory;
}

static void release(void *context, void *memory, size_t size, size_t alignment) {
    struct monitor_fixture *f = context;
    (void)alignment;
    memset(memory, 0x5A, size);
    f->live--;
    free(memory);
}

int monitor_open(struct monitor_fixture *f) {
    struct htw_monitor_options options = HTW_MONITOR_OPTIONS_INIT;
    options.path = f->path;
    options.allocator = &f->allocator;
    return htw_monitor_open(&f->monitor, &options);
}

void monitor_close(struct monitor_fixture *f) {
    htw_monitor_close(f->monitor);
    f->monitor = NULL;
}

struct monitor_fixture monitor_fixture;

void monitor_setup(void) {
    struct monitor_fixture *f = &monitor_fixture;
    *f = (struct monitor_fixture) { 0 };
    assert_true(test_folder_create(f->folder));
    f->allocator = (struct htw_allocator) { allocate, release, f };
    snprintf(f->path, sizeof(f->path), "%.*s/socket", TEST_FOLDER_SIZE, f->folder);
    descriptors_before = entries_of("/proc/self/fd");
    assert_int_equal(monitor_open(f), 0);
}

void monitor_teardown(void) {
    struct monitor_fixture *f = &monitor_fixture;
    monitor_close(f);
    unsigned open_now = entries_of("/proc/self/fd");
    bool removed = rmdir(f->folder) == 0; /* nothing is left in it */
    if (!removed)
        test_folder_remove(f->folder);
    assert_int_equal(f->live, 0);
    assert_int_equal(open_now, descriptors_before);
    assert_true(removed);
}

int client_connect(const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_true(strlen(path) < sizeof(address.sun_path));
    strcpy(address.sun_path, path);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

void client_send(int fd, const char *text) {
    size_t size = strlen(text);
    assert_int_equal(send(fd, text, size, MSG_NOSIGNAL), size);
}

const char *client_read(int fd, size_t *ret_size) {
    static char answer[ANSWER_MAX];
    size_t size = 0;
    ssize_t more;
    while ((more = read(fd, answer + size, sizeof(answer) - 1 - size)) > 0)
        size += (size_t)more;
    assert_true(more == 0 || errno == ECONNRESET);
    answer[size] = '\0';
    if (ret_size != NULL)
        *ret_size = size;
    return answer;
}

const char *client_ask(const char *path, const char *request) {
    int fd = client_connect(path);
    client_send(fd, request);
    const char *answer = client_read(fd, NULL);
    close(fd);
    return answer;
}

void monitor_assert_says(const char *answer, const char *text, const char *file, int line) {
    if (strstr(answer, text) == NULL)
        unit_fail(file, line, "%s\nis not in\n%s", text, answer);
}
