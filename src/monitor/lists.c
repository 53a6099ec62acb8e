/* SPDX-License-Identifier: MIT */
/* lists.c - chooses the greatest rows of a list, and adds up the others. */
#include "lists.h"

#include <inttypes.h>
#include <string.h>

static size_t size_of(const struct htw__row_list *self) {
    return (self->most + 1) * self->kind->row_size;
}

void htw__list_take(struct htw__row_list *self, const struct htw__list_kind *kind,
                    const struct htw_monitor_source *source, unsigned sources,
                    struct htw__answer_text *text) {
    uint32_t most = HTW__ROWS_IN_ALL / sources;
    *self = (struct htw__row_list) { .kind = kind,
                                     .text = text,
                                     .most = most > HTW__ROWS_SHOWN   ? HTW__ROWS_SHOWN
                                             : most < HTW__ROWS_LEAST ? HTW__ROWS_LEAST
                                                                      : most };
    self->rows = htw__allocate(text->allocator, size_of(self));
    if (self->rows != NULL)
        memset(self->rows, 0, size_of(self));
    text->has_failed |= self->rows == NULL || kind->take(self, source) != 0;
}

void htw__list_release(struct htw__row_list *self) {
    if (self->rows != NULL)
        htw__release(self->text->allocator, self->rows, size_of(self));
}

/* The number of the least row. */
static uint32_t find_least(const struct htw__row_list *self) {
    uint32_t least = 0;
    for (uint32_t i = 1; i < self->count; i++)
        if (self->weights[i] < self->weights[least])
            least = i;
    return least;
}

bool htw__list_has_place(const struct htw__row_list *self, uint64_t weight) {
    return self->count < self->most || weight > self->weights[find_least(self)];
}

void htw__list_add_to_others(struct htw__row_list *self, const void *row) {
    htw__fields_add(self->kind->fields, htw__list_others(self), row);
    self->has_others = true;
}

void htw__list_add(struct htw__row_list *self, const void *row, uint64_t weight) {
    bool has_place = htw__list_has_place(self, weight), is_full = self->count == self->most;
    uint32_t number = is_full ? find_least(self) : self->count++;
    if (is_full) {
        htw__list_add_to_others(self, has_place ? htw__list_row(self, number) : row);
        self->others_count++;
    }
    if (!has_place)
        return;
    self->weights[number] = weight;
    memcpy(htw__list_row(self, number), row, self->kind->row_size);
}

/* The rows in the order of their weights, the greatest first. */
static void sort(const struct htw__row_list *self, uint32_t order[HTW__ROWS_SHOWN]) {
    for (uint32_t i = 0; i < self->count; i++) {
        uint32_t at = i;
        for (; at > 0 && self->weights[order[at - 1]] < self->weights[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

void htw__list_write(const struct htw__row_list *self) {
    const struct htw__list_kind *kind = self->kind;
    struct htw__answer_text *text = self->text;
    uint32_t order[HTW__ROWS_SHOWN];
    sort(self, order);
    htw__text_add(text, ",\"%s\":[", kind->name);
    for (uint32_t i = 0; i < self->count; i++) {
        const void *row = htw__list_row(self, order[i]);
        htw__text_separate(text);
        htw__text_add(text, "{");
        kind->write_members(row, text);
        htw__fields_write(kind->fields, row, text);
        htw__text_add(text, "}");
    }
    htw__text_add(text, "]");
    if (!self->has_others)
        return;
    htw__text_add(text, ",\"%s\":{\"%s\":%" PRIu64, kind->others, kind->count, self->others_count);
    htw__fields_write(kind->fields, htw__list_others(self), text);
    htw__text_add(text, "}");
}

void htw__list_add_label(struct htw__answer_text *text, const char *name, const char *value) {
    if (*value == '\0')
        return;
    htw__text_add(text, ",%s=\"", name);
    htw__text_add_escaped(text, value);
    htw__text_add(text, "\"");
}
