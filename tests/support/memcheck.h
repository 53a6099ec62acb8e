/* SPDX-License-Identifier: MIT */
/* memcheck.h - what tests ask of valgrind: nothing, where its headers are missing. */
#ifndef TESTS_SUPPORT_MEMCHECK_H
#define TESTS_SUPPORT_MEMCHECK_H

#ifdef __has_include
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

#ifndef VALGRIND_CLO_CHANGE
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_CLO_CHANGE(option) (void)(option)
#endif

#endif /* TESTS_SUPPORT_MEMCHECK_H */
