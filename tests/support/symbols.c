/* SPDX-License-Identifier: MIT */
/* symbols.c - the function and the line of the source that an address is of, as addr2line tells. */
#include "symbols.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLACE_BYTES 512
#define PLACES 1024u
#define SHOWN 3u /* functions of a place */

static int note_base(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    *(uintptr_t *)context = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

uintptr_t symbols_base(void) {
    uintptr_t base = 0;
    dl_iterate_phdr(note_base, &base);
    return base;
}

/* The instruction before the return address. */
static FILE *ask(uintptr_t code) {
    char program[256], command[512];
    ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[size < 0 ? 0 : size] = '\0';
    snprintf(command, sizeof(command), "addr2line -s -f -i -e '%s' %#llx", program,
             (unsigned long long)(code - symbols_base() - 1));
    return popen(command, "r");
}

/* Asking takes milliseconds, and a list of steps has the same places again and again. */
static struct place {
    uintptr_t code;
    char text[PLACE_BYTES];
} places[PLACES];

/* Two lines for each function: its name, and FILE:LINE. */
static void find(struct place *place) {
    char function[128], line[128];
    size_t length = 0;
    unsigned shown = 0;
    strcpy(place->text, "?");
    FILE *answer = ask(place->code);
    if (answer == NULL)
        return;
    while (fgets(function, sizeof(function), answer) != NULL) {
        function[strcspn(function, "\n")] = '\0';
        if (fgets(line, sizeof(line), answer) == NULL)
            break;
        line[strcspn(line, " \n")] = '\0';
        if (shown++ < SHOWN && length < PLACE_BYTES)
            length += (size_t)snprintf(place->text + length, PLACE_BYTES - length, "%s%s %s",
                                       shown == 1 ? "" : " < ", function, line);
    }
    pclose(answer);
}

const char *symbols_place(uintptr_t code) {
    struct place *place = &places[code / 2 % PLACES];
    if (place->code != code) {
        place->code = code;
        find(place);
    }
    return place->text;
}

void symbols_print(const char *line) {
    const char *at;
    while ((at = strstr(line, " at 0x")) != NULL) {
        char *end;
        uintptr_t code = (uintptr_t)strtoull(at + 4, &end, 16);
        printf("%.*s at %s", (int)(at - line), line, symbols_place(code));
        line = end;
    }
    printf("%s\n", line);
}
