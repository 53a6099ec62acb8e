/* SPDX-License-Identifier: MIT */
/* page_parts.h - the page of a program, which is put together at build time out of HTML, CSS and JavaScript
 * (tools/page.py): texts, and after each of them what comes there: 'T' a title, 'R' a record, '\0' nothing more. */
#ifndef HTW_KIT_PAGE_PARTS_H
#define HTW_KIT_PAGE_PARTS_H

struct htw__page_part {
    const char *text;
    char then;
};
extern const struct htw__page_part htw__page_parts[];

#endif /* HTW_KIT_PAGE_PARTS_H */
