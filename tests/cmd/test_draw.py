# SPDX-License-Identifier: MIT
"""End-to-end tests of `htw draw` and `htw replay` (its page: tests/replay): test_draw.py PROGRAM [NAME...]"""
import base64
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True  # the source tree stays clean

from harness import PROGRAM, command, content_of, equal, file_with, has, main, test  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
WIDTH = 830


def draw(*options, data=b""):
    return command("draw", *options, input=data)


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


@test
def draw_pictures_are_valid_and_no_text_covers_another():
    for name, (options, data) in CASES.items():
        got = draw("--svg", *options, data=data)
        equal((got.status, got.err), (0, ""), name)
        picture = ET.fromstring(got.out)
        equal(picture.get("width"), str(WIDTH), "width")
        assert picture[0].tag.endswith("}title") and picture[1].tag.endswith("}desc"), "no title"
        boxes = list(texts(picture))
        for i, (left, right, y, content) in enumerate(boxes):
            assert left >= 0 and right <= WIDTH and 0 < y < float(picture.get("height")), f"{name}: outside: {content}"
            for other_left, other_right, other_y, other in boxes[i + 1:]:
                assert right <= other_left or other_right <= left or abs(y - other_y) >= 13, \
                    f"{name}: {content!r} and {other!r}"


@test
def draw_picture_has_a_bounded_size():
    for size in ("2", "64", "256", "4096"):
        data = b"".join(b"%dns x\n" % random.Random(i).getrandbits(i % 63 + 1) for i in range(20000))
        got = draw("-s", "-t", "1ns", "-w", size, data=data)
        equal(got.status, 0, "status")
        ET.fromstring(got.out)
        assert len(got.out) < 300000, f"{len(got.out)} bytes with {size} buckets"


@test
def draw_picture_is_readable_on_a_dark_page():
    got = draw("-s", data=b"1s x\n")
    has(got.out, b"@media (prefers-color-scheme: dark)")
    for forbidden in (b"http:", b"https:", b"<script", b"url("):
        assert forbidden not in got.out.replace(b"http://www.w3.org/2000/svg", b""), forbidden


@test
def draw_text_is_that_of_delay():
    got = draw("--at", "1500ms", data=b"1s a\n1h b\n2s c\nwait 1s\n30s d\n")
    equal((got.status, got.err), (0, ""), "result")
    has(got.out, b"wheel: clock 1500, 256 buckets a level, 3 of 8 levels\n")
    has(got.out, b"pending 3: due 0, never 0\n")
    has(got.out, b"  tick 2000: level 1 bucket 7, 1 timer\n")


@test
def draw_without_a_time_draws_what_all_lines_leave(directory):
    lines = b"1s a\nwait 1500ms\n30s c\nwait 1s\n2s d\n"
    equal(draw(data=lines).out, draw("--at", "2500ms", data=lines).out, "drawing")
    has(draw(data=lines).out, b"wheel: clock 2500, ")
    has(draw(data=lines).out, b"pending 2: ")
    early = draw("--at", "0", data=lines)  # without the lines that come later
    equal((early.status, early.err), (0, ""), "result")
    has(early.out, b"pending 1: due 0")
    has(early.out, b"wheel: clock 0, ")


@test
def draw_and_replay_leave_a_file_when_their_input_fails(directory):
    for command_of, option, bad in ((draw, "-o", b"1s a\nsoon b\n"), (replay, "--html", RECORD + b"{")):
        path = file_with(directory, "picture", b"good")
        missing = os.path.join(directory, "missing")
        for got in (command_of(option, path, missing), command_of(option, path, data=bad)):
            equal((got.status, got.out), (1, b""), "result")
            assert got.err.startswith("htw "), got.err
            equal(content_of(path), b"good", "the file")
        equal(os.listdir(directory), ["picture"], "files")


@test
def draw_of_a_binary_file_prints_few_errors():
    got = draw(data=b"\xff\n" * 2345)
    lines = got.err.splitlines()
    equal(len(lines), 20 + 2 + 1, "errors")
    has(lines[20], "-:100: ")
    has(lines[21], "-:1000: ")
    equal(lines[22], "htw draw: -: 2345 errors, not all of which were printed", "count")


@test
def draw_shows_what_the_wheel_holds():
    got = draw("-s", "-a", "1500ms", data=b"1s a\n1h b\n2s c\nwait 1s\n30s d\n")
    picture = ET.fromstring(got.out)
    found = [content for _, _, _, content in texts(picture)]
    for wanted in ("clock: tick 1500", "next wake-up: tick 2000", "in 500 ms", "3 timers pending",
                   "L1 [7]", "delay queue: 3 buckets"):
        assert wanted in found, f"{wanted!r} is not in {found}"
    has(picture[1].text, "3 timers are pending. Level 0 has 0. Level 1 has 2. Level 2 has 1.")


@test
def draw_counts_one_timer_as_one():
    for data, wanted in ((b"1s a\n", "1 timer is pending."), (b"", "0 timers are pending."),
                         (b"1s a\n" * 2, "2 timers are pending.")):
        picture = ET.fromstring(draw("-s", data=data).out)
        has(picture[1].text, wanted)
        found = [content for _, _, _, content in texts(picture)]
        assert wanted.replace(" is", "").replace(" are", "").rstrip(".") in found, found


@test
def draw_is_the_same_each_time():
    data = delays(3000, 5000)
    for options in (["-s"], []):
        equal(draw(*options, data=data).out, draw(*options, data=data).out, "drawing")
    instants = b"@2026-01-01T00:00:10Z x\n"
    got = draw("--begin", "2026-01-01T00:00:00Z", data=instants)
    has(got.out, b"tick 10000: level 1 bucket 39, 1 timer")


@test
def draw_replaces_a_file_whole(directory):
    path = file_with(directory, "old.svg", b"old")
    equal(draw("-s", "-o", path, data=b"1s x\n").status, 0, "status")
    has(content_of(path), b"</svg>")
    got = draw("-s", "-o", os.path.join(directory, "no/such"), data=b"1s x\n")
    equal((got.status, got.out), (1, b""), "result")
    has(got.err, "htw draw: ")
    has(got.err, "No such file")
    equal(os.listdir(directory), ["old.svg"], "files")


@test
def draw_reads_files_and_names_bad_lines(directory):
    first, second = file_with(directory, "a", b"1s a\nsoon b\n"), file_with(directory, "b", b"2s c\n")
    got = draw(first, second)
    equal(got.status, 1, "status")
    has(got.err, f"htw draw: {first}:2: ")
    has(got.out, b"pending 2:")
    got = draw("--null", data=b"1s a\0002s b\nwith a newline\0")
    equal(got.status, 0, "status")
    has(got.out, b"pending 2:")


@test
def draw_reports_a_full_disk():
    with open("/dev/full", "wb") as full:
        got = subprocess.run([PROGRAM, "draw"], input=b"1s x\n", stdout=full, stderr=subprocess.PIPE)
    equal(got.returncode, 1, "status")
    has(got.stderr.decode(), "htw draw: standard output: No space left")


@test
def draw_help_names_each_option():
    text = command("help", "draw").out
    equal(command("draw", "--help").out, text, "help")
    for option in ("at", "svg", "output", "tick", "wheel-size", "begin", "null", "help", "version"):
        has(text, b"--%s" % option.encode())
    for bad in (["--at", "soon"], ["--tick", "0"], ["-w", "3"], ["--begin", "x"],
                ["--unknown"]):
        got = draw(*bad)
        equal((got.status, got.out), (2, b""), bad)
        has(got.err, "Try 'htw draw --help'")


@test
def draw_picture_of_the_readme_is_what_the_program_draws(directory):
    script = os.path.join(ROOT, "tools/pictures.py")
    subprocess.run([sys.executable, "-B", script, PROGRAM, directory, "wheel"], check=True)
    drawn = content_of(os.path.join(directory, "wheel.svg"))
    equal(drawn, content_of(os.path.join(ROOT, "docs/pictures/wheel.svg")), "run ./dev pictures: picture")
    readme = content_of(os.path.join(ROOT, "README.md"))
    timers, buckets = re.search(rb"after twelve seconds, .*: (\d+) timers in three levels.*?and (\d+) buckets", readme, re.DOTALL).groups()
    has(drawn, timers + b" timers pending")
    has(drawn, b"delay queue: " + buckets + b" buckets")


RECORD = b"""{"htw":"1","kind":"events","format":1,"program":"p","schedulers":[{"tick_ns":1000000,"wheel_size":256}]}
{"site":0,"name":"</script><script>x"}
[5000000,"armed",0,0,"1",9000000]
[9000000,"woken",0,0,"1",0]
[9001000,"started",0,0,"1",1000]
"""


def replay(*options, data=RECORD):
    return command("replay", *options, input=data)


@test
def replay_page_allows_its_own_script_and_nothing_else(directory):
    path = os.path.join(directory, "run.html")
    got = replay("--html", path, "--title", "A & B")
    equal((got.status, got.out, got.err), (0, b"", ""), "result")
    page = content_of(path)
    equal(replay("--html", "-", "-T", "A & B").out, page, "page")
    has(page, b"<title>A &amp; B</title>")
    policy = re.search(rb'Content-Security-Policy" content="([^"]*)"', page)[1].decode()
    has(policy, "default-src 'none'")
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>".encode(), page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        has(policy, f"{tag}-src 'sha256-{digest}'")
    equal(page.count(b"<script"), 2, "scripts")  # and the record
    record = json.loads(re.search(rb'id="run">(.*?)</script>', page, re.DOTALL)[1])
    equal(record["sites"][0][:3], ["</script><script>x", "callback not known", 1], "sites")
    equal(record["marks"], [4000000, 1, 0, -1, 1000, 0, 1000, -1], "marks")


@test
def replay_help_names_each_option():
    text = command("help", "replay").out
    equal(command("replay", "--help").out, text, "help")
    for option in ("html", "title", "monitor", "help", "version"):
        has(text, b"--%s" % option.encode())
    for wrong in (["--unknown"], ["a", "b"], ["--monitor", "1", "a"]):
        got = replay(*wrong)
        equal((got.status, got.out), (2, b""), "result")
        has(got.err, "Try 'htw replay --help'")
    equal(replay("--html", "/nonexistent/run.html").status, 1, "status")


if __name__ == "__main__":
    sys.exit(main())
