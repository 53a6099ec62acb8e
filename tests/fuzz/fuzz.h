/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - the entry that libFuzzer calls. A target is built either with
 * clang -fsanitize=fuzzer, or with replay.c, which calls it for files.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif /* TESTS_FUZZ_H */
