# SPDX-License-Identifier: MIT
"""Calendars, zones, and timers that repeat by them. The clock stands still where it can."""
import copy
import errno
import gc
import math
import os
import pickle
import subprocess
import sys
import time
import weakref

import pytest

import htw
from conftest import run_python

if os.environ.get("HTW_PYTHON_CALENDAR") == "0":  # build_native.py has left it out
    with pytest.raises(ImportError, match="needs the library cctz"):
        import htw.calendar
    pytest.skip("built without the calendar", allow_module_level=True)
from htw.calendar import Calendar, Weekday, Zone

# 2024-03-28, a Thursday. On the Sunday after it Berlin's clocks are put forward.
START = 1711584000
HOUR = 3600
DAY = 86400


@pytest.fixture
def scheduler():
    with htw.Scheduler(clock=htw.Clock.MANUAL, workers=0, manual_start=START) as scheduler:
        yield scheduler


# ---- instants


def test_instants_are_those_of_the_zone():
    berlin, nightly = Zone("Europe/Berlin"), Calendar.daily(2, 30)
    assert nightly.next(START) == START + 2.5 * HOUR
    assert nightly.next(START, berlin) == START + 1.5 * HOUR
    assert nightly.previous(START) == START + 9000 - DAY
    assert nightly.previous(START, berlin) == START - DAY + 1.5 * HOUR
    assert berlin.offset(START) == HOUR and berlin.offset(START + 5 * DAY) == 2 * HOUR
    now = time.time()
    assert now < nightly.next() <= now + DAY + 1 and now - DAY - 1 <= nightly.previous() <= now + 1
    assert Zone("UTC").offset() == 0


def test_calendar_is_a_value_with_a_text():
    assert str(Calendar.daily(3)) == "0 3 * * *"
    assert str(Calendar.weekly(Weekday.WEEKDAYS, 3)) == "0 3 * * 1-5"
    assert Calendar.weekly(Weekday.MONDAY | Weekday.FRIDAY, 3) == Calendar("0 3 * * mon,fri")
    assert Calendar.monthly(-1, 3, 4, 5) == Calendar("5 4 3 L * *")
    assert Calendar("0 3 * * *") != Calendar("0 4 * * *") and Calendar("0 3 * * *") != "0 3 * * *"
    calendar = Calendar("*/15 9-17 * * mon-fri")
    assert repr(calendar) == "Calendar('*/15 9-17 * * 1-5')"
    for same in (copy.copy(calendar), copy.deepcopy(calendar), pickle.loads(pickle.dumps(calendar))):
        assert same == calendar and hash(same) == hash(calendar)
        assert same.next(START) == calendar.next(START)


def test_calendar_that_never_comes_has_no_instant():
    never, daily = Calendar("0 0 30 2 *"), Calendar.daily(3)
    assert never.next(START) is None and never.previous(0) is None
    assert daily.next(math.inf) is None and daily.previous(-math.inf) is None and daily.next(2**70) is None


@pytest.mark.parametrize("expression, position", [
    ("", 0), ("0 24 * * *", 2), ("0 3 * foo *", 6), ("0 3 * * *\0", 9), ("0 3 * * \u00e9", 8)])
def test_wrong_expression_is_refused_with_its_position(expression, position):
    with pytest.raises(ValueError, match=f"position {position}$"):
        Calendar(expression)


def test_wrong_arguments_are_refused():
    for function, args in [(Calendar.daily, (24,)), (Calendar.daily, (3, -1)),
                           (Calendar.daily, (2**40,)), (Calendar.weekly, (Weekday(0), 3)),
                           (Calendar.weekly, (-1, 3)), (Calendar.monthly, (0, 3))]:
        with pytest.raises(ValueError):
            function(*args)
    for name in ("", "/etc/passwd", "../UTC", "UTC\0x"):
        with pytest.raises(ValueError):
            Zone(name)
    with pytest.raises(htw.Error) as raised:
        Zone("Europe/Nowhere")
    assert raised.value.errno == errno.ENOENT
    for wrong in (lambda: Calendar(7), lambda: Calendar.daily("3"), lambda: Zone(7),
                  lambda: Calendar.daily(3).next(START, "UTC"),
                  lambda: Calendar.daily(3).next('1')):
        with pytest.raises(TypeError):
            wrong()


def test_zone_is_not_copied_and_goes_when_it_is_dropped():
    zone = Zone("Asia/Tokyo")
    assert repr(zone) == "Zone('Asia/Tokyo')" and repr(Zone()) == "Zone()"
    with pytest.raises(TypeError):
        copy.copy(zone)
    with pytest.raises(RuntimeError):
        zone.__init__("UTC")
    reference = weakref.ref(zone)
    del zone
    gc.collect()
    assert reference() is None


def test_local_zone_is_that_of_the_environment():
    program = "from htw.calendar import Zone; print(Zone().offset(1711584000))"
    found = run_python("import os; os.environ['TZ'] = 'Asia/Kolkata'\n" + program)
    assert (found.stdout, found.returncode) == ("19800\n", 0), found.stderr


# ---- timers


def test_timer_repeats_by_the_calendar_and_outlives_its_zone(scheduler):
    runs = []
    zone = Zone("Europe/Berlin")
    timer = Calendar.daily(3).schedule(
        scheduler, lambda timer, word: runs.append((timer.run_deadline - START, word)),
        "backup", zone=zone, pass_timer=True)
    del zone
    gc.collect()
    assert timer.clock == htw.Clock.REALTIME and timer.pending
    scheduler.advance(5 * DAY)
    assert runs == [(hours * HOUR, "backup") for hours in (2, 26, 50, 73, 97)]
    assert timer.cancel() == htw.Outcome.CANCELLED
    scheduler.advance(2 * DAY)
    assert len(runs) == 5


def test_timer_makes_good_what_the_program_has_missed(scheduler):
    runs = []
    hourly = Calendar("@hourly")
    hourly.schedule(scheduler, lambda timer: runs.append(timer.missed), after=START - 3 * HOUR, catch_up=2,
                    pass_timer=True)
    # What the C function takes for now is an instant of 1970 here.
    Calendar("0 0 2 1 *").schedule(scheduler, runs.append, "old", after=0)
    scheduler.advance(0)
    assert sorted(runs, key=str) == [0, 1, "old"]


def test_jitter_key_selects_when_a_timer_runs(scheduler):
    daily = Calendar.daily(3)
    timers = [daily.schedule(scheduler, print, jitter=HOUR, jitter_key=key)
              for key in ("host 1", b"host 1", "host 2")]
    first, same, other = (timer.deadline for timer in timers)
    assert START + 3 * HOUR <= first == same <= START + 4 * HOUR and first != other
    for options in ({"jitter": HOUR}, {"grace": -1}, {"catch_up": 1001}, {"catch_up": -1}):
        with pytest.raises(ValueError):
            daily.schedule(scheduler, print, **options)
    for options in ({"zone": "UTC"}, {"group": "none"}, {"catch_up": 1.5}):
        with pytest.raises(TypeError):
            daily.schedule(scheduler, print, **options)
    with pytest.raises(TypeError):
        daily.schedule(scheduler, None)
    assert len(scheduler) == 3


def test_key_and_group_are_those_of_any_timer(scheduler):
    group, daily = scheduler.group(), Calendar.daily(3)
    timer = daily.schedule(scheduler, print, "x", key="backup", group=group)
    assert scheduler.has_key("backup", group) and len(group) == 1
    with pytest.raises(htw.KeyExistsError):
        daily.schedule(scheduler, print, key="backup", keep_existing=True, group=group)
    replacing = daily.schedule(scheduler, print, "y", key="backup", group=group)
    assert not timer.pending and replacing.pending
    unexpired = group.cancel()
    assert [(each.timer, each.callback, each.args) for each in unexpired] == \
        [(replacing, print, ("y",))]
    assert scheduler.cancel_key("backup", group) == htw.Outcome.GONE


class Word:
    """Knows when it goes."""


def test_arguments_are_dropped_when_the_timer_ends(scheduler):
    daily = Calendar.daily(3)
    for end in (lambda timer: timer.cancel(), lambda timer: timer.cancel_wait(),
                lambda timer: scheduler.cancel_key("key"),
                lambda timer: daily.schedule(scheduler, print, key="key"),
                lambda timer: scheduler.close()):
        word = Word()
        reference = weakref.ref(word)
        timer = daily.schedule(scheduler, lambda word: None, word, key="key")
        del word
        scheduler.advance(DAY)
        gc.collect()
        assert reference() is not None
        end(timer)
        assert reference() is None
    word = Word()
    reference = weakref.ref(word)
    with pytest.raises(htw.StoppedError):
        daily.schedule(scheduler, lambda word: None, word)
    del word
    gc.collect()
    assert reference() is None


def test_calendar_timers_know_where_they_were_armed(threaded):
    timer = Calendar("0 3 * * *").schedule(threaded, print)
    line = sys._getframe().f_lineno - 1
    assert f" print test_calendar_timers_know_where_they_were_armed() {__file__}:{line}\n" \
        in threaded.dump()
    timer.cancel()


# ---- the optional part


def test_package_without_the_calendar_says_what_is_missing():
    program = "import sys; sys.modules['htw._calendar_native'] = None; import htw.aio, htw.calendar"
    found = run_python(program)
    assert found.returncode == 1
    assert "htw.calendar needs the library cctz" in found.stderr


def test_package_itself_needs_no_library_of_the_calendar():
    import htw._native
    found = subprocess.run(["readelf", "-d", htw._native.__file__], capture_output=True, text=True)
    assert found.returncode == 0 and "cctz" not in found.stdout and "stdc++" not in found.stdout
    assert "htw.calendar" not in run_python(
        "import sys, htw; print(*sys.modules)").stdout.split()
