/* SPDX-License-Identifier: MIT */
/* sites.h - the sites of a scheduler, for an answer: those that do most, and the rest added up. */
#ifndef HTW_SRC_MONITOR_SITES_H
#define HTW_SRC_MONITOR_SITES_H

#include "greatest.h"
#include "origin.h"
#include "sample.h"

struct htw__site_row {
    struct htw__origin origin;
    struct htw_site_stats stats; /* without a site */
};

struct htw__site_rows {
    struct htw__greatest greatest;
    struct htw__site_row *rows; /* room for `most` */
    uint64_t others_count;      /* sites that are not among them */
    struct htw_site_stats others;
};

/* What is told of a site, of struct htw_site_stats. */
extern const struct htw__field htw__site_fields[];

/* Fills the rows. `rows` and `greatest` are initialized. 0, or a negative errno. */
int htw__site_rows_take(struct htw__site_rows *self, struct htw_scheduler *scheduler);

static inline bool htw__site_rows_have_others(const struct htw__site_rows *self) {
    return self->others_count + self->others.pending + self->others.armed > 0;
}

#endif /* HTW_SRC_MONITOR_SITES_H */
