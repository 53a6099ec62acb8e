# SPDX-License-Identifier: MIT
"""test_served.py - what is around `htw serve`: where it listens, `htw journal` while it has the file open, sockets of systemd."""
import contextlib
import json
import os
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import threading

import pytest
from programs import PATIENCE, SERVE, command, content_of, needs, wait_for, wait_until_listening
from servers import HtwServe
from wire import Wire

NOBODY = 65534
pytestmark = needs("serve")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="not root")


class Served(HtwServe):
    """With `htw journal` on its file."""

    def __init__(self, directory, *options, name="jobs", **kwargs):
        super().__init__(*options, file=os.path.join(directory, name), **kwargs)

    def ok(self, *words, **kwargs):
        """What `htw journal WORDS` prints, which succeeds."""
        got = command("journal", *words[:1], self.file, *words[1:], **kwargs)
        assert (got.status, got.err) == (0, ""), words
        return got.out.decode().rstrip("\n")

    def refused(self, *words, **kwargs):
        got = command("journal", *words[:1], self.file, *words[1:], **kwargs)
        assert (got.status, got.out, got.err.count("\n")) == (1, b"", 1), (words, got.err)
        return got.err

    def job(self, number):
        return json.loads(self.ok("show", number, "--json"))

    def listed(self, *words):
        return [json.loads(line).get("id") for line in self.ok("list", "--json", *words).splitlines()]

    def queues(self):
        return {row["queue"]: row for row in json.loads(self.ok("stats", "--json"))["queues"]}


def refused(*options):
    """What the server says, which does not start."""
    got = subprocess.run([SERVE, *options, "--memory"], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert got.returncode in (1, 2)
    return got.stderr


# ---- where it listens

def test_places_are_names_or_addresses_of_either_kind(directory):
    places = ["localhost:0", "127.0.0.1:0"]
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        places.append("[::1]:0")
    for place in places:
        with Served(directory, "--listen", place, "--http", place) as served:
            host, port = served.places()[0].rsplit(":", 1)
            assert host == place.rsplit(":", 1)[0] or place.startswith("localhost"), served.places()
            with socket.create_connection((host.strip("[]"), int(port)), PATIENCE) as client:
                client.sendall(b"list-tube-used\r\n")
                assert client.recv(100) == b"USING default\r\n"
    for place in ("::1:0", "[::1:0", "[]:0", ":0", "localhost:65536", "localhost:", "x" * 300 + ":0", "no.such.name.invalid:0"):
        assert place in refused("--listen", place)


# ---- what is told of a job

def test_a_deadline_is_told_only_where_it_means_something(directory):
    with Served(directory) as served, Wire(served) as wire:
        buried, ready, delayed = (str(wire.put(delay=delay)) for delay in (0, 0, 1000))
        wire.ask(f"reserve-job {buried}")
        wire.ask(f"bury {buried} 0")
        told = [[served.job(job)[name] for name in ("state", "deadline", "deadline_ns")] for job in (buried, ready)]
        assert told == [["buried", None, None], ["ready", None, None]]
        assert served.job(delayed)["deadline"].startswith("20")
        lines = {line.split()[0]: line.split()[1] for line in served.ok("list").splitlines()[1:]}
        assert [lines[job] for job in (buried, ready)] == ["-", "-"]
        assert "deadline" not in served.ok("show", buried) and "1970" not in served.ok("stats") + served.ok("list")
        assert "htw serve: there is no job 9" in served.refused("delete", "9")


# ---- all tubes

def test_each_tube_is_listed_once_while_others_come_and_go(directory):
    with Served(directory, "--synchronous", "normal") as served, Wire(served) as wire, Wire(served) as other, Wire(served) as watcher:
        for i in range(2000):  # some with a job, some with a client, some with both
            if i % 3 != 2:
                wire.ask(f"use tube-{i}")
                wire.put(b"", i % 2 * 4000, i % 2 * 1000)
            if i % 3 != 0:
                watcher.ask(f"watch tube-{i}")
        wanted = sorted(f"- tube-{i}" for i in range(2000))
        ended = threading.Event()

        def disturb():
            number = 0
            while not ended.is_set():
                number += 1
                other.ask(f"use other-{number}")
                other.ask(f"delete {other.put()}")
                other.ask(f"use tube-{number % 2000}")
        thread = threading.Thread(target=disturb)
        thread.start()
        for _ in range(10):
            seen = wire.ask("list-tubes").decode().split("\n")
            assert len(set(seen)) == len(seen), "tubes that are there twice"
            assert sorted(line for line in seen if "tube-" in line) == wanted
        ended.set()
        thread.join()
        other.ask("use default")
        ready = sum(i % 2 == 0 and i % 3 != 2 for i in range(2000))
        for name, count in (("tubes", 2001), ("jobs-ready", ready), ("jobs-urgent", ready), ("jobs-delayed", 1334 - ready)):
            assert wire.stat("stats", f"current-{name}") == str(count), name


# ---- htw journal while a server has the file open

def test_jobs_are_changed_through_the_server(directory):
    with Served(directory) as served:
        odd = "a b&c=\u00e4/%41"
        later = served.ok("put", "+1h", "payload", "--queue", odd, "--priority", "7", "--key", "k&1")
        job = served.job(later)
        assert (job["queue"], job["state"], job["priority"], job["key"], job["payload"]) == (odd, "delayed", 7, "k&1", "payload")
        binary = served.ok("put", "0", input=bytes(range(256)) * 200)
        assert command("journal", "show", served.file, binary, "--payload").out == bytes(range(256)) * 200
        assert served.job(binary)["queue"] == None
        exact = json.loads(served.ok("put", "1900000000.123456789", "x", "--json"))["put"]
        assert served.job(exact)["deadline_ns"] == "1900000000123456789"
        served.ok("move", later, "1900000000.5", "--priority", "3")
        assert [served.job(later)[name] for name in ("deadline_ns", "priority")] == ["1900000000500000000", 3]
        assert served.ok("kick", later, "--json") == json.dumps({"kicked": later}, separators=(",", ":"))
        assert served.ok("bury", later, binary) == ""
        assert [served.job(each)["state"] for each in (later, binary)] == ["buried", "buried"]
        assert served.ok("kick", "-n", "5", "--queue", odd) == "1"
        assert served.ok("kick", "-n", "5", "--json") == '{"kicked":1}'
        assert served.job(later)["state"] == "ready"
        assert served.ok("cancel", exact) == ""
        assert served.ok("delete", later, binary, "--json").splitlines() == [f'{{"deleted":"{later}"}}', f'{{"deleted":"{binary}"}}']
        assert served.ok("list", "--json") == ""
        assert f"there is no job {later}" in served.refused("delete", later)
        got = command("journal", "bury", served.file, "1", served.ok("put", "0", "y"), "2")
        assert (got.status, got.err.count("there is no job")) == (1, 2), "one of three"
        assert "not while htw serve has it open" in served.refused("compact")
        assert "whose workers alone release" in served.refused("release", "1")
        assert "the body is too large" in served.refused("put", "0", input=b"x" * 65536)
        with Wire(served) as wire:
            wire.ask("use from-outside")
            served.ok("put", "0", "hello", "--queue", "from-outside")
            assert wire.ask("peek-ready").endswith(b" 5\r\nhello")
        assert f"htw serve: deleted job {later}\n" in served.said()
        served.process.send_signal(signal.SIGUSR1)
        wait_for(lambda: command("journal", "put", served.file, "0", "x").status == 1, "draining")
        assert "it is draining" in served.refused("put", "0", "x")


def test_a_job_that_is_reserved_is_its_workers(directory):
    with Served(directory) as served:
        job = served.ok("put", "0", "x", "--queue", "mail")
        with Wire(served) as wire:
            wire.ask("watch mail")
            assert wire.reserve() == (int(job), b"x")
            assert wire.stat(f"stats-job {job}", "ttr") == "60"  # it was put without
            for words in (("delete",), ("cancel",), ("bury",), ("kick",), ("move", "+1h")):
                assert "leased" in served.refused(words[0], job, *words[1:])
            assert served.listed("--state", "ready") == [job], "the lease is the server's, and not in the file"
        wait_for(lambda: command("journal", "bury", served.file, job).status == 0, "the end of the connection")


def lease_durably(file, deadline_ns=4102444800 * 10**9):
    """As a program does that has leased the only job, before the server."""
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        number, queue, put = database.execute("SELECT id, queue, put FROM htw_job").fetchone()
        place = (deadline_ns // 60000000000 << 32) + queue
        database.execute("INSERT INTO htw_moved VALUES (?, ?, ?, ?, 0, 1, 1, 0, 0, 0, 0)", (number, place, put, deadline_ns))
        database.execute("UPDATE htw_queue SET ready = ready - 1, leased = leased + 1 WHERE number = ?", (queue,))


def test_a_job_that_the_file_says_is_leased_is_listed_once(directory):
    file = os.path.join(directory, "jobs")
    number = command("journal", "put", file, "0", "x", "--queue", "mail").out.decode().strip()
    lease_durably(file)
    assert command("journal", "check", file).status == 0
    with Served(directory) as served:
        served.ok("put", "0", "y", "--queue", "mail")
        assert served.job(number)["state"] == "leased"
        assert served.listed("--state", "leased") == [number]
        assert [served.queues()["mail"][name] for name in ("ready", "leased")] == [1, 1]


def test_what_the_server_has_answered_survives_its_end(directory):
    with Served(directory) as served:
        ids = [served.ok("put", "+1h", "x") for _ in range(20)]
        served.ok("delete", ids[0])
        served.kill()
        assert stat.S_ISSOCK(os.stat(served.file + "-socket").st_mode)
        assert served.listed() == ids[1:]
        ids.append(served.ok("put", "+1h", "by itself"))  # nobody listens at the socket
        assert served.ok("delete", *ids[1:]) == ""
    with Served(directory) as served:  # takes its place
        served.ok("put", "0", "x")
    assert not os.path.exists(served.file + "-socket")


@contextlib.contextmanager
def held(directory):
    """A journal that a program has open which nobody can ask."""
    with Served(directory) as served:
        os.unlink(served.file + "-socket")
        yield
        served.kill()


def test_a_server_that_does_not_answer_leaves_it_open_what_it_has_done(directory):
    for answer in (b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"put\":", b"nonsense\r\n\r\n"):
        with held(directory), socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.join(directory, "jobs-socket"))
            server.listen()

            def serve():
                for _ in range(2):  # whether it is there, and the request
                    peer, _ = server.accept()
                    with peer:
                        if peer.recv(65536):
                            peer.sendall(answer)
            thread = threading.Thread(target=serve)
            thread.start()
            got = command("journal", "put", os.path.join(directory, "jobs"), "0", "x")
            thread.join()
            assert (got.status, got.out) == (1, b"")
            assert "it is not known what it has done" in got.err
        os.unlink(os.path.join(directory, "jobs-socket"))


@needs_root
def test_a_socket_of_another_user_is_not_asked(directory):
    path = os.path.join(directory, "jobs-socket")
    with held(directory), socket.socket(socket.AF_UNIX) as server:
        os.chmod(directory, 0o777)
        child = os.fork()
        if child == 0:
            os.setuid(NOBODY)
            server.bind(path)
            server.listen()
            for _ in range(3):  # the test's; one that is closed without a request; and another
                server.accept()
            os._exit(0)
        wait_until_listening(path)
        got = command("journal", "put", os.path.join(directory, "jobs"), "0", "secret")
        assert (got.status, got.out) == (1, b"")
        assert "which is no htw serve that can be asked" in got.err
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_the_path_of_the_file_may_be_long(directory):
    long = os.path.join(directory, *["d" * 150] * 2)
    os.makedirs(long)
    with Served(long) as served:
        assert served.job(served.ok("put", "0", "x"))["payload"] == "x"
        link = os.path.join(directory, "link")
        os.symlink(served.file, link)
        assert command("journal", "put", link, "0", "y").status == 0
        assert len(served.listed()) == 2
    with Served(directory, name="n" * 120) as served:  # htw journal cannot reach it, and the server serves
        assert "htw journal can only read while this serves" in served.said()
        assert "which is no htw serve that can be asked" in served.refused("put", "0", "x")
        assert served.ok("list", "--json") == ""


# ---- sockets that systemd opens

LAUNCH = """
import fcntl, os, sys
fds = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 50) for fd in os.environ.pop("FDS").split()]
for i, fd in enumerate(fds):
    os.dup2(fd, 3 + i)
os.closerange(3 + len(fds), 90)
os.environ.setdefault("LISTEN_FDS", str(len(fds)))
os.environ.setdefault("LISTEN_PID", str(os.getpid()))
os.execv(sys.argv[1], sys.argv[1:])
"""


def launched(sockets, **variables):
    """How a process is started with these sockets: the keywords for Served."""
    fds = [each.fileno() for each in sockets]
    environment = {**os.environ, "FDS": " ".join(map(str, fds)), **variables}
    return {"launch": (sys.executable, "-c", LAUNCH), "pass_fds": fds, "env": environment}


def listening(address):
    server = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
    server.bind(address)
    server.listen()
    return server


def test_sockets_of_systemd_are_used(directory):
    path = os.path.join(directory, "socket")
    with listening(("127.0.0.1", 0)) as tcp, listening(path) as unix:
        sockets = launched([tcp, unix], LISTEN_FDNAMES="htw-serve.socket:other")
        for _ in range(2):
            with Wire(path) as early:  # systemd listens before the server does
                early.send(b"put 0 0 60 1\r\nx\r\n")
                with Served(directory, "--max-jobs", "9", **sockets) as served:
                    assert served.places() == [f"127.0.0.1:{tcp.getsockname()[1]}", path]
                    assert early.answer().startswith(b"INSERTED ")
                    with Wire(served) as wire:
                        assert wire.ask("list-tube-used") == b"USING default"
                    for fd in (3, 4):
                        flags = content_of(f"/proc/{served.process.pid}/fdinfo/{fd}").decode().split("flags:")[1].split()[0]
                        assert int(flags, 8) & os.O_CLOEXEC, (fd, flags)
            assert os.path.exists(path), "it is systemd's"


def test_wrong_sockets_of_systemd_are_refused(directory):
    def refused(status, why, sockets, *options, **variables):
        kwargs = launched(sockets, **variables)
        got = subprocess.run([*kwargs.pop("launch"), SERVE, *options, os.path.join(directory, "jobs")], capture_output=True, text=True,
                             timeout=PATIENCE, check=False, **kwargs)
        assert got.returncode == status, got.stderr
        assert why in got.stderr
    with listening(("127.0.0.1", 0)) as tcp, socket.socket() as silent, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        refused(2, "LISTEN_PID is not a number", [tcp], LISTEN_PID="self")
        refused(2, "LISTEN_FDS is not a number up to 9", [tcp], LISTEN_FDS="-1")
        refused(2, "LISTEN_FDS is not a number up to 9", [tcp], LISTEN_FDS="10")
        refused(2, "more descriptors than there are", [tcp], LISTEN_FDS="2")
        refused(2, "too many places", [tcp] * 8, *["--listen", "0"])
        for wrong in (silent, datagrams):
            refused(1, "descriptor 4: not a socket that listens", [tcp, wrong])


# ---- the mode of a socket

def test_a_socket_has_its_mode_and_at_no_time_more(directory):
    path, seen, ended = os.path.join(directory, "socket"), set(), threading.Event()

    def watch():
        while not ended.is_set():
            with contextlib.suppress(FileNotFoundError):
                seen.add(stat.S_IMODE(os.stat(path).st_mode))
    for options, wanted in (([], 0o600), (["--socket-mode", "0660"], 0o660), (["--socket-mode", "666"], 0o666)):
        seen.clear()
        ended.clear()
        watcher = threading.Thread(target=watch)
        watcher.start()
        with Served(directory, "--listen", f"unix:{path}", *options, umask=0o002):
            ended.set()
            watcher.join()
            assert stat.S_IMODE(os.stat(path).st_mode) == wanted
            assert stat.S_IMODE(os.stat(os.path.join(directory, "jobs-socket")).st_mode) == 0o600
        assert not any(mode & ~wanted for mode in seen), seen
    for wrong in ("660x", "0888", "06600", "1660", "", "7"):
        assert "three octal digits" in refused("--socket-mode", wrong)


@needs_root
def test_the_mode_says_who_may_connect(directory):
    folder = os.path.join(directory, "run")
    os.mkdir(folder)
    os.chmod(directory, 0o755)
    os.chown(folder, 0, 4)
    os.chmod(folder, 0o2755)  # what is made in it has its group
    path = os.path.join(folder, "socket")

    def may(groups):
        child = os.fork()
        if child == 0:
            os.setgroups(groups)
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            with contextlib.suppress(PermissionError), socket.socket(socket.AF_UNIX) as client:
                client.connect(path)
                os._exit(0)
            os._exit(1)
        return os.waitpid(child, 0)[1] == 0
    for mode, wanted in (("0600", [False, False]), ("0660", [False, True]), ("0666", [True, True])):
        with Served(directory, "--listen", f"unix:{path}", "--socket-mode", mode):
            assert [may([]), may([4])] == wanted, mode
