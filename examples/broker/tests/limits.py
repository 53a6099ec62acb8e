# SPDX-License-Identifier: MIT
"""What exceeds a limit is refused with an error, and other clients are not disturbed."""
import subprocess
import threading
import time

from clients import Wire, command
from harness import PATIENCE, equal, has, note, own, percentiles, settings, slowdown, wait_for
from servers import broker


def is_served(server):
    with Wire(server) as wire:
        equal(wire.ask("SET", "check", "value"), b"+OK")
        equal(wire.ask("GET", "check"), b"value")


@own("--max-clients", "50")
def a_client_too_many_gets_an_error(server):
    first = Wire(server)  # stays open: a connection that is just closing would count
    wait_for(lambda: b"connected_clients:1\r" in first.ask("INFO", "clients"), "only one client")
    clients = [first] + [Wire(server) for _ in range(49)]
    for client in clients:
        equal(client.ask("PING"), b"+PONG")
    for _ in range(20):
        with Wire(server) as refused:
            equal(refused.until_closed(), b"-ERR max number of clients reached\r\n")
    for client in clients:
        equal(client.ask("PING"), b"+PONG")
    clients.pop().close()

    def is_let_in():
        with Wire(server) as wire:
            try:
                return wire.ask("PING") == b"+PONG"
            except ConnectionError:
                return False
    wait_for(is_let_in, "a place that has become free")
    for client in clients:
        client.close()
    wait_for(lambda: server.info("rejected_connections"), "places that have become free")
    assert int(server.info("rejected_connections")) >= 20


@own("--max-request", "64k")
def a_request_that_is_too_large_is_refused(server):
    with Wire(server) as other:
        waiter = Wire(server)
        waiter.send("BLPOP", "queue", 0)
        server.wait_until_blocked(1)
        for request in (b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$70000\r\n",
                        b"*1\r\n$999999999999\r\n",
                        b"*1000000\r\n$3\r\nDEL\r\n",
                        b"*3\r\n$3\r\nSET\r\n$30000\r\n" + b"k" * 30000 + b"\r\n$40000\r\n"):
            with Wire(server) as wire:
                wire.send_bytes(request)
                text = wire.until_closed()
                assert text.startswith(b"-ERR Protocol error: "), (request, text)
                equal(text.count(b"\r\n"), 1, "lines of the error")
            equal(other.ask("PING"), b"+PONG")
        # A request at the limit is not refused, nor are many small ones at once.
        value = b"v" * (65536 - len(command("SET", "k", b"")) - 4)
        equal(len(command("SET", "k", value)), 65536, "size of a request")
        equal(other.ask("SET", "k", value), b"+OK")
        equal(other.ask("GET", "k"), value)
        equal(other.send_pipeline([("SET", "k", value[:30000])] * 20), [b"+OK"] * 20)
        with Wire(server) as wire:
            wire.send("SET", "k", value + b"v")
            has(wire.until_closed(), b"-ERR Protocol error: ")
        equal(other.ask("RPUSH", "queue", "item"), 1)
        equal(waiter.reply(), [b"queue", b"item"])
        waiter.close()


@own("--max-memory", "1m")
def writes_beyond_the_memory_limit_are_refused(server):
    refused = b"-OOM command not allowed when used memory > 'maxmemory'."
    value = b"v" * 10000
    with Wire(server) as wire, Wire(server) as waiter:
        waiter.send("BLPOP", "queue", 0)
        server.wait_until_blocked(1)
        answers = [wire.ask("SET", f"key-{i}", value) for i in range(200)]
        stored = answers.index(refused)
        equal(answers, [b"+OK"] * stored + [refused] * (200 - stored), "answers")
        assert 80 <= stored <= 106, f"{stored} values of 10 000 bytes in a megabyte"
        for arguments in (("LPUSH", "l", "x"), ("RPUSH", "queue", "x"), ("SET", "k", "v"),
                          ("LPUSHIN", "l", 1000, "x"), ("LPUSHAT", "l", 1000, "x"),
                          ("BLMOVE", "l", "m", "LEFT", "LEFT", 0)):
            equal(wire.ask(*arguments), refused, str(arguments))
        equal(wire.ask("GET", "key-0"), value)
        equal(wire.ask("EXPIRE", "key-0", 100), 1)
        equal(wire.ask("EXISTS", "key-0", f"key-{stored}"), 1)
        equal(wire.ask("BLPOP", "l", "0.01"), None)
        equal(wire.ask("DEL", *[f"key-{i}" for i in range(10)]), 10)
        equal(wire.ask("RPUSH", "queue", "item"), 1)
        equal(waiter.reply(), [b"queue", b"item"])
        # Delayed values count from the start.
        equal(wire.ask("FLUSHALL"), b"+OK")
        answers = [wire.ask("LPUSHIN", "l", 60000, value) for _ in range(200)]
        assert 80 <= answers.index(refused) <= 106, answers.index(refused)
        equal(wire.ask("PING"), b"+PONG")


@own("--max-memory", "8m")
def unfinished_requests_are_limited_altogether(server):
    """40 clients, each within its own limits: some are closed to keep the limit of all, and the others
    continue."""
    is_served(server)
    wires = [Wire(server) for _ in range(40)]
    for wire in wires:
        try:
            wire.send_bytes(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\n" + b"v" * 500000)
        except ConnectionError:
            pass  # this one was closed
    wait_for(lambda: int(server.info("connected_clients")) < 40, "that some are closed")
    wait_for(lambda: int(server.info("mem_clients_normal")) <= 8 << 20, "that enough are closed")
    is_served(server)
    finished = 0
    for wire in wires:
        try:
            wire.send_bytes(b"v" * 500000 + b"\r\n")
            finished += wire.reply() == b"+OK"
        except ConnectionError:
            pass
        wire.close()
    assert 3 <= finished < 40, f"{finished} requests were finished"
    wait_for(lambda: server.info("connected_clients") == "1", "that all have gone")
    equal(server.info("mem_clients_normal"), "0", "memory of clients without clients")


@own("--max-memory", "1m")
def memory_is_given_back_with_the_keys(server):
    def used():
        return int(server.info("used_memory"))
    before = used()
    with Wire(server) as wire:
        for _ in range(3):
            wire.send_pipeline([("SET", f"k{i}", "v" * 100) for i in range(500)])
            wire.send_pipeline([("SET", f"k{i}", "w" * 500) for i in range(500)])
            wire.send_pipeline([("RPUSH", f"l{i % 50}", "v" * i) for i in range(500)])
            assert used() > before + 300000
            wire.send_pipeline([("PEXPIRE", f"k{i}", 20) for i in range(250)])
            wire.send_pipeline([("DEL", f"k{i}") for i in range(250, 500)])
            wire.send_pipeline([("LPOP", f"l{i % 50}") for i in range(500)])
            wait_for(lambda: wire.ask("DBSIZE") == 0, "no keys")
            equal(used(), before, "memory when all keys have gone")


MANY = 100000


@own()
def memory_is_counted_as_it_is_used(server):
    """used_memory grows as the process does, within a quarter; with many small values, where the
    overhead matters most. Each kind has its own server: otherwise it would use freed memory of the
    one before."""
    def resident(fresh):
        with open(f"/proc/{fresh.process.pid}/smaps_rollup", encoding="ascii") as maps:
            return next(int(line.split()[1]) << 10 for line in maps if line.startswith("Pss_Anon"))
    for what, make in [
            ("items of a list", lambda i: ("RPUSH", "list", "x")),
            ("strings", lambda i: ("SET", f"key{i:07}", "x")),
            ("strings that expire", lambda i: ("SET", f"key{i:07}", "x", "EX", 3600)),
            ("lists", lambda i: ("RPUSH", f"list{i:07}", "x")),
            ("values for later", lambda i: ("LPUSHIN", f"later{i:07}", 3600000, "x"))]:
        with broker() as fresh, Wire(fresh) as wire:
            before = resident(fresh), int(fresh.info("used_memory"))
            for start in range(0, MANY, 10000):
                wire.send_pipeline([make(i) for i in range(start, start + 10000)])
            grown = resident(fresh) - before[0]
            counted = int(fresh.info("used_memory")) - before[1]
            note(server, f"{what}: {counted / MANY:.0f} bytes each are counted, {grown / MANY:.0f} "
                 "are used")
            if settings.slowness == 1:  # the allocator of a sanitizer uses more
                assert 0.75 * grown <= counted <= 1.25 * grown, f"{what}: {counted} for {grown}"
            fresh.finish()


@own("--max-memory", "16m")
def the_client_that_takes_most_is_closed(server):
    """And not the one that came last."""
    def begin(wire, size):
        wire.send_bytes(b"*2\r\n$4\r\nECHO\r\n$%d\r\n" % (2 * size) + b"v" * size)
        return size

    def kept_bytes():
        return int(server.info("mem_clients_normal"))
    large, *small = [Wire(server) for _ in range(4)]
    sent = begin(large, 9000000)
    for wire in small[:2]:
        wait_for(lambda: kept_bytes() >= sent, "that it is read")
        sent += begin(wire, 2000000)
    wait_for(lambda: kept_bytes() >= sent, "that it is read")
    equal(server.info("evicted_clients"), "0")
    begin(small[2], 4000000)
    wait_for(lambda: server.info("evicted_clients") == "1", "that one is closed")
    try:
        equal(large.until_closed(), b"")
    except ConnectionResetError:
        pass
    for wire, size in zip(small, (2000000, 2000000, 4000000)):
        wire.send_bytes(b"v" * size + b"\r\n")
        equal(len(wire.reply()), 2 * size)
        wire.close()
    is_served(server)
    equal(server.info("evicted_clients"), "1")


@own("--max-memory", "16m")
def keys_and_names_of_clients_are_counted(server):
    """Keys are stored twice: in the request and by the purgatory."""
    before = int(server.info("mem_clients_normal"))
    with Wire(server) as named:
        equal(named.ask("CLIENT", "SETNAME", "n" * 1024), b"+OK")
        has(named.ask("CLIENT", "SETNAME", "n" * 1025), b"-ERR Client names cannot be longer")
        assert int(server.info("mem_clients_normal")) >= before + 1024
    blocked = [Wire(server) for _ in range(3)]
    for count, wire in enumerate(blocked, 1):
        wire.send("BLPOP", b"%d" % count * 2000000, "other", 0)
        server.wait_until_blocked(count)
        kept = int(server.info("mem_clients_normal")) - before
        assert count * 4000000 <= kept <= count * 4010000, kept
    with Wire(server) as wire:
        try:
            wire.send("BLPOP", b"x" * 6000000, 0)
            equal(wire.until_closed(), b"")
        except ConnectionError:
            pass  # closed before all was sent
    server.wait_until_blocked(3)
    with Wire(server) as wire:
        equal(wire.ask("RPUSH", "other", *range(3)), 3)
        equal([wire.reply()[1] for wire in blocked], [b"0", b"1", b"2"])
    wait_for(lambda: int(server.info("mem_clients_normal")) == before, "that memory is given back")
    for wire in blocked:
        wire.close()


@own("--max-request", "64k")
def what_a_blocked_client_sends_is_limited(server):
    with Wire(server) as wire, Wire(server) as other:
        wire.send_bytes(command("BLPOP", "queue", 0) + command("ECHO", "later") * 30000)
        server.wait_until_blocked(1)
        equal(other.ask("RPUSH", "queue", "first"), 1)
        equal(wire.reply(), [b"queue", b"first"])
        equal([wire.reply() for _ in range(30000)], [b"later"] * 30000)
        wire.send("BLPOP", "queue", 0)
        server.wait_until_blocked(1)
        try:
            for _ in range(100):
                wire.send_bytes(command("ECHO", "much") * 3000)
            equal(wire.until_closed(), b"")
        except ConnectionError:
            pass
        wait_for(lambda: server.info("client_query_buffer_limit_disconnections") == "1",
                 "that it is closed")
        server.wait_until_blocked(0)
        equal(other.ask("RPUSH", "queue", "kept"), 1)
        equal(other.ask("LPOP", "queue"), b"kept")


@own()
def two_brokers_on_one_port_are_refused_unless_asked(server):
    def second(*arguments):
        done = subprocess.run([settings.broker, "--port", str(server.port), *arguments],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        return done.returncode, done.stdout
    for arguments in ([], ["--threads", "3"], ["--reuse-port", "yes"], ["--reuse-port", "no"]):
        equal(second(*arguments), (1, ""), str(arguments))
    equal(second("--reuse-port", "maybe"), (2, ""))
    is_served(server)
    with broker("--reuse-port", "yes") as first:
        with broker("--reuse-port", "yes", "--port", str(first.port)) as other:
            equal(other.port, first.port)
            other.finish()
        is_served(first)
        first.finish()


class Pinger(threading.Thread):
    """Sends requests on one connection, and measures how long each answer takes."""

    def __init__(self, server):
        super().__init__()
        self.wire = Wire(server)
        self.took, self.fault = [], None
        self.ended = threading.Event()

    def run(self):
        try:
            while not self.ended.wait(0.001):
                began = time.monotonic()
                equal(self.wire.ask("GET", "check"), b"value")
                self.took.append((time.monotonic() - began) * 1000)
        except Exception as fault:  # raised again by finish()
            self.fault = fault
        self.wire.close()

    def finish(self):
        self.ended.set()
        self.join()
        assert self.fault is None, f"another client suffered: {self.fault!r}"
        return sorted(self.took)


def flood(server, value_size, seconds):
    """Starts clients that request large values and never read, and returns their connections."""
    with Wire(server) as wire:
        wire.ask("SET", "large", b"v" * value_size)
    wires = [Wire(server, receive_buffer=4096) for _ in range(10)]
    request = command("GET", "large") * 200
    for wire in wires:
        wire.socket.setblocking(False)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for wire in wires:
            try:
                wire.socket.send(request)
            except (BlockingIOError, ConnectionError):
                pass
        time.sleep(0.001)
    return wires


@own("--max-output", "1m")
def clients_that_never_read_are_held_back_and_delay_no_other(server):
    is_served(server)
    pinger = Pinger(server)
    pinger.start()
    wires = flood(server, 100000, 0.6)
    took = pinger.finish()
    note(server, f"others were answered within {percentiles(took)}")
    limit = took[-1] if settings.strict else took[len(took) // 2]
    assert limit < 50 * slowdown(), f"another client waited for {limit:.1f} ms"
    wait_for(lambda: int(server.info("mem_clients_normal")) >= 10 << 20, "that replies pile up")
    executed = int(server.info("total_commands_processed"))
    kept = int(server.info("mem_clients_normal"))
    assert kept <= 10 * 2 * (1 << 20), f"{kept} bytes are kept for 10 clients"
    is_served(server)
    wait_for(lambda: server.info("connected_clients") == "11", "that none of them is closed")
    assert int(server.info("total_commands_processed")) < executed + 10, "commands go on"
    for wire in wires:  # it executes their requests when they read
        wire.socket.setblocking(True)
        for _ in range(30):
            equal(len(wire.reply()), 100000)
        wire.close()
    wait_for(lambda: server.info("mem_clients_normal") == "0", "that memory is given back")


@own("--max-output", "64k")
def a_reply_is_never_too_long(server):
    value = b"v" * 8000000  # more than the kernel accepts at once
    items = [b"%04d" % i * 4000 for i in range(1000)]
    with Wire(server) as wire, Wire(server) as waiter:
        equal(wire.ask("SET", "k", value), b"+OK")
        assert wire.send_pipeline([("GET", "k")] * 2) == [value] * 2, "the value has changed"
        equal(wire.ask("RPUSH", "l", *items), 1000)
        assert wire.ask("LRANGE", "l", 0, -1) == items
        assert wire.ask("LPOP", "l", 500) == items[:500]
        assert wire.ask("RPOP", "l", 500) == items[:499:-1]
        waiter.send("BLPOP", "queue", 0)
        server.wait_until_blocked(1)
        equal(wire.ask("RPUSH", "queue", value, "small"), 2)
        assert waiter.reply() == [b"queue", value], "the item has changed"
        equal(waiter.ask("BLPOP", "queue", 0), [b"queue", b"small"])


@own("--max-output", "64m")
def a_client_that_reads_late_gets_all(server):
    with Wire(server) as wire, Wire(server) as late:
        values = [bytes([65 + i]) * 500000 for i in range(20)]
        equal(wire.send_pipeline([("SET", f"k{i}", value) for i, value in enumerate(values)]),
              [b"+OK"] * 20)
        asked = b"".join(command("GET", f"k{i}") for i in range(20))
        late.send_bytes(asked + command("ECHO", "end"))
        for _ in range(20):
            equal(wire.ask("PING"), b"+PONG")
        assert [late.reply() for _ in range(20)] == values, "the values have changed"
        equal(late.reply(), b"end")


@own()
def clients_that_send_slowly_delay_no_other(server):
    """Each sends an incomplete request. Other clients are served as before."""
    is_served(server)
    slow = [Wire(server) for _ in range(200)]
    for i, wire in enumerate(slow):
        wire.send_bytes((b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000\r\nxyz", b"*", b"PIN")[i % 3])
    pinger = Pinger(server)
    pinger.start()
    time.sleep(0.3)
    took = pinger.finish()
    note(server, f"others were answered within {percentiles(took)}")
    for i, wire in enumerate(slow):
        wire.send_bytes((b"v" * 997 + b"\r\n", b"1\r\n$4\r\nPING\r\n", b"G\r\n")[i % 3])
        equal(wire.reply(), (b"+OK", b"+PONG", b"+PONG")[i % 3])
        wire.close()


@own()
def lists_of_clients_may_be_asked_for_while_they_come_and_go(server):
    ended = threading.Event()

    def come_and_go():
        while not ended.is_set():
            with Wire(server) as wire:
                wire.send_bytes(command("CLIENT", "SETNAME", "passing") + command("PING"))
    threads = [threading.Thread(target=come_and_go) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        with Wire(server) as wire:
            equal(wire.ask("CLIENT", "SETNAME", "observer"), b"+OK")
            for _ in range(100):
                has(wire.ask("CLIENT", "LIST"), b" name=observer")
    finally:
        ended.set()
        for thread in threads:
            thread.join()


@own()
def a_command_line_that_is_wrong_is_refused(server):
    def run(*arguments):
        done = subprocess.run([settings.broker, *arguments], capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        return done.returncode, done.stdout, done.stderr
    for arguments in (["--nosuch", "1"], ["--port"], ["--port", "65536"], ["--port", "x"],
                      ["--threads", "0"], ["--max-clients", "0"], ["--max-request", "1"],
                      ["--max-output", "1x"], ["--max-memory", "-1"], ["more"]):
        status, out, err = run(*arguments)
        equal((status, out), (2, ""), f"{arguments}")
        has(err, "--help")
    status, out, err = run("--help")
    equal((status, err), (0, ""))
    has(out, "--max-clients")
    status, out, err = run("--port", str(server.port))
    equal((status, out), (1, ""))
    has(err, "cannot listen on 127.0.0.1")
    equal(run("--port", "0", "--bind", "nosuch")[0], 1)
    is_served(server)
