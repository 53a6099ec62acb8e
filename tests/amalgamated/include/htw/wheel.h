/* SPDX-License-Identifier: MIT */
/* wheel.h - for tests of the wheel in two files: its header in place of <htw/wheel.h>. */
#include "htw_wheel.h"
