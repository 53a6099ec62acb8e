/* SPDX-License-Identifier: MIT */
/* test_compiler_plain - the tests of test_compiler, in plain C as for any compiler. */
#define HTW_NO_BUILTINS
#include "test_compiler.c"
