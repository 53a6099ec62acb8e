/* SPDX-License-Identifier: MIT */
/* system_linux.c - what base asks of a system: the form of Linux. */
#include "system.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

bool htw__system_open_pipe(int fds[2]) {
    return pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0;
}

long htw__system_write(int fd, const void *from, size_t size) {
    return syscall(SYS_write, fd, from, size);
}

bool htw__system_random(void *to, size_t size) {
    return getrandom(to, size, GRND_NONBLOCK) == (ssize_t)size;
}

/* Linux allows 15 characters. The name of the owner is cut where they do not suffice. */
void htw__system_name_thread(pthread_t thread, const char *owner, const char *role,
                             unsigned index) {
    char name[64];
    size_t room = 15 - (size_t)snprintf(name, sizeof(name), "-%s-%u", role, index);
    snprintf(name, sizeof(name), "%.*s-%s-%u", (int)room, owner, role, index);
    pthread_setname_np(thread, name);
}

void htw__system_name_code(void *address, const char **ret_symbol, const char **ret_file) {
    Dl_info info = { 0 };
    bool is_known = dladdr(address, &info) != 0;
    *ret_symbol = is_known && info.dli_sname != NULL ? info.dli_sname : "";
    *ret_file = is_known && info.dli_fname != NULL ? info.dli_fname : "";
}
