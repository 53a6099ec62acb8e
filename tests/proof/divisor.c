/* SPDX-License-Identifier: MIT */
/* divisor - the multiplication that divides. */
#include "../../src/base/divisor.h"
#include "powers.h"
#include "products.h"

/*@ lemma has_quotient: \forall integer x, y; 0 <= x && 0 < y ==> is_quotient(x / y, x, y) && has_rest(x, y, x / y, x % y); */
