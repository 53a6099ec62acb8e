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
#include "directory.h"

#include "../../../src/base/clock.h"

#include <errno.h>

#define CAREFUL_MS 10000 /* suspects that do not come again are let go after this */

static bool is_in(const struct htw__directory *self, const struct htw__destination *destination,
                  enum htw__channel channel) {
    return destination->transactions[channel] == self->transactions[channel];
}

static struct htw__destination *first(const struct htw__directory *self) {
    return HTW_CONTAINER_OF(self->by_use._next, struct htw__destination, use);
}

static struct htw__destination *next(const struct htw__destination *destination) {
    return HTW_CONTAINER_OF(destination->use._next, struct htw__destination, use);
}

static bool is_end(const struct htw__directory *self, const struct htw__destination *destination) {
    return &destination->use == &self->by_use;
}

static void set_trust(struct htw__directory *self, struct htw__destination *destination,
                      enum htw__trust trust) {
    self->suspects += trust == HTW__TRUST_SUSPECT;
    self->suspects -= destination->trust == HTW__TRUST_SUSPECT;
    destination->trust = trust;
}

void htw__trust_note(struct htw__directory *self, struct htw__destination *destination,
                     enum htw__channel channel) {
    if (is_in(self, destination, channel))
        return;
    destination->transactions[channel] = self->transactions[channel];
    self->unproven[channel] += destination->trust != HTW__TRUST_PROVEN;
}

void htw__trust_aborted(struct htw__directory *self, enum htw__channel channel) {
    self->transactions[channel]++;
    self->unproven[channel] = 0;
}

void htw__trust_committed(struct htw__directory *self, enum htw__channel channel) {
    if (self->unproven[channel] > 0)
        for (struct htw__destination *at = first(self); !is_end(self, at); at = next(at))
            if (is_in(self, at, channel))
                set_trust(self, at, HTW__TRUST_PROVEN);
    htw__trust_aborted(self, channel); /* what is in it ends in the same way */
}

struct htw__destination *htw__trust_refused(struct htw__directory *self, enum htw__channel channel,
                                            bool *ret_is_ours) {
    struct htw__destination *last = NULL;
    bool has_unproven = self->unproven[channel] > 0;
    size_t count = 0;
    for (struct htw__destination *at = first(self); !is_end(self, at); at = next(at)) {
        if (!is_in(self, at, channel) || (has_unproven && at->trust == HTW__TRUST_PROVEN))
            continue;
        set_trust(self, at, HTW__TRUST_SUSPECT);
        last = at;
        count++;
    }
    *ret_is_ours = count == 0;
    if (count == 1) {
        set_trust(self, last, HTW__TRUST_DENIED);
        last->partitions = -EACCES;
        last->answered_ms = htw__clock_monotonic_ms();
        return last;
    }
    if (count > 1)
        self->careful_ms = htw__clock_monotonic_ms() + CAREFUL_MS;
    return NULL;
}

bool htw__trust_is_careful(struct htw__directory *self) {
    if (self->careful_ms != 0 &&
        (self->suspects == 0 || htw__clock_monotonic_ms() > self->careful_ms))
        self->careful_ms = 0;
    return self->careful_ms != 0;
}
