/* SPDX-License-Identifier: MIT */
/* look.c - opens and closes buckets as time passes, and delivers what comes due. */
#include "look.h"

#include "../../../src/base/list.h"
#include "file.h"
#include "index.h"

#include <errno.h>
#include <stdlib.h>

/* Opening a bucket has time: it is loaded well before its start. */
#define LOOK_EVERY_MS 20

/* How many records of a bucket are delivered before the next bucket has its turn. */
#define AT_ONCE 64

/* Of level 0: the present one and the next. After a time in which no relay ran: the two oldest. */
#define LOADED_MAX 2

/* ---- opening and closing */

static void close_bucket(struct htw__relay *self, struct htw__source source,
                         struct htw__relay_bucket *bucket) {
    self->transport->close(self->transport, source);
    bucket->is_open = false;
    self->stats.open_buckets--;
    if (bucket->loaded == NULL)
        return;
    bucket->progress = bucket->loaded->progress;
    htw__link_unlink(&bucket->loaded->link);
    htw__loaded_fini(bucket->loaded);
    free(bucket->loaded);
    bucket->loaded = NULL;
}

void htw__relay_close_all(struct htw__relay *self, struct htw__stripe *stripe) {
    for (size_t i = 0; i < htw__stripe_count(stripe); i++)
        if (stripe->buckets[i].is_open)
            close_bucket(self, htw__stripe_source(stripe, i), &stripe->buckets[i]);
}

static int open_bucket(struct htw__relay *self, struct htw__stripe *stripe, uint32_t level,
                       uint32_t slot, struct htw__relay_bucket *bucket) {
    if (level == 0) {
        bucket->loaded = malloc(sizeof(*bucket->loaded));
        if (bucket->loaded == NULL)
            return -ENOMEM;
        htw__loaded_init(bucket->loaded, self->wheel,
                         (bucket->number + 1) * stripe->levels.width_ms, bucket->position,
                         &bucket->progress, bucket->end, stripe, slot);
        htw__ring_push_back(&self->loaded, &bucket->loaded->link);
    }
    bucket->is_open = true;
    self->stats.open_buckets++;
    self->transport->open(self->transport, (struct htw__source) { stripe->index, level, slot },
                          bucket->position);
    return 0;
}

/* ---- one stripe */

/* A loaded bucket of which everything has left is done up to where it was read. */
static void settle(struct htw__relay *self, struct htw__source source,
                   struct htw__relay_bucket *bucket) {
    struct htw__loaded *loaded = bucket->loaded;
    if (htw__loaded_needs_pass(loaded)) {
        self->stats.passes++;
        htw__loaded_begin_pass(loaded, bucket->position);
        self->transport->open(self->transport, source, bucket->position);
    } else if (htw__loaded_is_empty(loaded) && loaded->seen > bucket->position &&
               loaded->seen >= loaded->progress.read_end) {
        bucket->position = loaded->seen;
        bucket->is_dirty = true;
        loaded->progress = HTW__PROGRESS_NONE(bucket->position);
    }
}

static void settle_all(struct htw__relay *self, struct htw__stripe *stripe) {
    for (uint32_t slot = 0; slot < stripe->levels.size; slot++) {
        struct htw__relay_bucket *bucket = htw__stripe_bucket(stripe, 0, slot);
        if (bucket->is_open)
            settle(self, (struct htw__source) { stripe->index, 0, slot }, bucket);
    }
}

/* Closes what is drained. A bucket of level 0 stays open, even if it is empty, until the clock has
 * passed it. */
static void close_drained(struct htw__relay *self, struct htw__stripe *stripe) {
    int64_t present = htw__levels_number(&stripe->levels, 0, stripe->clock_ms);
    for (size_t i = 0; i < htw__stripe_count(stripe); i++) {
        struct htw__relay_bucket *bucket = &stripe->buckets[i];
        struct htw__source source = htw__stripe_source(stripe, i);
        if (bucket->is_open && !htw__bucket_is_occupied(bucket) &&
            (source.level > 0 || bucket->number < present))
            close_bucket(self, source, bucket);
    }
}

/* Whether cancels of what is due may still be in the input. It is not waited for them for ever. */
static bool is_catching_up(struct htw__relay *self, struct htw__stripe *stripe) {
    if (stripe->catch_up == HTW__CATCH_UP_DONE)
        return false;
    if (self->now_ms < stripe->catch_up_since) /* the clock was set back */
        stripe->catch_up_since = self->now_ms;
    if (self->now_ms - stripe->catch_up_since < self->options.catch_up_ms)
        return true;
    stripe->catch_up = HTW__CATCH_UP_DONE;
    self->stats.catch_ups_cut++;
    return false;
}

/* The present bucket is open whatever time it is: if the clock of the machine was set back, all that is
 * due before the clock of the stripe is there. */
static int open_level_0(struct htw__relay *self, struct htw__stripe *stripe) {
    int64_t present = htw__levels_number(&stripe->levels, 0, stripe->clock_ms), after = -1;
    int64_t limit_ms = htw__stripe_limit(stripe);
    int error = 0;
    for (int i = 0; i < LOADED_MAX && error == 0; i++) {
        uint32_t slot;
        struct htw__relay_bucket *bucket = htw__stripe_next(stripe, 0, after, &slot);
        if (bucket == NULL || bucket->number * stripe->levels.width_ms > limit_ms ||
            (bucket->number > present &&
             bucket->number * stripe->levels.width_ms - self->options.lead_ms > self->now_ms))
            break;
        if (!bucket->is_open)
            error = open_bucket(self, stripe, 0, slot, bucket);
        after = bucket->number;
    }
    return error;
}

static int open_demotions(struct htw__relay *self, struct htw__stripe *stripe) {
    int error = 0;
    for (uint32_t level = 1; level < stripe->levels.count && error == 0; level++) {
        uint32_t slot;
        struct htw__relay_bucket *bucket = htw__stripe_first(stripe, level, &slot);
        if (bucket != NULL && !bucket->is_open &&
            htw__levels_demotion(&stripe->levels, (struct htw__relay_place) {
                                                      level, bucket->number }) <= stripe->clock_ms)
            error = open_bucket(self, stripe, level, slot, bucket);
    }
    return error;
}

static int look(struct htw__relay *self) {
    int error = 0;
    self->must_look = false;
    self->looked_ms = self->now_ms;
    for (uint32_t i = 0; i < self->stripe_count && error == 0; i++) {
        struct htw__stripe *stripe = self->stripes[i];
        if (stripe == NULL)
            continue;
        if (!stripe->ids_are_read)
            continue;
        error = htw__index_clean(self, stripe);
        if (error != 0)
            break;
        settle_all(self, stripe);
        bool has_caught_up = !is_catching_up(self, stripe);
        if (has_caught_up)
            htw__stripe_advance(stripe, self->now_ms);
        close_drained(self, stripe);
        if (has_caught_up)
            error = open_level_0(self, stripe);
        if (error == 0)
            error = open_demotions(self, stripe);
    }
    return error;
}

/* ---- the wheel */

int htw__relay_renew_wheel(struct htw__relay *self) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    struct htw_wheel *wheel;
    options.strict_fifo = true; /* within a millisecond: in order of offset */
    options.start = (uint64_t)self->now_ms;
    int error = htw_wheel_create(&wheel, &options);
    if (error != 0)
        return error;
    for (struct htw__link *at = self->loaded._next; at != &self->loaded; at = at->_next)
        if (htw__loaded_move(HTW_CONTAINER_OF(at, struct htw__loaded, link), wheel) != 0)
            error = -ENOMEM; /* the others must leave the old wheel all the same */
    htw_wheel_destroy(self->wheel);
    self->wheel = wheel;
    return error;
}

/* An entry has left its bucket: delivers and frees it. */
static int leave(struct htw__relay *self, struct htw__entry *entry) {
    struct htw__loaded *loaded = entry->loaded;
    struct htw__stripe *stripe = loaded->owner;
    struct htw__source from = { stripe->index, 0, loaded->slot };
    htw__stripe_bucket(stripe, 0, loaded->slot)->is_dirty = true;
    int error = htw__relay_pass_on(self, stripe, from, entry->record, &entry->request);
    free(entry);
    return error;
}

/* Some of each bucket in turn. */
static int deliver_due(struct htw__relay *self, size_t max) {
    struct htw_timer *timer;
    struct htw__entry *entry = NULL;
    while ((timer = htw_wheel_poll(self->wheel, (uint64_t)self->now_ms)) != NULL)
        htw__loaded_fall_due(timer);
    size_t count = 0, before;
    do {
        before = count;
        for (struct htw__link *at = self->loaded._next; at != &self->loaded; at = at->_next) {
            struct htw__loaded *loaded = HTW_CONTAINER_OF(at, struct htw__loaded, link);
            for (int i = 0;
                 i < AT_ONCE && count < max && (entry = htw__loaded_leave(loaded)) != NULL; i++) {
                int error = leave(self, entry);
                if (error != 0)
                    return error;
                count++;
            }
        }
    } while (count > before && count < max);
    return count >= max;
}

int htw__relay_advance(struct htw__relay *self, int64_t now_ms, size_t max) {
    bool went_back = now_ms < self->now_ms;
    self->now_ms = now_ms;
    int error = went_back ? htw__relay_renew_wheel(self) : 0;
    if (error != 0)
        return error;
    int more = deliver_due(self, max);
    if (more < 0)
        return more;
    if (went_back || self->must_look || now_ms - self->looked_ms >= LOOK_EVERY_MS)
        error = look(self);
    return error != 0 ? error : more;
}

int64_t htw__relay_next(struct htw__relay *self) {
    uint64_t tick = htw_wheel_next(self->wheel);
    return tick >= INT64_MAX ? INT64_MAX : (int64_t)tick;
}

/* ---- how far things are */

double htw__relay_demotion_rate(const struct htw__relay *self) {
    double rate = 0;
    for (uint32_t i = 0; i < self->stripe_count; i++) {
        struct htw__stripe *stripe = self->stripes[i];
        for (uint32_t level = 1; stripe != NULL && level < stripe->levels.count; level++) {
            uint32_t slot;
            struct htw__relay_bucket *bucket = htw__stripe_first(stripe, level, &slot);
            if (bucket == NULL || !bucket->is_open)
                continue;
            int64_t start_ms = bucket->number * htw__levels_width(&stripe->levels, level);
            int64_t left_ms = (start_ms - self->now_ms) / 2;
            rate +=
                (double)(bucket->end - bucket->position + 1) / (double)(left_ms > 1 ? left_ms : 1);
        }
    }
    return rate;
}

/* The oldest record that was not read is younger than the last one that was, and came when there was nothing left. */
static void measure_input(struct htw__relay_stats *stats, const struct htw__relay *self,
                          const struct htw__stripe *stripe) {
    int64_t lag = stripe->input_end - stripe->input_position;
    int64_t since_ms =
        stripe->read_ms > stripe->caught_up_ms ? stripe->read_ms : stripe->caught_up_ms;
    if (lag <= 0)
        return;
    stats->input_lag += (uint64_t)lag;
    int64_t age_s = since_ms > 0 ? (self->now_ms - since_ms) / 1000 : 0;
    if (age_s > 0 && (uint64_t)age_s > stats->input_lag_s)
        stats->input_lag_s = (uint64_t)age_s;
}

static void measure(struct htw__relay_stats *stats, const struct htw__relay *self,
                    struct htw__stripe *stripe) {
    int64_t behind_ms = self->now_ms - stripe->clock_ms;
    if (behind_ms > 0 && (uint64_t)behind_ms > stats->clock_behind_ms)
        stats->clock_behind_ms = (uint64_t)behind_ms;
    stats->ids += stripe->ids.count;
    stats->ids_bytes += stripe->ids.room * sizeof(*stripe->ids.entries);
    for (size_t i = 0; i < htw__stripe_count(stripe); i++) {
        const struct htw__relay_bucket *bucket = &stripe->buckets[i];
        if (bucket->end > bucket->position)
            stats->lag[i / stripe->levels.size] += (uint64_t)(bucket->end - bucket->position);
        if (bucket->loaded == NULL)
            continue;
        stats->in_memory += bucket->loaded->count;
        stats->overdue += bucket->loaded->due.count;
        stats->bytes_in_memory += bucket->loaded->bytes;
    }
}

void htw__relay_measure(struct htw__relay *self) {
    struct htw__relay_stats *stats = &self->stats;
    for (uint32_t level = 0; level < HTW__RELAY_LEVELS_MAX; level++)
        stats->lag[level] = 0;
    stats->overdue = stats->in_memory = stats->bytes_in_memory = stats->clock_behind_ms = 0;
    stats->input_lag = stats->input_lag_s = stats->ids = stats->ids_bytes = 0;
    for (uint32_t i = 0; i < self->stripe_count; i++)
        if (self->stripes[i] != NULL) {
            measure_input(stats, self, self->stripes[i]);
            measure(stats, self, self->stripes[i]);
        }
}
