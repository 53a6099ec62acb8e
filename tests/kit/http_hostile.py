# SPDX-License-Identifier: MIT
# holds: relay-19
"""http_hostile.py - clients that mean ill, against the HTTP listener of commands: what each program that has it must stand."""
import contextlib
import http.client
import time

from programs import PATIENCE, Stopwatch


def raw_answer(server, text):
    """All that comes for these bytes until the connection ends; "" for a reset."""
    with server.raw() as client:
        got = b""
        try:
            client.sendall(text)
            while part := client.recv(65536):
                got += part
        except ConnectionError:
            pass
        return got.decode(errors="replace")


def shuts_nobody_out(connect, ask, pid):
    """300 that connect and say nothing; then others, whose requests are answered at once all the same. `ask` returns the status of one.
    `pid`: the server's."""
    silent = []
    try:
        for _ in range(300):
            silent.append(connect())
            if len(silent) % 20 == 0:
                time.sleep(0.05)  # or the kernel's queue is what is full
        watch = Stopwatch(pid)
        for _ in range(20):
            assert ask() == 200
        assert watch.seconds() < 4, "silent clients shut others out"
    finally:
        for client in silent:
            client.close()


def try_hostile_clients(server, pid, read, change):
    """`read` and `change` are requests without the blank line: GET PATH HTTP/1.1 and so on. `change` has no token."""
    read, change = (text.encode() + b" HTTP/1.1\r\nHost: localhost\r\n" for text in (read, change))
    for text, status in ((read + b"X: " + b"x" * 140000 + b"\r\n\r\n", " 431 "), (b"GET /" + b"x" * 140000 + b" HTTP/1.1\r\n\r\n", " 414 "),
                         (read + b"X: " + b"x" * 120000 + b"\r\n\r\n", " 200 ")):
        assert status in raw_answer(server, text), text[:80]
    for text in (b"\0\xff\r\n\r\n", change + b"Content-Length: 99999\r\n\r\n" + b"x" * 99999):
        assert " 200 " not in raw_answer(server, text), text[:80]
    assert " 403 " in raw_answer(server, b"GET / HTTP/1.0\r\n\r\n")  # without a Host
    got = raw_answer(server, (read + b"\r\n") * 3 + change + b"\r\n")  # one request a connection, and nothing behind it counts
    assert got.count("HTTP/1.1 ") == 1 and " 200 " in got, got[:200]
    got = raw_answer(server, read.replace(b"GET", b"HEAD") + b"\r\n")
    assert " 200 " in got and got.endswith("\r\n\r\n"), got[:200]
    assert raw_answer(server, b"HEAD /health HTTP/1.1\r\nHost: some.pod\r\n\r\n").startswith("HTTP/1.1 200 ")
    shuts_nobody_out(server.raw, lambda: server.ask("GET", "/health")[0], pid)
    # 200 that say nothing, and one that is slow, lose their places when their time is over; the server goes on.
    slow = [server.raw() for _ in range(200)]
    try:
        end, status = time.monotonic() + PATIENCE, None
        while status != 200:
            assert time.monotonic() < end, "slow clients keep the server"
            with contextlib.suppress(OSError):  # it has lost its place
                slow[0].send(b"G")
            try:
                status = server.ask("GET", "/")[0]
            except (OSError, http.client.HTTPException):
                time.sleep(0.1)
    finally:
        for client in slow:
            client.close()
