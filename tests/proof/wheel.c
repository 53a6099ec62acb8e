/* SPDX-License-Identifier: MIT */
/* wheel - the level and the slot of a deadline. */
#include "../../src/wheel/state.h"
#include "shifts.h"
#include "windows.h"
#include "levels.h"
