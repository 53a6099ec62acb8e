# SPDX-License-Identifier: MIT
# holds: serve-12, serve-13
"""test_page.py - the page of htw serve, and its answers over HTTP. Hosts, tokens and routes: tests/unit/cmd/test_http_ask.c."""
import http.client
import json
import os
import re
import subprocess
import threading
import time
import urllib.parse

import pytest
from http_hostile import raw_answer, try_hostile_clients
from pages import MARKUP, TOKEN, connect, exchange
from programs import PATIENCE, SERVE, file_with, needs, wait_for
from servers import HtwServe
from wire import Wire

pytestmark = needs("serve")
BINARY = bytes([0, 255, 254, 10, 60])


def environment(token):
    return {**os.environ, **({"HTW_SERVE_TOKEN": token} if token else {})}


class Server(HtwServe):
    """With its page, and clients of both."""

    def __init__(self, where="127.0.0.1:0", token=TOKEN, *options, **kwargs):
        super().__init__("--listen", "0", "--max-job-size=100000", "--http", where, *options, env=environment(token), **kwargs)
        self.page = self.places()[1]
        self.address = self.page.split("http://")[-1].split("/")[0].replace("0.0.0.0", "127.0.0.1")
        self.workers = []

    def is_ready(self):
        return len(self.places()) == 2

    def __exit__(self, *details):
        for worker in self.workers:
            worker.close()
        super().__exit__(*details)

    def put(self, queue, payload, count=1, delay=0):
        """Returns the last id. Over HTTP where no tube has such a name."""
        if not re.fullmatch(r"[a-z0-9-]+", queue):
            answers = [self.post("/jobs", payload, queue=queue, at=f"+{delay}s") for _ in range(count)]
            assert answers[-1][0] == 200, answers[-1]
            return answers[-1][1]["put"]
        with Wire(self) as wire:
            wire.ask("use " + queue)
            wire.send((f"put 0 {delay} 600 {len(payload)}\r\n".encode() + payload + b"\r\n") * count)
            return wire.answers(count)[-1].split()[1].decode()

    def work(self, queue, command):
        """What a worker of its own receives, and holds until the end."""
        worker = Wire(self)
        self.workers.append(worker)
        worker.ask("watch " + queue)
        worker.ask("ignore default")
        worker.send(command.encode() + b"\r\n")
        return worker

    def lease(self, queue):
        return self.work(queue, "reserve").answer().split()[1].decode()

    def bury(self, job):
        with Wire(self) as wire:
            wire.ask("reserve-job " + job)
            assert wire.ask(f"bury {job} 0") == b"BURIED"

    def make_queues(self, count):
        """A queue with a job for each number below `count`; many at the same time, for each waits for the disk."""
        wires = [Wire(self) for _ in range(100)]
        for number in range(count):
            wires[number % len(wires)].send(b"use many-%05d\r\nput 0 0 60 1\r\nx\r\n" % number)
        for i, wire in enumerate(wires):
            wire.answers(2 * len(range(i, count, len(wires))))
            wire.close()

    def raw(self):
        return connect(self.address)

    def ask(self, method, path, token=TOKEN, body=None, **headers):
        """The status, the head, and what came."""
        connection = http.client.HTTPConnection(self.address, timeout=PATIENCE)
        answer, text = exchange(connection, method, path, body, token, headers)
        assert answer.status < 400 or self.file not in text, text  # nor is anything told of where the file is
        return answer.status, answer.headers, json.loads(text) if answer.getheader("Content-Type") == "application/json" else text

    def get(self, path, **words):
        status, _, got = self.ask("GET", path + "?" + urllib.parse.urlencode(words, errors="surrogateescape"))
        assert status == 200, (path, words, status, got)
        return got

    def post(self, path, body=None, **words):
        return self.ask("POST", path + "?" + urllib.parse.urlencode(words, errors="surrogateescape"), body=body)[::2]

    def jobs(self, queue, state, **words):
        return self.get("/jobs", queue=queue, state=state, **words)["jobs"]


@pytest.fixture
def server():
    with Server("127.0.0.1:0", TOKEN, "--host", "page.example,other.example") as server:
        yield server


def test_page_lists_queues_by_each_order(server):
    for i in range(7):
        server.put(f"queue-{i}", b"x", count=i + 1)
    server.put("odd\udcff name", BINARY)
    server.put(MARKUP, b"x", delay=3600)
    got = server.get("/queues", sort="ready", limit=3)
    assert [row["name"] for row in got["queues"]] == ["queue-6", "queue-5", "queue-4"], got
    assert got["all"] == got["found"] == 9 and got["ready"] == 29 and got["delayed"] == 1, got
    names = [row.get("name") for row in server.get("/queues", sort="ready")["queues"]]
    assert len(names) == 9 and len(set(names)) == 9 and names[-1] == MARKUP, names
    by_name = server.get("/queues", sort="name")["queues"]
    assert [row.get("name") for row in by_name] == [MARKUP, None, *(f"queue-{i}" for i in range(7))], by_name
    assert by_name[1]["name_base64"], by_name[1]
    assert [row["name"] for row in server.get("/queues", text="ue-3")["queues"]] == ["queue-3"]
    assert server.get("/queues", text="nothing")["found"] == 0
    server.put("", b"y")
    assert server.get("/queues", sort="name", limit=1)["queues"][0]["name"] is None
    assert server.get("/queue")["ready"] == 1
    assert server.get("/queue", queue="odd\udcff name")["ready"] == 1


def test_page_lists_the_first_jobs(server):
    server.put("a", b"payload", count=250, delay=1000)
    got = server.jobs("a", "delayed", limit=160)
    ids = [int(job["id"]) for job in got]
    assert len(ids) == 160 and ids == sorted(set(ids)), ids
    assert len(server.jobs("a", "delayed", limit=1000)) == 250 and len(server.jobs("a", "delayed")) == 50
    assert server.jobs("a", "ready") == server.jobs("nothing", "ready") == []
    job = server.get("/jobs/" + got[0]["id"])
    assert (job["payload"], job["queue"], job["state"], job["size"]) == ("payload", "a", "delayed", 7), job


# holds: serve-13
def test_page_shows_payloads_of_any_bytes(server):
    binary = server.get("/jobs/" + server.put("b", BINARY))
    assert binary["payload_base64"] == "AP/+Cjw=" and binary["size"] == 5
    long = ("ä" * 40000).encode()
    got = server.get("/jobs/" + server.put("b", long))
    assert got["cut"] and got["payload"] == "ä" * 32768 and got["size"] == 80000
    listed = server.jobs("b", "ready")[-1]
    assert listed["cut"] and listed["payload"] == "ä" * 100
    got = server.get("/jobs/" + server.put("b", ("a" + "ä" * 40000).encode()))
    assert got["payload"] == "a" + "ä" * 32767


def test_page_changes_jobs(server):
    ready, delayed = server.put("c", b"1"), server.put("c", b"2", delay=3600)
    assert server.post(f"/jobs/{delayed}/kick") == (200, {"id": delayed, "done": "kicked"})
    assert {job["id"] for job in server.jobs("c", "ready")} == {ready, delayed}
    assert server.post(f"/jobs/{ready}/kick")[0] == 409  # it is ready
    assert server.post(f"/jobs/{ready}/bury")[1]["done"] == "buried"
    assert [(job["id"], job["deadline"], job["deadline_ns"]) for job in server.jobs("c", "buried")] == [(ready, None, None)]
    assert server.post(f"/jobs/{ready}/move", at="+2h")[0] == 200
    job = server.get("/jobs/" + ready)
    assert job["state"] == "delayed" and abs(int(job["deadline_ns"]) / 1e9 - time.time() - 7200) < 60
    assert server.post(f"/jobs/{ready}/move", at="2030-01-01T00:00:00Z")[0] == 200
    assert server.get("/jobs/" + ready)["deadline"] == "2030-01-01T00:00:00.000000Z"
    assert server.post(f"/jobs/{ready}/delete")[1]["done"] == "deleted"
    status, got = server.post(f"/jobs/{ready}/delete")
    assert status == 404 and ready in got["error"], got
    leased = server.lease("c")
    assert leased == delayed and server.jobs("c", "leased")[0]["id"] == leased
    for verb in ("delete", "bury", "kick", "move?at=%2B1h"):
        status, _, got = server.ask("POST", f"/jobs/{leased}/{verb}")
        assert status == 409 and got["error"], (verb, status, got)
    assert server.get("/jobs/" + leased)["state"] == "leased"


def test_page_changes_queues(server):
    for _ in range(5):
        server.bury(server.put("d", b"x"))
    assert server.post("/queue/kick", queue="d", count=3) == (200, {"kicked": 3, "buried": 2})
    assert server.post("/queue/pause", queue="d", until="+1h")[0] == 200
    paused = server.get("/queue", queue="d")
    assert abs(int(paused["paused_until_ns"]) / 1e9 - time.time() - 3600) < 60, paused
    assert server.post("/queue/resume", queue="d")[0] == 200
    assert server.get("/queue", queue="d")["paused_until"] is None
    for verb in ("pause?until=%2B1h&", "resume?"):
        assert server.ask("POST", f"/queue/{verb}queue=mistake")[0] == 404
    server.work("e", "reserve-with-timeout 60")
    wait_for(lambda: server.get("/queues")["server"]["waiting"] == 1, "that it waits")
    assert server.get("/queues")["server"] == {"connections": 1, "producers": 0, "workers": 1, "waiting": 1, "draining": False}
    assert server.get("/queue", queue="e")["waiting"] == 1


def test_page_takes_jobs(server):
    head = {"Content-Type": "text/plain"}

    def send(path, body, token=TOKEN, **headers):
        connection = http.client.HTTPConnection(server.address, timeout=PATIENCE)
        connection.request("POST", path, body, {**head, **({"Authorization": "Bearer " + token} if token else {}), **headers})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    status, got = send("/jobs?queue=p&at=%2B1h&priority=7&key=k", BINARY)
    assert status == 200, got
    job = server.get("/jobs/" + got["put"])
    assert (job["queue"], job["state"], job["priority"], job["key"], job["payload_base64"]) == ("p", "delayed", 7, "k", "AP/+Cjw="), job
    status, again = send("/jobs?queue=p&key=k", b"x" * 1000)  # it replaces the other one
    assert server.ask("GET", "/jobs/" + got["put"])[0] == 404 and server.get("/jobs/" + again["put"])["size"] == 1000
    assert server.get("/jobs/" + send("/jobs", b"")[1]["put"])["queue"] is None
    for path, body, wanted in (("/jobs?queue=p", b"x" * 100001, 413), ("/jobs?at=soon", b"x", 400), ("/jobs?priority=-1", b"x", 400)):
        status, got = send(path, body)
        assert status == wanted and got["error"], (path, status, got)
    assert send("/jobs?queue=p", b"x", None)[0] == 401  # nor is more of a body read than of any request
    assert server.get("/queue", queue="p")["ready"] == 1


def test_page_says_what_was_changed(server):
    jobs = [server.put("n", b"x", delay=3600) for _ in range(3)]
    assert server.post(f"/jobs/{jobs[0]}/kick")[0] == 200 and server.post("/queue/kick", queue="n", count=2)[0] == 200
    assert server.post("/queue/pause", queue="n", until="+1h")[0] == 200
    assert server.post("/jobs/1/delete")[0] == 404 and server.post("/queue/kick", queue="none", count=2)[0] == 200  # nothing has changed
    said = [line for line in server.said().splitlines() if line.startswith("htw serve: ")]
    assert said == [f"htw serve: kicked job {jobs[0]}", "htw serve: kicked queue n", "htw serve: paused queue n"], said


def test_page_writes_metrics_of_a_bounded_number_of_queues(server):
    server.put('a"b\\c\n', b"x", count=2)
    text = server.get("/metrics")
    assert 'htw_journal_queue_jobs{queue="a\\"b\\\\c\\n",state="ready"} 2\n' in text, text
    assert "htw_journal_queues_left_out 0\n" in text and "htw_serve_connections 0\n" in text
    server.make_queues(1500)
    text = server.get("/metrics")
    assert "htw_journal_queues_left_out 501\n" in text
    assert text.count("htw_journal_queue_waiting{") == 1000 and 'queue="a\\"b\\\\c\\n"' in text
    names = [line.split("{")[0].split(" ")[0] for line in text.splitlines() if not line.startswith("#")]
    assert all(name.startswith("htw_") for name in names)


# holds: serve-13
def test_page_passes_ten_thousand_queues(server):
    server.make_queues(10000)
    begin = time.monotonic()
    for _ in range(5):
        got = server.get("/queues", sort="name", limit=100)
    print(f"    an answer about 10000 queues: {(time.monotonic() - begin) / 5 * 1000:.1f} ms")
    assert [row["name"] for row in got["queues"]] == [f"many-{i:05}" for i in range(100)] and got["all"] == 10000
    assert [row["name"] for row in server.get("/queues", text="-01234")["queues"]] == ["many-01234"]


def test_page_refuses_what_is_wrong(server):
    job = server.put("f", b"x")
    for path in ("/queues?limit=0", "/queues?limit=1001", "/queues?sort=x", "/queues?state=ready", "/queues?after=1", "/jobs",
                 "/jobs?state=x", "/queue?queue=" + "x" * 256, "/queue?x=1", "/metrics?x=1", "/queue?queue=a%00b", f"/jobs/{job}?at=1"):
        status, _, got = server.ask("GET", path)
        assert status == 400 and got["error"], (path, status)
    for path in ("/queue/kick?queue=f", "/queue/kick?count=0", "/queue/kick?count=65537", "/queue/pause?queue=f", "/queue/pause?until=soon",
                 f"/jobs/{job}/move", f"/jobs/{job}/move?at=soon", f"/jobs/{job}/delete?at=1"):
        status, _, got = server.ask("POST", path)
        assert status == 400 and got["error"], (path, status)
    for path in ("/jobs/x", "/jobs/-1", "/jobs/" + "9" * 30, "/jobs/9007199254740993", "/queue?queue=none", "/jobs/", "/other", "/jobs/1/2"):
        status, _, got = server.ask("GET", path)
        assert status == 404 and got["error"], (path, status)
    for verb in ("kick", "bury", "move", "delete"):  # no GET changes anything
        status, head, _ = server.ask("GET", f"/jobs/{job}/{verb}")
        assert status in (404, 405), (verb, status)
        status, _, _ = server.ask("DELETE", f"/jobs/{job}/{verb}")
        assert status == 405
    for path in ("/queue/kick?queue=f&count=1", "/queue/pause?until=%2B1h", "/queue/resume"):
        status, head, _ = server.ask("GET", path)
        assert status == 405 and head["Allow"] == "POST" and head["X-Content-Type-Options"] == "nosniff"
    path = f"/jobs/{job}/delete"
    for token in (None, TOKEN[:-1], TOKEN + "x"):  # hosts, tokens and origins: test_http_ask.c has the rest
        assert server.ask("POST", path, token=token)[0] == 401
    assert server.ask("POST", path, Origin="http://evil.example")[0] == 403
    assert server.ask("GET", "/queues", Host="evil.example:8481")[0] == 403
    assert server.ask("GET", "/queues", Host="other.example:8481")[0] == 200
    assert server.get("/jobs/" + job)["state"] == "ready"


# holds: serve-12
def test_page_stands_hostile_clients(server):
    job = server.put("g", b"x")
    try_hostile_clients(server, server.process.pid, "GET /queues", f"POST /jobs/{job}/delete")
    got = raw_answer(server, b"GET /queues HTTP/1.1\r\nHost: localhost\r\n\r\n" + f"POST /jobs/{job}/delete HTTP/1.1\r\nHost: localhost\r\n"
                     f"Authorization: Bearer {TOKEN}\r\n\r\n".encode())
    assert got.count("HTTP/1.1 ") == 1 and server.get("/jobs/" + job)["state"] == "ready", got
    statuses = []
    threads = [threading.Thread(target=lambda: statuses.append(server.ask("GET", "/queues")[0])) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(statuses) == 30 and set(statuses) <= {200, 503} and 200 in statuses, statuses


def test_page_listens_where_it_is_told(directory):
    file = os.path.join(directory, "jobs")
    with Server(token=None, file=file) as server:
        assert "without a token" in server.page
        job = server.put("h", b"x")
        status, _, got = server.ask("POST", f"/jobs/{job}/delete")
        assert status == 403 and "token" in got["error"]
    with Server("0.0.0.0:0", file=file) as server:
        for path in ("/queues", "/jobs/" + job, "/metrics"):
            assert server.ask("GET", path, token=None)[0] == 401 and server.ask("GET", path)[0] == 200
        assert server.ask("GET", "/", token=None)[0] == 200
    token = os.path.join(directory, "token")
    file_with(directory, "token", TOKEN.encode() + b"\n")
    with Server("127.0.0.1:0", None, "--token-file", token) as server:
        assert server.post("/jobs", b"x")[0] == 200
    for options, token in ((["--http", "0.0.0.0:0"], ""), (["--http", "127.0.0.1:0"], "short"), (["--http", "nowhere:80"], TOKEN),
                           (["--token-file", token], None)):
        got = subprocess.run([SERVE, "--listen=0", *options, file], text=True, env=environment(token), capture_output=True,
                             timeout=PATIENCE, check=False)
        assert got.returncode in (1, 2) and "http" in got.stderr + " ".join(options) and TOKEN not in got.stderr, (options, got.stderr)


def test_page_ends_in_time(server):
    server.raw().sendall(b"GET /que")  # a request that does not come
    assert server.stop() < 5, "it ends late"


# ---- the page

def open_queue(page, name):
    page.wait(lambda: [each for each in page.all("#rows button") if each.text == name], name)
    button = next(each for each in page.all("#rows button") if each.text == name)
    page.run("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    page.wait(lambda: page.text("#queue-name") == name, "an open queue")


@pytest.mark.parametrize("width, height, scheme", [(360, 740, "dark"), (1440, 900, "light")], ids=["phone", "desktop"])
def test_page_in_a_browser(server, width, height, scheme):
    browser = pytest.importorskip("browser")
    url = f"http://{server.address}/"
    job = server.put("mail", MARKUP.encode())
    binary = server.put("mail", BINARY)
    buried = [server.put("mail", b"bad %d" % i) for i in range(3)]
    for each in buried:
        server.bury(each)
    server.put("later", b"x", count=200, delay=60)
    with browser.Page(url, url, width=width, height=height, scheme=scheme) as page:
        page.wait(lambda: len(page.all("#rows tr")) == 2, "two queues")
        assert "5" not in page.text("#totals").split(";")[0].split("ready")[0].split(":")[0]
        page.fits()
        ground = page.run("return getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(13, 17, 23)") == (scheme == "dark"), ground
        page.shoot("queues")
        # By the keyboard; what is typed stays while the page reads itself.
        text = page.one("[name=text]")
        text.send_keys("mai\n")
        page.wait(lambda: len(page.all("#rows tr")) == 1, "a search")
        text.send_keys("X")
        page.run("return refresh()")
        assert text.get_property("value") == "maiX" and page.run("return document.activeElement.name") == "text"
        text.clear()
        page.run("return refresh()")
        # What changes something needs the token.
        open_queue(page, "mail")
        page.wait(lambda: len(page.all("#jobs tr")) == 3, "three buried jobs")
        assert "Kick 3 buried" in page.text("#kick")
        page.click("#kick")
        page.wait(lambda: "token" in page.text("#state"), "a refusal without the token")
        page.one("#token").send_keys(TOKEN)
        page.click(f"[aria-label='Kick {buried[0]}']")
        page.wait(lambda: "kicked" in page.text("#state"), "a kick")
        page.wait(lambda: len(page.all("#jobs tr")) == 2, "two buried jobs")
        assert server.get("/jobs/" + buried[0])["state"] == "ready"
        page.click("#kick")
        page.wait(lambda: "2 jobs kicked" in page.text("#state"), "the others kicked")
        # What others wrote is text.
        page.click("button[data-state=ready]")
        page.wait(lambda: len(page.all("#jobs tr")) == 5, "five ready jobs")
        assert MARKUP[:20] in page.text("#jobs")
        page.fits()
        page.shoot("queue")
        page.click(f"[aria-label='Job {binary}']")
        page.wait(lambda: page.one("#job").is_displayed() and '"payload_base64": "AP/+Cjw="' in page.text("#job-text"), "a job")
        page.click("#job-close")
        page.click(f"[aria-label='Job {job}']")
        page.wait(lambda: json.loads(page.text("#job-text"))["payload"] == MARKUP, "the payload")
        page.fits()
        page.shoot("job")
        # Move, and then delete.
        page.click(f"[aria-label='Move {job}']", accept="soon")
        page.wait(lambda: "neither an instant" in page.text("#state"), "a refusal")
        page.click(f"[aria-label='Move {job}']", accept="+1h")
        page.wait(lambda: "moved" in page.text("#state") and server.get("/jobs/" + job)["state"] == "delayed", "a move")
        page.click("button[data-state=delayed]")
        page.wait(lambda: len(page.all("#jobs tr")) == 1, "a delayed job")
        page.click(f"[aria-label='Delete {job}']", accept="")
        page.wait(lambda: server.ask("GET", "/jobs/" + job)[0] == 404, "a delete")
        # Pause and resume.
        page.click("#pause")
        page.wait(lambda: "paused until" in page.text("#queue-numbers"), "a pause")
        assert server.get("/queue", queue="mail")["paused_until"]
        page.click("#resume")
        page.wait(lambda: "paused until" not in page.text("#queue-numbers"), "its end")
        # A job by its number; by time.
        page.one("[name=id]").send_keys(binary + "\n")
        page.wait(lambda: json.loads(page.text("#job-text"))["id"] == binary, "a job by its number")
        page.click("#job-close")
        page.one("[name=id]").clear()
        open_queue(page, "later")
        page.wait(lambda: len(page.all("#jobs tr")) == 50, "the first jobs")
        page.click("#jobs-more")
        page.wait(lambda: len(page.all("#jobs tr")) == 200, "more of them")
        page.fits()
        assert page.run("const button = document.querySelector('#jobs button'); button.focus(); "
                        "return refresh().then(() => document.activeElement === button)"), "the focus is lost"
        server.put("later", b"more")
        page.wait(lambda: "1 ready" in page.text("#queue-numbers"), "what has changed, by itself")
        assert page.driver.title == "Queues" and not page.all("img")
