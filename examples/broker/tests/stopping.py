# SPDX-License-Identifier: MIT
"""SIGTERM: each blocked client gets a reply, and the program ends with status 0."""
import signal

from clients import Wire, command
from crowd import CLIENTS, Crowd, KEYS, key_name
from harness import PATIENCE, equal, note, own, settings, wait_for

SECONDS = 5  # within which it must end; the last replies may take two


def stop(server, number=signal.SIGTERM):
    took = server.stop(number)
    assert took < SECONDS * settings.slowness, f"it took {took:.1f} s to end"
    return took


@own()
def two_thousand_blocked_clients_are_answered_when_it_ends(server):
    with Crowd(server, CLIENTS) as crowd:
        for number, client in enumerate(crowd.clients):
            client.ask(*[("BLPOP", key_name(number % KEYS), "other", 0),
                         ("BRPOP", key_name(number % KEYS), 60),
                         ("BLMOVE", key_name(number % KEYS), "to", "LEFT", "LEFT", 0)][number % 3])
        server.wait_until_blocked(CLIENTS)
        note(server, f"ended within {stop(server):.2f} s")
        for client in crowd.clients:
            equal(client.answer(), None, "answer at the end")
            equal(client.socket.recv(1), b"", "after the answer")


@own()
def sigint_ends_it_as_well(server):
    with Wire(server) as wire:
        wire.send("BLPOP", "a", 0)
        server.wait_until_blocked(1)
        stop(server, signal.SIGINT)
        equal(wire.until_closed(), b"*-1\r\n")


@own()
def what_is_to_be_done_later_does_not_hold_it_up(server):
    with Wire(server) as wire:
        equal(wire.ask("LPUSHIN", "l", 3600000, "v"), b"+OK")
        equal(wire.ask("LPUSHAT", "l", 9000000000000, "v"), b"+OK")
        equal(wire.ask("SET", "k", "v", "EX", 3600), b"+OK")
        wire.send_bytes(b"*2\r\n$3\r\nGET")  # an incomplete request
        stop(server)
        equal(wire.until_closed(), b"")


@own("--max-output", "64m")
def a_client_that_does_not_read_does_not_hold_it_up(server):
    with Wire(server, receive_buffer=4096) as wire, Wire(server) as other:
        other.ask("SET", "large", b"v" * 1000000)
        wire.send_bytes(command("GET", "large") * 40)
        wait_for(lambda: int(server.info("total_commands_processed")) > 40, "that all are executed")
        note(server, f"ended after {stop(server):.2f} s")


@own()
def replies_are_in_order_when_it_ends_under_load(server):
    """Replies up to some request. The last one may be cut off: if a client continues to send, the
    kernel discards unsent bytes when the server closes."""
    count, padding = 300, b"." * 2000
    wires = [Wire(server) for _ in range(40)]
    for wire in wires:
        wire.socket.setblocking(False)
        asked = b"".join(command("ECHO", b"%d%b" % (i, padding)) for i in range(count))
        wire.socket.send(asked)  # the last request may be cut off
        wire.socket.settimeout(PATIENCE)
    took = stop(server)
    answered = cut_off = 0
    for wire in wires:
        replies = 0
        try:
            while True:
                equal(wire.reply(), b"%d%b" % (replies, padding), "a reply")
                replies += 1
        except ConnectionError:
            cut_off += wire.buffer != b""
        answered += replies
        wire.close()
    note(server, f"{answered} of {count * len(wires)} requests were answered, and {cut_off} in "
         f"part, before it ended within {took:.2f} s")
