/* SPDX-License-Identifier: MIT */
/*
 * survey.c - how far the input is read, and whether each of its partitions has a relay that works.
 *
 * The ends of our own partitions are what the last fetch has told: librdkafka keeps them, and nobody is asked.
 *
 * The owner of a stripe commits the position of its input from time to time, whether or not something arrives (sign_ms),
 * and beside it stands the clock of the stripe, which goes on. So a stripe whose offset and clock are the same at several looks in a
 * row has no owner, or one that does not get on. Looks are counted, not seconds: a relay that stood still itself finds
 * nothing wrong. Each relay sees all stripes; positions are asked for by the thread of lookup.c. (librdkafka 2.0.2 can ask for
 * the members of a group, but ends the program where the coordinator does not answer in time.)
 */
#include "kafka.h"

#include <stdlib.h>

#define MEASURE_MS 1000
#define STILL_MAX 6 /* looks: half a minute */

static void measure_ends(struct htw__kafka *self) {
    int64_t start, end;
    for (uint32_t i = 0; i < self->stripe_count; i++)
        if (self->stripes[i] == HTW__STRIPE_TAKEN &&
            rd_kafka_get_watermark_offsets(self->group, self->options.input, (int32_t)i, &start,
                                           &end) == RD_KAFKA_RESP_ERR_NO_ERROR)
            htw__relay_input_end(&self->relay, i, end); /* negative: not known yet */
}

/* Partitions may have been added. */
static bool reserve(struct htw__kafka *self) {
    if (self->survey.count >= self->stripe_count)
        return true;
    struct htw__seen *places = realloc(self->survey.seen, self->stripe_count * sizeof(*places));
    if (places == NULL)
        return false;
    for (uint32_t i = self->survey.count; i < self->stripe_count; i++)
        places[i] = (struct htw__seen) { .offset = -1 };
    self->survey.seen = places;
    self->survey.count = self->stripe_count;
    return true;
}

static void ask(struct htw__kafka *self) {
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new((int)self->survey.count);
    for (uint32_t i = 0; i < self->survey.count; i++)
        rd_kafka_topic_partition_list_add(list, self->options.input, (int32_t)i);
    if (!htw__lookup_ask_positions(&self->directory.lookup, list))
        rd_kafka_topic_partition_list_destroy(list);
}

static void note(struct htw__kafka *self, const rd_kafka_topic_partition_t *found) {
    struct htw__seen *place = &self->survey.seen[found->partition];
    struct htw__relay_clock clock = { .time_ms = 0 };
    if (found->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        return;
    (void)htw__clock_parse((struct htw__bytes) { found->metadata, found->metadata_size }, &clock);
    bool has_moved = found->offset != place->offset || clock.time_ms != place->clock_ms;
    place->offset = found->offset;
    place->clock_ms = clock.time_ms;
    place->still = has_moved ? 0 : place->still + (place->still < STILL_MAX + 1);
    if (place->still == STILL_MAX)
        htw__kafka_say(
            self,
            "partition %d of %s: no relay has committed its position for half a minute: it "
            "has no owner, or that one does not get on",
            (int)found->partition, self->options.input);
}

static void take_answer(struct htw__kafka *self) {
    rd_kafka_topic_partition_list_t *list = htw__lookup_take_positions(&self->directory.lookup);
    if (list == NULL)
        return;
    for (int i = 0; i < list->cnt; i++)
        note(self, &list->elems[i]);
    rd_kafka_topic_partition_list_destroy(list);
    self->relay.stats.stripes_stalled = 0;
    for (uint32_t i = 0; i < self->survey.count; i++)
        self->relay.stats.stripes_stalled += self->survey.seen[i].still >= STILL_MAX;
}

void htw__survey_run(struct htw__kafka *self, int64_t now_ms) {
    take_answer(self);
    if (now_ms - self->survey.measured_ms >= MEASURE_MS) {
        self->survey.measured_ms = now_ms;
        measure_ends(self);
    }
    if (now_ms - self->survey.asked_ms >= self->options.survey_ms && reserve(self)) {
        self->survey.asked_ms = now_ms;
        ask(self);
    }
}
