/* SPDX-License-Identifier: MIT */
/* system_linux.c - what Linux has its own way for: see system.h. */
#include "system.h"

#ifndef HTW_PORTABLE
#include "../base/assert.h"
#include "../base/compiler.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <sys/auxv.h>
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

/* What the loader calls the program is its first argument, which may be anything. */
static bool is_of_program(const Dl_info *info) {
    Dl_info program;
    const void *headers = (const void *)getauxval(AT_PHDR);
    return dladdr(headers, &program) != 0 && program.dli_fbase == info->dli_fbase;
}

/* In a program that is not relocated, the address itself. */
static uintptr_t number_of(const htw__system_reader *reader, const Dl_info *info,
                           uintptr_t address) {
    ElfW(Ehdr) header;
    bool is_relocated = !htw__system_copy(reader, &header, info->dli_fbase, sizeof(header)) ||
                        header.e_type != ET_EXEC;
    return is_relocated ? address - (uintptr_t)info->dli_fbase : address;
}

bool htw__system_find_code(const htw__system_reader *reader, uintptr_t address,
                           struct htw__code *ret_code) {
    Dl_info info;
    if (dladdr((const void *)address, &info) == 0)
        return false;
    ret_code->file = is_of_program(&info) ? program_invocation_short_name : info.dli_fname;
    ret_code->symbol = info.dli_sname;
    ret_code->symbol_address = (uintptr_t)info.dli_saddr;
    if (reader != NULL)
        ret_code->number = number_of(reader, &info, address);
    return true;
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
#endif
