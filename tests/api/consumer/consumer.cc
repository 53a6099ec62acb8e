// SPDX-License-Identifier: MIT
// consumer.cc - the same program as C++.
#include "consumer.c"
