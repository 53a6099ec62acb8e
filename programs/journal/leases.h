/* SPDX-License-Identifier: MIT */
/* leases.h - which jobs of a journal the workers of an `htw serve` have reserved: it knows that, and the file does not. */
#ifndef HTW_JOURNAL_LEASES_H
#define HTW_JOURNAL_LEASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct htw__leases {
    uint64_t *ids; /* in order */
    size_t count;
};

/* Asks the server of the file, if there is one. Without an answer, which was printed, there are none. */
void htw__leases_ask(struct htw__leases *self, const char *file);
void htw__leases_free(struct htw__leases *self);

bool htw__leases_have(const struct htw__leases *self, uint64_t id);

#endif /* HTW_JOURNAL_LEASES_H */
