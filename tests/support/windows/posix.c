/* SPDX-License-Identifier: MIT */
/* posix.c - what the tests use of POSIX, by the functions of Windows. */
#undef fclose
#include "poll.h"
#include "sys/mman.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <windows.h>

/* ---- open_memstream() */

static struct {
    FILE *stream;
    char **text;
    size_t *size;
} pending; /* what open_memstream() has returned */

FILE *open_memstream(char **ret_text, size_t *ret_size) {
    if (pending.stream != NULL)
        abort();
    pending.stream = tmpfile();
    pending.text = ret_text;
    pending.size = ret_size;
    return pending.stream;
}

static void read_all(void) {
    size_t size = (size_t)ftell(pending.stream);
    char *text = malloc(size + 1);
    rewind(pending.stream);
    if (text == NULL || fread(text, 1, size, pending.stream) != size)
        abort();
    text[size] = '\0';
    *pending.text = text;
    *pending.size = size;
    pending.stream = NULL;
}

int windows_fclose(FILE *stream) {
    if (stream == pending.stream)
        read_all();
    return fclose(stream);
}

/* ---- handles and pages */

int poll(struct pollfd *fds, unsigned long count, int timeout_ms) {
    if (count != 1)
        abort();
    DWORD limit_ms = timeout_ms < 0 ? INFINITE : (DWORD)timeout_ms;
    bool is_ready = WaitForSingleObject((HANDLE)(intptr_t)fds->fd, limit_ms) == WAIT_OBJECT_0;
    fds->revents = is_ready ? fds->events : 0;
    return is_ready;
}

long sysconf(int name) {
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    return name == _SC_PAGESIZE ? (long)system.dwPageSize : -1;
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, long offset) {
    (void)protection, (void)flags, (void)fd, (void)offset;
    return VirtualAlloc(address, size, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
}

int mprotect(void *memory, size_t size, int protection) {
    DWORD before, after = protection == PROT_NONE ? PAGE_NOACCESS : PAGE_READWRITE;
    return VirtualProtect(memory, size, after, &before) ? 0 : -1;
}

int munmap(void *memory, size_t size) {
    (void)size;
    return VirtualFree(memory, 0, MEM_RELEASE) ? 0 : -1;
}
