/* SPDX-License-Identifier: MIT */
/* user_code.c - ends the process where code of the user does not return, or returns in a child. */
#include "user_code.h"

#ifndef HTW_PORTABLE
#include <dlfcn.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The symbol and the file of code, as far as they are known. */
static void name_of(void *address, const char **ret_symbol, const char **ret_file) {
    *ret_symbol = *ret_file = "";
#ifndef HTW_PORTABLE
    Dl_info info;
    if (dladdr(address, &info) == 0)
        return;
    if (info.dli_sname != NULL)
        *ret_symbol = info.dli_sname;
    if (info.dli_fname != NULL)
        *ret_file = info.dli_fname;
#else
    (void)address;
#endif
}

_Noreturn void htw__user_code_left(const char *what, void *address) {
    const char *symbol, *file;
    name_of(address, &symbol, &file);
    fprintf(stderr,
            "htw: %s has thrown an exception or ended its thread, and must return: %s %p %s\n",
            what, symbol, address, file);
    abort();
}

_Noreturn void htw__user_code_forked(const char *what, void *address) {
    const char *symbol, *file;
    name_of(address, &symbol, &file);
    fprintf(stderr,
            "htw: a child that was forked in %s has returned from it, and ends; it must call exec "
            "or _exit(): %s %p %s\n",
            what, symbol, address, file);
    _exit(EXIT_FAILURE);
}
