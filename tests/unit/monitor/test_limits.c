/* SPDX-License-Identifier: MIT */
/* test_limits.c - the process may have no more descriptors than before, or fewer than it has. */
#include "../../support/process.h"
#include "monitor_fixture.h"

#include <errno.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static sem_t is_refused;

int __real_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags) {
    int result = __real_accept4(fd, address, size, flags);
    if (result < 0 && errno == EMFILE) {
        sem_post(&is_refused);
        errno = EMFILE;
    }
    return result;
}

/* A client that asks, and for which the monitor gets no descriptor. Returns the limit before. */
static rlim_t begin(struct monitor_fixture *f, rlim_t most, int *ret_client) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    sem_init(&is_refused, 0, 0);
    *ret_client = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(address.sun_path, f->path);
    rlim_t before = limit_descriptors(most);
    assert_int_equal(connect(*ret_client, (struct sockaddr *)&address, sizeof(address)), 0);
    client_send(*ret_client, "json\n");
    sem_wait(&is_refused);
    return before;
}

/* holds: monitor-5a */
MONITOR_TEST(monitor_closes_whatever_the_limit_of_descriptors_is) {
    for (rlim_t most = 0; most < 3; most++) {
        int client;
        rlim_t before = begin(f, most, &client);
        monitor_close(f);
        limit_descriptors(before);
        assert_string_equal(client_read(client, NULL), "");
        close(client);
        assert_int_equal(monitor_open(f), 0);
    }
}

/* holds: monitor-5a */
MONITOR_TEST(monitor_without_a_descriptor_for_a_client_answers_it_later) {
    int client;
    rlim_t before = begin(f, 0, &client);
    sem_wait(&is_refused); /* it tries again */
    limit_descriptors(before);
    assert_memory_equal(client_read(client, NULL), "{\"htw\":", 7);
    close(client);
}
