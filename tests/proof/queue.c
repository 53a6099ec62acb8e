/* SPDX-License-Identifier: MIT */
/* queue - which bucket is next. */
#include "../../src/wheel/delay_queue.c"
#include "shifts.h"
#include "masks.h"
#include "queue.h"
