/* SPDX-License-Identifier: MIT */
/* user_code.c - ends the process where code of the user does not return, or returns in a child. */
#include "user_code.h"

#include "assert.h"
#include "../port/system.h"

#include <stdio.h>
#include <stdlib.h>

/* "" for what is not known. */
static struct htw__code name(void *address) {
    struct htw__code code = { 0 };
    htw__system_find_code(NULL, (uintptr_t)address, &code);
    code.file = code.file != NULL ? code.file : "";
    code.symbol = code.symbol != NULL ? code.symbol : "";
    return code;
}

_Noreturn void htw__user_code_left(const char *what, void *address) {
    struct htw__code code = name(address);
    htw__fatal("%s has thrown an exception or ended its thread, and must return: %s %p %s", what,
               code.symbol, address, code.file);
}

/* Not to the function of the program: in a child it could wait for a lock of a thread that is not there. */
_Noreturn void htw__user_code_forked(const char *what, void *address) {
    struct htw__code code = name(address);
    fprintf(stderr,
            "htw: a child that was forked in %s has returned from it, and ends; it must call exec "
            "or _exit(): %s %p %s\n",
            what, code.symbol, address, code.file);
    _Exit(EXIT_FAILURE);
}
