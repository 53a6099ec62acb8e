/* SPDX-License-Identifier: MIT */
/* kept_sites.c - sites that are made at run time: a scheduler keeps a copy of each, until it is destroyed. */
#include "kept_sites.h"

#include "../scheduler/state.h"

#include <string.h>

struct htw__kept_site {
    struct htw__kept_site *next;
    size_t bytes;
    struct htw_site site;
    char texts[];
};

void htw__kept_sites_init(struct htw_scheduler *scheduler) {
    htw__mutex_init(&scheduler->kept_sites.mutex, HTW__RANK_SCHEDULER_SITES);
}

void htw__kept_sites_fini(struct htw_scheduler *scheduler) {
    struct htw__kept_site *kept = scheduler->kept_sites.first;
    while (kept != NULL) {
        struct htw__kept_site *next = kept->next;
        htw__release(&scheduler->allocator, kept, kept->bytes);
        kept = next;
    }
    htw__mutex_fini(&scheduler->kept_sites.mutex);
}

uint64_t htw__kept_sites_bytes(struct htw_scheduler *scheduler) {
    struct htw__kept_sites *sites = &scheduler->kept_sites;
    htw__mutex_lock(&sites->mutex);
    uint64_t bytes = sites->bytes;
    htw__mutex_unlock(&sites->mutex);
    return bytes;
}

static bool is_same_text(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool is_same(const struct htw_site *a, const struct htw_site *b) {
    return a->callback == b->callback && a->line == b->line && is_same_text(a->name, b->name) &&
           is_same_text(a->file, b->file) && is_same_text(a->function, b->function);
}

static const struct htw_site *find(const struct htw__kept_sites *sites,
                                   const struct htw_site *site) {
    for (const struct htw__kept_site *kept = sites->first; kept != NULL; kept = kept->next)
        if (is_same(&kept->site, site))
            return &kept->site;
    return NULL;
}

static size_t size_of(const char *text) {
    return text == NULL ? 0 : strlen(text) + 1;
}

static const char *copy_text(char **place, const char *text) {
    char *copy = *place;
    if (text == NULL)
        return NULL;
    memcpy(copy, text, size_of(text));
    *place += size_of(text);
    return copy;
}

/* NULL: no memory. */
static const struct htw_site *add(struct htw_scheduler *scheduler, const struct htw_site *site) {
    struct htw__kept_sites *sites = &scheduler->kept_sites;
    size_t bytes = sizeof(struct htw__kept_site) + size_of(site->name) + size_of(site->file) +
                   size_of(site->function);
    struct htw__kept_site *kept = htw__allocate(&scheduler->allocator, bytes);
    if (kept == NULL)
        return NULL;
    char *place = kept->texts;
    kept->next = sites->first;
    kept->bytes = bytes;
    kept->site.callback = site->callback;
    kept->site.name = copy_text(&place, site->name);
    kept->site.file = copy_text(&place, site->file);
    kept->site.function = copy_text(&place, site->function);
    kept->site.line = site->line;
    sites->first = kept;
    sites->count++;
    sites->bytes += bytes;
    return &kept->site;
}

const struct htw_site *htw_scheduler_keep_site(struct htw_scheduler *scheduler,
                                               const struct htw_site *site) {
    if (htw__scheduler_refusal(scheduler) != 0 || site == NULL || site->callback == NULL)
        return NULL;
    struct htw__kept_sites *sites = &scheduler->kept_sites;
    htw__mutex_lock(&sites->mutex);
    const struct htw_site *kept = find(sites, site);
    if (kept == NULL && sites->count < HTW_SITES_MAX)
        kept = add(scheduler, site);
    htw__mutex_unlock(&sites->mutex);
    return kept;
}
