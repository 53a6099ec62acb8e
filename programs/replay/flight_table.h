/* SPDX-License-Identifier: MIT */
/* flight_table.h - a flight record as text for people. */
#ifndef HTW_REPLAY_FLIGHT_TABLE_H
#define HTW_REPLAY_FLIGHT_TABLE_H

#include "flight.h"

#include <stdio.h>

/* Writes the counts of each site. 0 or -ENOMEM; whether writing has failed, the stream knows. */
int htw__flight_table_write(FILE *stream, const struct htw__flight *flight);

#endif /* HTW_REPLAY_FLIGHT_TABLE_H */
