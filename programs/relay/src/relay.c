/* SPDX-License-Identifier: MIT */
/* relay.c - the relay as a whole: its stripes, what arrives, and what is committed. */
#include "relay.h"

#include "index.h"
#include "memory.h"

#include <errno.h>
#include <stdlib.h>

static void init_work(struct htw__relay *self) {
    for (int i = 0; i < 2; i++)
        htw__relay_work_init(&self->open[i]);
}

void htw__relay_init(struct htw__relay *self, const struct htw__relay_options *options,
                     struct htw__transport *transport, int64_t now_ms) {
    *self = (struct htw__relay) {
        .options = *options, .transport = transport, .now_ms = now_ms, .soonest_ms = INT64_MAX
    };
    htw__ring_init(&self->loaded);
    htw__relay_work_init(&self->stats.done);
    init_work(self);
}

void htw__relay_fini(struct htw__relay *self) {
    htw__relay_lose_all(self);
    free(self->stripes);
    free(self->headers.items);
    free(self->poisons);
    free(self->positions);
}

/* ---- stripes */

static bool are_same_levels(const struct htw__levels *a, const struct htw__levels *b) {
    return a->width_ms == b->width_ms && a->size == b->size && a->count == b->count;
}

/* Before the first commit of a stripe, nothing was ever published to its buckets. */
static bool are_new(const struct htw__found *buckets, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (buckets[i].offset >= 0 || buckets[i].end > 0)
            return false;
    return true;
}

/*
 * Without its clock, it is unknown which turn the buckets of a stripe are in. A clock that is a whole
 * turn of the highest level behind is right whatever it is: it passes each bucket, and whatever of it
 * is not due is filed anew.
 */
static int64_t clock_for_recovery(const struct htw__relay *self) {
    const struct htw__levels *levels = &self->options.levels;
    int64_t turn_ms = htw__levels_width(levels, levels->count - 1) * levels->size;
    return self->now_ms > turn_ms ? htw__levels_round(levels, self->now_ms - turn_ms) : 0;
}

static struct htw__bytes owner_of(const struct htw__relay *self) {
    const char *owner = self->options.owner;
    return owner == NULL ? (struct htw__bytes) { NULL, 0 } : htw__bytes_of(owner);
}

static enum htw__gain find_clock(const struct htw__relay *self, const struct htw__found *input,
                                 bool is_new, struct htw__stripe *stripe) {
    struct htw__relay_clock clock = { .time_ms = 0 };
    int error = htw__clock_parse(input->metadata, &clock);
    stripe->clock_ms = clock.time_ms;
    stripe->ids_log = clock.ids;
    /* The owner is committed at once, before this one can leave a transaction that it does not name. */
    stripe->input_is_dirty = error != 0 || !htw__bytes_are_equal(clock.owner, owner_of(self));
    if (error == -EINVAL)
        return HTW__GAIN_FOREIGN;
    if (error == 0)
        return are_same_levels(&clock.levels, &self->options.levels) ? HTW__GAIN_OK
                                                                     : HTW__GAIN_OTHER;
    stripe->clock_is_dirty = true;
    stripe->clock_ms =
        is_new ? htw__levels_round(&self->options.levels, self->now_ms) : clock_for_recovery(self);
    return is_new || self->options.recover ? HTW__GAIN_OK : HTW__GAIN_MISSING;
}

static enum htw__gain find_position(const struct htw__relay *self, const struct htw__found *found,
                                    bool may_be_missing, int64_t *ret_position) {
    *ret_position = found->offset;
    if (found->offset >= found->start && found->offset <= found->end)
        return HTW__GAIN_OK;
    *ret_position = found->start;
    if (self->options.recover || (found->offset < 0 && may_be_missing))
        return HTW__GAIN_OK;
    return found->offset < 0              ? HTW__GAIN_MISSING
           : found->offset < found->start ? HTW__GAIN_DELETED
                                          : HTW__GAIN_BEYOND;
}

/* A new stripe takes its index as it is. */
static enum htw__gain find_ids(const struct htw__relay *self, const struct htw__found *ids,
                               bool is_new, struct htw__stripe *stripe) {
    struct htw__ids_log *log = &stripe->ids_log;
    if (is_new)
        *log = (struct htw__ids_log) { .start = ids->start, .end = ids->end };
    if (ids->start <= log->start && ids->end >= log->end)
        return HTW__GAIN_OK;
    if (!self->options.recover)
        return HTW__GAIN_IDS;
    *log = (struct htw__ids_log) { ids->start, ids->end, stripe->input_position };
    stripe->input_is_dirty = true; /* the next relay has to know */
    return HTW__GAIN_OK;
}

static enum htw__gain fill_bucket(const struct htw__relay *self, struct htw__relay_bucket *bucket,
                                  const struct htw__found *found, bool is_new) {
    struct htw__bytes metadata = { NULL, 0 };
    struct htw__source source = htw__bucket_source(bucket);
    enum htw__gain result = find_position(self, found, is_new, &bucket->position);
    if (result != HTW__GAIN_OK)
        return result;
    bucket->end = found->end;
    bucket->is_dirty = found->offset != bucket->position;
    bucket->number = htw__levels_turn(&self->options.levels, source.level, source.slot,
                                      bucket->stripe->clock_ms);
    if (!bucket->is_dirty)
        metadata = found->metadata;
    return htw__progress_parse(metadata, bucket->position, &bucket->progress) == 0
               ? HTW__GAIN_OK
               : HTW__GAIN_FOREIGN;
}

static enum htw__gain fill_stripe(const struct htw__relay *self, struct htw__stripe *stripe,
                                  const struct htw__found *input, const struct htw__found *buckets,
                                  const struct htw__found *ids) {
    bool is_new = are_new(buckets, htw__stripe_count(stripe));
    enum htw__gain result = find_clock(self, input, is_new, stripe);
    if (result != HTW__GAIN_OK)
        return result;
    result = find_position(self, input, is_new, &stripe->input_position);
    stripe->input_end = input->end;
    stripe->is_uncommitted = true;
    stripe->input_is_dirty |= input->offset != stripe->input_position;
    stripe->clock_is_dirty |= input->offset < 0;
    if (result == HTW__GAIN_OK)
        result = find_ids(self, ids, is_new && stripe->clock_is_dirty, stripe);
    for (size_t i = 0; i < htw__stripe_count(stripe) && result == HTW__GAIN_OK; i++)
        result = fill_bucket(self, &stripe->buckets[i], &buckets[i], is_new);
    return result;
}

/*
 * What is in the input may be due, and a cancel of it, or of what waits in buckets, may lie behind it. So all of it is
 * filed before anything leaves, as if it were the time at which the clock of the stripe stands. That is a window of
 * level 0 ago at the most: what came in the last seconds then lies in as many buckets.
 */
static void begin_to_catch_up(const struct htw__relay *self, struct htw__stripe *stripe,
                              const struct htw__found *input) {
    int64_t since_ms = self->now_ms - htw__levels_width(&stripe->levels, 1);
    htw__stripe_advance(stripe, since_ms > 0 ? since_ms : 0);
    if (input->end <= stripe->input_position)
        return;
    stripe->catch_up = HTW__CATCH_UP_READING;
    stripe->catch_up_end = input->end;
    stripe->catch_up_since = self->now_ms;
}

/* FILE is committed soon. */
static void hurry(struct htw__relay *self) {
    if (self->now_ms < self->soonest_ms)
        self->soonest_ms = self->now_ms;
}

/* All of the input before `offset` was read. */
static void note_read(struct htw__relay *self, struct htw__stripe *stripe, int64_t offset) {
    if (stripe->catch_up != HTW__CATCH_UP_READING || offset < stripe->catch_up_end)
        return;
    stripe->catch_up = HTW__CATCH_UP_READ;
    hurry(self);
}

enum htw__gain htw__relay_gain(struct htw__relay *self, uint32_t index,
                               const struct htw__found *input, const struct htw__found *buckets,
                               const struct htw__found *ids) {
    htw__relay_lose(self, index);
    self->stripes = htw__memory_reserve(self->stripes, index + 1, &self->stripe_count,
                                        sizeof(struct htw__stripe *));
    struct htw__stripe *stripe = htw__stripe_create(index, &self->options.levels);
    enum htw__gain result = fill_stripe(self, stripe, input, buckets, ids);
    if (result != HTW__GAIN_OK) {
        free(stripe);
        return result;
    }
    begin_to_catch_up(self, stripe, input);
    htw__index_begin(self, stripe, ids->end);
    self->stripes[index] = stripe;
    self->stats.stripes++;
    self->must_look = true;
    return HTW__GAIN_OK;
}

static struct htw__stripe *find_stripe(const struct htw__relay *self, uint32_t index) {
    return index < self->stripe_count ? self->stripes[index] : NULL;
}

void htw__relay_release(struct htw__relay *self, uint32_t index) {
    struct htw__stripe *stripe = find_stripe(self, index);
    if (stripe == NULL || self->options.owner == NULL)
        return;
    stripe->is_released = stripe->input_is_dirty = true;
}

void htw__relay_lose(struct htw__relay *self, uint32_t index) {
    struct htw__stripe *stripe = find_stripe(self, index);
    if (stripe == NULL)
        return;
    htw__relay_close_all(self, stripe);
    htw__index_fini(self, stripe);
    free(stripe);
    self->stripes[index] = NULL;
    self->stats.stripes--;
}

void htw__relay_lose_all(struct htw__relay *self) {
    for (size_t i = 0; i < self->poison_count; i++)
        self->poisons[i].is_published = false; /* it was aborted */
    init_work(self);
    self->files_first = self->is_filing = false;
    for (uint32_t i = 0; i < self->stripe_count; i++)
        htw__relay_lose(self, i);
}

/* ---- what arrives */

static size_t share_of_memory(const struct htw__relay *self) {
    return self->options.max_memory / (2 * (size_t)self->stats.stripes);
}

/* A record of a bucket of level 0. */
static int load(struct htw__relay *self, struct htw__relay_bucket *bucket,
                const struct htw__relay_record *record, const struct htw__relay_request *request) {
    char topic[HTW__TOPIC_NAME_SIZE];
    if (request->why == NULL && request->to.bytes != NULL &&
        htw__destinations_choose(&self->options.destinations, request->to, topic) == NULL)
        self->transport->expect(self->transport, topic);
    if (!htw__loaded_add(bucket->loaded, record, request, share_of_memory(self)))
        return 0;
    bucket->is_dirty = true; /* it is late */
    return htw__relay_pass_on(self, htw__bucket_source(bucket), record, request);
}

static int take_input(struct htw__relay *self, struct htw__stripe *stripe, struct htw__source from,
                      const struct htw__relay_record *record) {
    struct htw__relay_request request;
    if (record->offset < stripe->input_position)
        return 0;
    stripe->input_position = record->offset + 1;
    stripe->input_is_dirty = true;
    stripe->read_ms = record->timestamp_ms;
    htw__relay_work_of(self, from)->received++;
    htw__request_parse(record, &request);
    int64_t flags, found = htw__ids_find(&stripe->ids, request.hash, &flags);
    int error = htw__relay_pass_on(self, from, record, &request);
    if (error == 0 && request.why == NULL && request.ask >= 0) {
        hurry(self);
        if (!request.is_cancel)
            error = htw__index_answer(self, stripe, &request, record->offset, found, flags);
    }
    note_read(self, stripe, record->offset + 1);
    return error;
}

int htw__relay_take(struct htw__relay *self, struct htw__source from,
                    const struct htw__relay_record *record) {
    struct htw__relay_request request;
    struct htw__stripe *stripe = find_stripe(self, from.stripe);
    if (stripe == NULL)
        return 0;
    if (from.level == HTW__RELAY_IDS) {
        htw__index_read(stripe, record);
        return 0;
    }
    if (from.level == HTW__RELAY_INPUT)
        return take_input(self, stripe, from, record);
    struct htw__relay_bucket *bucket = htw__stripe_bucket(stripe, from.level, from.slot);
    if (!bucket->is_open || (from.level > 0 && record->offset < bucket->position))
        return 0;
    htw__request_parse(record, &request);
    if (from.level == 0)
        return load(self, bucket, record, &request);
    bucket->position = record->offset + 1;
    bucket->is_dirty = true;
    return htw__relay_pass_on(self, from, record, &request);
}

int64_t htw__relay_reads_input(const struct htw__relay *self, uint32_t index) {
    const struct htw__stripe *stripe = find_stripe(self, index);
    return stripe != NULL && stripe->ids_are_read ? stripe->input_position : -1;
}

void htw__relay_input_end(struct htw__relay *self, uint32_t index, int64_t end) {
    struct htw__stripe *stripe = find_stripe(self, index);
    if (stripe == NULL)
        return;
    if (end > stripe->input_end)
        stripe->input_end = end;
    if (stripe->input_position >= stripe->input_end)
        stripe->caught_up_ms = self->now_ms;
}

/* Markers of transactions take offsets, too, and are read as well. */
static void move_to(int64_t *position, bool *is_dirty, int64_t offset) {
    if (offset <= *position)
        return;
    *position = offset;
    *is_dirty = true;
}

void htw__relay_reached(struct htw__relay *self, struct htw__source from, int64_t offset) {
    struct htw__stripe *stripe = find_stripe(self, from.stripe);
    if (stripe == NULL)
        return;
    if (from.level == HTW__RELAY_IDS) {
        htw__index_reached(self, stripe, offset);
        return;
    }
    if (from.level == HTW__RELAY_INPUT) {
        move_to(&stripe->input_position, &stripe->input_is_dirty, offset);
        htw__relay_input_end(self, stripe->index, offset);
        note_read(self, stripe, offset);
        return;
    }
    struct htw__relay_bucket *bucket = htw__stripe_bucket(stripe, from.level, from.slot);
    if (!bucket->is_open)
        return;
    self->must_look = true;
    if (from.level == 0)
        htw__loaded_reach(bucket->loaded, offset);
    else
        move_to(&bucket->position, &bucket->is_dirty, offset);
}

void htw__relay_published(struct htw__relay *self, struct htw__source source, int64_t offset) {
    struct htw__stripe *stripe = find_stripe(self, source.stripe);
    if (stripe == NULL)
        return;
    if (source.level == HTW__RELAY_IDS) {
        htw__index_published(stripe, offset);
        return;
    }
    struct htw__relay_bucket *bucket = htw__stripe_bucket(stripe, source.level, source.slot);
    if (bucket->in_flight > 0)
        bucket->in_flight--;
    if (offset >= bucket->end)
        bucket->end = offset + 1;
}

/* ---- what is committed */

static struct htw__relay_position *add_position(struct htw__relay *self, struct htw__source source,
                                                int64_t offset) {
    self->positions = htw__memory_reserve(self->positions, self->position_count + 1,
                                          &self->position_room, sizeof(*self->positions));
    struct htw__relay_position *added = &self->positions[self->position_count++];
    *added = (struct htw__relay_position) { .source = source, .offset = offset };
    return added;
}

static void add_bucket(struct htw__relay *self, struct htw__relay_bucket *bucket) {
    struct htw__source source = htw__bucket_source(bucket);
    struct htw__relay_position *position = add_position(self, source, bucket->position);
    const struct htw__relay_progress *progress =
        bucket->loaded != NULL ? &bucket->loaded->progress : &bucket->progress;
    if (source.level == 0 && progress->read_end > bucket->position && progress->deadline_ms >= 0)
        htw__progress_format(progress, position->metadata);
    bucket->is_dirty = bucket->is_touched = false;
    self->must_look = true;
}

/* What is new in a stripe that was taken over is committed at once, before anything of it is delivered. */
static bool is_of(const struct htw__relay_bucket *bucket, enum htw__channel channel) {
    return htw__channel_of(htw__bucket_source(bucket)) == channel ||
           (channel == HTW__CHANNEL_FILE && bucket->stripe->is_uncommitted);
}

static void add_buckets(struct htw__relay *self, struct htw__stripe *stripe,
                        enum htw__channel channel) {
    for (size_t i = 0; i < htw__stripe_count(stripe); i++) {
        struct htw__relay_bucket *bucket = &stripe->buckets[i];
        if ((bucket->is_dirty || bucket->is_touched) && is_of(bucket, channel))
            add_bucket(self, bucket);
    }
}

/* The clock stands beside the input's offset. It is committed with whatever was filed by it. */
static void add_input(struct htw__relay *self, struct htw__stripe *stripe) {
    const struct htw__source source = { stripe->index, HTW__RELAY_INPUT, 0 };
    struct htw__relay_position *position = add_position(self, source, stripe->input_position);
    struct htw__relay_clock clock = { .levels = stripe->levels,
                                      .time_ms = stripe->clock_ms,
                                      .ids = stripe->ids_log };
    if (!stripe->is_released)
        clock.owner = owner_of(self);
    htw__clock_format(&clock, position->metadata);
    stripe->input_is_dirty = stripe->clock_is_dirty = false;
}

static void add_stripe(struct htw__relay *self, struct htw__stripe *stripe,
                       enum htw__channel channel) {
    size_t before = self->position_count;
    add_buckets(self, stripe, channel);
    bool has_filed = self->position_count > before;
    if (channel != HTW__CHANNEL_FILE)
        return;
    stripe->is_uncommitted = false;
    /* All that was filed is acknowledged: so it is known how far each bucket has to be read. */
    if (stripe->catch_up == HTW__CATCH_UP_READ)
        stripe->catch_up = HTW__CATCH_UP_DONE;
    if (stripe->input_is_dirty || (stripe->clock_is_dirty && has_filed))
        add_input(self, stripe);
}

bool htw__relay_positions(struct htw__relay *self, enum htw__channel channel) {
    self->position_count = 0;
    if (channel == HTW__CHANNEL_FILE)
        self->soonest_ms = INT64_MAX;
    for (uint32_t i = 0; i < self->stripe_count; i++) {
        if (self->stripes[i] == NULL)
            continue;
        if (self->stripes[i]->ids_began_anew)
            return false;
        add_stripe(self, self->stripes[i], channel);
    }
    self->is_filing |= channel == HTW__CHANNEL_FILE && self->position_count > 0;
    return true;
}

void htw__relay_touch(struct htw__relay *self) {
    for (uint32_t i = 0; i < self->stripe_count; i++) {
        struct htw__stripe *stripe = self->stripes[i];
        if (stripe == NULL)
            continue;
        stripe->input_is_dirty = true;
        for (size_t j = 0; j < htw__stripe_count(stripe); j++)
            stripe->buckets[j].is_touched = true;
    }
}
