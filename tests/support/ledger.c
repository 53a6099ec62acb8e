/* SPDX-License-Identifier: MIT */
/* ledger.c - the life of each job by the answers of a journal. */
#include "ledger.h"

#include <errno.h>
#include <stdlib.h>

enum expected ledger_outcome(int result, bool has_stopped) {
    if (result == 0)
        return MUST;
    return result == -EIO && has_stopped ? MAY : MUST_NOT;
}

struct fact *ledger_find(struct ledger *ledger, uint64_t id) {
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->facts[i].id == id)
            return &ledger->facts[i];
    return NULL;
}

const char *ledger_put(struct ledger *ledger, uint64_t id, enum expected outcome) {
    if (id == 0)
        return outcome == MUST ? "a put without an id" : NULL;
    if (ledger_find(ledger, id) != NULL)
        return "an id is given twice";
    if (ledger->count == LEDGER_MAX)
        abort();
    ledger->facts[ledger->count++] = (struct fact) { .id = id, .expected = outcome };
    return NULL;
}

const char *ledger_end(struct fact *fact, int result, bool has_stopped) {
    enum expected outcome = ledger_outcome(result, has_stopped);
    if (fact == NULL || result == -EALREADY)
        return NULL;
    if (result == -ENOENT && fact->expected == MUST)
        return "a job is gone";
    if (outcome == MUST && fact->expected == MUST_NOT)
        return "a job that does not exist was ended";
    if (outcome == MUST || result == -ENOENT)
        fact->expected = MUST_NOT;
    else if (outcome == MAY && fact->expected == MUST)
        fact->expected = MAY;
    return NULL;
}

void ledger_open(struct ledger *ledger) {
    for (size_t i = 0; i < ledger->count; i++)
        ledger->facts[i].is_delivered = false;
}

const char *ledger_deliver(struct ledger *ledger, uint64_t id, bool is_last) {
    struct fact *fact = ledger_find(ledger, id);
    if (fact == NULL) /* the answer of its put is to come */
        return is_last ? "a job that was never put is delivered" : NULL;
    if (fact->is_delivered)
        return "delivered twice in one run";
    fact->is_delivered = true;
    return is_last && fact->expected == MUST_NOT ? "a job that had ended, or failed, is delivered"
                                                 : NULL;
}

const char *ledger_close(const struct ledger *ledger, uint64_t *ret_id) {
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->facts[i].expected == MUST && !ledger->facts[i].is_delivered) {
            *ret_id = ledger->facts[i].id;
            return "a job is lost";
        }
    return NULL;
}
