/* SPDX-License-Identifier: MIT */
/* screen.c - a page on a terminal. */
#include "screen.h"

#define NCURSES_WIDECHAR 1
#include <ctype.h>
#include <curses.h>
#include <stdlib.h>
#include <string.h>

/* The rows that are not of the page: the title, and the status. */
#define FRAME 2

static SCREEN *screen;
static bool has_colour;
static size_t scroll_line; /* the first one that is shown */
static size_t shown_count; /* of the last page */

/* ---- styles */

enum pair { PAIR_TITLE = 1, PAIR_GOOD, PAIR_WARNING, PAIR_COOL, PAIR_WARM, PAIR_HOT };

static void init_colours(bool wants_colour) {
    has_colour = wants_colour && has_colors() && start_color() == OK;
    if (!has_colour)
        return;
    use_default_colors();
    init_pair(PAIR_TITLE, COLOR_CYAN, -1);
    init_pair(PAIR_GOOD, COLOR_GREEN, -1);
    init_pair(PAIR_WARNING, COLOR_RED, -1);
    init_pair(PAIR_COOL, COLOR_BLUE, -1);
    init_pair(PAIR_WARM, COLOR_YELLOW, -1);
    init_pair(PAIR_HOT, COLOR_RED, -1);
}

static chtype attribute_of(int style) {
    static const struct {
        chtype attribute;
        short pair;
    } attributes[HTW__STYLE_END] = {
        [HTW__STYLE_TITLE] = { A_BOLD, PAIR_TITLE },
        [HTW__STYLE_LABEL] = { A_DIM, 0 },
        [HTW__STYLE_GOOD] = { A_NORMAL, PAIR_GOOD },
        [HTW__STYLE_WARNING] = { A_BOLD, PAIR_WARNING },
        [HTW__STYLE_COOL] = { A_NORMAL, PAIR_COOL },
        [HTW__STYLE_WARM] = { A_NORMAL, PAIR_WARM },
        [HTW__STYLE_HOT] = { A_NORMAL, PAIR_HOT },
    };
    chtype attribute = attributes[style].attribute;
    return has_colour ? attribute | COLOR_PAIR(attributes[style].pair) : attribute;
}

/* ---- open and close */

bool htw__screen_open(bool wants_colour) {
    screen = newterm(NULL, stdout, stdin);
    if (screen == NULL)
        return false;
    atexit(htw__screen_close);
    set_escdelay(25);
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    curs_set(0);
    init_colours(wants_colour);
    return true;
}

void htw__screen_close(void) {
    if (screen == NULL)
        return;
    endwin();
    delscreen(screen);
    screen = NULL;
}

unsigned htw__screen_width(void) {
    return COLS > 0 ? (unsigned)COLS : 80;
}

/* ---- show */

/* Bytes of the character that begins here. Each takes one column. */
static size_t length_of(const char *text) {
    size_t length = 1;
    while (((unsigned char)text[length] & 0xC0) == 0x80)
        length++;
    return length;
}

static void show_line(int row, const char *line) {
    int column = 0;
    move(row, 0);
    attrset(A_NORMAL);
    while (*line != '\0' && column < COLS) {
        if ((unsigned char)*line < HTW__STYLE_END) {
            attrset((int)attribute_of(*line++));
            continue;
        }
        size_t length = length_of(line);
        addnstr(line, (int)length);
        line += length;
        column++;
    }
    attrset(A_NORMAL);
}

static void show_bar(int row, const char *text) {
    attrset(A_REVERSE);
    mvhline(row, 0, ' ', COLS);
    mvaddnstr(row, 0, text, COLS);
    attrset(A_NORMAL);
}

static size_t rows_for_page(void) {
    return LINES > FRAME ? (size_t)(LINES - FRAME) : 0;
}

void htw__screen_show(const char *title, struct htw__page *page, const char *status) {
    size_t rows = rows_for_page(), number = 0;
    shown_count = page->line_count;
    size_t last = shown_count > rows ? shown_count - rows : 0;
    scroll_line = scroll_line < last ? scroll_line : last;
    erase();
    for (const char *line = htw__page_first(page); line != NULL;
         line = htw__page_next(page, line), number++)
        if (number >= scroll_line && number < scroll_line + rows)
            show_line((int)(number - scroll_line) + 1, line);
    show_bar(0, title);
    if (LINES > 1)
        mvaddnstr(LINES - 1, 0, status, COLS > 0 ? COLS - 1 : 0);
    refresh();
}

/* ---- keys */

/* Whether a key scrolls; does so. */
static bool scrolls(int code) {
    size_t page = rows_for_page() > 1 ? rows_for_page() - 1 : 1;
    size_t up = code == KEY_PPAGE ? page : 1, down = code == KEY_NPAGE ? page : 1;
    switch (code) {
    case KEY_DOWN:
    case 'j':
    case KEY_NPAGE:
        scroll_line += down;
        return true;
    case KEY_UP:
    case 'k':
    case KEY_PPAGE:
        scroll_line -= scroll_line < up ? scroll_line : up;
        return true;
    case KEY_HOME:
        scroll_line = 0;
        return true;
    case KEY_END:
        scroll_line = shown_count;
        return true;
    default:
        return false;
    }
}

int htw__screen_key(void) {
    int code = getch();
    if (code == ERR)
        return HTW__KEY_NONE;
    if (code == KEY_F(1))
        return 'h';
    if (code == 12) /* control L */
        clearok(curscr, TRUE);
    return scrolls(code) || code > 'z' ? HTW__KEY_DONE : tolower(code);
}
