# SPDX-License-Identifier: MIT
"""What is around `htw serve`: test_served.py PROGRAM SERVE [NAME...]. As test_delay.py.

`htw journal` while a server has the file open; sockets that systemd opens; the mode of a socket.
"""
import contextlib
import json
import os
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # the source tree stays clean

import served  # noqa: E402
from harness import PATIENCE, command, content_of, equal, has, main, test, wait_for  # noqa: E402
from served import SERVE  # noqa: E402

NOBODY = 65534


def needs_root(function):
    return test(function) if os.geteuid() == 0 else function


class Served(served.Served):
    """With `htw journal` on its file."""

    def client(self):
        return Client(("127.0.0.1", int(self.places()[0].rsplit(":", 1)[1])))

    def ok(self, *words, **kwargs):
        """What `htw journal WORDS` prints, which succeeds."""
        got = command("journal", *words[:1], self.file, *words[1:], **kwargs)
        equal((got.status, got.err), (0, ""), words)
        return got.out.decode().rstrip("\n")

    def refused(self, *words, **kwargs):
        got = command("journal", *words[:1], self.file, *words[1:], **kwargs)
        equal((got.status, got.out, got.err.count("\n")), (1, b"", 1), (words, got.err))
        return got.err

    def job(self, number):
        return json.loads(self.ok("show", number, "--json"))


class Client:
    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(address)
        self.lines = self.socket.makefile("r", newline="\r\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lines.close()
        self.socket.close()

    def ask(self, text):
        self.socket.sendall(text.encode())
        return self.lines.readline().rstrip("\r\n")


# ---- where it listens

@test
def places_are_names_or_addresses_of_either_kind(directory):
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
                equal(client.recv(100), b"USING default\r\n")
    for place in ("::1:0", "[::1:0", "[]:0", ":0", "localhost:65536", "localhost:", "x" * 300 + ":0", "no.such.name.invalid:0"):
        got = subprocess.run([SERVE, "--listen", place, "--memory"], capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert got.returncode in (1, 2) and place in got.stderr, (place, got)


# ---- what is told of a job

@test
def a_deadline_is_told_only_where_it_means_something(directory):
    with Served(directory, "--listen", "0") as served, served.client() as client:
        jobs = []
        for delay in (0, 0, 0, 1000):
            jobs.append(client.ask(f"put 0 {delay} 60 0\r\n\r\n").split()[1])
        buried, leased, ready, delayed = jobs
        for job in (buried, leased):
            client.ask(f"reserve-job {job}\r\n")
            client.lines.readline()
        client.ask(f"bury {buried} 0\r\n")
        equal([(served.job(job)["state"], served.job(job)["deadline"]) for job in (buried, leased, ready)],
              [("buried", None), ("leased", None), ("ready", None)])
        equal([served.job(job)["deadline_ns"] for job in (buried, leased, ready)], [None, str(2**63 - 1), None])
        assert served.job(delayed)["deadline"].startswith("20")
        lines = {line.split()[0]: line.split()[1] for line in served.ok("list").splitlines()[1:]}
        equal([lines[job] for job in (buried, leased, ready)], ["-", "never", "-"])
        assert "deadline" not in served.ok("show", buried) and "1970" not in served.ok("stats") + served.ok("list")
        assert "htw serve: there is no job 9" in served.refused("delete", "9")


# ---- all tubes

def read_yaml(client, command):
    size = int(client.ask(command + "\r\n").split()[1])
    return client.lines.read(size + 2).splitlines()[1:]


@test
def each_tube_is_listed_once_while_others_come_and_go(directory):
    with (Served(directory, "--listen", "0", "--synchronous", "normal") as served, served.client() as client, served.client() as other,
          served.client() as watcher):
        for i in range(2000):  # some with a job, some with a client, some with both
            if i % 3 != 2:
                client.ask(f"use tube-{i}\r\nput {i % 2 * 4000} {i % 2 * 1000} 60 0\r\n\r\n")
                client.lines.readline()
            if i % 3 != 0:
                watcher.ask(f"watch tube-{i}\r\n")
        wanted = sorted(f"- tube-{i}" for i in range(2000))
        ended = threading.Event()

        def disturb():
            number = 0
            while not ended.is_set():
                number += 1
                other.ask(f"use other-{number}\r\nput 0 0 60 0\r\n\r\n")
                other.ask(f"delete {other.lines.readline().split()[1]}\r\nuse tube-{number % 2000}\r\n")
                other.lines.readline()
        thread = threading.Thread(target=disturb)
        thread.start()
        for _ in range(10):
            seen = read_yaml(client, "list-tubes")
            equal(len(set(seen)), len(seen), "tubes that are there twice")
            equal(sorted(line for line in seen if "tube-" in line), wanted)
        ended.set()
        thread.join()
        other.ask("use default\r\n")
        stats = dict(line.split(": ", 1) for line in read_yaml(client, "stats") if line)
        ready = sum(i % 2 == 0 and i % 3 != 2 for i in range(2000))
        equal([int(stats[name]) for name in ("current-tubes", "current-jobs-ready", "current-jobs-urgent", "current-jobs-delayed")],
              [2001, ready, ready, 1334 - ready])
        client.ask("put 1024 0 60 0\r\n\r\n")
        for line in read_yaml(client, "stats"):
            if line.startswith("current-jobs-urgent"):
                equal(line, f"current-jobs-urgent: {ready}")


# ---- htw journal while a server has the file open

@test
def jobs_are_changed_through_the_server(directory):
    with Served(directory) as served:
        odd = "a b&c=\u00e4/%41"
        later = served.ok("put", "+1h", "payload", "--queue", odd, "--priority", "7", "--key", "k&1")
        job = served.job(later)
        equal((job["queue"], job["state"], job["priority"], job["key"], job["payload"]), (odd, "delayed", 7, "k&1", "payload"))
        binary = served.ok("put", "0", input=bytes(range(256)) * 200)
        equal(command("journal", "show", served.file, binary, "--payload").out, bytes(range(256)) * 200)
        equal(served.job(binary)["queue"], None)
        exact = json.loads(served.ok("put", "1900000000.123456789", "x", "--json"))["put"]
        equal(served.job(exact)["deadline_ns"], "1900000000123456789")
        served.ok("move", later, "1900000000.5", "--priority", "3")
        equal([served.job(later)[name] for name in ("deadline_ns", "priority")], ["1900000000500000000", 3])
        equal(served.ok("kick", later, "--json"), json.dumps({"kicked": later}, separators=(",", ":")))
        equal(served.ok("bury", later, binary), "")
        equal([served.job(each)["state"] for each in (later, binary)], ["buried", "buried"])
        equal(served.ok("kick", "-n", "5", "--queue", odd), "1")
        equal(served.ok("kick", "-n", "5", "--json"), '{"kicked":1}')
        equal(served.job(later)["state"], "ready")
        equal(served.ok("cancel", exact), "")
        equal(served.ok("delete", later, binary, "--json").splitlines(), [f'{{"deleted":"{later}"}}', f'{{"deleted":"{binary}"}}'])
        equal(served.ok("list", "--json"), "")
        has(served.refused("delete", later), f"there is no job {later}")
        got = command("journal", "bury", served.file, "1", served.ok("put", "0", "y"), "2")
        equal((got.status, got.err.count("there is no job")), (1, 2), "one of three")
        for words in (("recur", "name", "* * * * *", "x"), ("unrecur", "name"), ("compact",)):
            has(served.refused(*words), "not while htw serve has it open")
        has(served.refused("release", "1"), "whose workers alone release")
        has(served.refused("put", "0", input=b"x" * 65536), "the body is too large")
        with served.client() as client:
            equal(client.ask("use from-outside\r\n"), "USING from-outside")
            served.ok("put", "0", "hello", "--queue", "from-outside")
            equal(client.ask("peek-ready\r\n").rsplit(" ", 1)[1], "5")
        has(served.text(), f"htw serve: uid {os.geteuid()}: deleted job {later}\n")
        served.process.send_signal(signal.SIGUSR1)
        wait_for(lambda: command("journal", "put", served.file, "0", "x").status == 1, "draining")
        has(served.refused("put", "0", "x"), "it is draining")


@test
def a_job_that_is_reserved_is_its_workers(directory):
    with Served(directory) as served:
        ids = [served.ok("put", "0", str(i), "--queue", "mail") for i in range(3)] + [served.ok("put", "0", "x", "--queue", "other")]
        with served.client() as client:
            equal(client.ask("watch mail\r\nreserve\r\n"), "WATCHING 2")
            equal(client.lines.readline(), f"RESERVED {ids[0]} 1\r\n")
            equal(client.lines.readline(), "0\r\n")
            size = int(client.ask(f"stats-job {ids[0]}\r\n").split()[1])
            stats = client.lines.read(size + 2)
            has(stats, "ttr: 60\n")  # it was put without
            equal(served.job(ids[0])["state"], "leased")
            queues = {row["queue"]: row for row in json.loads(served.ok("stats", "--json"))["queues"]}
            equal([(queues[name]["ready"], queues[name]["leased"]) for name in ("mail", "other")], [(2, 1), (1, 0)])

            def listed(*words):
                return [json.loads(line).get("id") for line in served.ok("list", "--json", *words).splitlines()]
            equal(listed("--state", "leased"), [ids[0]])
            equal(listed("--state", "leased", "--queue", "other"), [])
            equal(listed("--state", "ready"), ids[1:])
            equal(listed("--state", "ready", "--queue", "mail"), ids[1:3])
            equal(listed("--state", "ready", "--queue", "mail", "--limit", "2"), ids[1:3])
            equal(sorted(listed()), sorted(ids))
            client.ask("reserve\r\n")
            client.lines.readline()
            equal(listed("--state", "leased", "--limit", "1"), ids[:1])
            equal(listed("--state", "leased"), ids[:2])
            for words in (("delete",), ("cancel",), ("bury",), ("kick",)):
                has(served.refused(*words, ids[0]), "leased")
            has(served.refused("move", ids[0], "+1h"), "leased")
        wait_for(lambda: served.job(ids[0])["state"] == "ready", "the end of the connection")


def lease_durably(file, deadline_ns=4102444800 * 10**9):
    """As a program does that has leased the only job, before the server."""
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        number, queue, put = database.execute("SELECT id, queue, put FROM job").fetchone()
        place = (deadline_ns // 60000000000 << 32) + queue
        database.execute("INSERT INTO moved VALUES (?, ?, ?, ?, 0, 1, 1, 0, 0, 0, 0)", (number, place, put, deadline_ns))
        database.execute("INSERT INTO moved_place VALUES (?, ?, ?)", (place, put, number))
        database.execute("UPDATE meta SET moved = 1")
        database.execute("UPDATE queue SET ready = ready - 1, leased = leased + 1 WHERE number = ?", (queue,))


@test
def a_job_that_the_file_says_is_leased_is_listed_once(directory):
    file = os.path.join(directory, "jobs")
    number = command("journal", "put", file, "0", "x", "--queue", "mail").out.decode().strip()
    lease_durably(file)
    equal(command("journal", "check", file).status, 0)
    with Served(directory) as served:
        served.ok("put", "0", "y", "--queue", "mail")
        equal(served.job(number)["state"], "leased")
        equal([json.loads(line).get("id") for line in served.ok("list", "--state", "leased", "--json").splitlines()], [number])
        queues = {row["queue"]: row for row in json.loads(served.ok("stats", "--json"))["queues"]}
        equal((queues["mail"]["ready"], queues["mail"]["leased"]), (1, 1))


@test
def what_the_server_has_answered_survives_its_end(directory):
    with Served(directory) as served:
        ids = [served.ok("put", "+1h", "x") for _ in range(20)]
        served.ok("delete", ids[0])
        served.kill()
        assert stat.S_ISSOCK(os.stat(served.file + "-socket").st_mode)
        equal([json.loads(line)["id"] for line in served.ok("list", "--json").splitlines()], ids[1:])
        ids.append(served.ok("put", "+1h", "by itself"))  # nobody listens at the socket
        equal(served.ok("delete", *ids[1:]), "")
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


@test
def a_server_that_does_not_answer_leaves_it_open_what_it_has_done(directory):
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
            equal((got.status, got.out), (1, b""))
            has(got.err, "it is not known what it has done")
        os.unlink(os.path.join(directory, "jobs-socket"))


@needs_root
def a_socket_of_another_user_is_not_asked(directory):
    path = os.path.join(directory, "jobs-socket")
    with held(directory), socket.socket(socket.AF_UNIX) as server:
        os.chmod(directory, 0o777)
        child = os.fork()
        if child == 0:
            os.setuid(NOBODY)
            server.bind(path)
            server.listen()
            server.accept()  # it is closed without a request
            server.accept()
            os._exit(0)
        wait_for(lambda: os.path.exists(path), "a socket")
        got = command("journal", "put", os.path.join(directory, "jobs"), "0", "secret")
        equal((got.status, got.out), (1, b""))
        has(got.err, "which is no htw serve that can be asked")
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@test
def the_path_of_the_file_may_be_long(directory):
    long = os.path.join(directory, *["d" * 150] * 2)
    os.makedirs(long)
    with Served(long) as served:
        equal(served.job(served.ok("put", "0", "x"))["payload"], "x")
        link = os.path.join(directory, "link")
        os.symlink(served.file, link)
        equal(command("journal", "put", link, "0", "y").status, 0)
        equal(len(served.ok("list", "--json").splitlines()), 2)
    with Served(directory, name="n" * 120) as served:  # htw journal cannot reach it, and the server serves
        has(served.text(), "htw journal can only read while this serves")
        has(served.refused("put", "0", "x"), "which is no htw serve that can be asked")
        equal(served.ok("list", "--json"), "")


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


@test
def sockets_of_systemd_are_used(directory):
    path = os.path.join(directory, "socket")
    with listening(("127.0.0.1", 0)) as tcp, listening(path) as unix:
        sockets = launched([tcp, unix], LISTEN_FDNAMES="htw-serve.socket:other")
        for _ in range(2):
            with Client(path) as early:  # systemd listens before the server does
                early.socket.sendall(b"put 0 0 60 1\r\nx\r\n")
                with Served(directory, "--max-jobs", "9", **sockets) as served:
                    equal(served.places(), [f"127.0.0.1:{tcp.getsockname()[1]}", path])
                    equal(early.lines.readline()[:9], "INSERTED ")
                    with served.client() as client:
                        equal(client.ask("list-tube-used\r\n"), "USING default")
                    for fd in (3, 4):
                        flags = content_of(f"/proc/{served.process.pid}/fdinfo/{fd}").decode().split("flags:")[1].split()[0]
                        assert int(flags, 8) & os.O_CLOEXEC, (fd, flags)
            assert os.path.exists(path), "it is systemd's"


@test
def sockets_of_systemd_may_come_with_others(directory):
    with listening(("127.0.0.1", 0)) as tcp:
        with Served(directory, "--listen", "0", **launched([tcp])) as served:
            equal(len(served.places()), 2, served.places())
            equal(served.places()[0], f"127.0.0.1:{tcp.getsockname()[1]}")
        # Those for another process are not this one's.
        with Served(directory, "--listen", "0", **launched([tcp], LISTEN_PID=str(os.getpid()))) as served:
            assert served.places() != [f"127.0.0.1:{tcp.getsockname()[1]}"] and len(served.places()) == 1


@test
def wrong_sockets_of_systemd_are_refused(directory):
    def refused(status, why, sockets, *options, **variables):
        kwargs = launched(sockets, **variables)
        got = subprocess.run([*kwargs.pop("launch"), SERVE, *options, os.path.join(directory, "jobs")], capture_output=True, text=True,
                             timeout=PATIENCE, check=False, **kwargs)
        equal(got.returncode, status, got.stderr)
        has(got.stderr, why)
    with listening(("127.0.0.1", 0)) as tcp, socket.socket() as silent, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        refused(2, "LISTEN_PID is not a number", [tcp], LISTEN_PID="self")
        refused(2, "LISTEN_FDS is not a number up to 9", [tcp], LISTEN_FDS="-1")
        refused(2, "LISTEN_FDS is not a number up to 9", [tcp], LISTEN_FDS="10")
        refused(2, "more descriptors than there are", [tcp], LISTEN_FDS="2")
        refused(2, "too many places", [tcp] * 8, *["--listen", "0"])
        for wrong in (silent, datagrams):
            refused(1, "descriptor 4: not a socket that listens", [tcp, wrong])


@test
def systemd_socket_activate_starts_it(directory):
    if not shutil.which("systemd-socket-activate"):
        return
    path, file = os.path.join(directory, "socket"), os.path.join(directory, "jobs")
    process = subprocess.Popen(["systemd-socket-activate", "-l", path, SERVE, file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: os.path.exists(path), "a socket")
        time.sleep(0.1)  # it binds before it listens
        with Client(path) as client:
            equal(client.ask("put 0 0 60 1\r\nx\r\n")[:9], "INSERTED ")
    finally:
        process.terminate()
        equal(process.wait(PATIENCE), 0)


# ---- the mode of a socket

@test
def a_socket_has_its_mode_from_the_beginning(directory):
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
            equal(stat.S_IMODE(os.stat(path).st_mode), wanted)
            equal(stat.S_IMODE(os.stat(os.path.join(directory, "jobs-socket")).st_mode), 0o600)
        assert seen <= {wanted}, seen
    for wrong in ("660x", "0888", "06600", "1660", "", "7"):
        got = subprocess.run([SERVE, "--socket-mode", wrong, "--memory"], capture_output=True, text=True, timeout=PATIENCE, check=False)
        equal(got.returncode, 2, wrong)
        has(got.stderr, "three octal digits")


@needs_root
def the_mode_says_who_may_connect(directory):
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
            equal([may([]), may([4])], wanted, mode)


if __name__ == "__main__":
    sys.exit(main())
