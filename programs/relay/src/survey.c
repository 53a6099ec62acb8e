/* SPDX-License-Identifier: MIT */
/*
 * survey.c - how far the input is read, whether each of its partitions has a relay that works, and whether its index is whole.
 *
 * The ends of our own partitions are what the last fetch has told: librdkafka keeps them, and nobody is asked.
 *
 * The owner of a stripe commits the position of its input from time to time, whether or not something arrives (sign_ms),
 * and beside it stands the clock of the stripe, which goes on. So a stripe whose offset and clock are the same at several looks in a
 * row has no owner, or one that does not get on. Looks are counted, not seconds: a relay that stood still itself finds
 * nothing wrong. Each relay sees all stripes; positions are asked for in the background. (librdkafka 2.0.2 can ask for
 * the members of a group, but ends the program where the coordinator does not answer in time.)
 *
 * Each minute, our own topics are looked at: their settings (settings.c), and whether the indexes of our stripes begin and end
 * where they did. If one does not, all is taken over again: that compares what was committed, and stops the stripe.
 */
#include "kafka.h"

#include "memory.h"

#include <stdlib.h>

#define ASK_MS 1000
#define MEASURE_MS 1000
#define STILL_MAX 6 /* looks: half a minute */
#define LOOK_MS 60000

static void measure_ends(struct htw__kafka *self) {
    int64_t start, end;
    for (uint32_t i = 0; i < self->stripe_count; i++)
        if (self->stripes[i] == HTW__STRIPE_READ &&
            rd_kafka_get_watermark_offsets(self->group, self->options.input, (int32_t)i, &start,
                                           &end) == 0)
            htw__relay_input_end(&self->relay, i, end); /* negative: not known yet */
}

/* Partitions may have been added. */
static void reserve(struct htw__kafka *self) {
    size_t room = self->survey.count;
    self->survey.seen = htw__memory_reserve(self->survey.seen, self->stripe_count, &room,
                                            sizeof(*self->survey.seen));
    while (self->survey.count < self->stripe_count)
        self->survey.seen[self->survey.count++] = (struct htw__seen) { .offset = -1 };
}

/* The positions of all stripes, or the offsets of the indexes of ours. */
static void ask(struct htw__kafka *self, enum htw__lookup_offsets offsets) {
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new((int)self->survey.count);
    bool is_index = offsets != HTW__LOOKUP_POSITIONS;
    for (uint32_t i = 0; i < self->survey.count; i++) {
        const struct htw__ids_log *ids = htw__relay_ids(&self->relay, i);
        if (ids != NULL && is_index)
            self->survey.seen[i].ids_end = ids->end;
        if (ids != NULL || !is_index)
            htw__topics_add(
                self, list,
                (struct htw__source) { i, is_index ? HTW__RELAY_IDS : HTW__RELAY_INPUT, 0 }, 0);
    }
    if (list->cnt == 0) {
        rd_kafka_topic_partition_list_destroy(list);
        return;
    }
    self->survey.list = list;
    self->survey.offsets = offsets;
    htw__background_begin(&self->survey.background);
}

/* In the background. */
static int answer(void *context) {
    const struct htw__kafka *self = context;
    rd_kafka_topic_partition_list_t *list = self->survey.list;
    rd_kafka_resp_err_t error = htw__lookup_each(self->admin, self->survey.offsets, list, ASK_MS);
    for (int i = 0; i < list->cnt && error != 0; i++)
        list->elems[i].err = error;
    return 0;
}

void htw__survey_init(struct htw__kafka *self) {
    self->survey.background = (struct htw__background) {
        .job = answer, .context = self, .name = "survey", .event_fd = self->event_fd
    };
}

void htw__survey_fini(struct htw__kafka *self) {
    int result;
    if (htw__background_take(&self->survey.background, true, &result))
        rd_kafka_topic_partition_list_destroy(self->survey.list);
    free(self->survey.seen);
}

static void note_index(struct htw__kafka *self, enum htw__lookup_offsets offsets,
                       const rd_kafka_topic_partition_t *found) {
    uint32_t stripe = (uint32_t)found->partition;
    const struct htw__ids_log *ids = htw__relay_ids(&self->relay, stripe);
    if (found->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        htw__kafka_fail(self, "topic %s does not exist any more", found->topic);
    if (found->err != 0 || ids == NULL)
        return;
    if (offsets == HTW__LOOKUP_STARTS ? found->offset > ids->start
                                      : found->offset < self->survey.seen[stripe].ids_end)
        htw__kafka_recover(self, "an index has lost entries");
}

static void note(struct htw__kafka *self, const rd_kafka_topic_partition_t *found) {
    struct htw__seen *place = &self->survey.seen[found->partition];
    struct htw__relay_clock clock = { .time_ms = 0 };
    if (found->err != 0)
        return;
    (void)htw__clock_parse(htw__metadata_of(found), &clock);
    bool has_moved = found->offset != place->offset || clock.time_ms != place->clock_ms;
    place->offset = found->offset;
    place->clock_ms = clock.time_ms;
    place->still = has_moved ? 0 : place->still + (place->still < STILL_MAX + 1);
    if (place->still == STILL_MAX)
        htw__kafka_say(
            self, HTW__LOG_WARNING,
            "partition %d of %s: no relay has committed its position for half a minute: it "
            "has no owner, or that one does not get on",
            (int)found->partition, self->options.input);
}

static void take_answer(struct htw__kafka *self) {
    const rd_kafka_topic_partition_list_t *list = self->survey.list;
    int result;
    if (!htw__background_take(&self->survey.background, false, &result))
        return;
    for (int i = 0; i < list->cnt; i++)
        if (self->survey.offsets == HTW__LOOKUP_POSITIONS)
            note(self, &list->elems[i]);
        else
            note_index(self, self->survey.offsets, &list->elems[i]);
    rd_kafka_topic_partition_list_destroy(self->survey.list);
    self->relay.stats.stripes_stalled = 0;
    for (uint32_t i = 0; i < self->survey.count; i++)
        self->relay.stats.stripes_stalled += self->survey.seen[i].still >= STILL_MAX;
}

/* A stripe that was stopped is tried again: its topic may have been given back. */
static void look(struct htw__kafka *self, int64_t now_ms) {
    htw__settings_take(self);
    if (now_ms - self->survey.looked_ms < LOOK_MS)
        return;
    self->survey.looked_ms = now_ms;
    self->survey.to_ask = 2;
    htw__settings_ask(self);
    for (uint32_t i = 0; i < self->stripe_count; i++)
        if (self->stripes[i] == HTW__STRIPE_STOPPED)
            self->stripes[i] = HTW__STRIPE_ASSIGNED;
}

/* One question at a time. */
static void ask_next(struct htw__kafka *self, int64_t now_ms) {
    if (self->survey.background.is_in_flight)
        return;
    if (now_ms - self->survey.asked_ms >= self->options.survey_ms) {
        self->survey.asked_ms = now_ms;
        reserve(self);
        ask(self, HTW__LOOKUP_POSITIONS);
    } else if (self->survey.to_ask > 0) {
        ask(self, self->survey.to_ask == 2 ? HTW__LOOKUP_STARTS : HTW__LOOKUP_ENDS);
        self->survey.to_ask--;
    }
}

void htw__survey_run(struct htw__kafka *self, int64_t now_ms) {
    take_answer(self);
    if (now_ms - self->survey.measured_ms >= MEASURE_MS) {
        self->survey.measured_ms = now_ms;
        measure_ends(self);
    }
    look(self, now_ms);
    ask_next(self, now_ms);
}
