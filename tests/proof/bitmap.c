/* SPDX-License-Identifier: MIT */
/* bitmap - sets of small integers. */
#include "../../src/base/bitmap.h"
#include "masks.h"
#include "members.h"
