/* SPDX-License-Identifier: MIT */
/* user_code.c - ends the process where code of the user does not return, or returns in a child. */
#include "user_code.h"

#include "../port/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

_Noreturn void htw__user_code_left(const char *what, void *address) {
    const char *symbol, *file;
    htw__system_name_code(address, &symbol, &file);
    fprintf(stderr,
            "htw: %s has thrown an exception or ended its thread, and must return: %s %p %s\n",
            what, symbol, address, file);
    abort();
}

_Noreturn void htw__user_code_forked(const char *what, void *address) {
    const char *symbol, *file;
    htw__system_name_code(address, &symbol, &file);
    fprintf(stderr,
            "htw: a child that was forked in %s has returned from it, and ends; it must call exec "
            "or _exit(): %s %p %s\n",
            what, symbol, address, file);
    _exit(EXIT_FAILURE);
}
