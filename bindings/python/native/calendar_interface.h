/* SPDX-License-Identifier: MIT */
/* calendar_interface.h - what the module htw.calendar uses of htw/calendar.h and of calendar.c, as
   interface.h for the rest. */

#define HTW_CALENDAR_TEXT_MAX ...
#define HTW_CALENDAR_CATCH_UP_MAX ...

struct htw_zone;
struct htw_calendar {
    ...;
};
int htw_zone_create(struct htw_zone **ret_zone, const char *name);
void htw_zone_destroy(struct htw_zone *zone);
int32_t htw_zone_offset(const struct htw_zone *zone, int64_t instant_ns);
int htw_calendar_daily(struct htw_calendar *ret_calendar, int hour, int minute, int second);
int htw_calendar_weekly(struct htw_calendar *ret_calendar, unsigned weekdays, int hour, int minute,
                        int second);
int htw_calendar_monthly(struct htw_calendar *ret_calendar, int day, int hour, int minute,
                         int second);
int htw_calendar_cron(struct htw_calendar *ret_calendar, const char *expression,
                      size_t *ret_position);
int htw_calendar_format(const struct htw_calendar *calendar, char *text, size_t size);
int64_t htw_calendar_next(const struct htw_calendar *calendar, const struct htw_zone *zone,
                          int64_t after_ns);
int64_t htw_calendar_previous(const struct htw_calendar *calendar, const struct htw_zone *zone,
                              int64_t before_ns);
int htw_calendar_next_of(const char *expression, const char *zone, int64_t after_ns,
                         int64_t *ret_next_ns);
void py_connect(void *other);
uint64_t py_schedule_calendar(void *scheduler, const struct htw_calendar *calendar,
                              const struct htw_zone *zone, int64_t after_ns, int64_t jitter_ns,
                              const char *jitter_key, size_t jitter_key_size, int64_t grace_ns,
                              uint32_t catch_up, const char *key, size_t key_size, bool has_key,
                              bool keep_existing, void *group, const void *site, void *object);
