/* SPDX-License-Identifier: MIT */
/* wheel_inspect.h - for tests of the wheel in two files: its header in place of <htw/wheel_inspect.h>. */
#include "htw_wheel.h"
