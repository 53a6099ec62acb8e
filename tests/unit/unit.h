/* SPDX-License-Identifier: MIT */
/* unit.h - cmocka, with the headers that it wants before it. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif /* TESTS_UNIT_H */
