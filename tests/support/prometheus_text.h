/* SPDX-License-Identifier: MIT */
/*
 * prometheus_text.h - reads the text for Prometheus, by a parser that takes nothing but what the format's
 * description allows and what this library promises beyond. A text that is not so fails the test.
 */
#ifndef TESTS_PROMETHEUS_TEXT_H
#define TESTS_PROMETHEUS_TEXT_H

#include <htw/base.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** A stream for a text, which prometheus_text_end() closes and reads. What follows is about the last one. */
FILE *prometheus_text_begin(void);
void prometheus_text_end(void);

/** A stream that cannot be written, for each `which` from 0; NULL: there are no more. To be closed. */
FILE *prometheus_text_bad_stream(unsigned which);

/** How many metrics there are. */
size_t prometheus_text_count(void);

/** The value of a counter or gauge, which must exist; with labels: of all together. */
uint64_t prometheus_text_value(const char *name);

/** Fails unless a histogram has the count and the sum. */
void prometheus_text_assert_histogram(const char *name,
                                      const struct htw_distribution *distribution);

#endif /* TESTS_PROMETHEUS_TEXT_H */
