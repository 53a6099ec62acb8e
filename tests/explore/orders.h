/* SPDX-License-Identifier: MIT */
/* orders.h - the memory orders of the atomic operations that are played, some of which may be weakened. */
#ifndef TESTS_EXPLORE_ORDERS_H
#define TESTS_EXPLORE_ORDERS_H

#include <stdbool.h>

/* The order that counts for an operation at this address. */
int orders_of(const void *code, int order);

/* "acq_rel:release:0x1234,0x5678": what the code has as the first order counts as the second one, at these offsets in
   the program. ./dev barriers writes such texts. False: it is none. */
bool orders_weaken(const char *text);

/* The offsets of the operations that several threads have played. */
void orders_print(void);

#endif /* TESTS_EXPLORE_ORDERS_H */
