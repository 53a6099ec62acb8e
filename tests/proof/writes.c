/* SPDX-License-Identifier: MIT */
/* writes - what the delay queue writes. */
#include "../../src/wheel/delay_queue.c"
#include "shifts.h"
#include "masks.h"
#include "queue.h"
