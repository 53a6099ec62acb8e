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

/** Reads a text, which it changes. What follows is about the last one. */
void prometheus_text_parse(char *text, size_t size);

/** How many metrics there are. */
size_t prometheus_text_count(void);

/** The value of a counter or gauge, which must exist. */
uint64_t prometheus_text_value(const char *name);

/** Fails unless a histogram has the count and the sum. */
void prometheus_text_assert_histogram(const char *name,
                                      const struct htw_distribution *distribution);

#endif /* TESTS_PROMETHEUS_TEXT_H */
