# SPDX-License-Identifier: MIT
"""test_replay.py - the page of `htw replay` in headless Chromium. What is counted and refused: tests/unit/cmd/test_replay_flight.c."""
import json
import re

import browser
import flight
from impostor import Impostor
from programs import command
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

HOSTILE = "</script><script>document.title = 'x'</script><!-- \u202e\"\\ \u00fcber"


def run(directory, lines, *options):
    path = directory / "events"
    path.write_text("\n".join(lines) + "\n")
    return command("replay", *options, path)


def write_page(directory, lines, *options):
    path = directory / "flight.html"
    done = run(directory, lines, "--html", *options)
    assert (done.status, done.err) == (0, "")
    path.write_bytes(done.out)
    return path


class Page(browser.Page):
    def __init__(self, path):
        super().__init__(path.as_uri())


def table_of(text):
    """The numbers of the table, by site."""
    rows = {}
    for line in text.split("\n")[1:]:
        found = re.match(r" *(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\S+)  (.*)", line)
        if found:
            rows[found[8].split(",")[0]] = [int(found[i]) for i in range(1, 7)]
    return rows


def shown(page):
    return page.run("""return Object.fromEntries([...document.querySelectorAll('#sites tbody tr')].map(row => [
        row.cells[0].firstChild.textContent,
        [...row.cells].slice(1).filter((_, i) => i !== 3).map(cell => Number(cell.textContent.replaceAll(',', '')))]))""")


def test_flight_is_counted_by_site(directory):
    done = run(directory, flight.record(20))
    rows = table_of(done.out.decode())
    assert done.status == 0 and "mail-server (process 4711): " in done.out.decode(), done
    assert "1 timer was armed before these" in done.out.decode(), done.out.decode()
    assert list(rows)[0] == "poll the queue", rows
    wanted = {}
    for time_ns, kind, _, site, _, *value in flight_events(flight.record(20)):
        name = flight.SITES[site]["name"] or "cache.so+0x1234"
        counts = wanted.setdefault(name, [0] * 6)
        counts[{"woken": 0, "started": 1, "armed": 3, "moved": 4, "cancelled": 5}.get(kind, 1)] += kind != "ended"
        counts[2] += kind == "started" and value[0] > 10_000_000
    assert rows == wanted, (rows, wanted)
    with Page(write_page(directory, flight.record(20))) as page:
        # In the page the callbacks' time stands after what is late.
        assert shown(page) == wanted, (shown(page), wanted)
        text = page.text("#answer")
        total, first = sum(row[0] for row in wanted.values()), wanted["poll the queue"][0]
        assert text.startswith(f"{first:,} of {total:,} wake-ups") and "queue_start() src/queue.c:31" in text, text
        assert "1 timer had been armed before the record begins" in page.text("#notes")


def flight_events(lines):
    return [value for value in map(json.loads, lines) if isinstance(value, list)]


def test_flight_is_reached_by_the_keyboard(directory):
    with Page(write_page(directory, flight.record(2))) as page:
        names = []  # of each element that the tabulator reaches
        for _ in range(5):
            page.press(Keys.TAB)
            names.append(page.run("const own = document.activeElement; return own.getAttribute('aria-label') || own.textContent"))
        assert len(set(names)) == 5 and all(names), names


def test_flight_says_what_is_at_a_mark(directory):
    lines = flight.lines([
        [flight.BEGIN, "armed", 0, 0, "a", flight.BEGIN + 5_000_000],
        [flight.BEGIN + 5_060_000, "woken", 0, 0, "a", 60_000],
        [flight.BEGIN + 5_070_000, "started", 0, 0, "a", 70_000],
        [flight.BEGIN + 7_070_000, "ended", 0, 0, "a", 2_000_000],
        [flight.BEGIN + 9_000_000, "ended", 0, 1, "b", 3_000_000],
        [flight.BEGIN + 10_000_000, "armed", 0, 2, "c", None],
    ])
    with Page(write_page(directory, lines)) as page:
        canvas = page.driver.find_element("id", "timeline")
        page.run("document.getElementById('timeline').focus()")
        told = []
        for key in (Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_DOWN):
            canvas.send_keys(key)
            told.append(page.text("#told"))
        where = "idle connection (connection_read() src/connection.c:118): "
        assert told == [where + "woke the program at 0.005060 s, 60 µs late.",
                        where + "expired at 0.005070 s, 70 µs late, its callback took 2 ms.",
                        "request timeout (request_send() src/request.c:64): expired at 0.006000 s, its callback took 3 ms."], told
        before = page.run("return htwReplay.view()")
        canvas.send_keys("+")
        zoomed = page.run("return htwReplay.view()")
        assert zoomed["to"] - zoomed["from"] == (before["to"] - before["from"]) / 2 and zoomed["from"] < 6_000_000 < zoomed["to"]
        canvas.send_keys("0")
        assert page.run("return htwReplay.view()") == before
        x, y = page.run("""const flight = htwReplay, canvas = document.getElementById('timeline');
            return [flight.xOf(5_100_000) - canvas.clientWidth / 2, flight.topOf(0) + 25 - canvas.clientHeight / 2]""")
        ActionChains(page.driver).move_to_element_with_offset(canvas, int(x), int(y)).perform()
        assert page.text("#told") == f"{told[0]} {told[1]}", page.text("#told")
        canvas.send_keys("+")
        before = page.run("return htwReplay.view()")
        ActionChains(page.driver).click_and_hold().move_by_offset(-50, 0).release().perform()
        assert page.run("return htwReplay.view()")["from"] > before["from"], "it was dragged"


def test_flight_runs_no_script_of_the_record(directory):
    sites = [{"name": HOSTILE, "file": HOSTILE, "line": 1, "function": HOSTILE, "symbol": HOSTILE, "address": HOSTILE}]
    events = [[flight.BEGIN, "woken", 0, 0, "1", 0]]
    lines = flight.lines(events, sites, program=HOSTILE, schedulers=[{"name": HOSTILE, "tick_ns": 1, "wheel_size": 2}])
    with Page(write_page(directory, lines)) as page:
        assert page.driver.title == f"What wakes {HOSTILE} (process 4711)", page.driver.title
        assert list(shown(page)) == [HOSTILE], shown(page)
        assert HOSTILE in page.text("#answer")
    done = run(directory, flight.lines(events, [{"name": "\x1b[31m\x9b"}], program="\x1b]"))
    assert "\\x1b[31m" in done.out.decode() and not set(done.out.decode()) & {"\x1b", "\x9b"}, done.out.decode()


def test_flight_of_nothing_is_a_page(directory):
    for lines in (flight.lines([], []), flight.lines([], [], schedulers=[]), flight.lines([])[:-1]):
        with Page(write_page(directory, lines)) as page:
            page.press(Keys.TAB, Keys.ARROW_RIGHT, "+")
            assert page.text("#answer") == "The record has no wake-up.", page.text("#answer")
            assert ("was cut off" in page.text("#notes")) == (not lines[-1].startswith('{"events"')), page.text("#notes")


def test_flight_comes_from_a_monitor(directory):
    path = directory / "socket"
    good = ("\n".join(flight.record(5)) + "\n").encode()
    off = ("\n".join(flight.lines([])) + "\n").encode()
    for answer, status, why in [(good, 0, ""), (off, 1, "no event is recorded: `htw top --observe +events` switches that on"),
                                (b"", 1, "closed the connection"), (b"{}\n", 1, f"{path}: line 1: not a flight record")]:
        with Impostor(path, answer) as monitor:
            done = command("replay", "--monitor", path)
        assert done.status == status and why in done.err, done.err
        assert monitor.requests == [b"events\n"], monitor.requests
        assert status != 0 or done.out == run(directory, flight.record(5)).out
    done = command("replay", "--monitor", path)
    assert done.status == 1 and "no program can be watched there" in done.err, done.err


def test_flight_fits_narrow_windows(directory):
    with Page(write_page(directory, flight.record(10))) as page:
        page.shoot("flight")
        for scheme in ("dark", "light"):
            page.resize(360, 780, scheme)
            page.shoot(f"flight-{scheme}")
            page.fits()
        boxes = {name: page.run("return document.getElementById(arguments[0]).getBoundingClientRect().toJSON()", name)
                 for name in ("timeline", "controls")}
        assert boxes["timeline"]["bottom"] <= boxes["controls"]["top"] and boxes["controls"]["bottom"] <= 780, boxes


def test_flight_shows_each_site_in_its_colour(directory):
    """The pixels of the time line: of each of the eight colours, and of none beyond the lanes."""
    sites = [{"name": f"site {i}"} for i in range(12)]
    events = [[flight.BEGIN + 1_000_000 * n, "woken", 0, n % 12, f"{n:x}", 0] for n in range(120 - 12)]
    with Page(write_page(directory, flight.lines(events, sites))) as page:
        found = page.run("""
            const canvas = document.getElementById('timeline'), style = getComputedStyle(document.documentElement);
            const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            const pixels = new Map(), view = new Uint32Array(data.buffer);
            for (const pixel of view) pixels.set(pixel, (pixels.get(pixel) || 0) + 1);
            const pixelOf = color => new Uint32Array(Uint8Array.of(...color.match(/\\w\\w/g).map(part => parseInt(part, 16)), 255).buffer)[0];
            return htwReplay.colors().map(color => pixels.get(pixelOf(color)) || 0)""")
        assert len(found) == 9 and min(found) > 100, found
        assert "4 other sites" not in page.text("#sites") and len(shown(page)) == 12
        x = page.run("return htwReplay.lanes.map(lane => lane.marks.length)")
        assert x == [9] * 8 + [36], x


def test_flight_of_100_000_events_is_shown(directory):
    lines = flight.record(120, 100_000, seed=3)
    assert len(lines) > 100_000, len(lines)
    with Page(write_page(directory, lines)) as page:
        page.run("document.getElementById('timeline').focus()")
        page.press(Keys.ARROW_RIGHT)
        assert "poll the queue" in page.text("#told")
