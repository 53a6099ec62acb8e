/* SPDX-License-Identifier: MIT */
/* machine.h - what a reader must know of the machine and the build to judge the figures. */
#ifndef HTW_BENCH_MACHINE_H
#define HTW_BENCH_MACHINE_H

#include <stdbool.h>

struct machine {
    char cpu[128];
    long cores;
    bool is_pinned; /* to one core, so that no measurement is moved to another */
    char kernel[128];
    char huge_pages[32]; /* always, madvise or never */
    const char *compiler;
    const char *flags;
    char allocator[64];
};

void machine_init(struct machine *machine);

#endif /* HTW_BENCH_MACHINE_H */
