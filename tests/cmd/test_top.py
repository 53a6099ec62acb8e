#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`htw top` and `htw delay --monitor`: as text and JSON, on a terminal (tmux, and a pseudo-terminal whose
bytes are looked at), and with programs that end, stop, or are no monitors.

usage: test_top.py HTW
"""
import contextlib
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import fcntl

sys.dont_write_bytecode = True  # the source tree stays clean

from harness import PATIENCE, PROGRAM as HTW, main, test, wait_for  # noqa: E402

tempfile.tempdir = "/tmp"  # the path of a socket must be short


def test_in_tmux(function):
    """Collects a test where there is tmux."""
    if shutil.which("tmux"):
        return test(function)
    print(f"NOT TESTED, for there is no tmux: {function.__name__}")
    return function


class Watched:
    """A run of `htw delay --monitor` with lines that are due in an hour."""

    def __init__(self, *options, lines=5, **environment):
        self.process = subprocess.Popen([HTW, "delay", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**os.environ, **environment})
        for number in range(lines):
            self.process.stdin.write(b"1h line%d\n" % number)
        self.process.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def top(*options, **environment):
    run = subprocess.run([HTW, "top", *options], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         timeout=PATIENCE, env={**os.environ, "LC_ALL": "C.UTF-8", **environment})
    assert "Sanitizer" not in run.stderr and "runtime error" not in run.stderr, run.stderr
    return run


def wait_for_socket(path):
    wait_for(lambda: os.path.exists(path), path)


def pending(path):
    run = top("--once", "--json", path)
    wheels = json.loads(run.stdout)["wheels"] if run.returncode == 0 else []
    return bool(wheels) and wheels[0]["pending"]  # it is added after the socket is there


# ---- text and JSON

@test
def top_once_prints_text_and_json(directory):
    path = f"{directory}/socket"
    with Watched(f"--monitor={path}"):
        wait_for_socket(path)
        assert os.stat(path).st_mode & 0o7777 == 0o600
        wait_for(lambda: pending(path) == 5, "5 pending")
        run = top("--once", "--delay", "100ms", path)
        assert run.returncode == 0 and run.stderr == "", run
        assert "wheel delay\n  pending 5  memory" in run.stdout, run.stdout
        assert re.search(r"^  level 2  256 x 1\.09m +\| +·? *", run.stdout, re.M), run.stdout
        assert "\033" not in run.stdout and "\1" not in run.stdout
        text = top("--once", "--delay", "100ms", "--ascii", path).stdout
        assert text.isascii(), text
        assert top("--once", "--delay", "100ms", path, LC_ALL="C").stdout.isascii()
        answer = json.loads(top("--once", "--json", path).stdout)
        assert answer["format"] == 1 and answer["program"] == "htw", answer
        assert answer["wheels"][0]["tick_ns"] == 1000000


@test
def top_json_prints_a_line_for_each_sample(directory):
    path = f"{directory}/socket"
    with Watched(f"--monitor={path}") as watched:
        wait_for_socket(path)
        process = subprocess.Popen([HTW, "top", "--json", "--delay", "100ms", path], stdout=subprocess.PIPE)
        for _ in range(3):
            assert json.loads(process.stdout.readline())["pid"] == watched.process.pid
        process.send_signal(signal.SIGTERM)
        process.communicate()
        assert process.returncode == 128 + signal.SIGTERM, process.returncode


@test
def top_whose_reader_goes_away_ends(directory):
    path = f"{directory}/socket"
    with Watched(f"--monitor={path}"):
        wait_for_socket(path)
        process = subprocess.Popen([HTW, "top", "--json", "--delay", "100ms", path], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(PATIENCE) == 128 + signal.SIGPIPE
        assert process.stderr.read() == b""
        process.stderr.close()


@test
def top_finds_programs_by_process_and_the_only_one_by_itself(directory):
    os.chmod(directory, 0o700)
    environment = {"XDG_RUNTIME_DIR": directory}
    run = top("--once", **environment)
    assert run.returncode == 1 and "no program of this user can be watched" in run.stderr, run
    with Watched("--monitor", **environment) as first:
        own = f"{directory}/htw/{first.process.pid}.sock"
        wait_for_socket(own)
        assert top("--once", "--delay", "100ms", **environment).returncode == 0
        assert top("--once", "--json", str(first.process.pid), **environment).returncode == 0
        with Watched("--monitor", **environment) as second:
            wait_for_socket(f"{directory}/htw/{second.process.pid}.sock")
            run = top("--once", **environment)
            assert run.returncode == 2 and "several programs" in run.stderr, run
            assert all(f" {watched.process.pid}  htw " in run.stdout for watched in (first, second)), run
            run = top("--list", **environment)
            assert run.returncode == 0 and len(run.stdout.splitlines()) == 2, run
        run = top("--once", "--json", **environment)  # of the killed one only the socket is left
        assert json.loads(run.stdout)["pid"] == first.process.pid, run
        with Watched("--monitor", **environment) as third:  # which goes with the next monitor
            wait_for_socket(f"{directory}/htw/{third.process.pid}.sock")
            assert not os.path.exists(f"{directory}/htw/{second.process.pid}.sock")


@test
def top_says_why_a_program_cannot_be_watched(directory):
    path = f"{directory}/socket"
    run = top("--once", path)
    assert run.returncode == 1 and "no program can be watched there" in run.stderr, run
    pathlib.Path(path).write_text("")
    assert top("--once", path).returncode == 1
    assert top("--once", f"{directory}/" + 200 * "x").returncode == 2
    for delay in ("100ms", "1h"):
        assert top("--once", "--delay", delay, path).returncode == 1  # not for the time
    for options in (["a", "b"], ["--sort", "x"], ["--delay", "99ms"], ["--delay", "3601s"],
                    ["--delay", "x"], ["--nonsense"], [""]):
        run = top(*options)
        assert run.returncode == 2 and run.stderr != "" and run.stdout == "", (options, run)
    assert top("--help").stdout.startswith("Usage: htw top ")
    assert top("--version").stdout.startswith("htw top ")


@test
def top_of_a_program_that_is_stopped_says_so(directory):
    path = f"{directory}/socket"
    with Watched(f"--monitor={path}") as watched:
        wait_for_socket(path)
        wait_for(lambda: pending(path) == 5, "5 pending")
        watched.process.send_signal(signal.SIGSTOP)
        run = top("--once", path)
        assert run.returncode == 1 and "does not answer" in run.stderr, run
        watched.process.send_signal(signal.SIGCONT)
        assert top("--once", "--json", path).returncode == 0


@test
def top_of_another_user_is_forbidden(directory):
    if os.geteuid() != 0:
        return
    path = f"{directory}/socket"
    with Watched(f"--monitor={path}"):
        wait_for_socket(path)
        os.chmod(directory, 0o755)
        run = subprocess.run([HTW + "-top", "--once", path], user=65534, capture_output=True, text=True, check=False)
        assert run.returncode == 1 and "only the user of the program and root" in run.stderr, run


@test
def top_looks_into_no_folder_of_another_user(directory):
    if os.geteuid() != 0:
        return
    os.chmod(directory, 0o700)
    environment = {"XDG_RUNTIME_DIR": directory}
    with Watched("--monitor", **environment) as watched:
        wait_for_socket(f"{directory}/htw/{watched.process.pid}.sock")
        assert top("--list", **environment).stdout.count("\n") == 1
        os.chown(f"{directory}/htw", 65534, 65534)
        for options in (["--list"], ["--once"]):
            run = top(*options, **environment)
            assert run.returncode == 1 and "the folder of the sockets" in run.stderr and run.stdout == "", run


class Impostor(threading.Thread):
    """A server that answers clients with bytes: the last ones again and again."""

    def __init__(self, path, *answers):
        super().__init__(daemon=True)
        self.answers = list(answers)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen(8)
        self.start()

    def run(self):
        try:
            while True:
                client, _ = self.socket.accept()
                try:
                    client.recv(16)
                    client.sendall(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])
                except OSError:
                    pass
                client.close()
        except OSError:
            pass

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.join()


@test
# holds: monitor-8
def top_survives_answers_that_are_none(directory):
    deep = b"[" * 100000
    answers = [b"", b"x", b"{}", b"[1]", b'{"format":2}', b'{"format":"1"}', b"{" * 10, deep, b"\0" * 1000,
               b"x" * (17 << 20), b'{"format":1,"schedulers":7}', b'{"format":1,"format":1}',
               b'{"format":1,"schedulers":[1,{"levels":[{"timers":[-1,1e9]}],"shards":[{}]}],"wheels":{}}',
               b'{"format":1,"wheels":[{"name":"\\u001b[2J","levels":[{"timers":[1],"clock":99}]}]}']
    for number, answer in enumerate(answers):
        impostor = Impostor(f"{directory}/{number}", answer)
        run = top("--once", "--delay", "100ms", f"{directory}/{number}")
        impostor.close()
        assert run.returncode in (0, 1), (answer[:40], run)
        assert (run.returncode == 0) == (run.stderr == ""), (answer[:40], run)
        assert "\033" not in run.stdout, run
    assert run.returncode == 0 and "wheel ?[2J" in run.stdout, run


@test
def top_json_shows_nothing_that_changes_the_terminal(directory):
    name = "\x7f\x80\u20ac\x9b2J\x9f"
    answer = b'{\n "format":1,\t"wheels":[{"name":"' + name.encode() + b'","error":"\\u001b"}]\n}'
    impostor = Impostor(f"{directory}/socket", answer)
    run = top("--once", "--json", f"{directory}/socket")
    impostor.close()
    assert run.returncode == 0 and json.loads(run.stdout) == json.loads(answer), run
    assert not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f]", run.stdout), run


@test
def top_shows_a_darker_character_for_each_power_of_four_timers(directory):
    level = {"bucket_ns": 10**9, "buckets": 16, "clock": 0,
             "timers": [0, 1, 3, 4, 15, 16, 63, 64, 255, 256, 1023, 1024, 10**12, 0, 0, 1]}
    impostor = Impostor(f"{directory}/socket",
                        json.dumps({"format": 1, "wheels": [{"name": "w", "levels": [level]}]}).encode())
    for options, characters in ([], " ··░░▒▒▓▓████  ·"), (["--ascii"], " ..::++##@@@@  ."):
        run = top("--once", "--delay", "100ms", *options, f"{directory}/socket")
        assert run.returncode == 0 and f"|{characters}|" in run.stdout, run
    impostor.close()


def memory_of(path):
    """The exit status of `htw top --once` and the most memory that it had, in MiB."""
    process = subprocess.Popen([HTW + "-top", "--once", "--delay", "100ms", path], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss / 1024


@test
def top_takes_no_more_memory_than_an_answer_of_a_monitor_needs(directory):
    shard = {"scheduled": 10**18, "cancelled": 10**18, "moved": 10**18, "demoted": 0, "in_wheels": 10**18, "groups": 1,
             "memory_bytes": 10**9}
    level = {"bucket_ns": 10**9, "buckets": 256, "clock": 0, "timers": [64] * 64}
    schedulers = [{"name": f"s{number}", "levels": [level] * 4, "shards": [shard] * 64} for number in range(200)]
    great = json.dumps({"format": 1, "schedulers": schedulers}).encode()
    impostor = Impostor(f"{directory}/great", great)
    status, greatest = memory_of(f"{directory}/great")
    impostor.close()
    assert status == 0, status
    for number, piece in enumerate((b"{},", b"[],", b"0,", b'{"a":0},', b"[[[[]]]],")):
        path = f"{directory}/{number}"
        impostor = Impostor(path, b'{"format":1,"wheels":[' + piece * (15000000 // len(piece)) + b"0]}")
        status, memory = memory_of(path)
        impostor.close()
        assert status == 1, (piece, status)
        assert memory < greatest + 128, (piece, memory, greatest)


def answer_with(seconds, counts, waits):
    """An answer after some seconds: `counts` are numbers of timers by the columns of the histogram."""
    scheduler = {"name": "s", "lateness": {"p50_ns": 5000000, "p90_ns": 6000000, "p99_ns": 7000000, "p999_ns": 8000000,
                                           "max_ns": 9000000, "histogram": [counts.get(i, 0) for i in range(24)]}}
    purgatory = {"name": "p", "waits": [waits.get(i, 0) for i in range(24)]}
    return json.dumps({"format": 1, "pid": 1, "opened_ns": 1, "clock_ns": seconds * 10**9, "schedulers": [scheduler],
                       "purgatories": [purgatory]}).encode()


@test
def top_shows_percentiles_of_the_time_between_samples(directory):
    first, second = answer_with(1, {13: 1000}, {20: 7}), answer_with(2, {4: 10, 10: 90, 13: 1000}, {3: 10, 20: 7})
    lately = r"lateness  p50 740us  p90 967us  p99 1\.02ms p99\.9 1\.02ms max 9\.00ms .*"
    always = r"lateness  p50 5\.00ms p90 6\.00ms p99 7\.00ms p99\.9 8\.00ms max 9\.00ms .*"
    for number, (answers, options, lateness, waits) in enumerate([
            ((first, second), [], lately, r"waits +p50 6\.00ms p90 7\.60ms p99 7\.96ms .*"),
            ((first, second), ["--total"], always, r"waits +p50 7\.40ms p90 15\.4m .*"),
            ((second, second.replace(b"2000000000", b"3000000000")), [], always, r"waits +p50 7\.40ms p90 15\.4m .*"),
    ]):
        impostor = Impostor(f"{directory}/{number}", *answers)
        run = top("--once", "--delay", "100ms", *options, f"{directory}/{number}")
        impostor.close()
        assert re.search(lateness, run.stdout), run
        assert re.search(waits, run.stdout), run


@test
def top_shows_what_means_trouble_where_it_is_not_0(directory):
    for number, counts in enumerate(((3, 4, 5), (0, 0, 0))):
        names = ("late", "missed", "refused")
        impostor = Impostor(f"{directory}/{number}", json.dumps(
            {"format": 1, "schedulers": [{"name": "s", **dict(zip(names, counts))}]}).encode())
        run = top("--once", "--delay", "100ms", f"{directory}/{number}")
        impostor.close()
        assert ("late 3  missed periods 4  refused 5" in run.stdout) == (number == 0), run
        assert number == 0 or not any(name in run.stdout for name in ("late ", "missed", "refused")), run


@test
def top_shows_a_journal(directory):
    numbers = {"name": "mail", "delayed": 1, "ready": 2, "leased": 3, "buried": 4, "kept": 5, "requests": 6, "queues": 7,
               "oldest_ns": 1500000000, "log_bytes": 4096, "memory_bytes": 2048, "stopped": 0,
               "commit": {"count": 1, "p50_ns": 5000, "p99_ns": 7000, "max_ns": 9000}}
    for stopped in (0, 1):
        answers = [json.dumps({"format": 1, "pid": 1, "opened_ns": 1, "clock_ns": second * 10**9, "journals": [
            {**numbers, "stopped": stopped, "commits": 10 * second, "put": 20 * second}]}).encode() for second in (1, 2)]
        impostor = Impostor(f"{directory}/{stopped}", *answers)
        run = top("--once", "--delay", "100ms", f"{directory}/{stopped}")
        impostor.close()
        assert "journal mail\n  delayed 1  ready 2  leased 3  buried 4" in run.stdout, run
        assert ("stopped 1" in run.stdout) == bool(stopped), run
        for line in ("  oldest in memory 1.50s  requests 6  queues 7  done 5  log 4.00K  memory 2.00K",
                     "  per second: commits 10.0  put 20.0  done 0  cancelled 0",
                     "  commit    p50 5.00us p90 0ns    p99 7.00us"):
            assert line in run.stdout, (line, run.stdout)


# ---- views

PAGES = ("overview", "sites", "wakeups", "herds", "groups", "journals", "queues")


def site(name, **numbers):
    return {"name": name, "file": "src/network/connection_pool.c", "line": 1234, "function": "connection_pool_accept_one",
            "symbol": "expire_idle_connection", "address": f"0x{sum(name.encode()):x}", **numbers}


def views_answer(second, observed=("sites",), name="idle connection"):
    """An answer with rows in all lists, that many seconds after the start."""
    sites = [site(name, pending=12345, armed=100 * second, cancelled=90 * second, expired=10 * second, late=second,
                  callback_ns=250 * 10**6 * second, wakeups=5 * second, next_ns=1500 * 10**6),
             site("keepalive", pending=7, armed=200 * second, expired=200 * second, callback_ns=10**6, wakeups=50 * second,
                  late=0, next_ns=-1)]
    scheduler = {"name": "main", "pending": 12352, "observed": list(observed), "sites": sites,
                 "others": {"sites": 77, "pending": 9, "armed": 3 * second},
                 "next_wakeups": [{"left_ns": 1500000, "timers": 250, **site(name)}],
                 "herds": [{"ago_ns": 2 * 10**9, "timers": 4321, **site(name)}, {"ago_ns": 1, "timers": 1, **site("alone")}],
                 "groups": [{"name": "tenants", "address": "0x1", "pending": 55, "paused": True, "scale_ppm": 500000}],
                 "shards": [{"scheduled": 10 * second, "cancelled": 4 * second, "moved": 0, "in_wheels": 12352, "groups": 1,
                             "memory_bytes": 2**20}],
                 "levels": [{"bucket_ns": 10**6, "buckets": 256, "clock": 3, "timers": [1] * 64}]}
    journal = {"name": "mail", "delayed": 8, "queue_list": [
        {"name": "newsletters-of-the-month", "delayed": 5, "ready": 4, "leased": 3, "buried": 2, "waiting": 1, "paused": True},
        {"name": None, "delayed": 3, "ready": 0, "leased": 0, "buried": 0, "waiting": 0, "paused": False}]}
    return json.dumps({"format": 1, "pid": 1, "program": "a-program-with-a-name", "htw": "1.2.3", "opened_ns": 1,
                       "clock_ns": second * 10**9, "schedulers": [scheduler], "journals": [journal]}).encode()


def view(directory, page, *options, width=100, answers=None):
    path = tempfile.mktemp(dir=directory)
    impostor = Impostor(path, *(answers or (views_answer(1), views_answer(2))))
    run = top("--once", "--delay", "100ms", "--view", page, *options, path, COLUMNS=str(width))
    impostor.close()
    assert run.returncode == 0, run
    return run.stdout


@test
def top_shows_all_of_each_view_in_any_width(directory):
    shown = {
        "overview": ("main", "12352", "shard", "scheduled/s", "level 0", "journal mail"),
        "sites": ("idle connection", "keepalive", "77 others", "connection_pool_accept_one()", "connection_pool.c:1234", "12345",
                  "25.0%", "1.50s", "wake-ups/s", "cancelled/s", "90.0"),
        "wakeups": ("idle connection", "1.50ms", "250", "connection_pool.c:1234"),
        "herds": ("idle connection", "2.00s", "4321", "connection_pool.c:1234", "htw_schedule_within()."),
        "groups": ("tenants", "paused", "55", "0.5"),
        "journals": ("journal mail", "delayed 8"),
        "queues": ("newsletters-of-the-month", "paused", "5", "4", "3", "2", "1", "(the default queue)"),
    }
    assert set(shown) == set(PAGES)
    for page, texts in shown.items():
        for width in (40, 80, 200):
            text = view(directory, page, width=width)
            lines = text.split("\n")
            assert max(map(len, lines)) <= width, (page, width, max(lines, key=len))
            together = re.sub(r"\s+", " ", text)
            for part in texts:
                assert part in together, (page, width, part, text)
    assert "alone" not in view(directory, "herds"), "one timer is no herd"


@test
def top_sorts_sites(directory):
    for options, first, heading in (([], "keepalive", "by wakeups"), (["--sort", "pending"], "idle connection", "by pending"),
                                    (["--sort", "cpu"], "idle connection", ""), (["--sort", "late"], "idle connection", ""),
                                    (["--sort", "rate"], "keepalive", ""), (["--sort", "name"], "idle connection", ""),
                                    (["--sort", "name", "--reverse"], "keepalive", ""), (["--sort", "memory"], "keepalive", "")):
        text = view(directory, "sites", *options, width=200)
        rows = [line for line in text.split("\n") if "idle connection" in line or "keepalive" in line]
        assert first in rows[0], (options, text)
        assert text.rstrip().endswith("77 others"), text


@test
def top_shows_rates_of_sites_or_all_that_was_counted(directory):
    row = [line for line in view(directory, "sites", width=200).split("\n") if "idle" in line][0].split()
    assert row[:8] == ["5.00", "12345", "25.0%", "1.00", "10.0", "100", "90.0", "1.50s"], row
    row = [line for line in view(directory, "sites", "--total", width=200).split("\n") if "idle" in line][0].split()
    assert row[:8] == ["10", "12345", "500ms", "2", "20", "200", "180", "1.50s"], row
    # A site that was not told before has no rate yet.
    unknown = (views_answer(1, name="another"), views_answer(2))
    row = [line for line in view(directory, "sites", width=200, answers=unknown).split("\n") if "idle" in line][0].split()
    assert row[:4] == ["0", "12345", "0.00%", "0"], row


@test
def top_says_how_to_count_by_site(directory):
    for page in ("sites", "herds"):
        text = view(directory, page, answers=(views_answer(1, observed=()), views_answer(2, observed=())))
        assert "htw top --observe +sites" in re.sub(r"\s+", " ", text), text
        assert "wake-ups/s" not in text, text


@test
# holds: monitor-8, commands-1
def top_shows_nothing_of_rows_that_changes_the_terminal(directory):
    hostile = "\x1b[2J\x7f\x9b\u202e\n\x01%s%n"
    answer = json.loads(views_answer(2))
    for source in answer["schedulers"] + answer["journals"]:
        source["observed"] = ["sites", hostile * 9]
        for rows in source.values():
            for row in rows if isinstance(rows, list) else ():
                if isinstance(row, dict):
                    row.update({name: hostile for name in ("name", "file", "function", "symbol", "address")})
    answers = (views_answer(1), json.dumps(answer).encode())
    for page in PAGES:
        text = view(directory, page, answers=answers)
        assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u202e]", text), (page, text)


@test
def top_shows_no_more_rows_of_a_list_than_a_monitor_tells(directory):
    answer = json.loads(views_answer(2))
    answer["schedulers"][0]["sites"] = [site(f"site{i}", pending=i, armed=i) for i in range(8000)]
    text = view(directory, "sites", answers=(views_answer(1), json.dumps(answer).encode()))
    assert len(set(re.findall("site[0-9]+", text))) == 64, text
    assert "77 others" in text, text


class Serving:
    """A run of `htw serve --memory --monitor`."""

    def __init__(self, directory):
        self.path = f"{directory}/serve"
        self.process = subprocess.Popen([HTW, "serve", "--memory", "--listen", f"unix:{directory}/jobs", f"--monitor={self.path}"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.is_built = bool(self.process.stdout.readline())
        self.jobs = socket.socket(socket.AF_UNIX)
        if self.is_built:
            self.jobs.connect(f"{directory}/jobs")

    def say(self, line, answer):
        self.jobs.sendall(line)
        received = self.jobs.recv(100)
        assert received.startswith(answer), (line, received)
        return received

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.jobs.close()
        self.process.terminate()
        _, errors = self.process.communicate(timeout=PATIENCE)
        assert not self.is_built or (self.process.returncode == 0 and not os.path.exists(self.path)), errors


def ask(path, request):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        client.sendall(request)
        return b"".join(iter(lambda: client.recv(65536), b"")).decode()


@test
def serve_shows_its_timers_and_queues(directory):
    with Serving(directory) as serving:
        if not serving.is_built:
            return  # built without journals
        serving.say(b"use mail\r\n", b"USING")
        serving.say(b"put 1 3600 10 2\r\nhi\r\n", b"INSERTED")
        serving.say(b"put 1 0 10 2\r\nhi\r\n", b"INSERTED")
        answer = json.loads(top("--once", "--json", "--view", "queues", serving.path).stdout)
        assert [[source["name"] for source in answer[kind]] for kind in ("schedulers", "journals")] == 2 * [["serve"]]
        assert {"name": "mail", "delayed": 1, "ready": 1, "leased": 0, "buried": 0, "waiting": 0,
                "paused": False} in answer["journals"][0]["queue_list"], answer
        assert "queue_list" not in top("--once", "--json", serving.path).stdout
        text = top("--once", "--delay", "100ms", "--view", "queues", serving.path).stdout
        assert re.search(r"^ +1 +1 +0 +0 +0  mail$", text, re.M), text
        assert top("--observe", "+sites", serving.path).returncode == 0
        metrics = ask(serving.path, b"metrics\n")
        assert 'htw_journal_queue_jobs{journal="serve",queue="mail",state="delayed"} 1\n' in metrics, metrics
        assert 'htw_site_wakeups_total{scheduler="serve",site="' in metrics, metrics
        samples = [line.rsplit(" ", 1)[0] for line in metrics.splitlines() if not line.startswith("#")]
        label = r'[a-z_]+="([^"\\\n]|\\["\\n])*"'
        assert all(re.fullmatch(rf"htw_[a-z_]+(\{{{label}(,{label})*\}})?", sample) for sample in samples), metrics
        assert len(samples) == len(set(samples)), metrics


@test
def serve_counts_no_lease_that_ends_as_late(directory):
    with Serving(directory) as serving:
        if not serving.is_built:
            return
        serving.say(b"put 1 0 1 2\r\nhi\r\n", b"INSERTED")
        serving.say(b"reserve\r\n", b"RESERVED")  # for a second: then it is given back
        wait_for(lambda: scheduler_of(serving)["runs"] > 0, "a run of the journal")
        assert scheduler_of(serving)["lateness"]["max_ns"] < 3600 * 10**9, scheduler_of(serving)


def scheduler_of(serving):
    return json.loads(top("--once", "--json", serving.path).stdout)["schedulers"][0]


@test
def top_switches_what_is_observed(directory):
    with Serving(directory) as serving:
        if not serving.is_built:
            return
        for words, observed in (("+sites", ["sites"]), ("+events", ["sites", "events"]), ("-sites", ["events"]),
                                ("+sites,-events", ["sites"]), ("off", [])):
            run = top("--observe", words, serving.path)
            assert json.loads(run.stdout) == {"schedulers": [{"name": "serve", "observed": observed}]}, run
        for words in ("nonsense", "", "sites," + "x" * 200):
            run = top("--observe", words, serving.path)
            assert run.returncode in (1, 2) and run.stderr.startswith("htw top: ") and not run.stdout, run


@test_in_tmux
def top_on_a_terminal_shows_views_by_keys(directory):
    with Serving(directory) as serving, Tmux(directory, on_terminal(serving.path, "--delay 100ms")) as tmux:
        if not serving.is_built:
            return
        tmux.shows("level 0")
        for number, page in enumerate(PAGES[1:], 2):
            tmux.keys(str(number))
            tmux.shows(f"htw top {page}  every 100 ms")
        tmux.shows("waiting  queue")
        tmux.keys("Tab")
        tmux.shows("htw top  every 100 ms")
        tmux.keys("v")
        tmux.shows("Nothing is counted by site")
        tmux.keys("o")
        tmux.shows("scheduler serve  observed sites")
        tmux.shows("wake-ups/s")
        tmux.keys("s")
        tmux.shows("by pending")
        tmux.keys("o")
        tmux.shows("Nothing is counted by site")
        tmux.call("resize-window", "-x", "40", "-y", "30")
        tmux.shows("sites  100 ms  by pending  h help")
        tmux.keys("q")
        tmux.shows("status=0")


# ---- the options of htw delay

@test
def delay_monitor_that_cannot_be_opened_is_an_error(directory):
    path = f"{directory}/socket"
    pathlib.Path(path).write_text("")
    for value, why in ((path, "File exists"), (f"{directory}/none/socket", "No such file"), (200 * "x", "name too long")):
        run = subprocess.run([HTW, "delay", f"--monitor={value}"], input="0 x\n", capture_output=True, text=True,
                             timeout=PATIENCE, check=False)
        assert run.returncode == 1 and why in run.stderr and run.stdout == "", run
    run = subprocess.run([HTW, "delay", "--monitor="], input="", capture_output=True, text=True, check=False)
    assert run.returncode == 2, run


@test
def delay_removes_its_socket_at_the_end(directory):
    path = f"{directory}/socket"
    for number in (None, signal.SIGTERM):
        with Watched(f"--monitor={path}", "--unreleased", f"{directory}/rest", lines=1 if number else 0) as watched:
            wait_for_socket(path)
            if number:
                watched.process.send_signal(number)
            else:
                watched.process.stdin.close()
            watched.process.wait(PATIENCE)
            assert not os.path.exists(path)
            watched.process.stdin = None


# ---- on a terminal

class Tmux:
    """A session of tmux in which a shell command runs."""

    def __init__(self, directory, command, **environment):
        self.name = tempfile.mktemp(prefix="tmux-", dir=directory)
        variables = [f"{name}={value}" for name, value in environment.items()]
        self.call("new-session", "-d", "-x", "110", "-y", "40", "env", "LC_ALL=C.UTF-8", *variables, "sh", "-c", command)

    def call(self, *words):
        return subprocess.run(["tmux", "-u", "-S", self.name, "-f", "/dev/null", *words], check=True, capture_output=True,
                              text=True, env={**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}).stdout

    def screen(self, *options):
        return self.call("capture-pane", "-p", *options)

    def shows(self, text):
        try:
            wait_for(lambda: text in self.screen(), text)
        except AssertionError as error:
            raise AssertionError(f"{text!r} is not on the screen:\n{self.screen()}") from error

    def keys(self, *keys):
        self.call("send-keys", *keys)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # The programs first, and at once: a terminal that closes sends SIGHUP, then SIGCONT, and the check for
        # leaks of a program that SIGHUP has ended waits, in a loop, for a stop that this SIGCONT has undone.
        panes = subprocess.run(["tmux", "-S", self.name, "list-panes", "-a", "-F", "#{pane_pid}"], check=False,
                               capture_output=True, text=True)
        for pid in panes.stdout.split():
            with contextlib.suppress(ProcessLookupError):  # it has ended since
                os.killpg(int(pid), signal.SIGKILL)
        subprocess.run(["tmux", "-S", self.name, "kill-server"], check=False, capture_output=True)


def on_terminal(path, options=""):
    """What the session runs: the settings of the terminal must be the same before and after."""
    return (f"before=$(stty -g); {HTW} top {options} {path}; echo status=$?; "
            '[ "$before" = "$(stty -g)" ] && echo the-same-terminal; sleep 1000')


@test_in_tmux
def top_on_a_terminal_obeys_keys_and_sizes(directory):
    path = f"{directory}/socket"
    with Watched(f"--monitor={path}"), Tmux(directory, on_terminal(path, "--delay 100ms")) as tmux:
        tmux.shows("pending 5")
        assert tmux.screen().startswith("htw top  every 100 ms  by name    h help  q quit")
        tmux.keys("s")
        tmux.shows("by pending")
        tmux.keys("r")
        tmux.shows("by pending, reversed")
        tmux.keys("t")
        tmux.shows("by pending, reversed  of all time")
        tmux.keys("t")
        wait_for(lambda: "of all time" not in tmux.screen(), "the time between two samples")
        tmux.keys("+")
        tmux.shows("every 200 ms")
        tmux.keys("-")
        tmux.shows("every 100 ms")
        tmux.keys("p")
        tmux.shows("PAUSED")
        tmux.keys("Space")
        wait_for(lambda: "PAUSED" not in tmux.screen(), "the end of the pause")
        tmux.keys("h")
        tmux.shows("Counting stops at 64 timers")
        tmux.keys("Escape")
        tmux.shows("wheel delay")
        for width, height in ((60, 12), (20, 5), (10, 2), (200, 50), (110, 40)):
            tmux.call("resize-window", "-x", str(width), "-y", str(height))
            title = "htw top  every" if width >= 60 else "overview  100 ms"
            wait_for(lambda: tmux.screen().startswith(title[:width].rstrip()), f"{width} x {height}")
        tmux.shows("level 2")
        tmux.call("resize-window", "-x", "110", "-y", "6")
        wait_for(lambda: "level 2" not in tmux.screen(), "the small screen")
        wait_for(lambda: tmux.keys("End") or "level 2" in tmux.screen(), "the end")  # once it knows its size
        assert "open for" not in tmux.screen()
        tmux.keys("Home")
        tmux.shows("open for")
        tmux.keys("x", "F5", "C-l", "Down", "Up", "NPage", "PPage")  # not all of these mean something
        tmux.keys("q")
        tmux.shows("status=0")
        tmux.shows("the-same-terminal")


@test_in_tmux
# holds: monitor-8
def top_on_a_terminal_ends_with_the_program(directory):
    path = f"{directory}/socket"
    with Watched(f"--monitor={path}") as watched, Tmux(directory, on_terminal(path, "-d 100ms")) as tmux:
        tmux.shows("pending 5")
        watched.process.kill()
        tmux.shows("status=1")
        tmux.shows("the-same-terminal")
        assert f"htw top: htw (process {watched.process.pid}): no program can be watched" in tmux.screen()


@test_in_tmux
def top_on_a_terminal_waits_for_a_program_that_is_stopped(directory):
    path = f"{directory}/socket"
    with Watched(f"--monitor={path}") as watched, Tmux(directory, on_terminal(path, "-d 100ms")) as tmux:
        tmux.shows("pending 5")
        watched.process.send_signal(signal.SIGSTOP)
        tmux.keys("s")  # keys do not wait
        tmux.shows("by pending")
        tmux.shows("the program does not answer")
        watched.process.send_signal(signal.SIGCONT)
        wait_for(lambda: "does not answer" not in tmux.screen(), "the answer")
        tmux.keys("q")
        tmux.shows("status=0")


@test_in_tmux
# holds: monitor-8
def top_on_a_terminal_gives_it_back_after_a_signal(directory):
    path = f"{directory}/socket"
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with Watched(f"--monitor={path}"), Tmux(directory, on_terminal(path, "-d 100ms")) as tmux:
            tmux.shows("pending 5")
            shell = int(tmux.call("display-message", "-p", "#{pane_pid}"))
            child = int(subprocess.run(["pgrep", "-P", str(shell)], capture_output=True, text=True, check=True).stdout)
            os.kill(child, number)
            tmux.shows(f"status={128 + number}")
            tmux.shows("the-same-terminal")


@test_in_tmux
def top_has_colour_unless_it_is_not_wanted(directory):
    path = f"{directory}/socket"
    colour = re.compile(r"\033\[[0-9;]*\b3[0-7]")
    for environment, has_colour in (({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)):
        with Watched(f"--monitor={path}"), Tmux(directory, on_terminal(path), **environment) as tmux:
            tmux.shows("pending 5")
            assert bool(colour.search(tmux.screen("-e"))) == has_colour, tmux.screen("-e")
    with Watched(f"--monitor={path}"), Tmux(directory, f"TERM=dumb {HTW} top -d 100ms {path}; sleep 1000") as tmux:
        wait_for(lambda: tmux.screen().count("wheel delay") >= 2, "text")
        assert "h help" not in tmux.screen()


def terminal_output(path, samples):
    """All bytes that `htw top` writes to a terminal while it shows so many samples."""
    pid, master = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
        os.execv(HTW, [HTW, "top", "-d", "100ms", path])
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    output = b""
    end = time.monotonic() + PATIENCE
    while output.count(b"\033[2;") < samples:  # each writes at least how long the program is open
        assert time.monotonic() < end, output[-1000:]
        if select.select([master], [], [], 0.1)[0]:
            output += os.read(master, 65536)
    os.write(master, b"q")
    try:
        while more := os.read(master, 65536):
            output += more
    except OSError:  # the end of a pseudo-terminal
        pass
    os.close(master)
    return output, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@test
# holds: monitor-8
def top_does_not_flicker(directory):
    path = f"{directory}/socket"
    with Watched(f"--monitor={path}"):
        wait_for_socket(path)
        wait_for(lambda: pending(path) == 5, "5 pending")
        output, status = terminal_output(path, samples=10)
        assert status == 0, status
        clears = len(re.findall(rb"\033\[[0-3]?J", output))
        assert clears <= 3, (clears, output[:4000])  # at the start, for the new size, and at the end
        assert output.count(b"wheel delay") <= 2, output[:4000]  # what stays is not written again
        assert output.count(b"\033[?1049l") == 1, output[:4000]


if __name__ == "__main__":
    sys.exit(main(threads=1))
