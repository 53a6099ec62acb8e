/* SPDX-License-Identifier: MIT */
/*
 * trust.c - which destinations refuse what the relay writes, where transactions are used.
 *
 * A topic that the relay may see but not write to fails the whole transaction, and Kafka's answer does not
 * say to the program which topic it was. So the relay finds out by what it knows. A destination that was
 * in a transaction that was committed is PROVEN. If a transaction fails, and one destination in it was
 * not proven, then that one is DENIED: its records become dead letters. If there were several, they
 * become SUSPECTS, and for some seconds the relay is careful: it takes one record at a time, and commits
 * as soon as one of them is for a destination that is not proven. (If all were proven, rights have
 * changed, and all are suspects.)
 *
 * A destination that was denied is tried again after a minute, at the cost of one transaction if it
 * still refuses: then what is due comes a second or two late.
 */
#include "kafka.h"

#include "../base/clock.h"

#include <errno.h>

#define CAREFUL_MS 10000 /* suspects that do not come again are let go after this */

static bool is_in(const struct htw__destination *destination, enum htw__channel channel) {
    return (destination->channels & channel) != 0;
}

void htw__trust_note(struct htw__kafka *self, struct htw__destination *destination,
                     enum htw__channel channel) {
    if (is_in(destination, channel))
        return;
    destination->channels |= (unsigned)channel;
    self->unproven[channel] += destination->trust != HTW__TRUST_PROVEN;
}

/* The transaction is over. */
static void clear(struct htw__kafka *self, enum htw__channel channel) {
    for (size_t i = 0; i < self->destination_count; i++)
        self->destinations[i].channels &= ~(unsigned)channel;
    self->unproven[channel] = 0;
}

void htw__trust_committed(struct htw__kafka *self, enum htw__channel channel) {
    if (self->unproven[channel] > 0)
        for (size_t i = 0; i < self->destination_count; i++)
            if (is_in(&self->destinations[i], channel))
                self->destinations[i].trust = HTW__TRUST_PROVEN;
    clear(self, channel);
}

static void deny(struct htw__kafka *self, struct htw__destination *destination) {
    destination->trust = HTW__TRUST_DENIED;
    destination->partitions = -EACCES;
    destination->asked_ms = htw__clock_monotonic_ns() / 1000000;
    htw__kafka_say(
        self,
        "topic %s: the relay may not write to it: its records become dead letters, and it is "
        "tried again in a minute",
        destination->name);
}

static void refused(struct htw__kafka *self, enum htw__channel channel) {
    struct htw__destination *last = NULL;
    bool has_unproven = self->unproven[channel] > 0;
    size_t count = 0;
    for (size_t i = 0; i < self->destination_count; i++) {
        struct htw__destination *one = &self->destinations[i];
        if (!is_in(one, channel) || (has_unproven && one->trust == HTW__TRUST_PROVEN))
            continue;
        one->trust = HTW__TRUST_SUSPECT;
        last = one;
        count++;
    }
    if (count == 0)
        htw__kafka_fail(self, "the relay may not write to the topics of its levels");
    else if (count == 1)
        deny(self, last);
    else
        self->careful_ms = htw__clock_monotonic_ns() / 1000000 + CAREFUL_MS;
}

void htw__trust_aborted(struct htw__kafka *self, enum htw__channel channel, bool is_refused) {
    if (is_refused)
        refused(self, channel);
    clear(self, channel);
}

bool htw__trust_is_careful(struct htw__kafka *self) {
    if (self->careful_ms == 0)
        return false;
    bool has_suspect = false;
    for (size_t i = 0; i < self->destination_count && !has_suspect; i++)
        has_suspect = self->destinations[i].trust == HTW__TRUST_SUSPECT;
    if (!has_suspect || htw__clock_monotonic_ns() / 1000000 > self->careful_ms)
        self->careful_ms = 0;
    return self->careful_ms != 0;
}
