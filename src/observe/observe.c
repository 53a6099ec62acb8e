/* SPDX-License-Identifier: MIT */
/* observe.c - what is observed of a scheduler: switching it, its memory, and copies of sites that are made at run
   time. */
#include "observation.h"

#include "../port/system.h"
#include "../scheduler/workers.h"
#include "herds.h"
#include "stacks.h"

#include <htw/observe.h>

#include <string.h>

#define EVENTS_DEFAULT 65536u
#define RING_MIN 8u

/* ---- create and destroy */

static size_t bytes_of(const struct htw__observation *observation) {
    return sizeof(*observation) + observation->observer_count * sizeof(struct htw__observer);
}

/* The events are divided among all that may record at once. */
static uint64_t ring_size(const struct htw_scheduler *scheduler, uint32_t event_count) {
    uint64_t all = event_count == 0 ? EVENTS_DEFAULT : event_count;
    uint64_t least = all / (scheduler->shard_count + scheduler->worker_count + 1), size = RING_MIN;
    while (size < least)
        size *= 2;
    return size;
}

int htw__observation_create(struct htw_scheduler *scheduler, uint32_t event_count) {
    const struct htw__observation initial = {
        .ring_size = ring_size(scheduler, event_count),
        .observer_count =
            scheduler->shard_count + scheduler->expirer_count + htw__thread_count(scheduler) + 1,
    };
    struct htw__observation *observation = htw__allocate(&scheduler->allocator, bytes_of(&initial));
    if (observation == NULL)
        return -ENOMEM;
    *observation = initial;
    htw__mutex_init(&observation->mutex, HTW__RANK_SCHEDULER_SITES);
    for (uint32_t n = 0; n < observation->observer_count; n++)
        observation->observers[n] = (struct htw__observer) { .allocator = &scheduler->allocator };
    scheduler->observation = observation;
    scheduler->calls = &htw__observe_calls;
    return 0;
}

/* A site that the user made at run time. */
struct htw__kept_site {
    struct htw__kept_site *next;
    size_t bytes;
    struct htw_site site;
    char texts[];
};

void htw__observation_destroy(struct htw_scheduler *scheduler) {
    struct htw__observation *observation = scheduler->observation;
    for (uint32_t n = 0; n < observation->observer_count; n++)
        htw__observer_fini(&observation->observers[n]);
    while (observation->kept_sites != NULL) {
        struct htw__kept_site *kept = observation->kept_sites;
        observation->kept_sites = kept->next;
        htw__release(&scheduler->allocator, kept, kept->bytes);
    }
    htw__mutex_fini(&observation->mutex);
    htw__release(&scheduler->allocator, observation, bytes_of(observation));
}

uint64_t htw__observation_bytes(const struct htw_scheduler *scheduler) {
    struct htw__observation *observation = scheduler->observation;
    htw__mutex_lock(&observation->mutex);
    uint64_t bytes = bytes_of(observation) + observation->kept_bytes;
    htw__mutex_unlock(&observation->mutex);
    for (uint32_t n = 0; n < observation->observer_count; n++)
        bytes += htw__observer_bytes(&observation->observers[n]);
    return bytes;
}

/* ---- switching it */

/* Each adds the tables that are missing; what fails leaves those that are there. Under the mutex. */
static bool add_tables(struct htw__observer *observer, uint32_t observe, uint64_t ring_size_) {
    return (!(observe & HTW_OBSERVE_SITES) || htw__observer_add_sites(observer)) &&
           (!(observe & HTW_OBSERVE_EVENTS) || htw__observer_add_ring(observer, ring_size_));
}

static bool add_all(struct htw_scheduler *scheduler, uint32_t observe) {
    struct htw__observation *observation = scheduler->observation;
    bool added = true;
    for (uint32_t n = 0; added && n < observation->observer_count; n++)
        added = add_tables(&observation->observers[n], observe, observation->ring_size);
    for (uint32_t i = 0; added && (observe & HTW_OBSERVE_SITES) && i < scheduler->expirer_count;
         i++)
        added = htw__observer_add_herds(htw__observer_of_expirer(scheduler, i));
    for (uint32_t i = 0; added && (observe & HTW_OBSERVE_STACKS) && i < scheduler->shard_count; i++)
        added = htw__observer_add_stacks(&observation->observers[i], scheduler->shard_count);
    return added;
}

/* From now on the scheduler counts the most frequent sites by itself. */
static void show_sites(struct htw_scheduler *scheduler) {
    for (uint32_t i = 0; i < scheduler->shard_count; i++) {
        struct htw__shard *shard = &scheduler->shards[i];
        struct htw__site_table *table =
            htw__observer_table(htw__observer_of_shard(shard), HTW__TABLE_SITES);
        /* order: Who finds the table must see it as it is now. [relaxed: not played, as no scene switches sites on
           beside other threads] */
        if (table != NULL)
            atomic_store_explicit(&shard->sites, table->entries, memory_order_release);
    }
}

int htw_scheduler_observe(struct htw_scheduler *scheduler, uint32_t observe) {
    const void *frame;
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if ((observe & ~HTW__OBSERVE_ALL) != 0)
        return -EINVAL;
    if ((observe & HTW_OBSERVE_STACKS) && htw__system_capture_stack(&frame, 1, 0) == 0)
        return -ENOTSUP;
    htw__mutex_lock(&scheduler->observation->mutex);
    bool added = add_all(scheduler, observe);
    show_sites(scheduler);
    htw__mutex_unlock(&scheduler->observation->mutex);
    if (!added)
        return -ENOMEM;
    unsigned mode = htw__mode(scheduler);
    /* order: A set of flags alone: what they need is found by pointers of its own, or not counted. */
    while (!atomic_compare_exchange_weak_explicit(&scheduler->mode, &mode,
                                                  (mode & ~HTW__MODE_OBSERVE) | observe,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
    return 0;
}

uint32_t htw_scheduler_observed(const struct htw_scheduler *scheduler) {
    return htw__scheduler_refusal(scheduler) == 0 ? htw__mode(scheduler) & HTW__MODE_OBSERVE : 0;
}

/* ---- sites that are made at run time */

static bool is_same_text(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool is_same(const struct htw_site *a, const struct htw_site *b) {
    return a->callback == b->callback && a->line == b->line && is_same_text(a->name, b->name) &&
           is_same_text(a->file, b->file) && is_same_text(a->function, b->function);
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
static struct htw__kept_site *copy_site(struct htw_scheduler *scheduler,
                                        const struct htw_site *site) {
    struct htw__observation *observation = scheduler->observation;
    size_t bytes = sizeof(struct htw__kept_site) + size_of(site->name) + size_of(site->file) +
                   size_of(site->function);
    struct htw__kept_site *kept = htw__allocate(&scheduler->allocator, bytes);
    if (kept == NULL)
        return NULL;
    char *place = kept->texts;
    *kept = (struct htw__kept_site) { observation->kept_sites, bytes, *site };
    kept->site.name = copy_text(&place, site->name);
    kept->site.file = copy_text(&place, site->file);
    kept->site.function = copy_text(&place, site->function);
    observation->kept_sites = kept;
    observation->kept_count++;
    observation->kept_bytes += bytes;
    return kept;
}

const struct htw_site *htw_scheduler_keep_site(struct htw_scheduler *scheduler,
                                               const struct htw_site *site) {
    if (htw__scheduler_refusal(scheduler) != 0 || site == NULL || site->callback == NULL)
        return NULL;
    struct htw__observation *observation = scheduler->observation;
    htw__mutex_lock(&observation->mutex);
    struct htw__kept_site *kept = observation->kept_sites;
    while (kept != NULL && !is_same(&kept->site, site))
        kept = kept->next;
    if (kept == NULL && observation->kept_count < HTW_SITES_MAX)
        kept = copy_site(scheduler, site);
    htw__mutex_unlock(&observation->mutex);
    return kept == NULL ? NULL : &kept->site;
}
