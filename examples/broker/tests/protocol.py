# SPDX-License-Identifier: MIT
"""The bytes on the wire: inline commands, pipelines, requests in pieces, and errors of protocol."""
import random
import time

from clients import Wire, command
from harness import compared, equal, own, settings

END = b"$9\r\n--end--\r\n\r\n"  # the reply that marks the end
LONG = 1 << 20  # bytes; far above the limit of a line of a request


def answers(server, data, pieces=None):
    """The answer to these bytes, and whether the connection stays open."""
    with Wire(server) as wire:
        try:
            # In one piece if possible: if unread bytes arrive before the server closes, the kernel
            # discards the end of its answer.
            *first, last = pieces or [data]
            for piece in [*first, last + command("ECHO", "--end--\r\n")]:
                wire.send_bytes(piece)
            return wire.until(END)[:-len(END)]
        except ConnectionError:
            return wire.buffer + b"(closed)"


def refusal(server, start, filler):
    """The answer to a line without an end."""
    with Wire(server) as wire:
        wire.send_bytes(start)
        sent = 0
        while wire.is_silent():
            assert sent < LONG, f"{sent} bytes without the end of a line are accepted"
            sent += wire.socket.send(filler * 4096)
            time.sleep(0.001)  # so that the server has read it when it closes; see answers()
        return wire.until_closed()


def each(server, requests):
    return [(data if len(data) < 100 else data[:60] + b"... (%d bytes)" % len(data),
             answers(server, data)) for data in requests]


@compared
def inline_commands_answer_as_redis(server):
    return each(server, [
        b"PING\r\n",
        b"PING\n",
        b"ping\n",
        b"  PING  \r\n",
        b"\r\n\r\n\n  \r\nPING\r\n",
        b"\tPING\tx\t\r\n",
        b"ECHO \"two words\"\r\n",
        b"ECHO 'two words'\r\n",
        b"ECHO \"\\x41\\n\\r\\t\\b\\a\\\\\\\"\\q\"\r\n",
        b"ECHO 'it\\'s \\n'\r\n",
        b"ECHO \"\"\r\n",
        b"ECHO ''\r\n",
        b"ECHO a\"b\r\n",
        b"ECHO \"open\r\nPING\r\n",
        b"ECHO 'open\r\nPING\r\n",
        b"ECHO \"a\"b\r\nPING\r\n",
        b"ECHO 'a'b\r\nPING\r\n",
        b"ECHO \xff\xfe\r\n",
        b"ECHO\r\n",
        b"NOSUCH a b\r\n",
        b"SET key value\r\nGET key\r\nDEL key\r\n",
        b"LPUSH l a b c\r\nLRANGE l 0 -1\r\nDEL l\r\n",
        b"QUIT\r\nPING\r\n",
        b"GET a\r\rPING\r\n",
    ])


@compared
def malformed_requests_are_refused_as_by_redis(server):
    ping = command("PING")
    return each(server, [
        b"*0\r\n" + ping,
        b"*-1\r\n" + ping,
        b"*-5\r\n" + ping,
        b"*x\r\n" + ping,
        b"*\r\n" + ping,
        b"*1x\r\n" + ping,
        b"* 1\r\n" + ping,
        b"*+1\r\n" + ping,
        b"*99999999999999999999\r\n" + ping,
        b"*2147483648\r\n" + ping,
        b"*1\r\n+PING\r\n" + ping,
        b"*1\r\nPING\r\n" + ping,
        b"*1\r\n:1\r\n" + ping,
        b"*1\r\n*1\r\n$4\r\nPING\r\n",
        b"*1\r\n\r\n" + ping,
        b"*1\r\n$-1\r\n" + ping,
        b"*1\r\n$x\r\n" + ping,
        b"*1\r\n$\r\n" + ping,
        b"*1\r\n$4x\r\nPING\r\n" + ping,
        b"*1\r\n$ 4\r\nPING\r\n" + ping,
        b"*1\r\n$99999999999999999999\r\n" + ping,
        b"*1\r\n$1000000000000\r\n" + ping,
        b"*1\r\n$4\r\nPINGxx" + ping,
        b"*1\r\n$0\r\n\r\n" + ping,
        b"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n" + ping,
        b"*1\r\n$4\r\nPING\r\n*x\r\n",
        ping + ping + b"*1\r\n+",
    ])


@compared
def lines_without_end_are_refused_as_by_redis(server):
    return [(start, refusal(server, start, filler)) for start, filler in
            [(b"PING ", b"x"), (b"*", b"1"), (b"*1\r\n$", b"1")]]


@compared
def requests_of_a_web_page_close_the_connection(server):
    """A web page can send a POST to any port. Commands in its text must not be executed."""
    body = b"Content-Length: 20\r\n\r\nSET owned by-a-page\r\n"
    seen = [(sent, answers(server, sent)) for sent in
            [b"POST / HTTP/1.1\r\n" + body, b"post / HTTP/1.1\r\n" + body,
             b"Host: 127.0.0.1:6379\r\n" + body, b"hOsT: x\r\n" + body,
             command("POST", "/") + command("SET", "owned", "x"),
             command("host:") + command("SET", "owned", "x")]]
    with Wire(server) as wire:
        equal(wire.ask("EXISTS", "owned"), 0)
        # Only these words, and only as the name of a command.
        return seen + [(name, wire.ask(*name.split())) for name in
                       ("POSTS x", "Host x", "ECHO POST", "SET host: x")]


@compared
def quit_is_answered_and_closes(server):
    return [(sent, answers(server, sent)) for sent in
            [command("QUIT"), command("QUIT") + command("PING"), command("quit"),
             command("QUIT", "now"), command("SET", "k", "v") + command("QUIT")]]


@compared
def nothing_is_answered_with_the_same_bytes(server):
    return each(server, [command(*words.split()) for words in (
        "GET none", "LPOP none", "RPOP none", "LPOP none 1", "LRANGE none 0 -1",
        "BLPOP none 0.01", "BRPOP none 0.01", "BLMOVE none none LEFT LEFT 0.01",
        "SET none x XX", "CLIENT GETNAME")])


@compared
def pipelines_are_answered_in_order(server):
    asked = answered = b""
    for i in range(300):
        number = b"%d" % i
        asked += (command("SET", "key", i) + command("GET", "key") + b"RPUSH list %d\r\n" % i +
                  command("LPOP", "key") + command("BLPOP", "none", "list", 0) +
                  command("DEL", "key", i))
        answered += (b"+OK\r\n$%d\r\n%d\r\n:1\r\n" % (len(number), i) +
                     b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n" +
                     b"*2\r\n" + command("list", number)[4:] + b":1\r\n")
    equal(answers(server, asked), answered, "answers to 1800 commands at once")
    return []


@compared
def requests_in_pieces_are_answered_as_in_one(server):
    request = (command("SET", "key", "va\r\nlue") + b"GET key\r\n" + command("ECHO", "") +
               b"\r\n*0\r\n" + command("RPUSH", "l", "1", "22", "333") + b"LPOP l\n" +
               command("DEL", "l", "key"))
    whole = answers(server, request)
    for size in (1, 2, 3, 7):
        pieces = [request[at:at + size] for at in range(0, len(request), size)]
        equal(answers(server, request, pieces), whole, f"answers to pieces of {size} bytes")
    return [(request, whole)]


@compared
def a_large_value_comes_back_whole(server):
    """Larger than the buffers of a socket, so that reads and writes take several steps."""
    size = 4_000_000 // settings.slowness
    value = bytes(i * 31 % 251 for i in range(251)) * (size // 251)
    with Wire(server) as wire:
        equal(wire.ask("SET", "large", value), b"+OK")
        assert wire.ask("GET", "large") == value, "the value has changed"
        equal(wire.ask("RPUSH", "list", *[value[i * 1000:] for i in range(3)]), 3)
        assert wire.ask("LRANGE", "list", 0, -1) == [value[i * 1000:] for i in range(3)]
        with Wire(server) as waiter:
            waiter.send("BLPOP", "later", 0)
            server.wait_until_blocked(1)
            equal(wire.ask("RPUSH", "later", value), 1)
            assert waiter.reply() == [b"later", value], "the value has changed on its way"
    return []


@compared
def what_follows_a_blocking_command_waits_for_it(server):
    """Commands behind a blocking command are answered after it, in order."""
    with Wire(server) as waiter, Wire(server) as other:
        waiter.send_bytes(command("PING") + command("BLPOP", "a", 0) + command("GET", "k") +
                          command("BLPOP", "b", "c", 0) + b"ECHO inline\r\n" +
                          command("BLPOP", "none", "0.05") + command("SET", "k", "mine"))
        server.wait_until_blocked(1)
        equal(waiter.reply(), b"+PONG")
        assert waiter.is_silent(0.05), "answered while it is blocked"
        equal(other.ask("SET", "k", "v"), b"+OK")
        equal(other.ask("RPUSH", "a", "item"), 1)
        equal(waiter.reply(), [b"a", b"item"])
        equal(waiter.reply(), b"v")
        server.wait_until_blocked(1)
        assert waiter.is_silent(0.05), "answered while it is blocked"
        equal(other.ask("GET", "k"), b"v")
        equal(other.ask("LPUSH", "c", "1", "2"), 2)
        equal([waiter.reply() for _ in range(4)],
              [[b"c", b"2"], b"inline", None, b"+OK"], "what came after the second item")
        equal(other.ask("GET", "k"), b"mine")
    return []


PIECES = [b"*", b"$", b"\r\n", b"\n", b"0", b"1", b"2", b"-", b"9999999", b" ", b"x", b"\"", b"'",
          b"\\x4", b"\x00", b"\xff", command("PING"), command("BLPOP", "a", "b", "0.01"),
          command("BLPOP", "a", "0"), command("LPUSH", "a", "1", "2"), command("SET", "b", "v"),
          command("BLMOVE", "a", "c", "LEFT", "LEFT", "0"), command("DEL", "a", "b"),
          command("PEXPIRE", "a", "5"), command("LPUSHIN", "a", "3", "x"), b"*2\r\n$3\r\nGET\r\n",
          command("CLIENT", "LIST"), command("INFO"), command("QUIT"), b"RPUSH b v\r\n"]


@own()
def random_bytes_harm_no_client(server):
    """Clients that send random bytes and close at any time do not disturb others."""
    rng = random.Random(8)
    with Wire(server) as other:
        wires = []
        for turn in range(3000 // settings.slowness):
            if len(wires) < 30:
                wires.append(Wire(server))
            wire = rng.choice(wires)
            try:
                wire.send_bytes(b"".join(rng.choices(PIECES, k=rng.randint(1, 6))))
                if not wire.is_silent():
                    wire.socket.recv(1 << 20)
                gone = rng.random() < 0.1
            except ConnectionError:
                gone = True
            if gone:
                wires.remove(wire)
                wire.close()
            if turn % 100 == 0:
                equal(other.ask("PING"), b"+PONG")
        for wire in wires:
            wire.close()
        server.wait_until_blocked(0)


@own()
def each_client_has_its_own_errors(server):
    """An error of one client closes its own connection and no other."""
    with Wire(server) as other:
        for request in (b"*x\r\n", b"ECHO \"open\r\n", b"*1\r\n$-7\r\n"):
            with Wire(server) as wire:
                wire.send_bytes(request)
                text = wire.until_closed()
                assert text.startswith(b"-ERR Protocol error") and text.endswith(b"\r\n"), text
                equal(text.count(b"\r\n"), 1, "lines of an error")
            equal(other.ask("PING"), b"+PONG")
