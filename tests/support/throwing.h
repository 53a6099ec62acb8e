/* SPDX-License-Identifier: MIT */
/* throwing.h - C++ exceptions, for tests in C. */
#ifndef TESTS_THROWING_H
#define TESTS_THROWING_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Throws. */
void throwing_throw(void);

/** Calls `call`. Whether that threw. */
bool throwing_catch(void (*call)(void *arg), void *arg);

#ifdef __cplusplus
}
#endif

#endif /* TESTS_THROWING_H */
