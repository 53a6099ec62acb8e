/* SPDX-License-Identifier: MIT */
/* symbol.h - code by name: the symbol and the file of an address. */
#ifndef HTW_SRC_OBSERVE_SYMBOL_H
#define HTW_SRC_OBSERVE_SYMBOL_H

#include "safe_copy.h"

#include <stdint.h>

/* "symbol+0x1f (file+0x2c40)", of which the symbol or all but the number may be missing: only exported
   functions have symbols. `addr2line -e file` reads the number in parentheses. What the loader tells is copied
   with care: the file may be unloaded at this moment. Returns `text`. */
#define HTW__SYMBOL_MAX 384u
HTW__SHARED const char *htw__symbol_text(const struct htw__safe_copy *copy, uintptr_t address,
                                         char text[HTW__SYMBOL_MAX]);

#endif /* HTW_SRC_OBSERVE_SYMBOL_H */
