/* SPDX-License-Identifier: MIT */
/* rows.h - prints records that wait: for people on standard output, and in JSON. */
#ifndef HTW_RELAY_COMMAND_ROWS_H
#define HTW_RELAY_COMMAND_ROWS_H

#include "../waiting.h"

#include <stdio.h>

/* For people: a line, of which only the key and the value are cut off. */
void htw__rows_print_head(void);
void htw__rows_print(const struct htw__waiting *row);

/* The same with all of key and value, and a line for each header of the producer. */
void htw__rows_print_all(const struct htw__waiting *row);

/* A JSON object in a line. */
void htw__rows_print_json(FILE *out, const struct htw__waiting *row);

/* A moment for people. */
#define HTW__ROWS_MOMENT_SIZE 48
const char *htw__rows_moment(int64_t ms, char text[HTW__ROWS_MOMENT_SIZE]);

#endif /* HTW_RELAY_COMMAND_ROWS_H */
