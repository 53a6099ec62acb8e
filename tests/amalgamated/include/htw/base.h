/* SPDX-License-Identifier: MIT */
/* base.h - for tests of the wheel in two files: its header in place of <htw/base.h>. */
#include "htw_wheel.h"
