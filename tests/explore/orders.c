/* SPDX-License-Identifier: MIT */
/* orders.c - a table of the addresses of atomic operations. */
#include "orders.h"

#include "../support/symbols.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPERATIONS 4096u /* a power of 2 */

static const char *const names[] = {
    [__ATOMIC_RELAXED] = "relaxed", [__ATOMIC_CONSUME] = "consume", [__ATOMIC_ACQUIRE] = "acquire",
    [__ATOMIC_RELEASE] = "release", [__ATOMIC_ACQ_REL] = "acq_rel", [__ATOMIC_SEQ_CST] = "seq_cst",
};

static struct operation {
    uintptr_t code;
    bool was_played, is_weakened;
} operations[OPERATIONS];
static int weakened_from, weakened_to;

static struct operation *operation_at(uintptr_t code) {
    size_t i = code * 0x9e3779b1u / 16 % OPERATIONS, probes = 0;
    while (operations[i].code != code && operations[i].code != 0) {
        i = (i + 1) % OPERATIONS;
        if (++probes == OPERATIONS) {
            fprintf(stderr, "explore: too many atomic operations\n");
            exit(2);
        }
    }
    operations[i].code = code;
    return &operations[i];
}

int orders_of(const void *code, int order) {
    struct operation *operation = operation_at((uintptr_t)code);
    operation->was_played = true;
    return operation->is_weakened && order == weakened_from ? weakened_to : order;
}

/* -1: there is none of this name, which ends at a colon. */
static int order_named(const char *name) {
    for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0 && name[strlen(names[i])] == ':')
            return i;
    return -1;
}

bool orders_weaken(const char *text) {
    const char *second = strchr(text, ':');
    const char *offsets = second == NULL ? NULL : strchr(second + 1, ':');
    if (offsets == NULL)
        return false;
    weakened_from = order_named(text);
    weakened_to = order_named(second + 1);
    char *end = NULL;
    for (const char *next = offsets; *next == ':' || *next == ','; next = end) {
        unsigned long offset = strtoul(next + 1, &end, 0);
        if (end == next + 1)
            return false;
        operation_at(symbols_base() + offset)->is_weakened = true;
    }
    return weakened_from >= 0 && weakened_to >= 0 && *end == '\0';
}

void orders_print(void) {
    for (unsigned i = 0; i < OPERATIONS; i++)
        if (operations[i].was_played)
            printf("operation at %#lx\n", (unsigned long)(operations[i].code - symbols_base()));
}
