/* SPDX-License-Identifier: MIT */
/* refusal.h - a struct of the user that is refused: htw_invalid_member(). */
#ifndef HTW_SRC_BASE_REFUSAL_H
#define HTW_SRC_BASE_REFUSAL_H

#include "compiler.h"

/* Returns -EINVAL because of a member; NULL: because of something else. */
HTW__SHARED int htw__refuse(const char *member);

#endif /* HTW_SRC_BASE_REFUSAL_H */
