/* SPDX-License-Identifier: MIT */
/* screen.h - a page on a terminal, by ncurses: only what has changed is written. */
#ifndef HTW_TOP_SCREEN_H
#define HTW_TOP_SCREEN_H

#include "page.h"

#include <stdbool.h>

enum htw__key {
    HTW__KEY_NONE,
    HTW__KEY_QUIT,
    HTW__KEY_HELP,
    HTW__KEY_ESCAPE,
    HTW__KEY_PAUSE,
    HTW__KEY_SORT,
    HTW__KEY_REVERSE,
    HTW__KEY_TOTAL,
    HTW__KEY_NEXT_PAGE,
    HTW__KEY_OBSERVE,
    HTW__KEY_PAGE_1, /* and so on */
    HTW__KEY_PAGE_LAST = HTW__KEY_PAGE_1 + 6,
    HTW__KEY_SLOWER,
    HTW__KEY_FASTER,
    HTW__KEY_RESIZED,
    HTW__KEY_REDRAW,
    HTW__KEY_SCROLLED
};

/* Takes the terminal, which is given back by the next function or at exit. False: it cannot be used. */
bool htw__screen_open(bool wants_colour);
void htw__screen_close(void);

unsigned htw__screen_width(void);

/* Shows a page below a title and above a status line. */
void htw__screen_show(const char *title, const struct htw__page *page, const char *status);

/* The next key that was pressed; HTW__KEY_NONE: there is none. Scrolling is done by the next show. */
enum htw__key htw__screen_key(void);

#endif /* HTW_TOP_SCREEN_H */
