/* SPDX-License-Identifier: MIT */
/* look.c - opens and closes buckets as time passes, and delivers what comes due. */
#include "relay.h"

#include "index.h"
#include "memory.h"

#include <stdlib.h>

/* Opening a bucket has time: it is loaded well before its start. */
#define LOOK_EVERY_MS 20

/* How many records of a bucket are delivered before the next bucket has its turn. */
#define AT_ONCE 64

/* Of level 0: the present one and the next. After a time in which no relay ran: the two oldest. */
#define LOADED_MAX 2

/* ---- opening and closing */

static void close_bucket(struct htw__relay *self, struct htw__relay_bucket *bucket) {
    self->transport->close(self->transport, htw__bucket_source(bucket));
    bucket->is_open = false;
    if (bucket->loaded == NULL)
        return;
    bucket->progress = bucket->loaded->progress;
    htw__link_unlink(&bucket->link);
    htw__loaded_fini(bucket->loaded);
    free(bucket->loaded);
    bucket->loaded = NULL;
}

void htw__relay_close_all(struct htw__relay *self, struct htw__stripe *stripe) {
    for (size_t i = 0; i < htw__stripe_count(stripe); i++)
        if (stripe->buckets[i].is_open)
            close_bucket(self, &stripe->buckets[i]);
}

static void open_bucket(struct htw__relay *self, struct htw__relay_bucket *bucket) {
    struct htw__source source = htw__bucket_source(bucket);
    if (source.level == 0) {
        bucket->loaded = htw__memory(sizeof(*bucket->loaded));
        htw__loaded_init(bucket->loaded, (bucket->number + 1) * bucket->stripe->levels.width_ms,
                         bucket->position, &bucket->progress, bucket->end);
        htw__ring_push_back(&self->loaded, &bucket->link);
    }
    bucket->is_open = true;
    self->transport->open(self->transport, source, bucket->position);
}

/* ---- one stripe */

/* A loaded bucket of which everything has left is done up to where it was read. */
static void settle(struct htw__relay *self, struct htw__relay_bucket *bucket) {
    struct htw__loaded *loaded = bucket->loaded;
    if (!htw__loaded_is_empty(loaded))
        return;
    if (loaded->is_cut) {
        self->stats.passes++;
        htw__loaded_begin_pass(loaded, bucket->position);
        self->transport->open(self->transport, htw__bucket_source(bucket), bucket->position);
    } else if (loaded->seen > bucket->position && loaded->seen >= loaded->progress.read_end) {
        bucket->position = loaded->seen;
        bucket->is_dirty = true;
        loaded->progress = HTW__PROGRESS_NONE(bucket->position);
    }
}

static void settle_all(struct htw__relay *self, struct htw__stripe *stripe) {
    for (uint32_t slot = 0; slot < stripe->levels.size; slot++)
        if (stripe->buckets[slot].is_open)
            settle(self, &stripe->buckets[slot]);
}

/* Closes what is drained. A bucket of level 0 stays open, even if it is empty, until the clock has
 * passed it. */
static void close_drained(struct htw__relay *self, struct htw__stripe *stripe) {
    int64_t present = htw__levels_number(&stripe->levels, 0, stripe->clock_ms);
    for (size_t i = 0; i < htw__stripe_count(stripe); i++) {
        struct htw__relay_bucket *bucket = &stripe->buckets[i];
        if (bucket->is_open && !htw__bucket_is_occupied(bucket) &&
            (i >= stripe->levels.size || bucket->number < present))
            close_bucket(self, bucket);
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
static void open_level_0(struct htw__relay *self, struct htw__stripe *stripe) {
    int64_t present = htw__levels_number(&stripe->levels, 0, stripe->clock_ms), after = -1;
    int64_t limit_ms = htw__stripe_limit(stripe);
    for (int i = 0; i < LOADED_MAX; i++) {
        struct htw__relay_bucket *bucket = htw__stripe_next(stripe, 0, after);
        int64_t start_ms = bucket == NULL ? 0 : bucket->number * stripe->levels.width_ms;
        if (bucket == NULL || start_ms > limit_ms ||
            (bucket->number > present && start_ms - self->options.lead_ms > self->now_ms))
            break;
        if (!bucket->is_open)
            open_bucket(self, bucket);
        after = bucket->number;
    }
}

static void open_demotions(struct htw__relay *self, struct htw__stripe *stripe) {
    for (uint32_t level = 1; level < stripe->levels.count; level++) {
        struct htw__relay_bucket *bucket = htw__stripe_next(stripe, level, -1);
        if (bucket == NULL || bucket->is_open)
            continue;
        const struct htw__relay_place place = { level, bucket->number };
        if (htw__levels_demotion(&stripe->levels, place) <= stripe->clock_ms)
            open_bucket(self, bucket);
    }
}

static int look(struct htw__relay *self) {
    self->must_look = false;
    self->looked_ms = self->now_ms;
    for (uint32_t i = 0; i < self->stripe_count; i++) {
        struct htw__stripe *stripe = self->stripes[i];
        if (stripe == NULL || !stripe->ids_are_read)
            continue;
        int error = htw__index_clean(self, stripe);
        if (error != 0)
            return error;
        settle_all(self, stripe);
        bool has_caught_up = !is_catching_up(self, stripe);
        if (has_caught_up)
            htw__stripe_advance(stripe, self->now_ms);
        close_drained(self, stripe);
        if (has_caught_up)
            open_level_0(self, stripe);
        open_demotions(self, stripe);
    }
    return 0;
}

/* ---- what is due */

static struct htw__relay_bucket *bucket_of(struct htw__link *link) {
    return HTW_CONTAINER_OF(link, struct htw__relay_bucket, link);
}

/* Delivers at most `max` of a bucket. Returns how many it were, or a negative errno. */
static int deliver_some(struct htw__relay *self, struct htw__relay_bucket *bucket, size_t max) {
    struct htw__entry *entry;
    int count = 0;
    while (count < AT_ONCE && (size_t)count < max &&
           (entry = htw__loaded_leave(bucket->loaded, self->now_ms)) != NULL) {
        bucket->is_dirty = true;
        int error =
            htw__relay_pass_on(self, htw__bucket_source(bucket), entry->record, &entry->request);
        free(entry);
        if (error != 0)
            return error;
        count++;
    }
    return count;
}

/* Some of each bucket in turn. */
static int deliver_due(struct htw__relay *self, size_t max) {
    size_t count = 0, before;
    do {
        before = count;
        for (struct htw__link *at = self->loaded._next; at != &self->loaded; at = at->_next) {
            int some = deliver_some(self, bucket_of(at), max - count);
            if (some < 0)
                return some;
            count += (size_t)some;
        }
    } while (count > before && count < max);
    return count >= max;
}

int htw__relay_advance(struct htw__relay *self, int64_t now_ms, size_t max) {
    bool went_back = now_ms < self->now_ms;
    self->now_ms = now_ms;
    int more = deliver_due(self, max), error = 0;
    if (more < 0)
        return more;
    if (went_back || self->must_look || now_ms - self->looked_ms >= LOOK_EVERY_MS)
        error = look(self);
    return error != 0 ? error : more;
}

int64_t htw__relay_next(const struct htw__relay *self) {
    int64_t next_ms = INT64_MAX;
    for (struct htw__link *at = self->loaded._next; at != &self->loaded; at = at->_next) {
        int64_t one_ms = htw__loaded_next(bucket_of(at)->loaded);
        next_ms = one_ms < next_ms ? one_ms : next_ms;
    }
    return next_ms;
}

/* ---- how far things are */

static void raise(uint64_t *most, int64_t value) {
    if (value > 0 && (uint64_t)value > *most)
        *most = (uint64_t)value;
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
    raise(&stats->input_lag_s, since_ms > 0 ? (self->now_ms - since_ms) / 1000 : 0);
}

static void measure(struct htw__relay_stats *stats, const struct htw__relay *self,
                    const struct htw__stripe *stripe) {
    measure_input(stats, self, stripe);
    raise(&stats->clock_behind_ms, self->now_ms - stripe->clock_ms);
    stats->ids += stripe->ids.count;
    stats->ids_bytes += stripe->ids.room * sizeof(*stripe->ids.entries);
    for (size_t i = 0; i < htw__stripe_count(stripe); i++) {
        const struct htw__relay_bucket *bucket = &stripe->buckets[i];
        if (bucket->end > bucket->position)
            stats->lag[i / stripe->levels.size] += (uint64_t)(bucket->end - bucket->position);
        if (bucket->loaded == NULL)
            continue;
        stats->overdue += htw__loaded_overdue(bucket->loaded, self->now_ms);
        stats->bytes_in_memory += bucket->loaded->bytes;
    }
}

void htw__relay_measure(struct htw__relay *self) {
    struct htw__relay_stats *stats = &self->stats;
    for (uint32_t level = 0; level < HTW__RELAY_LEVELS_MAX; level++)
        stats->lag[level] = 0;
    stats->overdue = stats->bytes_in_memory = stats->clock_behind_ms = 0;
    stats->input_lag = stats->input_lag_s = stats->ids = stats->ids_bytes = 0;
    for (uint32_t i = 0; i < self->stripe_count; i++)
        if (self->stripes[i] != NULL)
            measure(stats, self, self->stripes[i]);
}
