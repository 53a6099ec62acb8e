/* SPDX-License-Identifier: MIT */
/* symbol.c - code by name: the symbol and the file of an address. */
#include "symbol.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Names come from files, and go to a terminal: no byte of them may change it. */
static void make_visible(char *text) {
    for (; *text != 0; text++)
        if (*text <= ' ' || *text >= 0x7f)
            *text = '?';
}

const char *htw__symbol_text(const struct htw__safe_copy *copy, uintptr_t address,
                             char text[HTW__SYMBOL_MAX]) {
    struct htw__code code;
    char symbol[128], file[HTW__SYSTEM_COPY_MAX], offset_text[24] = "";
    snprintf(text, HTW__SYMBOL_MAX, "0x%" PRIxPTR, address);
    if (!htw__system_find_code(&copy->reader, address, &code) ||
        !htw__safe_copy_text(copy, file, sizeof(file), code.file))
        return text;
    const char *slash = strrchr(file, '/');
    const char *name = slash != NULL ? slash + 1 : file;
    uintptr_t offset = address - code.symbol_address;
    make_visible(file);
    if (!htw__safe_copy_text(copy, symbol, sizeof(symbol), code.symbol)) {
        snprintf(text, HTW__SYMBOL_MAX, "%.100s+0x%" PRIxPTR, name, code.number);
        return text;
    }
    make_visible(symbol);
    if (offset != 0)
        snprintf(offset_text, sizeof(offset_text), "+0x%" PRIxPTR, offset);
    snprintf(text, HTW__SYMBOL_MAX, "%s%s (%.100s+0x%" PRIxPTR ")", symbol, offset_text, name,
             code.number);
    return text;
}
