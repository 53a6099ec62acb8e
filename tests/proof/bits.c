/* SPDX-License-Identifier: MIT */
/* bits - finding bits, and the slack rule. */
#include "../../src/base/compiler.h"
#include "shifts.h"
#include "bits.h"
