/* SPDX-License-Identifier: MIT */
/* failing_calls.c - calls that fail when told to. */
#include "failing_calls.h"

#include <errno.h>

static struct failing_calls own;

struct failing_calls *failing_calls = &own;
_Atomic bool failing_calls_count;

void failing_calls_plan(unsigned kind, unsigned nth, int error, bool is_lasting) {
    struct failing_kind *planned = &failing_calls->kinds[kind];
    for (unsigned i = 0; i < FAILING_KINDS; i++)
        failing_calls->kinds[i].made = failing_calls->kinds[i].failed = 0;
    planned->error = error;
    planned->is_lasting = is_lasting;
    planned->nth = nth;
    failing_calls_count = true;
}

bool failing_calls_relent(void) {
    bool has_failed = false;
    failing_calls_count = false;
    for (unsigned i = 0; i < FAILING_KINDS; i++) {
        has_failed = has_failed || failing_calls->kinds[i].failed > 0;
        failing_calls->kinds[i].nth = 0;
    }
    return has_failed;
}

bool failing_call(unsigned kind) {
    if (!failing_calls_count)
        return false;
    struct failing_kind *of = &failing_calls->kinds[kind];
    unsigned number = ++of->made, nth = of->nth;
    if (nth == 0 || number < nth || (number > nth && !of->is_lasting))
        return false;
    of->failed++;
    errno = of->error;
    return true;
}
