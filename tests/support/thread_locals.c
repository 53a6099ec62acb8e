/* SPDX-License-Identifier: MIT */
/* thread_locals.c - finds the block by the headers of the program. */
#include "thread_locals.h"

#include <link.h>
#include <string.h>

static struct {
    void *block;
    const void *initial;
    size_t initial_size, size;
} locals;

static int find(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size, (void)context;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS) {
            locals.block = info->dlpi_tls_data;
            locals.initial = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
            locals.initial_size = info->dlpi_phdr[i].p_filesz;
            locals.size = info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the program itself comes first */
}

size_t thread_locals_size(void) {
    if (locals.block == NULL)
        dl_iterate_phdr(find, NULL);
    return locals.size;
}

void thread_locals_init(void *copy) {
    memcpy(copy, locals.initial, locals.initial_size);
    memset((char *)copy + locals.initial_size, 0, locals.size - locals.initial_size);
}

void thread_locals_save(void *copy) {
    memcpy(copy, locals.block, locals.size);
}

void thread_locals_load(const void *copy) {
    memcpy(locals.block, copy, locals.size);
}
