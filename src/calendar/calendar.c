/* SPDX-License-Identifier: MIT */
/* calendar.c - calendars of one time a day: daily, on weekdays, monthly. */
#include "fields.h"

#include <errno.h>

static bool is_between(int value, int lowest, int highest) {
    return lowest <= value && value <= highest;
}

/* Every day in every month, at this time. */
static int set_time(struct htw_calendar *ret_calendar, int hour, int minute, int second) {
    if (ret_calendar == NULL || !is_between(hour, 0, 23) || !is_between(minute, 0, 59) ||
        !is_between(second, 0, 59))
        return -EINVAL;
    *ret_calendar = (struct htw_calendar) {
        ._seconds = UINT64_C(1) << second,
        ._minutes = UINT64_C(1) << minute,
        ._hours = UINT32_C(1) << hour,
        ._days = HTW__ALL_BITS(1, 31),
        ._weekdays = HTW__EVERY_WEEKDAY,
        ._months = (uint32_t)HTW__ALL_BITS(1, 12),
        ._flags = HTW__ANY_DAY | HTW__ANY_WEEKDAY,
    };
    return 0;
}

int htw_calendar_daily(struct htw_calendar *ret_calendar, int hour, int minute, int second) {
    return set_time(ret_calendar, hour, minute, second);
}

int htw_calendar_weekly(struct htw_calendar *ret_calendar, unsigned weekdays, int hour, int minute,
                        int second) {
    struct htw_calendar calendar;
    if (ret_calendar == NULL || weekdays == 0 || weekdays > HTW_EVERY_DAY)
        return -EINVAL;
    int error = set_time(&calendar, hour, minute, second);
    if (error != 0)
        return error;
    if (weekdays != HTW_EVERY_DAY) {
        calendar._flags = HTW__ANY_DAY;
        calendar._weekdays = 0;
        for (unsigned weekday = 0; weekday < 7; weekday++)
            if (weekdays >> weekday & 1)
                calendar._weekdays |= htw__weekday_bits(weekday, HTW__WEEKDAY_EVERY);
    }
    *ret_calendar = calendar;
    return 0;
}

int htw_calendar_monthly(struct htw_calendar *ret_calendar, int day, int hour, int minute,
                         int second) {
    struct htw_calendar calendar;
    if (ret_calendar == NULL || !(is_between(day, 1, 31) || day == -1))
        return -EINVAL;
    int error = set_time(&calendar, hour, minute, second);
    if (error != 0)
        return error;
    calendar._flags = HTW__ANY_WEEKDAY;
    calendar._days = day == -1 ? HTW__DAY_LAST : UINT64_C(1) << day;
    *ret_calendar = calendar;
    return 0;
}
