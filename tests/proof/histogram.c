/* SPDX-License-Identifier: MIT */
/* histogram - the buckets of histograms. */
#include "../../src/base/histogram.h"
#include "shifts.h"
#include "histogram.h"
