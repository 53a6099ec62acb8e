/* SPDX-License-Identifier: MIT */
/* system_linux.c - what base asks of a system: the form of Linux. */
#include "system.h"

#include "../base/assert.h"
#include "../base/compiler.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <execinfo.h>
#endif

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

/* Not inline, so that the first frame is in this function. */
HTW__NOINLINE uint32_t htw__system_capture_stack(const void **frames, uint32_t max, uint32_t skip) {
#ifdef __GLIBC__
    void *all[64];
    uint32_t own = skip + 1;
    HTW_ASSERT(own + max <= sizeof(all) / sizeof(all[0]));
    int count = backtrace(all, (int)(own + max));
    for (uint32_t i = own; (int)i < count; i++)
        frames[i - own] = all[i];
    return count > (int)own ? (uint32_t)count - own : 0;
#else
    (void)frames, (void)max, (void)skip;
    return 0;
#endif
}
