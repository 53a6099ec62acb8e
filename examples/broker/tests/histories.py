# SPDX-License-Identifier: MIT
"""Random histories of commands: the broker and redis-server give the same answers."""
import random
import select

from clients import Wire
from harness import compared, settings, wait_for

KEYS = ["a", "b", "c", "d"]
WAITERS = 6
LIVES = [100, 1000]  # seconds until keys expire


def random_command(rng):
    """A command that never blocks."""
    key, other = rng.choice(KEYS), rng.choice(KEYS)
    value = rng.choice(["", "v", "12", "x" * rng.randrange(300)])
    number = rng.choice([-3, -1, 0, 1, 2, 5])
    side, other_side = rng.choice(["LEFT", "RIGHT"]), rng.choice(["LEFT", "RIGHT"])
    return rng.choice([
        lambda: ("SET", key, value),
        lambda: ("SET", key, value, rng.choice(["NX", "XX", "KEEPTTL", "GET"])),
        lambda: ("SET", key, value, "EX", rng.choice(LIVES)),
        lambda: ("GET", key),
        lambda: ("DEL", key, other),
        lambda: ("DEL", key),
        lambda: ("EXISTS", key, other),
        lambda: ("EXPIRE", key, rng.choice([*LIVES, 0, -1])),
        lambda: ("TTL", key),
        lambda: ("PERSIST", key),
        lambda: ("LPUSH", key, *[value] * rng.randint(1, 4)),
        lambda: ("RPUSH", key, *range(rng.randint(1, 20))),
        lambda: ("LPUSH", key, rng.randrange(1000)),
        lambda: ("RPUSH", key, rng.randrange(1000)),
        lambda: (rng.choice(["LPOP", "RPOP"]), key),
        lambda: (rng.choice(["LPOP", "RPOP"]), key, number),
        lambda: ("LLEN", key),
        lambda: ("LRANGE", key, number, rng.randint(-10, 10)),
        lambda: ("LMOVE", key, other, side, other_side),
        lambda: ("TYPE", key),
        lambda: ("DBSIZE",),
    ])()


def told(asked, answer):
    """A pair for the comparison. A TTL counts down during a history, so two servers answer alike
    only if both are equally fast: it is replaced by the nearest of LIVES."""
    if asked[0] == "TTL" and answer > 0:
        answer = min(LIVES, key=lambda life: abs(life - answer))
    return str(asked), answer


def random_wait(rng):
    key, other = rng.sample(KEYS, 2)
    side, other_side = rng.choice(["LEFT", "RIGHT"]), rng.choice(["LEFT", "RIGHT"])
    return rng.choice([("BLPOP", key, 0), ("BLPOP", key, other, 0), ("BRPOP", other, key, 0),
                       ("BRPOP", *KEYS, 0), ("BLMOVE", key, other, side, other_side, 0),
                       ("BLMOVE", key, key, side, other_side, 0)])


@compared
def random_commands_are_answered_as_by_redis(server):
    rng = random.Random(6)
    commands = [random_command(rng) for _ in range(6000 // settings.slowness)]
    with Wire(server) as wire:
        return list(map(told, commands, wire.send_pipeline(commands)))


class History:
    """One client that never blocks, and others that may block."""

    def __init__(self, server, rng):
        self.server, self.rng = server, rng
        self.driver = Wire(server)
        self.idle = [Wire(server) for _ in range(WAITERS)]
        self.names = {wire: number for number, wire in enumerate(self.idle)}
        self.waiting = []
        self.told = []

    def wait_until_quiet(self, asked):
        """Waits until each client has its answer or is blocked, and records the answers."""
        def answered():
            return select.select(self.waiting, [], [], 0)[0] if self.waiting else []
        wait_for(lambda: len(self.waiting) - len(answered()) ==
                 int(self.server.info("blocked_clients")), f"that all is quiet after {asked}")
        for wire in answered():  # those of one step in the order in which they blocked
            self.told.append((f"{asked}: client {self.names[wire]}", wire.reply()))
            self.waiting.remove(wire)
            self.idle.append(wire)
        self.idle.sort(key=self.names.get)

    def step(self):
        if self.idle and self.rng.random() < 0.4:
            wire = self.rng.choice(self.idle)
            asked = random_wait(self.rng)
            self.idle.remove(wire)
            self.waiting.append(wire)
            wire.send(*asked)
        else:
            asked = random_command(self.rng)
            self.told.append(told(asked, self.driver.ask(*asked)))
        self.wait_until_quiet(asked)

    def close(self):
        for wire in [self.driver, *self.names]:
            wire.close()


@compared
def random_waits_are_answered_as_by_redis(server):
    """Several clients block on several keys. The same clients get the same items."""
    history = History(server, random.Random(7))
    for _ in range(1200 // settings.slowness):
        history.step()
    history.close()
    return history.told
