/* SPDX-License-Identifier: MIT */
/* test_fork.c - a child has no monitor, and leaves that of its parent alone. */
#include "../../support/child.h"
#include "../../support/process.h"
#include "monitor_fixture.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/stat.h>

/* qemu 7.2 may abort in the child of a process with threads, and has descriptors of its own. */
static void skip_in_emulator(void) {
#ifdef EMULATED
    skip();
#endif
}

/* In the child nothing can be asserted: the number of the first thing that does not hold. */
static int look_in_child(struct monitor_fixture *f, struct htw_monitor_source *source,
                         struct htw_wheel *wheel, struct htw_scheduler *scheduler,
                         unsigned descriptors) {
    struct htw_monitor_source *other = NULL;
    if (htw_monitor_add_scheduler(f->monitor, "x", scheduler, NULL) != -EOWNERDEAD)
        return 1;
    if (htw_monitor_add_wheel(f->monitor, "x", wheel, 0, &other) != -EOWNERDEAD)
        return 2;
    htw_monitor_lend(source);
    htw_monitor_take_back(source);
    htw_monitor_remove(source);
    htw_monitor_close(f->monitor);
    if (entries_of("/proc/self/fd") != descriptors) /* those of the monitor are closed */
        return 3;
    if (access(f->path, F_OK) != 0)
        return 4;
        /* It may have one of its own; ThreadSanitizer lets a child have no thread. */
#ifndef __SANITIZE_THREAD__
    strcat(f->path, "2");
    if (monitor_open(f) != 0 || strncmp(client_ask(f->path, "json\n"), "{\"htw", 5) != 0)
        return 5;
    monitor_close(f);
    if (access(f->path, F_OK) == 0)
        return 6;
#endif
    return 0;
}

/* holds: monitor-6 */
MONITOR_TEST(monitor_in_a_child_does_nothing_and_the_parent_goes_on) {
    skip_in_emulator();
    struct htw_scheduler *scheduler;
    struct htw_wheel *wheel;
    struct htw_monitor_source *source;
    assert_int_equal(htw_wheel_create(&wheel, NULL), 0);
    assert_int_equal(htw_scheduler_create(&scheduler, NULL), 0);
    assert_int_equal(htw_monitor_add_wheel(f->monitor, "w", wheel, 0, &source), 0);
    int client = client_connect(f->path);
    client_ask(f->path, "json\n"); /* the thread has accepted the first one, too */
    unsigned descriptors = entries_of("/proc/self/fd");
    pid_t child = fork();
    if (child == 0) /* the listener and the accepted client are closed */
        _exit(look_in_child(f, source, wheel, scheduler, descriptors - 2));
    assert_int_equal(child_end(child), 0);
    client_send(client, "json\n");
    assert_memory_equal(client_read(client, NULL), "{\"htw", 5);
    close(client);
    htw_monitor_remove(source);
    htw_scheduler_destroy(scheduler);
    htw_wheel_destroy(wheel);
}

/* A child that lives on does not keep the socket alive: clients are refused when the parent is gone. The
   child closes its copy of the listener before fork() returns in it, for which the parent waits. */
/* holds: monitor-6 */
MONITOR_TEST(monitor_of_a_parent_that_has_died_is_dead) {
    int fds[2], began[2];
    char byte = 0;
    monitor_close(f);
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(pipe(began), 0);
    pid_t parent = fork();
    if (parent == 0) {
        if (monitor_open(f) != 0)
            _exit(1);
        if (fork() == 0) { /* until the test ends */
            close(fds[1]);
            if (write(began[1], &byte, 1) != 1)
                _exit(2);
            _exit((int)read(fds[0], &byte, 1));
        }
        _exit(read(began[0], &byte, 1) == 1 ? 0 : 3); /* without closing the monitor */
    }
    close(began[0]);
    close(began[1]);
    assert_int_equal(child_end(parent), 0);
    assert_int_equal(access(f->path, F_OK), 0);
    assert_int_equal(monitor_open(f), 0); /* and takes its place */
    close(fds[0]);
    close(fds[1]);
}

/* ---- a fork while a monitor is opened: this thread opens it, another one forks */

static bool forks_now;
static pthread_t forker;
static sem_t has_forked_or_waits;
static _Thread_local bool is_forker;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
    if (is_forker) {
        if (pthread_mutex_trylock(mutex) == 0)
            return 0;
        sem_post(&has_forked_or_waits);
    }
    return __real_pthread_mutex_lock(mutex);
}

static int count_sockets(void) {
    int sockets = 0;
    for (int i = 3; i < 64; i++) {
        struct stat status;
        sockets += fstat(i, &status) == 0 && S_ISSOCK(status.st_mode);
    }
    return sockets;
}

static void *fork_now(void *arg) {
    is_forker = true;
    pid_t child = fork();
    if (child == 0)
        _exit(count_sockets());
    is_forker = false;
    sem_post(&has_forked_or_waits);
    (void)arg;
    return (void *)(intptr_t)child_end(child);
}

int __real_listen(int fd, int backlog);
int __wrap_listen(int fd, int backlog);

/* The socket is there. */
int __wrap_listen(int fd, int backlog) {
    if (forks_now) {
        forks_now = false;
        if (pthread_create(&forker, NULL, fork_now, NULL) == 0)
            sem_wait(&has_forked_or_waits);
    }
    return __real_listen(fd, backlog);
}

MONITOR_TEST(monitor_is_not_seen_half_open_by_a_child) {
    void *result;
    skip_in_emulator();
    monitor_close(f);
    sem_init(&has_forked_or_waits, 0, 0);
    forks_now = true;
    assert_int_equal(monitor_open(f), 0);
    assert_false(forks_now);
    pthread_join(forker, &result);
    assert_null(result);
}
