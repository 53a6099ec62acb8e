/* SPDX-License-Identifier: MIT */
/* greatest.c - chooses the greatest of any number of rows. */
#include "greatest.h"

void htw__greatest_init(struct htw__greatest *self, uint32_t sources) {
    uint32_t most = HTW__ROWS_IN_ALL / (sources > 0 ? sources : 1);
    *self = (struct htw__greatest) { .most = most > HTW__ROWS_SHOWN   ? HTW__ROWS_SHOWN
                                             : most < HTW__ROWS_LEAST ? HTW__ROWS_LEAST
                                                                      : most };
}

/* The place of the least row. */
static uint32_t find_least(const struct htw__greatest *self) {
    uint32_t least = 0;
    for (uint32_t i = 1; i < self->count; i++)
        if (self->weights[i] < self->weights[least])
            least = i;
    return least;
}

bool htw__greatest_takes(const struct htw__greatest *self, uint64_t weight) {
    return self->count < self->most || weight > self->weights[find_least(self)];
}

uint32_t htw__greatest_place(struct htw__greatest *self, uint64_t weight, bool *ret_is_taken) {
    *ret_is_taken = self->count == self->most;
    uint32_t place = *ret_is_taken ? find_least(self) : self->count++;
    self->weights[place] = weight;
    return place;
}

void htw__greatest_sort(const struct htw__greatest *self, uint32_t order[HTW__ROWS_SHOWN]) {
    for (uint32_t i = 0; i < self->count; i++) {
        uint32_t at = i;
        for (; at > 0 && self->weights[order[at - 1]] < self->weights[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}
