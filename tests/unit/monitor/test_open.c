/* SPDX-License-Identifier: MIT */
/* test_open.c - where the socket of a monitor is, who may connect, and what is refused. */
#include "../../support/child.h"
#include "monitor_fixture.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>

int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);

static unsigned sleeps;

/* Nothing changes while the test waits. */
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest) {
    (void)time, (void)rest;
    sleeps++;
    return 0;
}

static int open_at(struct htw_monitor **ret_monitor, const char *path) {
    struct htw_monitor_options options = HTW_MONITOR_OPTIONS_INIT;
    options.path = path;
    return htw_monitor_open(ret_monitor, &options);
}

static mode_t mode_of(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 ? status.st_mode & 07777 : (mode_t)-1;
}

MONITOR_TEST(monitor_open_wrongly_is_refused) {
    struct htw_monitor *monitor = NULL;
    struct htw_monitor_options options = HTW_MONITOR_OPTIONS_INIT;
    char path[128];
    assert_int_equal(htw_monitor_open(NULL, NULL), -EINVAL);
    options.struct_size--;
    assert_int_equal(htw_monitor_open(&monitor, &options), -EINVAL);
    assert_string_equal(htw_invalid_member(), "struct_size");
    options.struct_size++;
    options.path = "";
    assert_int_equal(htw_monitor_open(&monitor, &options), -EINVAL);
    assert_string_equal(htw_invalid_member(), "path");
    struct htw_allocator allocator = { NULL, NULL, NULL };
    options.path = NULL;
    options.allocator = &allocator;
    assert_int_equal(htw_monitor_open(&monitor, &options), -EINVAL);
    assert_string_equal(htw_invalid_member(), "allocator");
    memset(path, 'x', sizeof(path));
    path[97] = '\0';
    assert_int_equal(open_at(&monitor, path), -ENAMETOOLONG);
    snprintf(path, sizeof(path), "%s/none/socket", f->folder);
    assert_int_equal(open_at(&monitor, path), -ENOENT);
    assert_null(monitor);
    htw_monitor_close(NULL);
    htw_monitor_remove(NULL);
    assert_null(htw_monitor_path(NULL));
}

/* holds: monitor-1 */
MONITOR_TEST(monitor_socket_is_for_its_owner_alone_whatever_the_umask) {
    static const mode_t masks[] = { 0, 022, 077, 0777 };
    for (size_t i = 0; i < COUNT_OF(masks); i++) {
        monitor_close(f);
        assert_int_equal(mode_of(f->path), (mode_t)-1);
        mode_t before = umask(masks[i]);
        int error = monitor_open(f);
        umask(before);
        if (masks[i] == 0777 && error == -EACCES)
            continue; /* its own fresh folder is closed to a user who is not root */
        assert_int_equal(error, 0);
        assert_int_equal(mode_of(f->path), 0600);
        assert_string_equal(htw_monitor_path(f->monitor), f->path);
        client_ask(f->path, "json\n");
    }
}

/* holds: monitor-7 */
MONITOR_TEST(monitor_is_the_only_one_at_a_path) {
    struct htw_monitor *second = NULL;
    assert_int_equal(open_at(&second, f->path), -EBUSY);
    monitor_close(f);
    assert_int_equal(open_at(&second, f->path), 0);
    htw_monitor_close(second);
}

/* holds: monitor-7 */
MONITOR_TEST(monitor_leaves_what_is_no_socket_alone) {
    monitor_close(f);
    assert_true(test_file_write(f->path, "mine"));
    assert_int_equal(monitor_open(f), -EEXIST);
    assert_int_equal(mode_of(f->path) & 0400, 0400);
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(symlink("/nowhere", f->path), 0);
    assert_int_equal(monitor_open(f), -EEXIST);
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(mkdir(f->path, 0700), 0);
    assert_int_equal(monitor_open(f), -EEXIST);
    assert_int_equal(rmdir(f->path), 0);
    char path[64];
    snprintf(path, sizeof(path), "%s/file", f->folder);
    assert_true(test_file_write(path, ""));
    snprintf(path, sizeof(path), "%s/file/socket", f->folder);
    struct htw_monitor *monitor = NULL;
    assert_int_equal(open_at(&monitor, path), -ENOTDIR);
    snprintf(path, sizeof(path), "%s/file", f->folder);
    unlink(path);
}

/* A socket on which no process listens any more. */
static void leave_socket(const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(address.sun_path, path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    close(fd);
}

/* holds: monitor-7 */
MONITOR_TEST(monitor_that_is_closed_leaves_the_socket_of_its_successor) {
    struct htw_monitor *second = NULL;
    assert_int_equal(unlink(f->path), 0); /* it has been removed by hand */
    assert_int_equal(open_at(&second, f->path), 0);
    monitor_close(f);
    assert_int_equal(mode_of(f->path), 0600);
    client_ask(f->path, "json\n");
    htw_monitor_close(second);
}

/* ---- the default folder: `f->folder` is XDG_RUNTIME_DIR */

static char runtime[64];

static void begin_default(struct monitor_fixture *f) {
    monitor_close(f);
    snprintf(runtime, sizeof(runtime), "%s/htw", f->folder);
    setenv("XDG_RUNTIME_DIR", f->folder, 1);
}

static void end_default(void) {
    unsetenv("XDG_RUNTIME_DIR");
    assert_int_equal(rmdir(runtime), 0);
}

MONITOR_TEST(monitor_by_default_is_named_for_its_process) {
    struct htw_monitor *monitors[3];
    char folder[64], path[96];
    begin_default(f);
    assert_int_equal(htw_monitor_folder(folder, sizeof(folder)), 0);
    assert_string_equal(folder, runtime);
    assert_int_equal(htw_monitor_folder(folder, strlen(runtime)), -ENAMETOOLONG);
    assert_int_equal(htw_monitor_folder(NULL, 0), -EINVAL);
    for (size_t i = 0; i < COUNT_OF(monitors); i++) {
        assert_int_equal(open_at(&monitors[i], NULL), 0);
        snprintf(path, sizeof(path), i == 0 ? "%s/%d.sock" : "%s/%d-%zu.sock", runtime,
                 (int)getpid(), i + 1);
        assert_string_equal(htw_monitor_path(monitors[i]), path);
        assert_int_equal(mode_of(path), 0600);
    }
    assert_int_equal(mode_of(runtime), 0700);
    for (size_t i = 0; i < COUNT_OF(monitors); i++)
        htw_monitor_close(monitors[i]);
    end_default();
}

MONITOR_TEST(monitor_without_a_runtime_folder_uses_one_in_tmp) {
    const char *const values[] = { "", "relative", "/nowhere/at/all", f->path /* no folder */ };
    char folder[64], expected[64];
    snprintf(expected, sizeof(expected), "/tmp/htw-%lu", (unsigned long)geteuid());
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        setenv("XDG_RUNTIME_DIR", values[i], 1);
        assert_int_equal(htw_monitor_folder(folder, sizeof(folder)), 0);
        assert_string_equal(folder, expected);
    }
    unsetenv("XDG_RUNTIME_DIR");
}

/* holds: monitor-1 */
MONITOR_TEST(monitor_refuses_a_folder_that_lets_others_in) {
    struct htw_monitor *monitor = NULL;
    begin_default(f);
    assert_int_equal(mkdir(runtime, 0700), 0);
    assert_int_equal(chmod(runtime, 0770), 0);
    assert_int_equal(open_at(&monitor, NULL), -EACCES);
    if (geteuid() == 0) {
        assert_int_equal(chmod(runtime, 0700), 0);
        assert_int_equal(chown(runtime, 65534, (gid_t)-1), 0);
        assert_int_equal(open_at(&monitor, NULL), -EACCES);
    }
    assert_int_equal(rmdir(runtime), 0);
    assert_int_equal(symlink(f->folder, runtime), 0); /* though that one is private */
    assert_int_equal(open_at(&monitor, NULL), -EACCES);
    assert_int_equal(unlink(runtime), 0);
    assert_int_equal(mkdir(runtime, 0700), 0);
    end_default();
}

/* Any user may hold a lock on a folder that it may read, such as /tmp. */
/* The socket of a process that has died is there. */
/* holds: monitor-7, monitor-7a */
MONITOR_TEST(monitor_opens_at_once_in_a_folder_that_others_have_locked) {
    monitor_close(f);
    leave_socket(f->path);
    int folder = open(f->folder, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(folder, LOCK_EX), 0);
    sleeps = 0;
    assert_int_equal(monitor_open(f), 0);
    assert_int_equal(sleeps, 0);
    client_ask(f->path, "json\n");
    close(folder);
}

/* Two that open one path at once: one puts its socket there when it has the lock. */
/* holds: monitor-7 */
MONITOR_TEST(monitor_waits_a_while_for_another_one_that_opens_the_same_path) {
    char lock[sizeof(f->path) + 8];
    monitor_close(f);
    snprintf(lock, sizeof(lock), "%s.lock", f->path);
    int other = open(lock, O_RDONLY | O_CREAT, 0600);
    assert_int_equal(flock(other, LOCK_EX), 0);
    sleeps = 0;
    assert_int_equal(monitor_open(f), -EBUSY);
    assert_true(sleeps > 0);
    assert_int_equal(mode_of(lock), 0600);
    close(other); /* it was killed */
    assert_int_equal(monitor_open(f), 0);
    assert_int_equal(mode_of(lock), (mode_t)-1);
}

/* holds: monitor-7a */
MONITOR_TEST(monitor_refuses_a_lock_that_others_may_have) {
    char lock[sizeof(f->path) + 8];
    monitor_close(f);
    snprintf(lock, sizeof(lock), "%s.lock", f->path);
    int fd = open(lock, O_RDONLY | O_CREAT, 0600);
    assert_int_equal(fchmod(fd, 0666), 0);
    assert_int_equal(monitor_open(f), -EACCES);
    assert_int_equal(unlink(lock), 0);
    close(fd);
    assert_int_equal(symlink(f->folder, lock), 0);
    assert_int_equal(monitor_open(f), -EACCES);
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(mkdir(lock, 0700), 0);
    assert_int_equal(monitor_open(f), -EACCES);
    assert_int_equal(rmdir(lock), 0);
}

/* The process id of a process that has ended. */
static int dead_process(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    child_end(child);
    return (int)child;
}

/* holds: monitor-7, monitor-7a */
MONITOR_TEST(monitor_removes_the_sockets_of_the_dead_and_nothing_else) {
    static const char *const kept[] = { "1.sock", "name.sock", "77.sock.old", "12x.sock" };
    struct htw_monitor *monitor = NULL;
    char path[96], dead[96], killed[96];
    begin_default(f);
    assert_int_equal(mkdir(runtime, 0700), 0);
    for (size_t i = 0; i < COUNT_OF(kept); i++) {
        snprintf(path, sizeof(path), "%s/%s", runtime, kept[i]);
        leave_socket(path);
    }
    snprintf(dead, sizeof(dead), "%s/%d-2.sock", runtime, dead_process());
    leave_socket(dead);
    snprintf(killed, sizeof(killed), "%s/%d.sock.lock", runtime,
             dead_process()); /* while it opened */
    close(open(killed, O_RDONLY | O_CREAT, 0600));
    assert_int_equal(open_at(&monitor, NULL), 0);
    assert_int_equal(mode_of(dead), (mode_t)-1);
    assert_int_equal(mode_of(killed), (mode_t)-1);
    for (size_t i = 0; i < COUNT_OF(kept); i++) {
        snprintf(path, sizeof(path), "%s/%s", runtime, kept[i]);
        assert_int_equal(unlink(path), 0);
    }
    htw_monitor_close(monitor);
    end_default();
}

/* holds: monitor-1 */
MONITOR_TEST(monitor_refuses_clients_of_other_users) {
    if (geteuid() != 0)
        skip();
    /* Even one whom the mode would let in. */
    assert_int_equal(chmod(f->path, 0666), 0);
    assert_int_equal(chmod(f->folder, 0755), 0);
    pid_t child = fork();
    if (child == 0) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        char answer[64];
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        strcpy(address.sun_path, f->path);
        if (setuid(65534) != 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
            _exit(1);
        (void)!send(fd, "json\n", 5, MSG_NOSIGNAL);
        _exit(read(fd, answer, sizeof(answer)) > 0 ? 2 : 0);
    }
    assert_int_equal(child_end(child), 0);
}
