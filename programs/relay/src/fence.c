/* SPDX-License-Identifier: MIT */
/*
 * fence.c - ends the transactions of the former owner of a stripe.
 *
 * A member that was killed leaves transactions open. Consumers of the destinations read no further than
 * those begin, and the positions of a stripe cannot be read while one changes them. Kafka aborts them
 * after their timeout, 10 to 20 s later; but who opens a producer with the same transactional id ends
 * them at once. So the name of the owner stands beside the position of the input; a member that gives a
 * stripe away takes its name out with its last commit.
 *
 * The first commit of an owner, which brings its name, may still be under way when the name is read here. So the
 * name that comes with the positions is compared with it. One case remains for the timeout: a member that lost the stripe
 * without knowing, opened its producers again after this, and was killed.
 */
#include "kafka.h"

#include "../../../src/base/clock.h"

#include <stdio.h>
#include <string.h>

#define ASK_MS 500
#define OPEN_MS 5000
#define AGAIN_MS 5000 /* for another stripe of the same owner it is not done again */

/* Reads the owner's name, and copies it; empty: there is none. */
static void find_owner(struct htw__kafka *self, uint32_t stripe,
                       char ret_owner[HTW__RELAY_OWNER_MAX + 1]) {
    struct htw__relay_clock clock = { .time_ms = 0 };
    rd_kafka_topic_partition_list_t *list =
        htw__topics_list(self, (struct htw__source) { stripe, HTW__RELAY_INPUT, 0 }, 0);
    /* This client reads what is not committed, too: so it gets the last answer, and does not wait. */
    if (rd_kafka_committed(self->admin, list, ASK_MS) == 0)
        (void)htw__clock_parse(htw__metadata_of(&list->elems[0]), &clock);
    snprintf(ret_owner, HTW__RELAY_OWNER_MAX + 1, "%.*s", (int)clock.owner.size,
             clock.owner.size > 0 ? (const char *)clock.owner.bytes : "");
    rd_kafka_topic_partition_list_destroy(list);
}

/* Its transactions end when its id gets a new epoch. */
static void end_transactions(struct htw__kafka *self, const char *owner, enum htw__client kind) {
    rd_kafka_t *producer = htw__client_create(self, kind, owner);
    if (producer == NULL)
        return;
    rd_kafka_error_t *error = rd_kafka_init_transactions(producer, OPEN_MS);
    if (error != NULL) { /* it is done again, or the timeout ends them */
        htw__kafka_say(self, HTW__LOG_WARNING, "cannot end the transactions of %s: %s", owner,
                       rd_kafka_error_string(error));
        rd_kafka_error_destroy(error);
    }
    rd_kafka_destroy(producer);
}

void htw__fence(struct htw__kafka *self, uint32_t stripe) {
    char *owner = self->fence.found;
    int64_t now_ms = htw__clock_monotonic_ms();
    if (self->options.at_least_once)
        return;
    find_owner(self, stripe, owner);
    bool is_done =
        strcmp(owner, self->fence.owner) == 0 && now_ms - self->fence.ended_ms < AGAIN_MS;
    if (owner[0] == '\0' || strcmp(owner, self->owner) == 0 || is_done)
        return;
    end_transactions(self, owner, HTW__CLIENT_FILE);
    end_transactions(self, owner, HTW__CLIENT_DELIVER);
    memcpy(self->fence.owner, owner, sizeof(self->fence.owner));
    self->fence.ended_ms = htw__clock_monotonic_ms();
}

bool htw__fence_covers(const struct htw__kafka *self, struct htw__bytes metadata) {
    struct htw__relay_clock clock;
    if (self->options.at_least_once || htw__clock_parse(metadata, &clock) != 0 ||
        clock.owner.size == 0)
        return true;
    return htw__bytes_are_equal(clock.owner, htw__bytes_of(self->owner)) ||
           htw__bytes_are_equal(clock.owner, htw__bytes_of(self->fence.found));
}
