/* SPDX-License-Identifier: MIT */
/* page_parts.h - the page of a program, which is put together at build time out of HTML, CSS and JavaScript (tools/page.py):
 * what stands before its record, or all of it, and behind that. */
#ifndef HTW_KIT_PAGE_PARTS_H
#define HTW_KIT_PAGE_PARTS_H

extern const char htw__page_before[], htw__page_behind[];

#endif /* HTW_KIT_PAGE_PARTS_H */
