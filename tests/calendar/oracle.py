#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# holds: calendar-1, calendar-2, calendar-3
"""Compares the instants of calendars from 1990 to 2040 with those of another source: Python's zoneinfo
for zones, and sets of numbers for what the fields of an expression mean.

Both sides read the same files of tzdata, so they have the same version of the rules; the offsets are
compared first. Then:

 minutes   around each change of an offset every minute of UTC is visited, and the rule of
           htw/calendar.h is applied to what a clock on the wall shows then
 days      for each local day of the years, the local times of expressions with fixed hours are converted
           by zoneinfo alone
 weekdays  each range and step of the field of the day of the week, by the rule of Vixie cron: the days are 0 to 7,
           and 7 is 0. A step after a single day, which it does not have, goes up to 7
 fields    each kind of day of the month with each month and each kind of day of the week, in all 14 kinds of years
           (leap or not, times the day of the week on 1 January); and each range and step of hours, minutes, seconds

usage: oracle.py PROGRAM [--long]    PROGRAM is built from instants.c; --long takes minutes
"""

import calendar
import os
import pathlib
import subprocess
import sys
import zoneinfo
from datetime import datetime, timedelta

FOLDER = os.environ.get("TZDIR") or "/usr/share/zoneinfo"
ZONES = ["Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "Europe/Dublin", "Asia/Tehran",
         "Antarctica/Troll", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "UTC"]
HOUR, DAY = 3600, 86400
EPOCH = datetime(1970, 1, 1)


def seconds(naive):
    delta = naive - EPOCH
    return delta.days * DAY + delta.seconds


START = seconds(datetime(1990, 1, 1))
END = seconds(datetime(2040, 1, 1))


# ---- what an expression means, as sets. The days of a month are in a function of the date.

def last_day(date):
    return calendar.monthrange(date.year, date.month)[1]


class Expression:
    def __init__(self, text, minutes, hours, day, any_hour):
        self.text, self.minutes, self.hours, self.day, self.any_hour = text, minutes, hours, day, any_hour
        self.days = {}

    def matches_day(self, date):
        known = self.days.get(date)
        if known is None:
            known = self.days[date] = self.day(date)
        return known

    def matches(self, local):
        return local.minute in self.minutes and local.hour in self.hours and self.matches_day(local.date())


def every_day(_):
    return True


ALL_HOURS = set(range(24))
EXPRESSIONS = [
    Expression("0 3 * * *", {0}, {3}, every_day, False),
    Expression("30 2 * * *", {30}, {2}, every_day, False),
    Expression("30 1 * * *", {30}, {1}, every_day, False),
    Expression("15,45 0-4 * * *", {15, 45}, {0, 1, 2, 3, 4}, every_day, False),
    Expression("*/10 1,2 * * *", set(range(0, 60, 10)), {1, 2}, every_day, False),
    Expression("0 0 * * *", {0}, {0}, every_day, False),
    Expression("0 2 * * mon-fri", {0}, {2}, lambda date: date.weekday() < 5, False),
    Expression("59 23 L * *", {59}, {23}, lambda date: date.day == last_day(date), False),
    Expression("5 2 * 3,4,9-11 0L", {5}, {2},
               lambda date: date.month in {3, 4, 9, 10, 11} and date.weekday() == 6
               and date.day + 7 > last_day(date), False),
    Expression("0 12 29 2 *", {0}, {12}, lambda date: (date.month, date.day) == (2, 29), False),
    Expression("20 1 13 * fri", {20}, {1}, lambda date: date.day == 13 or date.weekday() == 4, False),
    Expression("*/15 * * * *", {0, 15, 30, 45}, ALL_HOURS, every_day, True),
    Expression("30 * * * *", {30}, ALL_HOURS, every_day, True),
    Expression("0 */2 * * *", {0}, set(range(0, 24, 2)), every_day, True),
    Expression("7 * * * sun#1", {7}, ALL_HOURS,
               lambda date: date.weekday() == 6 and date.day <= 7, True),
]


# ---- zones, by zoneinfo alone

def changes(zone):
    """The instants at which the offset changes, found by halves of a day."""
    def offset(instant):
        return datetime.fromtimestamp(instant, zone).utcoffset()

    found, step = [], DAY
    before = offset(START - DAY)
    for end in range(START - DAY + step, END + DAY, step):
        after = offset(end)
        if after != before:
            low, high = end - step, end
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(middle) == before else (low, middle)
            found.append(high)
            before = after
    return found


def minutes_around(zone, change, reach):
    """Each minute of UTC, with its local time, and the local minutes that were skipped just before."""
    minutes, previous = [], None
    for instant in range(change // 60 * 60 - reach, change + reach, 60):
        local = datetime.fromtimestamp(instant, zone)
        naive = local.replace(tzinfo=None, fold=0)
        skipped = []
        if previous is not None:
            while previous + timedelta(minutes=1) < naive:
                previous += timedelta(minutes=1)
                skipped.append(previous)
        minutes.append((instant, naive, local.fold, skipped))
        previous = naive
    return minutes


def by_minutes(expression, minutes):
    """A fold of zoneinfo is the second of two equal local times."""
    for instant, naive, fold, skipped in minutes:
        if expression.any_hour:
            hit = expression.matches(naive)
        else:
            hit = (fold == 0 and expression.matches(naive)) or any(map(expression.matches, skipped))
        if hit:
            yield instant


def by_days(expression, zone, changes_of_zone):
    """All local times of all days: where the hour is fixed, the first of two, and in a gap the change that
    makes it; otherwise those that exist, both of two."""
    instants = set()
    date = datetime(1989, 12, 30)
    times = [timedelta(hours=hour, minutes=minute) for hour in sorted(expression.hours) for minute in sorted(expression.minutes)]
    while date < datetime(2040, 1, 3):
        if expression.day(date):
            for time in times:
                naive = date + time
                for fold in [0, 1] if expression.any_hour else [0]:
                    instant = int(naive.replace(tzinfo=zone, fold=fold).timestamp())
                    if datetime.fromtimestamp(instant, zone).replace(tzinfo=None, fold=0) == naive:
                        instants.add(instant)
                    elif not expression.any_hour:
                        # In a gap, fold=0 has the offset before the change: an instant after the change.
                        instants.add(max(change for change in changes_of_zone if change <= instant))
        date += timedelta(days=1)
    return sorted(instant for instant in instants if START <= instant < END)


def weekday_fields():
    """Each form of a field with one item, and its days; 0 is Sunday."""
    for step in range(1, 9):
        yield f"*/{step}", range(0, 8, step)
        for first in range(8):
            yield f"{first}/{step}", range(first, 8, step)
            for last in range(first, 8):
                yield f"{first}-{last}/{step}", range(first, last + 1, step)


def by_weekdays(days, start):
    """Midnights of two weeks in UTC."""
    days = {day % 7 for day in days}
    return [instant for instant in range(start, start + 14 * DAY, DAY)
            if (instant // DAY + 4) % 7 in days]  # 1970 began on a Thursday


# ---- all kinds of fields, in UTC

def numbers(low, high, first, last):
    """`*`, every second value, each value alone, and a range: the text, and the values that match."""
    values = range(low, high + 1)
    return [("*", set(values)), ("*/2", set(range(low, high + 1, 2))), *((str(value), {value}) for value in values),
            (f"{first}-{last}", set(range(first, last + 1)))]


def sunday_first(date):
    return (date.weekday() + 1) % 7


def last_working_day(date):
    return max(day for day in range(1, last_day(date) + 1) if date.replace(day=day).weekday() < 5)


def is_nth(date, weekday, nth):
    """Of the weekdays in the month; 6: the last."""
    return sunday_first(date) == weekday and (date.day + 7 > last_day(date) if nth == 6 else (date.day - 1) // 7 + 1 == nth)


DAYS = [(text, lambda date, days=days: date.day in days) for text, days in numbers(1, 31, 28, 31)] + [
    ("L", lambda date: date.day == last_day(date)), ("LW", lambda date: date.day == last_working_day(date))]
MONTHS = [(text, lambda date, months=months: date.month in months) for text, months in numbers(1, 12, 2, 4)]
WEEKDAYS = [(text, lambda date, days=days: sunday_first(date) in days) for text, days in numbers(0, 6, 1, 5)] + [
    (f"{weekday}L" if nth == 6 else f"{weekday}#{nth}", lambda date, weekday=weekday, nth=nth: is_nth(date, weekday, nth))
    for weekday in range(7) for nth in range(1, 7)]


def kinds_of_years():
    """The first year of each kind after 2000, as its dates."""
    found = {}
    for year in range(2001, 2041):
        found.setdefault((calendar.isleap(year), datetime(year, 1, 1).weekday()), year)
    return [[datetime(year, 1, 1) + timedelta(days=day) for day in range(366 if is_leap else 365)]
            for (is_leap, _), year in sorted(found.items())]


def by_fields(dates, is_long):
    """Each expression with its instants in a year. Where both the day and the day of the week are named, one is enough."""
    days, months, weekdays = ([(text, {date for date in dates if matches(date)}) for text, matches in fields]
                              for fields in (DAYS, MONTHS, WEEKDAYS))
    for day, of_day in days:
        for week, of_week in weekdays:
            either = of_day | of_week if day[0] != "*" and week[0] != "*" else of_day & of_week
            for month, of_month in months[:: 1 if is_long else 5]:
                yield f"56 34 12 {day} {month} {week}", [seconds(date) + 45296 for date in sorted(either & of_month)]


def by_times(is_long):
    """Each range and step of a field of the time of day, the others fixed."""
    for form, unit, values in (("{} 34 12 1 1 *", 1, 60), ("56 {} 12 1 1 *", 60, 60), ("56 34 {} 1 1 *", HOUR, 24)):
        rest = 45296 - 45296 // unit % values * unit
        for first in range(values):
            for last in range(first, values, 1 if is_long else 7):
                for step in range(1, values + 1, 1 if is_long else 11):
                    yield (form.format(f"{first}-{last}/{step}"),
                           [START + rest + value * unit for value in range(first, last + 1, step)])


# ---- the comparison

class Comparison:
    def __init__(self, program):
        self.program = program
        self.requests, self.expected, self.count, self.errors = [], [], 0, []

    def expect(self, request, numbers):
        self.requests.append(request)
        self.expected.append(list(numbers))

    def run(self):
        done = subprocess.run([self.program], input="\n".join(self.requests) + "\n", text=True,
                              stdout=subprocess.PIPE, env={**os.environ, "TZDIR": FOLDER}, check=False)
        if done.returncode != 0:
            sys.exit(f"oracle: {self.program} has failed: {done.returncode}")
        answers = done.stdout.splitlines()
        if len(answers) != len(self.requests):
            sys.exit(f"oracle: {len(answers)} answers to {len(self.requests)} requests")
        for request, expected, answer in zip(self.requests, self.expected, answers):
            numbers = [int(number) for number in answer.split()]
            self.count += len(expected)
            if numbers != expected:
                first = next((pair for pair in zip(expected, numbers) if pair[0] != pair[1]), None)
                self.errors.append(f"{request[:90]}: expected {len(expected)} numbers, found {len(numbers)}; "
                                   f"the first that differ: {first}")
        self.requests, self.expected = [], []


def main():
    program, is_long = sys.argv[1], sys.argv[2:] == ["--long"]
    if not pathlib.Path(FOLDER, ZONES[0]).exists():
        print(f"oracle: NOT TESTED: {FOLDER} has no time zones")
        return 77
    zoneinfo.reset_tzpath(to=[FOLDER])
    comparison = Comparison(program)
    counts = {}
    for name in ZONES:
        zone = zoneinfo.ZoneInfo(name)
        found = changes(zone)
        probes = sorted({instant for change in found for instant in (change - 1, change)} |
                        set(range(START, END, 10 * DAY)))
        comparison.expect(f"offsets {name} {' '.join(map(str, probes))}",
                          (int(datetime.fromtimestamp(probe, zone).utcoffset().total_seconds()) for probe in probes))
        counts["changes of offsets"] = counts.get("changes of offsets", 0) + len(found)
        reach = (36 if is_long else 3) * HOUR
        # A day that is skipped needs the day before it.
        for change in found or [START + DAY]:
            minutes = minutes_around(zone, change, reach)
            for expression in EXPRESSIONS:
                comparison.expect(f"next {name} {minutes[0][0]} {minutes[-1][0] + 60} {expression.text}",
                                  by_minutes(expression, minutes))
        for number, expression in enumerate(EXPRESSIONS):
            # In the short form, each in one zone.
            if not (expression.any_hour and expression.day is every_day) and (
                    is_long or (number + ZONES.index(name)) % 10 == 0):
                comparison.expect(f"next {name} {START} {END} {expression.text}", by_days(expression, zone, found))
    for field, days in weekday_fields():
        comparison.expect(f"next UTC {START} {START + 14 * DAY} 0 0 * * {field}", by_weekdays(days, START))
    for dates in kinds_of_years()[:: 1 if is_long else 8]:
        for text, instants in by_fields(dates, is_long):
            comparison.expect(f"next UTC {seconds(dates[0])} {seconds(dates[-1]) + DAY} {text}", instants)
    for text, instants in by_times(is_long):
        comparison.expect(f"next UTC {START} {START + DAY} {text}", instants)
    comparison.run()
    print("\n".join(comparison.errors) or f"oracle: {len(ZONES)} zones, {counts['changes of offsets']} changes of offsets, "
          f"{comparison.count} numbers: all the same")
    return 1 if comparison.errors or comparison.count < 100000 else 0


sys.exit(main())
