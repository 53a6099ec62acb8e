/* SPDX-License-Identifier: MIT */
/* expire.h - ends the requests whose timeouts are due. */
#ifndef HTW_SRC_PURGATORY_EXPIRE_H
#define HTW_SRC_PURGATORY_EXPIRE_H

#include "cpu.h"

/* The callback of an alarm. */
void htw__expire_due(void *alarm, const struct htw_expiration *expiration);

#endif /* HTW_SRC_PURGATORY_EXPIRE_H */
