/* SPDX-License-Identifier: MIT */
/*
 * recurrence.c - records that come again: when, and until when.
 *
 * Nothing is kept from one occurrence to the next. The calendar library keeps the rules of each zone that it has
 * loaded: there are only those of tzdata, whatever producers write.
 */
#include "recurrence.h"

#include "../../kit/times.h"
#include "levels.h"

#include <string.h>

#define NS_PER_MS 1000000

/* The calendar ends there, in 2262. */
#define CALENDAR_END_MS (INT64_MAX / NS_PER_MS - 1)

/* Longer texts are refused. */
#define CRON_MAX 256
#define EVERY_MAX 256

/* As in struct htw_calendar_spec: what is later than this has been missed. */
#define GRACE_MS 60000

/* False: too long, empty, or with a zero byte. */
static bool copy_text(char *text, size_t size, const struct htw__bytes *from) {
    if (from->bytes == NULL || from->size == 0 || from->size >= size ||
        memchr(from->bytes, '\0', from->size) != NULL)
        return false;
    memcpy(text, from->bytes, from->size);
    text[from->size] = '\0';
    return true;
}

static const char *read_every(const struct htw__bytes *text, int64_t *ret_ms) {
    int64_t ns;
    if (text->bytes == NULL || text->size > EVERY_MAX ||
        htw__duration_parse(text->bytes, text->size, &ns) != NULL)
        return "htw-every is not a duration such as 15m or 1h30m";
    if (ns % NS_PER_MS != 0)
        return "htw-every is not a whole number of milliseconds";
    *ret_ms = ns / NS_PER_MS;
    return *ret_ms >= HTW__RECURRENCE_EVERY_LEAST_MS ? NULL : "htw-every is shorter than a second";
}

const char *htw__recurrence_parse(const struct htw__recurrence_texts *texts,
                                  struct htw__recurrence *self) {
    char cron[CRON_MAX];
    int64_t catch_up = 1;
    *self = (struct htw__recurrence) { .until_ms = INT64_MAX };
    if (texts->every != NULL && texts->cron != NULL)
        return "both htw-every and htw-cron";
    if (texts->catch_up != NULL &&
        !htw__bytes_number(*texts->catch_up, HTW_CALENDAR_CATCH_UP_MAX, &catch_up))
        return "htw-catch-up is not a number from 0 to 1000";
    self->catch_up = (uint32_t)catch_up;
    if (texts->every != NULL)
        return texts->zone != NULL ? "htw-zone needs htw-cron"
                                   : read_every(texts->every, &self->every_ms);
    if (!copy_text(cron, sizeof(cron), texts->cron) ||
        htw_calendar_cron(&self->calendar, cron, NULL) != 0)
        return "htw-cron is not a cron expression";
    if (texts->zone != NULL && !copy_text(self->zone, sizeof(self->zone), texts->zone))
        return "htw-zone is not the name of a time zone";
    return NULL;
}

static int open_zone(const struct htw__recurrence *self, struct htw_zone **ret_zone) {
    *ret_zone = NULL; /* UTC */
    return self->zone[0] == '\0' ? 0 : htw_zone_create(ret_zone, self->zone);
}

static int64_t calendar_next(const struct htw__recurrence *self, const struct htw_zone *zone,
                             int64_t after_ms) {
    if (after_ms >= CALENDAR_END_MS)
        return HTW__RECURRENCE_NONE;
    int64_t next_ns = htw_calendar_next(&self->calendar, zone, after_ms * NS_PER_MS);
    return next_ns == HTW_NEVER_NS ? HTW__RECURRENCE_NONE : next_ns / NS_PER_MS;
}

/* The one before `before_ms`, but no earlier one than `first_ms`. */
static int64_t previous(const struct htw__recurrence *self, const struct htw_zone *zone,
                        int64_t first_ms, int64_t before_ms) {
    int64_t found_ms;
    if (before_ms <= first_ms)
        return first_ms;
    if (self->every_ms != 0)
        found_ms = first_ms + (before_ms - 1 - first_ms) / self->every_ms * self->every_ms;
    else if (before_ms >= CALENDAR_END_MS)
        return first_ms;
    else
        found_ms = htw_calendar_previous(&self->calendar, zone, before_ms * NS_PER_MS) / NS_PER_MS;
    return found_ms > first_ms ? found_ms : first_ms;
}

static int64_t next(const struct htw__recurrence *self, const struct htw_zone *zone,
                    int64_t after_ms) {
    int64_t next_ms = self->every_ms == 0 ? calendar_next(self, zone, after_ms)
                      : after_ms > HTW__RELAY_DEADLINE_MAX - self->every_ms
                          ? HTW__RECURRENCE_NONE
                          : after_ms + self->every_ms;
    return next_ms < self->until_ms ? next_ms : HTW__RECURRENCE_NONE;
}

int htw__recurrence_next(const struct htw__recurrence *self, int64_t after_ms,
                         int64_t *ret_next_ms) {
    struct htw_zone *zone;
    int error = open_zone(self, &zone);
    if (error != 0)
        return error;
    *ret_next_ms = next(self, zone, after_ms);
    htw_zone_destroy(zone);
    return 0;
}

int htw__recurrence_last(const struct htw__recurrence *self, int64_t first_ms,
                         int64_t *ret_last_ms) {
    struct htw_zone *zone;
    *ret_last_ms = HTW__RELAY_DEADLINE_MAX;
    if (self->until_ms == INT64_MAX)
        return 0;
    int error = open_zone(self, &zone);
    if (error != 0)
        return error;
    *ret_last_ms = previous(self, zone, first_ms, self->until_ms);
    htw_zone_destroy(zone);
    return 0;
}

int htw__recurrence_due(const struct htw__recurrence *self, int64_t first_ms, int64_t now_ms,
                        int64_t *counted_ms, int64_t *ret_ms) {
    struct htw_zone *zone;
    *ret_ms = first_ms;
    if (first_ms <= *counted_ms)
        return 0;
    int error = open_zone(self, &zone);
    if (error != 0)
        return error;
    int64_t end_ms = now_ms < self->until_ms ? now_ms + 1 : self->until_ms;
    int64_t last_ms = previous(self, zone, first_ms, end_ms), at_ms = last_ms;
    uint32_t count = self->catch_up;
    if (count == 0 && now_ms - last_ms <= GRACE_MS) /* it is not missed */
        count = 1;
    for (uint32_t i = 1; i < count && at_ms > first_ms; i++)
        at_ms = previous(self, zone, first_ms, at_ms);
    *ret_ms = count > 0 ? at_ms : next(self, zone, last_ms);
    *counted_ms = last_ms;
    htw_zone_destroy(zone);
    return 0;
}
