/* SPDX-License-Identifier: MIT */
/* symbol.c - code by name: the symbol and the file of an address. */
#include "symbol.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#ifndef HTW_PORTABLE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sys/auxv.h>
#endif

#ifndef HTW_PORTABLE
/* What the loader calls the program is its first argument, which may be anything. */
static bool is_of_program(const Dl_info *info) {
    Dl_info program;
    const void *headers = (const void *)getauxval(AT_PHDR);
    return dladdr(headers, &program) != 0 && program.dli_fbase == info->dli_fbase;
}

static bool copy_file(const struct htw__safe_copy *copy, const Dl_info *info, char *file,
                      size_t size) {
    if (!is_of_program(info))
        return htw__safe_copy_text(copy, file, size, info->dli_fname);
    snprintf(file, size, "%s", program_invocation_short_name);
    return true;
}

/* The number by which the tools know the address: in a program that is not relocated, itself. */
static uintptr_t number_of(const struct htw__safe_copy *copy, const Dl_info *info,
                           uintptr_t address) {
    ElfW(Ehdr) header;
    bool is_relocated =
        !htw__safe_copy(copy, &header, info->dli_fbase, sizeof(header)) || header.e_type != ET_EXEC;
    return is_relocated ? address - (uintptr_t)info->dli_fbase : address;
}

/* Names come from files, and go to a terminal: no byte of them may change it. */
static void make_visible(char *text) {
    for (; *text != 0; text++)
        if (*text <= ' ' || *text >= 0x7f)
            *text = '?';
}

/* Leaves `text` alone where nothing is known. */
static void find(const struct htw__safe_copy *copy, uintptr_t address, char text[HTW__SYMBOL_MAX]) {
    Dl_info info;
    char symbol[128], file[HTW__SAFE_COPY_MAX], offset_text[24] = "";
    if (dladdr((const void *)address, &info) == 0 || !copy_file(copy, &info, file, sizeof(file)))
        return;
    const char *slash = strrchr(file, '/');
    const char *name = slash != NULL ? slash + 1 : file;
    uintptr_t number = number_of(copy, &info, address);
    uintptr_t offset = address - (uintptr_t)info.dli_saddr;
    make_visible(file);
    if (!htw__safe_copy_text(copy, symbol, sizeof(symbol), info.dli_sname)) {
        snprintf(text, HTW__SYMBOL_MAX, "%.100s+0x%" PRIxPTR, name, number);
        return;
    }
    make_visible(symbol);
    if (offset != 0)
        snprintf(offset_text, sizeof(offset_text), "+0x%" PRIxPTR, offset);
    snprintf(text, HTW__SYMBOL_MAX, "%s%s (%.100s+0x%" PRIxPTR ")", symbol, offset_text, name,
             number);
}
#endif

const char *htw__symbol_text(const struct htw__safe_copy *copy, uintptr_t address,
                             char text[HTW__SYMBOL_MAX]) {
    snprintf(text, HTW__SYMBOL_MAX, "0x%" PRIxPTR, address);
#ifndef HTW_PORTABLE
    find(copy, address, text);
#else
    (void)copy;
#endif
    return text;
}
