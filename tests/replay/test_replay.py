# SPDX-License-Identifier: MIT
"""The page of `htw replay` in headless Chromium: test_replay.py PROGRAM KAFKA [NAME...]

Prints what it measures of frames. KAFKA is the folder of a Kafka: its own timing wheel then runs the same timers;
or `-`. HTW_SCREENSHOTS: a folder for pictures of the page, for people.
"""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))
import browser  # noqa: E402
from browser import Page, test  # noqa: E402
from pictures import requests  # noqa: E402

PROGRAM, KAFKA = sys.argv[1:3]
FRAME_MS = 16
ARMED, DEMOTED, MOVED, CANCELLED, EXPIRED, ADVANCED = range(6)
NAMES = ["armed", "demoted", "moved", "cancelled", "expired", "clock advances"]


def server(seconds):
    """Some 870 timers a second; most are cancelled, some moved."""
    numbers = random.Random(18)
    for line in requests(seconds, numbers):
        yield line
        if line.endswith(" idle connection") and numbers.random() < 0.5:
            yield "move 60s idle connection"


def write_page(folder, lines, *options):
    path = folder / "run.html"
    subprocess.run([PROGRAM, "replay", "--html", path, *options], input="".join(line + "\n" for line in lines), text=True,
                   check=True)
    return path


def counts_of(lines, *options):
    """What the program counts, by the events: htw's and Kafka's."""
    text = subprocess.run([PROGRAM, "replay", *options], input="\n".join(lines) + "\n", text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    found = [re.search(rf"^{name} +(\d+) +(\d+)$", text, re.MULTILINE) for name in NAMES]
    return [[int(line[side]) for line in found] for side in (1, 2)]


@test
def replay_counts_as_the_program_does(folder):
    lines = list(server(3))
    wanted = counts_of(lines)
    assert all(wanted[0]), f"something has not happened in the run: {wanted}"
    with Page(write_page(folder, lines), calm=True) as page:
        page.press(Keys.END)
        state = page.state()
        assert state["counts"] == wanted[0], state
        assert state["advances"] == [wanted[0][ADVANCED], wanted[1][ADVANCED]], state
        assert state["pending"] == 0 and set(page.run("return [...htwReplay.where]")) <= {-3}, state
        page.press("k")
        state = page.state()
        assert state["way"] == "kafka" and state["position"] == state["end"], state
        # Kafka cancels and adds again where htw moves.
        assert state["counts"] == wanted[1], (state, wanted)
        saved = wanted[1][ADVANCED] - wanted[0][ADVANCED]
        assert saved > 0 and f"{saved:,} of {wanted[1][ADVANCED]:,} advances saved" in page.text("saved")


@test
def replay_is_the_same_from_each_side(folder):
    with Page(write_page(folder, server(2)), calm=True) as page:
        look = "return [JSON.stringify([...htwReplay.where]), htwReplay.state()]"
        for way in (False, True):
            page.call("setKafka", way)
            end = page.state()["end"]
            for position in random.Random(1).sample(range(end), 5):
                page.call("seek", position)
                forward = page.run(look)
                page.call("seek", end)
                page.call("seek", position)
                assert page.run(look) == forward, f"position {position}"
        # A pending timer is in the bucket of its deadline, or was moved to later.
        assert page.run("""
            const place = htwReplay.where.findIndex(place => place >= 0);
            return place >= 0""")


@test
def replay_obeys_the_keyboard(folder):
    with Page(write_page(folder, server(2))) as page:
        page.wait(lambda: page.state()["position"] > 2, "it plays by itself")
        page.press(" ")
        before = page.state()
        assert not before["playing"], before
        time.sleep(0.3)
        assert page.state()["position"] == before["position"], "it plays on"
        page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
        assert page.state()["position"] == before["position"] + 1, page.state()
        page.press(Keys.ARROW_UP)
        assert page.state()["speed"] == before["speed"] + 1, page.state()
        page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        assert page.state()["speed"] == before["speed"] - 1, page.state()
        page.press(Keys.HOME)
        assert page.state()["position"] == 0 and "The run begins." in page.text("what"), page.state()
        page.press("k")
        assert page.state()["way"] == "kafka", page.state()
        page.press("K", Keys.END)
        assert page.state()["way"] == "htw" and page.state()["position"] == page.state()["end"], page.state()
        page.press(" ")
        page.wait(lambda: 0 < page.state()["position"] < page.state()["end"], "it plays from the start again")
        # By the elements alone: each is reached by the tabulator, and named.
        names = []
        for _ in range(6):
            page.press(Keys.TAB)
            names.append(page.run("""const own = document.activeElement;
                return own.getAttribute('aria-label') || own.textContent || own.closest('label').textContent.trim()"""))
        assert len(set(names)) == 6 and all(names), names
        page.press(Keys.SHIFT)
        page.run("document.getElementById('play').focus()")
        playing = page.state()["playing"]
        page.press(Keys.SPACE)
        assert page.state()["playing"] != playing, "space on the button counts twice, or not"
        page.run("document.getElementById('position').focus()")
        page.press(" ", Keys.HOME, Keys.ARROW_RIGHT)
        assert page.state()["position"] == 1, page.state()


@test
def replay_respects_reduced_motion(folder):
    with Page(write_page(folder, server(2)), calm=True) as page:
        time.sleep(0.3)
        assert page.state()["position"] == 0 and not page.state()["playing"], page.state()
        page.call("seek", 50)
        page.settle()
        page.run("htwReplay.frames.length = 0")
        page.press(Keys.ARROW_RIGHT)
        frames = page.settle()
        assert frames <= 2, f"{frames} frames for a step"


@test
def replay_says_what_is_under_the_pointer(folder):
    lines = ["5s <b>bold</b>", "5s \u00fcber", "3ms x"]
    with Page(write_page(folder, lines, "-w", "16", "--title", "<script>alert(1)</script>"), calm=True) as page:
        assert page.driver.title == "<script>alert(1)</script>", page.driver.title
        page.press(Keys.ARROW_RIGHT)
        assert "3 armed" in page.text("what") and "Next at tick 3." in page.text("what"), page.text("what")
        bucket = 3 * 16 + 5000 // 16**3
        left, top = page.run("""
            const canvas = document.getElementById('wheel'), points = [];
            for (let y = 0; y < canvas.clientHeight; y += 2)
                for (let x = 0; x < canvas.clientWidth; x += 2)
                    if (htwReplay.bucketAt(x, y) === arguments[0])
                        points.push([x - canvas.clientWidth / 2, y - canvas.clientHeight / 2]);
            return points[points.length >> 1];""", bucket)
        wheel = page.driver.find_element("id", "wheel")
        ActionChains(page.driver).move_to_element_with_offset(wheel, int(left), int(top)).perform()
        tip = page.text("tip")
        assert tip == ("Level 3, bucket 1: ticks 4,096 to 8,191. 2 timers: <b>bold</b> (tick 5,000), "
                       "\u00fcber (tick 5,000)"), tip
        page.shoot("tip")


@test
def replay_of_nothing_is_a_page(folder):
    with Page(write_page(folder, [])) as page:
        page.press(" ", Keys.ARROW_RIGHT, Keys.ARROW_LEFT, "k", Keys.END)
        assert page.state()["end"] == 0 and page.state()["counts"] == [0] * 6, page.state()


@test
def replay_follows_the_colour_scheme(folder):
    with Page(write_page(folder, server(2)), calm=True) as page:
        grounds = []
        for scheme in ("light", "dark"):
            page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "features": [{"name": "prefers-color-scheme", "value": scheme}]})
            page.call("seek", 150)
            time.sleep(0.2)
            grounds.append(page.run("""
                const canvas = document.getElementById('wheel');
                const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
                copy.drawImage(canvas, 0, 0);
                const pixel = copy.getImageData(canvas.width / 2, canvas.height * 0.98, 1, 1).data;
                return [getComputedStyle(document.body).backgroundColor, ...pixel]"""))
            page.shoot(scheme)
        assert grounds[0][0] != grounds[1][0] and grounds[0][1:] != grounds[1][1:], grounds


@test
def replay_fits_narrow_windows(folder):
    with Page(write_page(folder, server(2)), calm=True) as page:
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True})
        page.call("seek", 150)
        time.sleep(0.2)
        page.shoot("narrow")
        width = page.run("return [document.documentElement.scrollWidth, innerWidth]")
        assert width[0] <= width[1], width
        # The buttons of the player, and the wheel, are seen without scrolling.
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 360, "height": 640, "deviceScaleFactor": 1, "mobile": True})
        page.call("seek", 151)
        page.shoot("phone")
        width = page.run("return [document.documentElement.scrollWidth, innerWidth]")
        assert width[0] <= width[1], width
        boxes = {name: page.run("return document.getElementById(arguments[0]).getBoundingClientRect().toJSON()", name)
                 for name in ("wheel", "position", "back", "play", "forward", "clock")}
        assert boxes["wheel"]["width"] > 280, boxes
        for name in ("position", "back", "play", "forward"):
            assert boxes["wheel"]["bottom"] <= boxes[name]["top"], (name, boxes)
            assert boxes[name]["bottom"] <= min(640, boxes["clock"]["top"]), (name, boxes)
        assert boxes["play"]["height"] >= 40, boxes  # for a finger
    with Page(write_page(folder, server(2)), calm=True) as page:
        wheel, side = (page.run("return document.getElementById(arguments[0]).getBoundingClientRect().toJSON()", name)
                       for name in ("wheel", "side"))
        assert wheel["right"] <= side["left"] and side["top"] < wheel["bottom"], (wheel, side)


@test
def replay_shows_what_has_expired(folder):
    count = """
        const colour = getComputedStyle(document.documentElement).getPropertyValue('--expired').trim();
        const [red, green, blue] = colour.match(/\\w\\w/g).map(part => parseInt(part, 16));
        const canvas = document.getElementById('wheel');
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        const data = copy.getImageData(0, 0, canvas.width, canvas.height).data;
        let pixels = 0;
        for (let i = 0; i < data.length; i += 4)
            pixels += data[i] === red && data[i + 1] === green && data[i + 2] === blue;
        return pixels"""
    for calm in (True, False):
        with Page(write_page(folder, ["5ms a", "9ms b", "9ms c", "90ms d", "wait 20ms", "0 late"]), calm=calm) as page:
            page.call("pause")
            page.call("seek", 1)
            page.settle()
            assert page.run(count) == 0, "before"
            for name, timers in (("a", 1), ("b and c", 2)):
                page.press(Keys.ARROW_RIGHT)
                page.settle()
                page.shoot(f"expired-{timers}")
                assert 40 * timers <= page.run(count) <= 80 * timers, (calm, name, page.run(count))
            page.press(Keys.ARROW_LEFT)  # back to the end of the stop before
            page.settle()
            assert page.run(count) >= 40, (calm, page.run(count))
            page.call("seek", 1)
            page.settle()
            assert page.run(count) == 0, "before"


@test
def replay_draws_ten_thousand_timers_in_time(folder):
    """As Chromium draws without a GPU. On a busy machine some frames take longer: the median must be in time, in the
    best of three attempts."""
    numbers = random.Random(4)
    lines = [f"{numbers.uniform(5, 300):.3f} t{i}" for i in range(10000)]
    lines += [line for i in range(2000) for line in (f"cancel t{i}", f"{numbers.uniform(1, 60):.3f} u{i}", "wait 2ms")]
    with Page(write_page(folder, lines)) as page:
        best = None
        for attempt in range(3):
            page.call("pause")
            page.call("setSpeed", 7)
            page.call("seek", 100 + 300 * attempt)
            page.run("htwReplay.frames.length = 0")
            page.call("play")
            page.wait(lambda: len(page.run("return htwReplay.frames")) >= 150, "frames")
            drawn, apart = [sorted(each) for each in zip(*page.run("return htwReplay.frames.slice(5)"))]
            high, half = len(drawn) * 95 // 100, len(drawn) // 2
            assert page.state()["pending"] >= 9900, page.state()
            print(f"   95 of 100 frames with 10 000 timers: drawn in {drawn[high]:.1f} ms, {apart[high]:.1f} ms apart; "
                  f"median: {drawn[half]:.1f} ms, {apart[half]:.1f} ms apart")
            best = min(best or drawn[half], drawn[half])
            if best <= FRAME_MS:
                break
        page.shoot("many")
        assert best <= FRAME_MS, f"{best} ms"


def acts(record):
    """What the program that is replayed did: tick, timer, and its deadline or None for a cancel."""
    flat, i, tick = record["htw"], 0, 0
    while i < len(flat):
        tick, kind, i = tick + flat[i], flat[i + 1], i + 2
        if kind == ADVANCED:
            continue
        timer = flat[i]
        i += 2 if kind <= MOVED else 1
        if kind in (ARMED, MOVED):
            yield tick, timer, tick + flat[i]
            i += 1
        elif kind == CANCELLED:
            yield tick, timer, None
    yield tick, None, None


@test
def replay_of_kafka_is_what_its_own_class_does(folder):
    if KAFKA == "-":
        print("   NOT TESTED: there is no Kafka")
        return
    jars = os.path.join(KAFKA, "*")
    subprocess.run(["javac", "-d", folder, "-cp", jars, ROOT / "tests/replay/KafkaWheel.java"], check=True)
    for bits in (1, 4, 8):
        size = str(2**bits)
        lines = list(server(4))
        page = write_page(folder, lines, "-w", size).read_text()
        record = json.loads(re.search(r'<script type="application/json" id="run">(.*?)</script>', page, re.DOTALL)[1])
        with open(folder / "acts", "w") as stream:
            for tick, timer, deadline in acts(record):
                stream.write(f"{tick} end\n" if timer is None else f"{tick} cancel {timer}\n" if deadline is None
                             else f"{tick} arm {timer} {deadline}\n")
        out = subprocess.run(["java", "-cp", f"{folder}:{jars}", "org.apache.kafka.server.util.timer.KafkaWheel",
                              size, folder / "acts"], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        theirs = counts_of(lines, "-w", size)[1]
        assert out.stdout.split() == [str(theirs[i]) for i in (DEMOTED, EXPIRED, ADVANCED)], (out.stdout, theirs)
        print(f"   {size} buckets: {theirs[ADVANCED]} advances of Kafka, {counts_of(lines, '-w', size)[0][ADVANCED]} of htw")


if __name__ == "__main__":
    import test_flight  # noqa: F401 # has more of them
    sys.exit(browser.main(sys.argv[3:]))
