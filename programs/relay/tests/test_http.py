# SPDX-License-Identifier: MIT
# holds: relay-19
"""`htw relay http` over brokers in memory. With a browser (Debian: chromium-driver, python3-selenium) the page is tried as well."""
import contextlib
import http.client
import importlib.util
import json
import os
import socket
import threading
import time
import urllib.parse

import pytest

from http_hostile import try_hostile_clients
from pages import MARKUP, TOKEN, connect, exchange
from relay import PATIENCE, Relay, wait_for

confluent_kafka = pytest.importorskip("confluent_kafka", reason="Debian: python3-confluent-kafka")

HOUR_MS = 3600000


class Unix(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.host)


class Server:
    """`htw relay http`, and what it answers."""

    def __init__(self, program, brokers, name, where, *options, token=TOKEN):
        self.relay = Relay(program, brokers, name, "http", "later", "--listen", where, *options,
                           environment={"HTW_RELAY_TOKEN": token} if token else None).ready()
        self.path = where[5:] if where.startswith("unix:") else None
        self.address = self.relay.text().split("http://")[1].split("/")[0] if self.path is None else None

    def connect(self):
        if self.path:
            return Unix(self.path, timeout=PATIENCE)
        return http.client.HTTPConnection(self.address, timeout=PATIENCE)

    def raw(self):
        return connect(self.address)

    def ask(self, method, path, body=None, token=TOKEN, **headers):
        """The status, the head, and the objects that came."""
        if self.path:
            headers.setdefault("Host", "localhost")
        answer, text = exchange(self.connect(), method, path, body, token, headers)
        if answer.getheader("Content-Type", "").startswith("application/"):
            text = [json.loads(line) for line in text.splitlines()]
        return answer.status, answer.headers, text

    def rows(self, **words):
        status, _, rows = self.ask("GET", "/waiting?" + urllib.parse.urlencode(words))
        assert status == 200, (status, rows)
        return rows

    def status(self, *arguments, **words):
        return self.ask(*arguments, **words)[0]


NAMES = ["a/b?c", "b", MARKUP, "page", "über"]


def path_of(name):
    """Of a record of NAMES, whose key is its number."""
    key = f"?key=key+{NAMES.index(name)}" if name in NAMES else ""
    return "/waiting/" + urllib.parse.quote(name, safe="") + key


def produce(bootstrap, names, at_ms):
    producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap})
    for number, name in enumerate(names):
        producer.produce("later", name.encode(), b"key %d" % number,
                         headers={"htw-deliver-at": str(at_ms + number), "htw-deliver-to": "now", "htw-id": name})
    assert producer.flush(PATIENCE) == 0


def lists_in_pages(server, names, at_ms):
    rows = server.rows()
    assert [row["id"] for row in rows] == names, rows
    assert rows[0]["value"] == names[0] and rows[0]["to"] == "now" and rows[0]["time_ms"] == str(at_ms)
    first = server.rows(limit=2)
    assert [row.get("id") for row in first] == [names[0], names[1], None], first
    assert [row["id"] for row in server.rows(limit=100, after=first[2]["after"])] == names[2:]
    assert [row["id"] for row in server.rows(grep=MARKUP)] == [MARKUP]
    assert [row["id"] for row in server.rows(key="key 1")] == [names[1]]
    assert [row["id"] for row in server.rows(**{"from": f"{(at_ms + 1) / 1000:.3f}", "until": "+2h"})] == names[1:]
    assert server.rows(to="elsewhere") == []
    for words in ("limit=1001", "brokers=x", "from=soon", "until=", "after=1"):
        assert server.status("GET", "/waiting?" + words) == 400, words
    for name in names:
        status, _, shown = server.ask("GET", path_of(name))
        assert status == 200 and [row["id"] for row in shown] == [name], shown
    for path in (path_of("nobody"), "/waiting/b", "/waiting/b?key=key", "/waiting/b?key=" + 60000 * "k", "/waiting/" + 257 * "b"):
        status, _, shown = server.ask("GET", path)
        assert status == 404 and path[9] in shown[0]["error"], shown
    assert server.status("GET", "/waiting/b?to=now") == 400


def count_sent(brokers):
    """What was ever written to the input."""
    reader = confluent_kafka.Consumer({"bootstrap.servers": brokers.bootstrap, "group.id": "ends"})
    try:
        return sum(reader.get_watermark_offsets(confluent_kafka.TopicPartition("later", i), timeout=PATIENCE)[1] for i in range(2))
    finally:
        reader.close()


def writes_nothing_without_the_token(server, brokers):
    before = count_sent(brokers)
    for method in ("GET", "HEAD", "DELETE"):
        assert server.status(method, path_of("b"), token=None) == 401, method
    assert server.status("GET", "/waiting?grep=b", token=None) == 200
    assert count_sent(brokers) == before
    assert server.status("GET", path_of("b")) == 200 and count_sent(brokers) > before


def refuses_what_is_wrong(server):
    """One of each kind: test_http_ask.c and test_page.py have the rest."""
    assert server.status("GET", "/waiting?limit=0") == 400
    for body in (None, "", "soon", "+", "+3h more", "-1"):
        assert server.status("PATCH", path_of("b"), body) == 400, body
    assert server.status("DELETE", path_of("b"), Origin="http://evil.example") == 403
    got, head, answer = server.ask("DELETE", "/waiting")
    assert got == 405 and answer[0]["error"] and "Allow" in head and head["X-Content-Type-Options"] == "nosniff"
    assert len(server.rows(grep="b")) >= 1  # nothing of this has changed anything


def reads_are_few_at_once(server):
    """Ten at once: each is answered, or told to come again."""
    got = []

    def ask():
        got.append(server.ask("GET", "/waiting")[:2])

    threads = [threading.Thread(target=ask) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    statuses = [status for status, _ in got]
    assert len(got) == 10 and set(statuses) <= {200, 503} and 200 in statuses, statuses
    assert all("Retry-After" in head for status, head in got if status == 503)
    for _ in range(10):  # of a client that goes away in the middle
        with server.raw() as client:
            client.sendall(b"GET /waiting HTTP/1.1\r\nHost: localhost\r\n\r\n")
    wait_for(lambda: server.status("GET", "/waiting") == 200, "a read after clients that have gone")


def changes(server, names):
    status, _, got = server.ask("DELETE", path_of(names[0]))
    assert (status, got[0]) == (202, {"id": names[0], "state": "unsure"}), (status, got)  # no transactions
    status, _, got = server.ask("PATCH", path_of(MARKUP), "+5h")
    assert (status, got[0]["state"]) == (202, "unsure"), (status, got)
    shown = server.ask("GET", path_of(MARKUP))[2][0]
    assert shown["time_ms"] == got[0]["time_ms"], (shown, got)
    status, _, got = server.ask("DELETE", path_of(names[0]))
    assert status == 404 and "with --at-least-once this is not sure" in got[0]["error"], (status, got)


def tells_of_two_moves_that_meet_which_counts(server, brokers, relay):
    """Both have found it before one of them is read: the other one is told that it does not count."""
    got = {}

    def move(when):
        got[when] = server.ask("PATCH", path_of("b"), when)

    before = count_sent(brokers)
    threads = [threading.Thread(target=move, args=(when,)) for when in ("+5h", "+7h")]
    relay.process.send_signal(19)
    try:
        for thread in threads:
            thread.start()
        wait_for(lambda: count_sent(brokers) == before + 4, "two questions in each partition")
    finally:
        relay.resume()
    for thread in threads:
        thread.join(PATIENCE)
    statuses = {when: answer[0] for when, answer in got.items()}
    assert sorted(statuses.values()) == [202, 409] and "changed or sent meanwhile" in str(got), got
    hours = round((int(server.ask("GET", path_of("b"))[2][0]["time_ms"]) / 1000 - time.time()) / 3600)
    assert statuses[f"+{hours}h"] == 202, (statuses, hours)


def tries_the_page(server):
    """In a browser, where there is one: what others wrote is text, the search finds, a record is cancelled."""
    if importlib.util.find_spec("selenium") is None or not os.path.exists("/usr/bin/chromedriver"):
        return
    from browser import Page  # pylint: disable=import-outside-toplevel
    address, cancel = f"http://{server.address}/", "[aria-label='Cancel page']"
    with Page(address, address, width=360, height=800) as page:
        page.wait(lambda: len(page.all("#rows tr")) == 5, "five rows")
        assert page.driver.title == "What waits" and not page.all("img")
        assert MARKUP in page.text("#rows")
        page.fits()
        page.one("[name=grep]").send_keys("page\n")  # by the keyboard
        page.wait(lambda: len(page.all("#rows tr")) == 1, "one row")
        page.click(cancel, "")
        page.wait(lambda: "token" in page.text("#state"), "a refusal without the token")
        page.one("#token").send_keys(TOKEN)
        page.click(cancel, "")
        page.wait(lambda: "cancelled" in page.text("#state"), "a cancel")


def ends_while_it_reads(server, brokers):
    """Brokers that do not answer: what asks gets an error in time, and SIGTERM ends the server."""
    brokers.process.send_signal(19)
    try:
        begin = time.monotonic()
        status, _, answer = server.ask("GET", "/waiting")
        assert status == 502 and "no answer" in answer[0]["error"], (status, answer)
        assert time.monotonic() - begin < 30, "the answer is late"
        with contextlib.suppress(ConnectionResetError), server.raw() as client:  # if it ends before it has read this
            client.sendall(b"GET /waiting HTTP/1.1\r\nHost: localhost\r\n\r\n")
            begin = time.monotonic()
            assert server.relay.stop() == 0
            assert time.monotonic() - begin < 8, "it ends late"
            assert b" 200 " not in client.recv(100)
    finally:
        brokers.process.send_signal(18)


def listens_at_a_path(program, brokers, folder):
    path = os.path.join(folder, "socket")
    server = Server(program, brokers, "path", "unix:" + path, "--host", "page.example")
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert server.status("GET", "/") == 200 and server.status("GET", "/waiting", Host="evil.example") == 403
    assert server.status("GET", "/waiting", Host="page.example") == 200
    server.relay.kill()  # leaves its socket, which the next one replaces
    server = Server(program, brokers, "again", "unix:" + path, token=None)
    status, _, got = server.ask("DELETE", path_of("b"))
    assert status == 403 and "token" in got[0]["error"]
    assert server.relay.stop() == 0 and not os.path.exists(path)


def test_http_does_what_the_commands_do(in_memory, build):
    (brokers, relay), program = in_memory, build.relay
    folder = brokers.folder
    at_ms = int(time.time() * 1000) + HOUR_MS
    names = NAMES
    file = os.path.join(folder, "token")
    with open(file, "w", encoding="ascii") as stream:
        stream.write(TOKEN + "\n")
    produce(brokers.bootstrap, names, at_ms)
    server = Server(program, brokers, "http", "127.0.0.1:0", "--token-file", file, token=None)
    with server.relay:
        wait_for(lambda: all(row["level"] is not None for row in server.rows()), "records that are filed")
        lists_in_pages(server, names, at_ms)
        writes_nothing_without_the_token(server, brokers)
        refuses_what_is_wrong(server)
        tries_the_page(server)
        reads_are_few_at_once(server)
        changes(server, names)
        tells_of_two_moves_that_meet_which_counts(server, brokers, relay)
        try_hostile_clients(server, server.relay.process.pid, "GET /waiting", "PATCH /waiting/b")
        listens_at_a_path(program, brokers, folder)
        ends_while_it_reads(server, brokers)
