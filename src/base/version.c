/* SPDX-License-Identifier: MIT */
/* version.c - the version of the library. */
#include <htw/base.h>

const char *htw_version(void) {
    return HTW_VERSION;
}
