/* SPDX-License-Identifier: MIT */
/* origin.c - where a timer was armed, and what it calls. */
#include "origin.h"

#include "../observe/symbol.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Without the file, if there is a symbol. */
static void find_symbol(uintptr_t code, char *symbol, size_t size) {
    struct htw__safe_copy copy;
    char text[HTW__SYMBOL_MAX];
    if (code == 0)
        return;
    htw__safe_copy_init(&copy);
    htw__symbol_text(&copy, code, text);
    htw__safe_copy_fini(&copy);
    text[strcspn(text, " ")] = '\0';
    snprintf(symbol, size, "%.*s", (int)size - 1, text);
}

static void copy(char *to, size_t size, const char *from) {
    snprintf(to, size, "%s", from != NULL ? from : "");
}

void htw__origin_take(struct htw__origin *origin, const struct htw_origin *from) {
    const struct htw_site *site = from->site;
    *origin = (struct htw__origin) { .address = (uintptr_t)from->address };
    if (origin->address == 0)
        origin->address = (uintptr_t)from->callback;
    find_symbol((uintptr_t)from->callback, origin->symbol, sizeof(origin->symbol));
    if (site == NULL)
        return;
    copy(origin->name, sizeof(origin->name), site->name);
    copy(origin->file, sizeof(origin->file), site->file);
    copy(origin->function, sizeof(origin->function), site->function);
    origin->line = site->line;
}

bool htw__origin_is_like(const struct htw__origin *a, const struct htw__origin *b) {
    bool has_text = *a->name != '\0' || *a->file != '\0' || *a->symbol != '\0';
    return a->line == b->line && strcmp(a->name, b->name) == 0 && strcmp(a->file, b->file) == 0 &&
           strcmp(a->function, b->function) == 0 && strcmp(a->symbol, b->symbol) == 0 &&
           (has_text || a->address == b->address);
}

void htw__origin_write(const struct htw__origin *origin, struct htw__answer_text *text) {
    htw__text_add_string(text, "\"name\":", origin->name);
    htw__text_add_string(text, ",\"file\":", origin->file);
    htw__text_add(text, ",\"line\":%" PRIu32, origin->line);
    htw__text_add_string(text, ",\"function\":", origin->function);
    htw__text_add_string(text, ",\"symbol\":", origin->symbol);
    htw__text_add(text, ",\"address\":\"0x%" PRIxPTR "\"", origin->address);
}
