/* SPDX-License-Identifier: MIT */
/*
 * rows.h - what the request `json sites` tells of a source in lists: sites, wake-ups, herds, groups, queues.
 */
#ifndef HTW_TOP_ROWS_H
#define HTW_TOP_ROWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum htw__top_list {
    HTW__TOP_SITES,
    HTW__TOP_WAKEUPS,
    HTW__TOP_HERDS,
    HTW__TOP_GROUPS,
    HTW__TOP_QUEUES,
    HTW__TOP_LISTS
};

/* A row of a list. Which members count depends on the list. */
struct htw__top_row {
    char name[256], function[128], file[256], symbol[128], address[24];
    uint32_t line;
    uint64_t pending, armed, cancelled, expired, late, callback_ns, wakeups; /* of sites */
    uint64_t timers;                                                         /* at one instant */
    int64_t distance_ns; /* to the next deadline, or to an instant; -1: there is none */
    uint64_t delayed, ready, leased, buried, waiting; /* of queues */
    uint64_t scale_ppm;                               /* of groups */
    bool is_paused;
    uint64_t others; /* how many rows this one stands for; 0: it is one itself */
};

struct htw__top_rows {
    struct htw__top_row *of; /* the last one may be that of the others */
    size_t count;
};

/* Makes a text one of which the terminal shows each character. */
void htw__top_clean(char *text);

/* Such a text of an answer. */
void htw__top_text(const json_t *object, const char *name, char *into, size_t size);
uint64_t htw__top_number(const json_t *object, const char *name);

/* Members that are numbers: their names in the answer, and where they are in a struct. */
struct htw__top_member {
    const char *name;
    size_t offset;
};
#define HTW__TOP_MEMBER(type, name) \
    { #name, offsetof(type, name) }
void htw__top_numbers_read(const json_t *object, const struct htw__top_member *members,
                           size_t count, void *into);

/* How many rows a source has in a list. */
size_t htw__top_rows_count(const json_t *source, enum htw__top_list list);

/* Reads up to `room` of them to `rows`, and returns how many. */
size_t htw__top_rows_read(const json_t *source, enum htw__top_list list, struct htw__top_row *rows,
                          size_t room);

/* The row of the same name; NULL: there is none. */
const struct htw__top_row *htw__top_row_find(const struct htw__top_rows *rows,
                                             const struct htw__top_row *like);

#endif /* HTW_TOP_ROWS_H */
