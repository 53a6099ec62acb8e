/* SPDX-License-Identifier: MIT */
/* origin.h - where a timer was armed and what it calls, as text: of a site, or of a callback without one. */
#ifndef HTW_SRC_MONITOR_ORIGIN_H
#define HTW_SRC_MONITOR_ORIGIN_H

#include "text.h"

#include <htw/observe.h>

#include <stdint.h>

/* "": there is none. */
struct htw__origin {
    char name[64], file[256], function[128];
    char symbol
        [128]; /* of the callback; or its file and the offset in it, as addr2line takes them */
    uint32_t line;
    uintptr_t address; /* of the site, or the callback; 0: unknown */
};

/* Of what a visitor of a scheduler received. */
void htw__origin_take(struct htw__origin *origin, const struct htw_origin *from);

/* Whether the two are the same for a reader: a site of a header is in each file that includes it. */
bool htw__origin_is_like(const struct htw__origin *a, const struct htw__origin *b);

/* Members of an object. */
void htw__origin_write(const struct htw__origin *origin, struct htw__answer_text *text);

#endif /* HTW_SRC_MONITOR_ORIGIN_H */
