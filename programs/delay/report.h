/* SPDX-License-Identifier: MIT */
/* report.h - the numbers of a run, for --stats. */
#ifndef HTW_DELAY_REPORT_H
#define HTW_DELAY_REPORT_H

#include "../../src/base/histogram.h"

#include <htw/wheel.h>

#include <stdio.h>

struct htw__report {
    uint64_t read; /* records, bad ones included */
    uint64_t bad;
    uint64_t released;
    uint64_t unreleased;
    uint64_t early;      /* given to the kernel before they were due */
    size_t peak_pending; /* in the wheel and in the output queue together */
    size_t message_bytes;
    size_t peak_message_bytes;
    struct htw__histogram lateness_ns;
};

void htw__report_init(struct htw__report *report);

/* A message was scheduled; `pending` are now in the wheel and in the output queue. */
void htw__report_accepted(struct htw__report *report, size_t message_bytes, size_t pending);

/* A message was written whole, by a call that lasted from `before_ns` to `after_ns`. */
void htw__report_released(struct htw__report *report, size_t message_bytes, int64_t due_ns,
                          int64_t before_ns, int64_t after_ns);

/* Prints all, in at most 80 columns. */
void htw__report_print(const struct htw__report *report, const struct htw_wheel *wheel,
                       FILE *stream);

#endif /* HTW_DELAY_REPORT_H */
