# SPDX-License-Identifier: MIT
"""test_draw.py - `htw draw`, and what `htw replay` writes (its page: ../replay)."""
import base64
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

from programs import PROGRAM, ROOT, command, content_of, file_with

WIDTH = 830


def draw(*options, data=b""):
    return command("draw", *options, input=data)


def drawn(*options, data=b""):
    got = draw(*options, data=data)
    assert (got.status, got.err) == (0, "")
    return got.out


def picture_of(*options, data=b""):
    return ET.fromstring(drawn("--svg", *options, data=data))


def delays(count, longest):
    numbers = random.Random(count)
    return b"".join(b"%.6f m%d\n" % (numbers.uniform(0, longest), i) for i in range(count))


# Few and many timers, few and many levels, the longest numbers.
CASES = {
    "none": ([], b""),
    "one": ([], b"5s x\n"),
    "many": (["--at", "3s"], delays(100000, 3600)),
    "few buckets": (["-w", "2", "-t", "1ns"], delays(9, 1e-6) + b"9000000000s x\n"),
    "many buckets": (["-w", "4096"], delays(5000, 90000)),
    "all levels": (["-t", "1ns", "-a", "584d"],
                   b"".join(b"%ds x\n" % (16 ** i) for i in range(9))),
    "never": ([], b"100000d x\n0 y\n"),
    "large ticks": (["-t", "1d"], delays(50, 9e9)),
}


def texts(picture):
    """The boxes of the texts: x, the end, y, content. Wider than in any usual font."""
    for parent in picture.iter():
        for text in parent:
            if text.tag.endswith("}text"):
                content = "".join(text.itertext())
                kind = text.get("class", "")
                width = len(content) * (11 if "big" in kind else 7.3)
                x = float(text.get("x")) - (width if "end" in kind else width / 2 if "middle" in kind else 0)
                yield x, x + width, float(text.get("y")), content


def test_draw_pictures_are_valid_and_no_text_covers_another():
    for name, (options, data) in CASES.items():
        picture = picture_of(*options, data=data)
        assert picture.get("width") == str(WIDTH), "width"
        assert picture[0].tag.endswith("}title") and picture[1].tag.endswith("}desc"), "no title"
        boxes = list(texts(picture))
        for i, (left, right, y, content) in enumerate(boxes):
            assert left >= 0 and right <= WIDTH and 0 < y < float(picture.get("height")), f"{name}: outside: {content}"
            for other_left, other_right, other_y, other in boxes[i + 1:]:
                assert right <= other_left or other_right <= left or abs(y - other_y) >= 13, \
                    f"{name}: {content!r} and {other!r}"


def test_draw_picture_has_a_bounded_size_and_is_readable_on_a_dark_page():
    rng = random.Random(1)
    data = b"".join(b"%dns x\n" % rng.getrandbits(i % 63 + 1) for i in range(20000))
    for size in ("2", "64", "256", "4096"):
        out = drawn("-s", "-t", "1ns", "-w", size, data=data)
        ET.fromstring(out)
        assert len(out) < 300000, f"{len(out)} bytes with {size} buckets"
    assert b"@media (prefers-color-scheme: dark)" in out
    for forbidden in (b"http:", b"https:", b"<script", b"url("):
        assert forbidden not in out.replace(b"http://www.w3.org/2000/svg", b""), forbidden


def test_draw_text_says_what_the_wheel_holds():
    out = drawn("--at", "1500ms", data=b"1s a\n1h b\n2s c\nwait 1s\n30s d\n")
    for line in (b"wheel: clock 1500, 256 buckets a level, 3 of 8 levels\n", b"pending 3: due 0, never 0\n",
                 b"  tick 2000: level 1 bucket 7, 1 timer\n"):
        assert line in out
    out = drawn("--begin", "2026-01-01T00:00:00Z", data=b"@2026-01-01T00:00:10Z x\n")
    assert b"tick 10000: level 1 bucket 39, 1 timer" in out
    assert b"pending 2:" in drawn("--null", data=b"1s a\0002s b\nwith a newline\0")


def test_draw_without_a_time_draws_what_all_lines_leave():
    lines = b"1s a\nwait 1500ms\n30s c\nwait 1s\n2s d\n"
    out = drawn(data=lines)
    assert out == drawn("--at", "2500ms", data=lines) and b"wheel: clock 2500, " in out and b"pending 2: " in out
    early = drawn("--at", "0", data=lines)  # without the lines that come later
    assert b"wheel: clock 0, " in early and b"pending 1: due 0" in early


def test_draw_shows_what_the_wheel_holds():
    picture = picture_of("-a", "1500ms", data=b"1s a\n1h b\n2s c\nwait 1s\n30s d\n")
    found = [content for _, _, _, content in texts(picture)]
    for wanted in ("clock: tick 1500", "next wake-up: tick 2000", "in 500ms", "3 timers pending",
                   "L1 [7]", "delay queue: 3 buckets"):
        assert wanted in found, f"{wanted!r} is not in {found}"
    assert "3 timers are pending. Level 0 has 0. Level 1 has 2. Level 2 has 1." in picture[1].text


def test_draw_counts_one_timer_as_one():
    for data, wanted in ((b"1s a\n", "1 timer is pending."), (b"", "0 timers are pending."),
                         (b"1s a\n" * 2, "2 timers are pending.")):
        picture = picture_of(data=data)
        assert wanted in picture[1].text
        found = [content for _, _, _, content in texts(picture)]
        assert wanted.replace(" is", "").replace(" are", "").rstrip(".") in found, found


def test_draw_names_bad_lines_and_draws_the_others(directory):
    first, second = file_with(directory, "a", b"1s a\nsoon b\n"), file_with(directory, "b", b"2s c\n")
    got = draw(first, second)
    assert got.status == 1 and f"htw draw: {first}:2: " in got.err and b"pending 2:" in got.out


def test_draw_picture_of_the_readme_is_what_the_program_draws(directory):
    script = os.path.join(ROOT, "tools/pictures.py")
    subprocess.run([sys.executable, "-B", script, PROGRAM, directory, "wheel"], check=True)
    drawn = content_of(os.path.join(directory, "wheel.svg"))
    assert drawn == content_of(os.path.join(ROOT, "docs/pictures/wheel.svg")), "run ./dev pictures: picture"
    readme = content_of(os.path.join(ROOT, "README.md"))
    timers, buckets = re.search(rb"after twelve seconds, .*: (\d+) timers in three levels.*?and (\d+) buckets", readme, re.DOTALL).groups()
    assert timers + b" timers pending" in drawn
    assert b"delay queue: " + buckets + b" buckets" in drawn


RECORD = b"""{"htw":"1","kind":"events","format":1,"program":"p","schedulers":[{"tick_ns":1000000,"wheel_size":256}]}
{"site":0,"name":"</script><script>x"}
[5000000,"armed",0,0,"1",9000000]
[9000000,"woken",0,0,"1",0]
[9001000,"started",0,0,"1",1000]
"""


def replay(*options, data=RECORD):
    return command("replay", *options, input=data)


def test_replay_page_allows_its_own_script_and_nothing_else():
    assert replay("--html", data=RECORD + b"{").out == b"", "a page of a bad record"
    got = replay("--html")
    assert (got.status, got.err) == (0, ""), "result"
    page = got.out
    policy = re.search(rb'Content-Security-Policy" content="([^"]*)"', page)[1].decode()
    assert "default-src 'none'" in policy
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>".encode(), page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert page.count(b"<script") == 2, "scripts"  # and the record
    record = json.loads(re.search(rb'id="run">(.*?)</script>', page, re.DOTALL)[1])
    assert record["sites"][0][:3] == ["</script><script>x", "callback not known", 1], "sites"
    assert record["marks"] == [4000000, 1, 0, -1, 1000, 0, 1000, -1], "marks"
