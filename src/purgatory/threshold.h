/* SPDX-License-Identifier: MIT */
/* threshold.h - thresholds, as the rest of the purgatory needs them. */
#ifndef HTW_SRC_PURGATORY_THRESHOLD_H
#define HTW_SRC_PURGATORY_THRESHOLD_H

#include "frame.h"

/* Closes all thresholds and ends their requests. Returns how many, marked ones included. */
int64_t htw__thresholds_close(struct htw__frame *frame);

/* Whether a threshold has not been destroyed. */
bool htw__thresholds_exist(struct htw_purgatory *purgatory);

/* The bytes of all thresholds. */
uint64_t htw__thresholds_memory(struct htw_purgatory *purgatory);

#endif /* HTW_SRC_PURGATORY_THRESHOLD_H */
