/* SPDX-License-Identifier: MIT */
/*
 * lists.h - the sites, groups or queues of a source, for an answer. Those that do most have a row each, and the
 * others are added up: so an answer is bounded whatever a program has.
 */
#ifndef HTW_SRC_MONITOR_LISTS_H
#define HTW_SRC_MONITOR_LISTS_H

#include "sample.h"

#define HTW__ROWS_SHOWN 64u    /* at most, of each source */
#define HTW__ROWS_IN_ALL 1024u /* of all sources, about */
#define HTW__ROWS_LEAST 4u     /* of each source, however many there are */

struct htw__row_list {
    const struct htw__list_kind *kind;
    struct htw__answer_text *text; /* whose allocator has the rows */
    uint32_t most, count;
    uint64_t weights[HTW__ROWS_SHOWN];
    char *rows; /* room for `most`, and for the sum of the others; NULL: there is no list */
    uint64_t others_count;
    bool has_others;
};

struct htw__list_kind {
    const char *name, *others,
        *count; /* in JSON: of the rows; of the others; of how many these are */
    const struct htw__metric *fields; /* the numbers of a row, which begins with their struct */
    size_t row_size;
    int (*take)(struct htw__row_list *list, const struct htw_monitor_source *source);
    /* What a row has besides its numbers: as members of JSON, and as labels for Prometheus (NULL: it has no metrics). */
    void (*write_members)(const void *row, struct htw__answer_text *text);
    void (*write_labels)(const void *row, struct htw__answer_text *text);
};

extern const struct htw__list_kind htw__list_sites, htw__list_groups, htw__list_queues;

/* Takes the list of one of so many sources. The text fails if it cannot be read. */
void htw__list_take(struct htw__row_list *self, const struct htw__list_kind *kind,
                    const struct htw_monitor_source *source, unsigned sources,
                    struct htw__answer_text *text);
void htw__list_release(struct htw__row_list *self);

static inline void *htw__list_row(const struct htw__row_list *self, uint32_t number) {
    return self->rows + number * self->kind->row_size;
}

static inline void *htw__list_others(const struct htw__row_list *self) {
    return htw__list_row(self, self->most);
}

/* Writes it as JSON: members of an object. */
void htw__list_write(const struct htw__row_list *self);

/* Appends a label of Prometheus; none for "". */
void htw__list_add_label(struct htw__answer_text *text, const char *name, const char *value);

/* ---- for `take` */

/* Whether a row of this weight is among the greatest up to now. */
bool htw__list_has_place(const struct htw__row_list *self, uint64_t weight);

/* Adds a row; without a place, to the others. */
void htw__list_add(struct htw__row_list *self, const void *row, uint64_t weight);

/* Adds the numbers of a row to those of the others. */
void htw__list_add_to_others(struct htw__row_list *self, const void *row);

#endif /* HTW_SRC_MONITOR_LISTS_H */
