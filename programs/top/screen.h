/* SPDX-License-Identifier: MIT */
/* screen.h - a page on a terminal, by ncurses: only what has changed is written. */
#ifndef HTW_TOP_SCREEN_H
#define HTW_TOP_SCREEN_H

#include "page.h"

#include <stdbool.h>

/* Takes the terminal, which is given back by the next function or at exit. False: it cannot be used. */
bool htw__screen_open(bool wants_colour);
void htw__screen_close(void);

unsigned htw__screen_width(void);

/* Shows a page below a title and above a status line. */
void htw__screen_show(const char *title, struct htw__page *page, const char *status);

/* The next key that was pressed: a character; HTW__KEY_NONE: there is none; HTW__KEY_DONE: what is shown has changed, or it is no key
 * of ours. Scrolling is done by the next show. */
enum { HTW__KEY_NONE = -1, HTW__KEY_DONE = 0, HTW__KEY_ESCAPE = 27 };
int htw__screen_key(void);

#endif /* HTW_TOP_SCREEN_H */
