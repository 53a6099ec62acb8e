# SPDX-License-Identifier: MIT
"""Two thousand connections of python3-redis that block at once."""
import collections
import gc
import random
import select
import socket
import struct
import time

import redis

from harness import PATIENCE, check_late, compared, equal, note, wait_for

CLIENTS = 2000
KEYS = 500


class Client:
    """A connection of python3-redis."""

    def __init__(self, server):
        self.connection = redis.Connection(host="127.0.0.1", port=server.port)
        self.connection.connect()
        self.socket = self.connection._sock  # for select(), which the library does not offer
        self.asked = None
        self.sent = None

    def ask(self, *arguments):
        self.asked = arguments
        self.sent = time.monotonic()
        self.connection.send_command(*arguments)

    def answer(self):
        return self.connection.read_response()

    def ask_many(self, commands):
        """Sends all commands at once, and returns the answers."""
        self.connection.send_packed_command(self.connection.pack_commands(commands))
        return [self.answer() for _ in commands]

    def vanish(self, reset):
        """Closes the connection, orderly or by a reset."""
        if reset:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class Crowd:
    """Many clients. Each may get an answer at any time."""

    def __init__(self, server, count):
        self.clients = [Client(server) for _ in range(count)]
        self.poll = select.epoll()
        self.of_file = {}
        for client in self.clients:
            self.of_file[client.socket.fileno()] = client
            self.poll.register(client.socket.fileno(), select.EPOLLIN)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.poll.close()
        for client in self.clients:
            client.connection.disconnect()

    def remove(self, client, reset):
        self.poll.unregister(client.socket.fileno())
        del self.of_file[client.socket.fileno()]
        self.clients.remove(client)
        client.vanish(reset)

    def ready(self, timeout=PATIENCE):
        """The clients that have an answer, each with the time when it arrived."""
        events = self.poll.poll(timeout)
        now = time.monotonic()
        return [(self.of_file[file], now) for file, _ in events]

    def answers(self, count):
        """The next answers: triples of client, answer and time."""
        got = []
        while len(got) < count:
            ready = self.ready()
            assert ready, f"{count - len(got)} of {count} clients get no answer"
            got += [(client, client.answer(), now) for client, now in ready]
        equal(len(got), count, "answers")
        return got


def key_name(number):
    return b"key-%d" % number


def left(server, keys):
    """The items in the lists."""
    return [item for answer in
            Client(server).ask_many([("LRANGE", key, 0, -1) for key in keys]) for item in answer]


@compared
def first_come_is_first_served_on_each_of_500_keys(server):
    with Crowd(server, CLIENTS) as crowd:
        turn = {}
        for start in range(0, CLIENTS, KEYS):  # INFO makes sure of the order in which they block
            for number, client in enumerate(crowd.clients[start:start + KEYS]):
                client.ask("BLPOP", key_name(number), 0)
                turn[client] = b"%d" % (start // KEYS)
            server.wait_until_blocked(start + KEYS)
        pushers = [Client(server) for _ in range(5)]
        for pusher_number, pusher in enumerate(pushers):
            keys = list(range(pusher_number, KEYS, len(pushers)))
            pushes = []
            for item in range(CLIENTS // KEYS):
                random.Random(item).shuffle(keys)
                pushes += [("RPUSH", key_name(key), item) for key in keys]
            equal(pusher.ask_many(pushes), [1] * len(pushes), "lengths after the pushes")
        for client, (key, item), _ in crowd.answers(CLIENTS):
            equal((key, item), (client.asked[1], turn[client]), "what a client was served")
        equal(server.info("blocked_clients"), "0", "clients blocked at the end")
        equal(left(server, map(key_name, range(KEYS))), [], "items left")
    return []


@compared
def one_push_of_2000_items_serves_2000_clients_in_order(server):
    with Crowd(server, CLIENTS) as crowd:
        for start in range(0, CLIENTS, 100):
            for client in crowd.clients[start:start + 100]:
                client.ask("BLPOP", "other", "key", 0)
            server.wait_until_blocked(start + 100)
        equal(Client(server).ask_many([("RPUSH", "key", *range(CLIENTS + 1))]), [CLIENTS + 1])
        served = {client: int(item) for client, (_, item), _ in crowd.answers(CLIENTS)}
        for start in range(0, CLIENTS, 100):
            got = sorted(served[client] for client in crowd.clients[start:start + 100])
            equal(got, list(range(start, start + 100)), "items of a hundred clients")
        equal(left(server, [b"key"]), [b"%d" % CLIENTS], "items left")
    return []


@compared
def clients_that_disconnect_take_no_item(server):
    """Half of the clients vanish while they are blocked. All items reach the others."""
    with Crowd(server, CLIENTS) as crowd:
        for number, client in enumerate(crowd.clients):
            client.ask("BLPOP", key_name(number % KEYS), b"all", 0)
        server.wait_until_blocked(CLIENTS)
        rng = random.Random(1)
        for number, client in enumerate(rng.sample(crowd.clients, CLIENTS // 2)):
            crowd.remove(client, reset=number % 2 == 0)
        server.wait_until_blocked(CLIENTS // 2)
        waiting = collections.Counter(client.asked[1] for client in crowd.clients)
        pusher = Client(server)
        pusher.ask_many([("RPUSH", key, *range(count)) for key, count in waiting.items()])
        for client, (key, _), _ in crowd.answers(CLIENTS // 2):
            equal(key, client.asked[1], "key of an item")
        equal(left(server, waiting), [], "items left")
        # Pushed when the first client has vanished, which the server may not have noticed yet.
        swallowed = 0
        for client in list(crowd.clients[:200]):
            client.ask("BLPOP", "last", 0)
            server.wait_until_blocked(1)
            crowd.remove(client, reset=False)
            fresh = Client(server)
            fresh.ask_many([("RPUSH", "last", "item")])
            swallowed += fresh.ask_many([("BLPOP", "last", 2)]) == [None]
            fresh.connection.disconnect()
        equal(swallowed, 0, "items lost to clients that had closed before")
    return []


class Storm:
    """Clients block on several keys, time out, vanish and come back, while items are pushed."""

    def __init__(self, server, crowd, rng):
        self.server, self.crowd, self.rng = server, crowd, rng
        self.pushers = [Client(server) for _ in range(4)]
        self.pushed, self.received, self.gone = [], [], 0

    def some_key(self):
        return key_name(self.rng.randrange(KEYS))

    def block(self, client):
        keys = [self.some_key() for _ in range(self.rng.randint(1, 3))]
        timeout = self.rng.choice([0, 0, 0.001, 0.02, 0.2])
        client.ask(*self.rng.choice([("BLPOP", *keys, timeout), ("BRPOP", *keys, timeout),
                                     ("BLMOVE", keys[0], keys[-1], "LEFT", "RIGHT", timeout)]))

    def take(self, client):
        answer = client.answer()
        if isinstance(answer, list):  # a moved item is still in a list, or is received later
            self.received.append(answer[1])

    def push(self, pusher):
        items = [b"%d" % (len(self.pushed) + i) for i in range(10)]
        self.pushed += items
        pusher.ask_many([(self.rng.choice(["LPUSH", "RPUSH"]), self.some_key(), item)
                         for item in items])

    def rage(self, seconds):
        for client in self.crowd.clients:
            self.block(client)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for pusher in self.pushers:
                self.push(pusher)
            for client, _ in self.crowd.ready(0):
                self.take(client)
                self.block(client)
            if self.rng.random() < 0.3:
                self.crowd.remove(self.rng.choice(self.crowd.clients), self.rng.random() < 0.5)
                self.gone += 1

    def calm(self):
        """Reads answers until only clients without a timeout and without items are blocked."""
        waiting = set(self.crowd.clients)

        def all_answered():
            for client, _ in self.crowd.ready(0.01):
                self.take(client)
                waiting.remove(client)
            return (all(client.asked[-1] == 0 for client in waiting) and
                    self.server.info("blocked_clients") == str(len(waiting)))
        wait_for(all_answered, "only clients without a timeout are blocked")

    def check(self):
        """Every item was received once or is still in a list, except those that were sent to a client
        that vanished."""
        everywhere = self.received + left(self.server, map(key_name, range(KEYS)))
        twice = [item for item, count in collections.Counter(everywhere).items() if count > 1]
        equal(twice, [], "items received twice")
        equal(set(everywhere) - set(self.pushed), set(), "items that no client has pushed")
        lost = len(self.pushed) - len(everywhere)
        assert lost <= self.gone, f"{lost} items lost, but only {self.gone} clients have vanished"
        note(self.server, f"{len(self.pushed)} items pushed, {len(self.received)} received, {lost} "
             f"lost on their way to {self.gone} clients that vanished")


@compared
def a_storm_loses_and_doubles_nothing(server):
    with Crowd(server, CLIENTS // 2) as crowd:
        storm = Storm(server, crowd, random.Random(2))
        storm.rage(seconds=0.7)
        storm.calm()
        storm.check()
    return []


@compared
def items_pass_through_chains_of_moves(server):
    """200 chains of nine moves with a client at the end, blocked from the end to the start."""
    chains, length = CLIENTS // 10, 10
    with Crowd(server, CLIENTS) as crowd:
        ends = set()
        for step in reversed(range(length)):
            for chain, client in enumerate(crowd.clients[step * chains:(step + 1) * chains]):
                if step == length - 1:
                    client.ask("BLPOP", f"{chain}.{step}", 0)
                    ends.add(client)
                else:
                    client.ask("BLMOVE", f"{chain}.{step}", f"{chain}.{step + 1}", "LEFT", "RIGHT",
                               0)
        server.wait_until_blocked(CLIENTS)
        Client(server).ask_many([("RPUSH", f"{chain}.0", chain) for chain in range(chains)])
        for client, answer, _ in crowd.answers(CLIENTS):
            chain, _ = client.asked[1].split(".")
            item = chain.encode()
            equal(answer, [client.asked[1].encode(), item] if client in ends else item,
                  "what a client of a chain was told")
    return []


@compared
def time_outs_come_neither_early_nor_late(server):
    """2000 clients whose timeouts are spread over a second."""
    rng = random.Random(3)
    timeouts = [round(0.4 + i / CLIENTS, 4) for i in range(CLIENTS)]
    rng.shuffle(timeouts)
    with Crowd(server, CLIENTS) as crowd:
        gc.collect()
        gc.disable()
        try:
            for number, client in enumerate(crowd.clients):
                client.ask("BLPOP", key_name(number % KEYS), timeouts[number])
            answers = crowd.answers(CLIENTS)
        finally:
            gc.enable()
        late = []
        for client, answer, now in answers:
            equal(answer, None, "answer after the time-out")
            late.append((now - client.sent - client.asked[-1]) * 1000)
        check_late(server, "timeouts", late)
    return []
