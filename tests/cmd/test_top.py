# SPDX-License-Identifier: MIT
"""test_top.py - `htw top`, and what it shows of `htw delay --monitor` and `htw serve --monitor`: as text and JSON, on a terminal
(tmux, and a pseudo-terminal whose bytes are looked at), and of programs that end, stop, or are no monitors.
"""
import contextlib
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time

import pytest
from impostor import Impostor
from programs import PATIENCE, PROGRAM as HTW, needs, wait_for, wait_until_listening
from servers import HtwServe
from wire import Wire

pytestmark = needs("top")
needs_tmux = pytest.mark.skipif(not shutil.which("tmux"), reason="not installed: tmux")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="not root")


class Watched:
    """A run of `htw delay --monitor` with lines that are due in an hour."""

    def __init__(self, *options, lines=5, **environment):
        self.process = subprocess.Popen([HTW, "delay", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**os.environ, **environment})
        self.process.stdin.write(b"".join(b"1h line%d\n" % number for number in range(lines)))
        self.process.stdin.flush()

    def wait_until_it_shows(self, path):
        """It adds its wheel after the socket is there."""
        wait_for(lambda: self.process.poll() is not None or pending(path) == 5, "5 pending")
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def path(directory):
    """Of a socket."""
    return f"{directory}/socket"


@pytest.fixture
def watched(path):
    with Watched(f"--monitor={path}") as watched:
        yield watched.wait_until_it_shows(path)


def top(*options, **environment):
    run = subprocess.run([HTW, "top", *options], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         timeout=PATIENCE, env={**os.environ, "LC_ALL": "C.UTF-8", **environment}, check=False)
    assert "Sanitizer" not in run.stderr and "runtime error" not in run.stderr, run.stderr
    return run


def once(path, *options, **environment):
    """What it shows of two samples."""
    run = top("--once", "--delay", "100ms", *options, path, **environment)
    assert run.returncode == 0 and run.stderr == "", run
    return run.stdout


def shown_of(path, answers, *options):
    """What it shows of a monitor that answers so."""
    with Impostor(path, *answers):
        return once(path, *options)


def json_of(path, *options):
    run = top("--once", "--json", *options, path)
    assert run.returncode == 0, run
    return json.loads(run.stdout)


def pending(path):
    run = top("--once", "--json", path)
    wheels = json.loads(run.stdout)["wheels"] if run.returncode == 0 else []
    return bool(wheels) and wheels[0]["pending"]


# ---- text and JSON

def test_top_once_prints_text_and_json(watched, path):
    assert os.stat(path).st_mode & 0o7777 == 0o600
    text = once(path)
    assert "wheel delay\n  pending 5  memory" in text, text
    assert re.search(r"^  level 2  256 x 1\.09m +\| +·? *", text, re.M), text
    assert "\033" not in text and "\1" not in text
    assert once(path, "--ascii").isascii() and once(path, LC_ALL="C").isascii()
    answer = json_of(path)
    assert answer["format"] == 1 and answer["program"] == "htw" and answer["wheels"][0]["tick_ns"] == 1000000, answer


def test_top_json_prints_a_line_for_each_sample_while_it_is_read(watched, path):
    for reader_goes in (False, True):
        process = subprocess.Popen([HTW, "top", "--json", "--delay", "100ms", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3):
            assert json.loads(process.stdout.readline())["pid"] == watched.process.pid
        if reader_goes:
            process.stdout.close()
            assert process.wait(PATIENCE) == 128 + signal.SIGPIPE
        else:
            process.terminate()
            assert process.wait(PATIENCE) == 128 + signal.SIGTERM
        assert process.stderr.read() == b""


def test_top_finds_programs_by_process_and_the_only_one_by_itself(directory):
    os.chmod(directory, 0o700)
    environment = {"XDG_RUNTIME_DIR": directory}
    run = top("--once", **environment)
    assert run.returncode == 1 and "no program of this user can be watched" in run.stderr, run
    with Watched("--monitor", **environment) as first:
        own = f"{directory}/htw/{first.process.pid}.sock"
        wait_until_listening(own)
        assert once(own, **environment) != ""
        assert top("--once", "--json", str(first.process.pid), **environment).returncode == 0
        with Watched("--monitor", **environment) as second:
            wait_until_listening(f"{directory}/htw/{second.process.pid}.sock")
            run = top("--once", **environment)
            assert run.returncode == 2 and "several programs" in run.stderr, run
            assert all(f" {watched.process.pid}  htw " in run.stdout for watched in (first, second)), run
            run = top("--list", **environment)
            assert run.returncode == 0 and len(run.stdout.splitlines()) == 2, run
        run = top("--once", "--json", **environment)  # of the killed one only the socket is left
        assert json.loads(run.stdout)["pid"] == first.process.pid, run
        with Watched("--monitor", **environment) as third:  # which goes with the next monitor
            wait_until_listening(f"{directory}/htw/{third.process.pid}.sock")
            assert not os.path.exists(f"{directory}/htw/{second.process.pid}.sock")


def test_top_says_why_a_program_cannot_be_watched(path):
    run = top("--once", path)
    assert run.returncode == 1 and "no program can be watched there" in run.stderr, run
    with open(path, "wb"):
        for delay in ("100ms", "1h"):
            assert top("--once", "--delay", delay, path).returncode == 1  # not for the time


def test_top_of_a_program_that_is_stopped_says_so(watched, path):
    watched.process.send_signal(signal.SIGSTOP)
    run = top("--once", path)
    assert run.returncode == 1 and "does not answer" in run.stderr, run
    watched.process.send_signal(signal.SIGCONT)
    assert json_of(path)


@needs_root
def test_top_of_another_user_is_forbidden(watched, path, directory):
    directory.chmod(0o755)
    run = subprocess.run([HTW + "-top", "--once", path], user=65534, capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "only the user of the program and root" in run.stderr, run


@needs_root
def test_top_looks_into_no_folder_of_another_user(directory):
    os.chmod(directory, 0o700)
    environment = {"XDG_RUNTIME_DIR": directory}
    with Watched("--monitor", **environment) as watched:
        wait_until_listening(f"{directory}/htw/{watched.process.pid}.sock")
        assert top("--list", **environment).stdout.count("\n") == 1
        os.chown(f"{directory}/htw", 65534, 65534)
        for options in (["--list"], ["--once"]):
            run = top(*options, **environment)
            assert run.returncode == 1 and "the folder of the sockets" in run.stderr and run.stdout == "", run


# holds: monitor-8
def test_top_survives_answers_that_are_none(path):
    deep = b"[" * 100000
    answers = [b"", b"x", b"{}", b"[1]", b'{"format":2}', b'{"format":"1"}', b"{" * 10, deep, b"\0" * 1000,
               b"x" * (17 << 20), b'{"format":1,"schedulers":7}', b'{"format":1,"format":1}',
               b'{"format":1,"schedulers":[1,{"levels":[{"timers":[-1,1e9]}],"shards":[{}]}],"wheels":{}}',
               b'{"format":1,"wheels":[{"name":"\\u001b[2J","levels":[{"timers":[1],"clock":99}]}]}']
    for answer in answers:
        with Impostor(path, answer):
            run = top("--once", "--delay", "100ms", path)
        assert run.returncode in (0, 1), (answer[:40], run)
        assert (run.returncode == 0) == (run.stderr == ""), (answer[:40], run)
        assert {0: "closed the connection", 17 << 20: "Message too long"}.get(len(answer), "") in run.stderr, run
        assert "\033" not in run.stdout, run
    assert run.returncode == 0 and "wheel ?[2J" in run.stdout, run


def test_top_json_shows_nothing_that_changes_the_terminal(path):
    name = "\x7f\x80\u20ac\x9b2J\x9f"
    answer = b'{\n "format":1,\t"wheels":[{"name":"' + name.encode() + b'","error":"\\u001b"}]\n}'
    with Impostor(path, answer):
        run = top("--once", "--json", path)
    assert run.returncode == 0 and json.loads(run.stdout) == json.loads(answer), run
    assert not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f]", run.stdout), run


def memory_of(path):
    """The exit status of `htw top --once` and the most memory that it had, in MiB."""
    process = subprocess.Popen([HTW + "-top", "--once", "--delay", "100ms", path], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss / 1024


def test_top_takes_no_more_memory_than_an_answer_of_a_monitor_needs(path):
    shard = {"scheduled": 10**18, "cancelled": 10**18, "moved": 10**18, "demoted": 0, "in_wheels": 10**18, "groups": 1,
             "memory_bytes": 10**9}
    with Impostor(path, json.dumps({"format": 1, "schedulers": [{"name": "s", "shards": [shard] * 8192}]}).encode()):
        status, greatest = memory_of(path)
    assert status == 0, status
    for piece, size in ((b"{},", 2 << 20), (b"0,", 2 << 20), (b"{},", 15 << 20)):
        with Impostor(path, b'{"format":1,"wheels":[' + piece * (size // len(piece)) + b"0]}"):
            status, memory = memory_of(path)
        assert status == 1 and memory < greatest + 128, (piece, status, memory, greatest)


def answer_with(seconds, counts, waits):
    """An answer after some seconds: `counts` are numbers of timers by the columns of the histogram."""
    scheduler = {"name": "s", "lateness": {"p50_ns": 5000000, "p90_ns": 6000000, "p99_ns": 7000000, "p999_ns": 8000000,
                                           "max_ns": 9000000, "histogram": [counts.get(i, 0) for i in range(24)]}}
    purgatory = {"name": "p", "waits": [waits.get(i, 0) for i in range(24)]}
    return json.dumps({"format": 1, "pid": 1, "opened_ns": 1, "clock_ns": seconds * 10**9, "schedulers": [scheduler],
                       "purgatories": [purgatory]}).encode()


def test_top_shows_percentiles_of_the_time_between_samples(path):
    first, second = answer_with(1, {13: 1000}, {20: 7}), answer_with(2, {4: 10, 10: 90, 13: 1000}, {3: 10, 20: 7})
    lately = r"lateness  p50 740us  p90 967us  p99 1\.02ms p99\.9 1\.02ms max 9\.00ms .*"
    always = r"lateness  p50 5\.00ms p90 6\.00ms p99 7\.00ms p99\.9 8\.00ms max 9\.00ms .*"
    for answers, lateness, waits in [
            ((first, second), lately, r"waits +p50 6\.00ms p90 7\.60ms p99 7\.96ms .*"),
            ((second, second.replace(b"2000000000", b"3000000000")), always, r"waits +p50 7\.40ms p90 15\.4m .*")]:
        text = shown_of(path, answers)
        assert re.search(lateness, text) and re.search(waits, text), text


def test_top_shows_a_journal(path):
    numbers = {"name": "mail", "delayed": 1, "ready": 2, "leased": 3, "buried": 4, "requests": 6, "queues": 7,
               "oldest_ns": 1500000000, "log_bytes": 4096, "memory_bytes": 2048,
               "commit": {"count": 1, "p50_ns": 5000, "p99_ns": 7000, "max_ns": 9000}}
    for stopped in (0, 1):
        text = shown_of(path, [json.dumps({"format": 1, "pid": 1, "opened_ns": 1, "clock_ns": second * 10**9, "counters": ["commits", "empty_commits", "failed"], "journals": [
            {**numbers, "stopped": stopped, "failed": 0, "commits": 10 * second, "empty_commits": 20 * second}]}).encode() for second in (1, 2)])
        for line in ("journal mail\n  delayed 1  ready 2  leased 3  buried 4  requests 6  queues 7  oldest 1.50s  log 4.00K",
                     "    memory 2.00K",
                     "  per second: commits 10.0  empty commits 20.0",
                     "  commit    p50 5.00us p90 0ns    p99 7.00us"):
            assert line in text, (line, text)
        assert ("stopped 1" in text) == bool(stopped) and "failed" not in text, text


# ---- views

PAGES = ("overview", "sites", "wakeups", "herds", "groups", "queues")


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
                 "groups": [{"name": "tenants", "address": "0x1", "pending": 55, "paused": True}],
                 "levels": [{"bucket_ns": 10**6, "buckets": 256, "clock": 3, "timers": [1] * 64}]}
    journal = {"name": "mail", "delayed": 8, "queue_list": [
        {"name": "newsletters-of-the-month", "delayed": 5, "ready": 4, "leased": 3, "buried": 2, "waiting": 1, "paused": True},
        {"name": None, "delayed": 3, "ready": 0, "leased": 0, "buried": 0, "waiting": 0, "paused": False}]}
    return json.dumps({"format": 1, "pid": 1, "program": "a-program-with-a-name", "htw": "1.2.3", "opened_ns": 1,
                       "clock_ns": second * 10**9, "schedulers": [scheduler], "journals": [journal]}).encode()


def view(path, page, *options, width=100, answers=None):
    with Impostor(path, *(answers or (views_answer(1), views_answer(2)))):
        return once(path, "--view", page, *options, COLUMNS=str(width))


def test_top_shows_all_of_each_view_in_any_width(path):
    shown = {
        "overview": ("main", "12352", "level 0", "journal mail", "delayed 8"),
        "sites": ("idle connection", "keepalive", "77 others", "connection_pool_accept_one()", "connection_pool.c:1234", "12345",
                  "25.0%", "1.50s", "wake-ups/s", "cancelled/s", "90.0"),
        "wakeups": ("idle connection", "1.50ms", "250", "connection_pool.c:1234"),
        "herds": ("idle connection", "2.00s", "4321", "connection_pool.c:1234", "htw_schedule_within()."),
        "groups": ("tenants", "paused", "55"),
        "queues": ("newsletters-of-the-month", "paused", "5", "4", "3", "2", "1", "(the default queue)"),
    }
    assert set(shown) == set(PAGES)
    for page, texts in shown.items():
        for width in (40, 80, 200):
            text = view(path, page, width=width)
            lines = text.split("\n")
            assert max(map(len, lines)) <= width, (page, width, max(lines, key=len))
            together = re.sub(r"\s+", " ", text)
            for part in texts:
                assert part in together, (page, width, part, text)
    assert "alone" not in view(path, "herds"), "one timer is no herd"


def test_top_sorts_sites(path):
    for options, first in (([], "keepalive"), (["--sort", "pending"], "idle connection"), (["--sort", "cpu"], "idle connection"),
                           (["--sort", "late"], "idle connection"), (["--sort", "rate"], "keepalive"),
                           (["--sort", "name"], "idle connection")):
        text = view(path, "sites", *options, width=200)
        rows = [line for line in text.split("\n") if "idle connection" in line or "keepalive" in line]
        assert first in rows[0], (options, text)
        assert text.rstrip().endswith("77 others"), text


def test_top_shows_rates_of_sites(path):
    row = [line for line in view(path, "sites", width=200).split("\n") if "idle" in line][0].split()
    assert row[:8] == ["5.00", "12345", "25.0%", "1.00", "10.0", "100", "90.0", "1.50s"], row
    # A site that was not told before has no rate yet.
    unknown = (views_answer(1, name="another"), views_answer(2))
    row = [line for line in view(path, "sites", width=200, answers=unknown).split("\n") if "idle" in line][0].split()
    assert row[:4] == ["0", "12345", "0.00%", "0"], row


def test_top_says_how_to_count_by_site(path):
    for page in ("sites", "herds"):
        text = view(path, page, answers=(views_answer(1, observed=()), views_answer(2, observed=())))
        assert "htw top --observe +sites" in re.sub(r"\s+", " ", text), text
        assert "wake-ups/s" not in text, text


# holds: monitor-8, commands-1
def test_top_shows_nothing_of_rows_that_changes_the_terminal(path):
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
        text = view(path, page, answers=answers)
        assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u202e]", text), (page, text)


def test_top_shows_no_more_rows_of_a_list_than_a_monitor_tells(path):
    answer = json.loads(views_answer(2))
    answer["schedulers"][0]["sites"] = [site(f"site{i}", pending=i, armed=i) for i in range(8000)]
    text = view(path, "sites", answers=(views_answer(1), json.dumps(answer).encode()))
    assert len(set(re.findall("site[0-9]+", text))) == 64, text
    assert "77 others" in text, text


@pytest.fixture
def serving(path):
    """A run of `htw serve --memory --monitor`."""
    with HtwServe("--memory", f"--monitor={path}") as server:
        yield server
    assert not os.path.exists(path)


@needs("serve")
def test_top_shows_the_timers_and_queues_of_a_server(serving, path):
    with Wire(serving) as wire:
        wire.ask("use mail")
        wire.put(delay=3600)
        wire.put()
    answer = json_of(path, "--view", "queues")
    assert [[source["name"] for source in answer[kind]] for kind in ("schedulers", "journals")] == 2 * [["serve"]]
    assert {"name": "mail", "delayed": 1, "ready": 1, "leased": 0, "buried": 0, "waiting": 0,
            "paused": False} in answer["journals"][0]["queue_list"], answer
    assert "queue_list" not in json.dumps(json_of(path))
    assert re.search(r"^ +1 +1 +0 +0 +0  mail$", once(path, "--view", "queues"), re.M)
    assert top("--observe", "+sites", path).returncode == 0
    with Wire(path) as monitor:
        monitor.send(b"metrics\n")
        metrics = monitor.until_closed().decode()
    assert 'htw_journal_queue_jobs{journal="serve",queue="mail",state="delayed"} 1\n' in metrics, metrics
    assert 'htw_site_wakeups_total{scheduler="serve",site="' in metrics, metrics
    samples = [line.rsplit(" ", 1)[0] for line in metrics.splitlines() if not line.startswith("#")]
    label = r'[a-z_]+="([^"\\\n]|\\["\\n])*"'
    assert all(re.fullmatch(rf"htw_[a-z_]+(\{{{label}(,{label})*\}})?", sample) for sample in samples), metrics
    assert len(samples) == len(set(samples)), metrics


@needs("serve")
def test_top_counts_no_lease_that_ends_as_late(serving, path):
    with Wire(serving) as wire:
        wire.put(ttr=1)
        wire.reserve()  # for a second: then it is given back
        wait_for(lambda: json_of(path)["schedulers"][0]["runs"] > 0, "a run of the journal")
    assert json_of(path)["schedulers"][0]["lateness"]["max_ns"] < 3600 * 10**9


@needs("serve")
def test_top_switches_what_is_observed(serving, path):
    for words, observed in (("+sites", ["sites"]), ("+events", ["sites", "events"]), ("-sites", ["events"]),
                            ("+sites,-events", ["sites"]), ("off", [])):
        run = top("--observe", words, path)
        assert json.loads(run.stdout) == {"schedulers": [{"name": "serve", "observed": observed}]}, run
    for words in ("nonsense", "", "sites," + "x" * 200):
        run = top("--observe", words, path)
        assert run.returncode in (1, 2) and run.stderr.startswith("htw top: ") and not run.stdout, run


# ---- the options of htw delay

def test_delay_monitor_that_cannot_be_opened_is_an_error(path):
    with open(path, "wb"):
        pass
    for value, status, why in ((path, 1, "File exists"), (f"{path}-none/socket", 1, "No such file"), (200 * "x", 1, "name too long"),
                               ("", 2, "")):
        run = subprocess.run([HTW, "delay", f"--monitor={value}"], input="0 x\n", capture_output=True, text=True,
                             timeout=PATIENCE, check=False)
        assert run.returncode == status and why in run.stderr and run.stdout == "", run


def test_delay_removes_its_socket_at_the_end(path, directory):
    for number in (None, signal.SIGTERM):
        with Watched(f"--monitor={path}", "--unreleased", f"{directory}/rest", lines=1 if number else 0) as watched:
            wait_until_listening(path)
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


@needs_tmux
def test_top_on_a_terminal_obeys_keys_and_sizes(watched, path, directory):
    with Tmux(directory, on_terminal(path, "--delay 100ms")) as tmux:
        tmux.shows("pending 5")
        assert tmux.screen().startswith("htw top overview  every 100ms    h help  q quit")
        tmux.keys("+")
        tmux.shows("every 200ms")
        tmux.keys("-")
        tmux.shows("every 100ms")
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
            title = "htw top overview  every" if width >= 60 else "overview  100ms"
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


@needs_tmux
@needs("serve")
def test_top_on_a_terminal_shows_views_by_keys(serving, path, directory):
    with Tmux(directory, on_terminal(path, "--delay 100ms")) as tmux:
        tmux.shows("level 0")
        for number, page in enumerate(PAGES[1:], 2):
            tmux.keys(str(number))
            tmux.shows(f"htw top {page}  every 100ms")
        tmux.shows("waiting  queue")
        tmux.keys("Tab")
        tmux.shows("htw top overview  every 100ms")
        tmux.keys("v")
        tmux.shows("Nothing is counted by site")
        assert top("--observe", "+sites", path).returncode == 0
        tmux.shows("scheduler serve  observed sites")
        tmux.shows("wake-ups/s")
        tmux.keys("s")
        tmux.shows("by pending")
        tmux.call("resize-window", "-x", "40", "-y", "30")
        tmux.shows("sites  100ms  by pending  h help")
        tmux.keys("q")
        tmux.shows("status=0")


@needs_tmux
# holds: monitor-8
def test_top_on_a_terminal_ends_with_the_program(watched, path, directory):
    with Tmux(directory, on_terminal(path, "-d 100ms")) as tmux:
        tmux.shows("pending 5")
        watched.process.send_signal(signal.SIGSTOP)
        tmux.keys("h")  # keys do not wait
        tmux.shows("Counting stops at 64 timers")
        tmux.keys("h")
        tmux.shows("the program does not answer")
        watched.process.send_signal(signal.SIGCONT)
        wait_for(lambda: "does not answer" not in tmux.screen(), "the answer")
        watched.process.kill()
        tmux.shows("status=1")
        tmux.shows("the-same-terminal")
        assert f"htw top: htw (process {watched.process.pid}): " in tmux.screen()


@needs_tmux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
# holds: monitor-8
def test_top_on_a_terminal_gives_it_back_after_a_signal(watched, path, directory, number):
    with Tmux(directory, on_terminal(path, "-d 100ms")) as tmux:
        tmux.shows("pending 5")
        shell = tmux.call("display-message", "-p", "#{pane_pid}").strip()
        os.kill(int(subprocess.run(["pgrep", "-P", shell], capture_output=True, check=True).stdout), number)
        tmux.shows(f"status={128 + number}")
        tmux.shows("the-same-terminal")


@needs_tmux
def test_top_has_colour_unless_it_is_not_wanted(watched, path, directory):
    colour = re.compile(r"\033\[[0-9;]*\b3[0-7]")
    for environment, has_colour in (({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)):
        with Tmux(directory, on_terminal(path), **environment) as tmux:
            tmux.shows("pending 5")
            assert bool(colour.search(tmux.screen("-e"))) == has_colour, tmux.screen("-e")
    with Tmux(directory, f"TERM=dumb {HTW} top -d 100ms {path}; sleep 1000") as tmux:
        wait_for(lambda: tmux.screen().count("wheel delay") >= 2, "text")
        assert "h help" not in tmux.screen()


def terminal_output(path, samples):
    """All bytes that `htw top` writes to a terminal while it shows so many samples."""
    master, slave = pty.openpty()  # this process keeps its end open: with the last one, what was not read yet could be lost
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    process = subprocess.Popen([HTW, "top", "-d", "100ms", path], stdin=slave, stdout=slave, stderr=slave,
                               env=dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8"))
    output = b""
    end = time.monotonic() + PATIENCE

    def read_until(is_enough):
        nonlocal output
        while not is_enough():
            assert time.monotonic() < end, output[-1000:]
            if select.select([master], [], [], 0.1)[0]:
                output += os.read(master, 65536)

    read_until(lambda: output.count(b"\033[2;") >= samples)  # each writes at least how long the program is open
    os.write(master, b"q")
    read_until(lambda: process.poll() is not None and b"\033[?1049l" in output)
    os.close(slave)
    with contextlib.suppress(OSError):  # the end of a pseudo-terminal
        while more := os.read(master, 65536):
            output += more
    os.close(master)
    return output, process.returncode


# holds: monitor-8
def test_top_does_not_flicker(watched, path):
    output, status = terminal_output(path, samples=10)
    assert status == 0, status
    clears = len(re.findall(rb"\033\[[0-3]?J", output))
    assert clears <= 3, (clears, output[:4000])  # at the start, for the new size, and at the end
    assert output.count(b"wheel delay") <= 2, output[:4000]  # what stays is not written again
    assert output.count(b"\033[?1049l") == 1, output[:4000]
