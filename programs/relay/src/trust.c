/* SPDX-License-Identifier: MIT */
/*
 * trust.c - which destinations refuse what the relay writes, where transactions are used.
 *
 * A topic that the relay may see but not write to fails the whole transaction, and Kafka's answer does not
 * say to the program which topic it was. So the relay finds out by what it knows. A destination that was
 * in a transaction that was committed is PROVEN. If a transaction fails, and one destination in it was
 * not proven, then that one is denied: its records become dead letters. If there were several, the relay is
 * careful until it finds one, for some seconds at most: it takes one record at a time, and commits as soon as one of
 * them is for a destination that is not proven. (If all were proven, rights have changed, and none is any more.)
 *
 * A destination that was denied is tried again after a minute, at the cost of one transaction if it
 * still refuses: then what is due comes a second or two late.
 */
#include "kafka.h"

#include "../../../src/base/clock.h"

#define CAREFUL_MS 10000

void htw__trust_note(struct htw__writer *writer, struct htw__destination *destination) {
    writer->records[writer->count - 1].destination = destination;
    writer->has_unproven |= !destination->is_proven;
    destination->uses++;
}

void htw__trust_end(struct htw__writer *writer, bool is_committed) {
    for (size_t i = 0; i < writer->count; i++) {
        struct htw__destination *destination = writer->records[i].destination;
        if (destination == NULL)
            continue;
        destination->is_proven |= is_committed;
        destination->uses--;
    }
    writer->has_unproven = false;
}

void htw__trust_refused(struct htw__kafka *self, const struct htw__writer *writer) {
    struct htw__destination *suspect = NULL;
    bool are_several = false;
    for (size_t i = 0; i < writer->count; i++) {
        struct htw__destination *one = writer->records[i].destination;
        if (one == NULL || (writer->has_unproven && one->is_proven))
            continue;
        one->is_proven = false;
        are_several |= suspect != NULL && suspect != one;
        suspect = one;
    }
    self->careful_ms = are_several ? htw__clock_monotonic_ms() + CAREFUL_MS : 0;
    if (suspect == NULL) {
        htw__kafka_fail(self, "the relay may not write to the topics of its levels");
    } else if (!are_several) {
        htw__directory_deny(suspect);
        htw__kafka_say(self, HTW__LOG_WARNING,
                       "topic %s: the relay may not write to it: its records become dead letters, "
                       "and it is tried again in a minute",
                       suspect->name);
    }
}

bool htw__trust_is_careful(const struct htw__kafka *self) {
    return self->careful_ms != 0 && htw__clock_monotonic_ms() < self->careful_ms;
}
