/* SPDX-License-Identifier: MIT */
/* generate.h - what generate.sh reads: the headers, and the macros that bindgen does not see. */
#include <htw/htw.h>

#include <htw/calendar.h>
#include <htw/journal.h>

#define CONSTANT(type, name) static const type rust_##name = name
CONSTANT(int64_t, HTW_NEVER_NS);
CONSTANT(int64_t, HTW_MICROSECOND);
CONSTANT(int64_t, HTW_MILLISECOND);
CONSTANT(int64_t, HTW_SECOND);
CONSTANT(int64_t, HTW_MINUTE);
CONSTANT(int64_t, HTW_HOUR);
CONSTANT(int64_t, HTW_DAY);
CONSTANT(int64_t, HTW_TICK_NS_MIN);
CONSTANT(int64_t, HTW_TICK_NS_MAX);
CONSTANT(int64_t, HTW_SPAN_NS_MAX);
CONSTANT(int64_t, HTW_CALENDAR_JITTER_NS_MAX);
CONSTANT(int64_t, HTW_JOURNAL_NEAR_NS_MAX);
CONSTANT(int64_t, HTW_JOURNAL_GATHER_NS_MAX);
