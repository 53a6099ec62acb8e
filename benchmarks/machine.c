/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <gnu/libc-version.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* What stands between `start` and `end` in the first line of a file that has both. */
static void find(const char *path, const char *start, const char *end, char *ret_text,
                 size_t size) {
    snprintf(ret_text, size, "unknown");
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return;
    char line[512];
    while (fgets(line, sizeof(line), file) != NULL) {
        char *from = strstr(line, start);
        if (from == NULL)
            continue;
        from += strlen(start);
        snprintf(ret_text, size, "%.*s", (int)strcspn(from, end), from);
        break;
    }
    fclose(file);
}

void machine_init(struct machine *machine) {
    find("/proc/cpuinfo", "model name\t: ", "\n", machine->cpu, sizeof(machine->cpu));
    find("/sys/kernel/mm/transparent_hugepage/enabled", "[", "]", machine->huge_pages,
         sizeof(machine->huge_pages));
    machine->cores = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t allowed;
    machine->is_pinned =
        sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) == 1;
    struct utsname names;
    uname(&names);
    snprintf(machine->kernel, sizeof(machine->kernel), "%.40s %.80s", names.sysname, names.release);
    machine->compiler = COMPILER;
    machine->flags = BENCH_FLAGS;
    snprintf(machine->allocator, sizeof(machine->allocator), "glibc %.32s", gnu_get_libc_version());
}
