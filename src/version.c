/* SPDX-License-Identifier: MIT */
#include <htw/base.h>

const char *htw_version(void) {
    return HTW_VERSION;
}
