# SPDX-License-Identifier: MIT
"""Keys that expire, and values that are pushed later: never early, and not late."""
import random
import time

from clients import Waiting, Wire, blocked, cli
from harness import check_late, compared, equal, has, own, wait_for

KEYS = 500


@compared
def keys_go_in_time_without_being_touched(server):
    """Observed with DBSIZE, which does not look at the keys."""
    rng = random.Random(4)
    with Wire(server) as wire:
        sent = time.monotonic()
        lives = [rng.randrange(200, 900) for _ in range(KEYS)]
        wire.send_pipeline([("SET", f"key-{i}", "value", "PX", life)
                            for i, life in enumerate(lives)] + [("SET", "stays", "value")])
        answered = time.monotonic()
        earliest = sorted(sent + life / 1000 for life in lives)
        latest = sorted(answered + life / 1000 for life in lives)
        late, gone = [], 0
        while gone < KEYS:
            left = wire.ask("DBSIZE") - 1
            now = time.monotonic()
            for i in range(gone, KEYS - left):
                assert now >= earliest[i], f"gone {(earliest[i] - now) * 1000:.3f} ms early"
                late.append(max(0.0, now - latest[i]) * 1000)
            gone = KEYS - left
            assert now < latest[-1] + 60, f"{left} keys stay"
            time.sleep(0.0005)
        check_late(server, "keys gone", late)
        equal(wire.ask("GET", "stays"), b"value")
    return []


@compared
def an_expired_key_is_never_seen(server):
    """Even if its timer is late: the server is stopped during the deadline, and then receives the
    command before it can run timers."""
    answers = []
    with Wire(server) as wire, Wire(server) as list_wire:
        for asked in [("GET", "k"), ("PTTL", "k"), ("TTL", "k"), ("EXISTS", "k"), ("TYPE", "k"),
                      ("DEL", "k"), ("PERSIST", "k"), ("EXPIRE", "k", 100), ("SET", "k", "w", "NX"),
                      ("SET", "k", "w", "XX"), ("SET", "k", "w", "GET"), ("LPUSH", "k", "x"),
                      ("LLEN", "k"), ("LRANGE", "k", 0, -1)]:
            equal(wire.ask("SET", "k", "v", "PX", 20), b"+OK")
            server.pause(0.03, lambda: wire.send(*asked))
            answers.append((str(asked), wire.reply()))
            wire.ask("DEL", "k")
        for asked in [("LPOP", "l"), ("RPOP", "l", 2), ("RPUSH", "l", "new"), ("LLEN", "l"),
                      ("LMOVE", "l", "m", "LEFT", "LEFT"), ("BLPOP", "l", "0.01"),
                      ("LMOVE", "l", "l", "LEFT", "LEFT"),
                      ("BLMOVE", "l", "m", "LEFT", "LEFT", "0.01"), ("SET", "l", "x", "KEEPTTL")]:
            list_wire.send_pipeline([("RPUSH", "l", "a", "b"), ("PEXPIRE", "l", 20)])
            server.pause(0.03, lambda: list_wire.send(*asked))
            answers.append((str(asked), list_wire.reply()))
            equal(list_wire.ask("PTTL", "l"), -1 if asked[0] in ("RPUSH", "SET") else -2)
            list_wire.ask("DEL", "l", "m")
    return answers


@own()
def a_command_that_takes_long_lets_no_dead_key_be_seen(server):
    """All in one pipeline, so that no timer can run in between."""
    with Wire(server) as wire:
        wire.send_pipeline([("RPUSH", "large", *["x"] * 10000)] * 40)
        sent = [("SET", "k", "v", "PX", 1), ("DEL", "large"), ("GET", "k"), ("PTTL", "k"),
                ("SET", "k", "w", "NX")]
        equal(wire.send_pipeline(sent)[-3:], [None, -2, b"+OK"], "GET, PTTL, SET NX")


def until(wire, key, seconds):
    """Asks for a key until it is gone, and returns how long that took."""
    began = time.monotonic()
    while time.monotonic() < began + seconds:
        if wire.ask("EXISTS", key) == 0:
            break
        time.sleep(0.001)
    return time.monotonic() - began


@compared
def expiry_follows_the_last_command(server):
    with Wire(server) as wire:
        for arguments in ("SET persistent v PX 100", "PERSIST persistent",
                          "SET overwritten v PX 100", "SET overwritten w",
                          "SET prolonged v PX 100", "PEXPIRE prolonged 60000",
                          "SET kept v PX 60000", "SET kept w KEEPTTL",
                          "SET deleted v PX 100", "DEL deleted", "SET deleted again",
                          "RPUSH list a b", "PEXPIRE list 100", "LPOP list", "RPUSH list c",
                          "RPUSH emptied a", "PEXPIRE emptied 100", "LPOP emptied",
                          "RPUSH emptied b",
                          "SET shortened v EX 60", "PEXPIRE shortened 100",
                          "SET renewed v PX 100", "SET renewed w PX 300"):
            wire.ask(*arguments.split())
        began = time.monotonic()
        assert until(wire, "shortened", 10) >= 0.09
        until(wire, "list", 10)
        equal(wire.ask("EXISTS", "renewed"), 1) if time.monotonic() < began + 0.25 else None
        until(wire, "renewed", 10)
        assert time.monotonic() - began >= 0.28, "gone early"
        kept = ["persistent", "overwritten", "prolonged", "kept", "deleted", "emptied"]
        answers = [(f"EXISTS {key}", wire.ask("EXISTS", key)) for key in kept]
        for key in ("prolonged", "kept"):
            left = wire.ask("PTTL", key)
            assert 50000 < left < 60000, f"PTTL {key}: {left}"
        answers += [(f"PTTL {key}", wire.ask("PTTL", key)) for key in ("persistent", "deleted")]
        left = wire.ask("SET", "k", "v", "PX", 5000) and wire.ask("PTTL", "k")
        assert 4000 < left <= 5000, left
        return answers


@compared
def a_list_that_expires_serves_no_client(server):
    with Wire(server) as waiter, Wire(server) as other:
        other.ask("RPUSH", "l", "old")
        other.ask("PEXPIRE", "l", 50)
        until(other, "l", 10)
        waiter.send("BLPOP", "l", 0)
        server.wait_until_blocked(1)
        assert waiter.is_silent(0.02)
        other.ask("RPUSH", "l", "new")
        return [("BLPOP l 0", waiter.reply()), ("PTTL l", other.ask("PTTL", "l"))]


# ---------------------------------------------------------------- LPUSHIN, LPUSHAT


@own()
def a_delayed_value_is_delivered_in_time(server):
    """To blocked clients: 500 by each of the two clocks, in order of their deadlines."""
    rng = random.Random(5)
    with Wire(server) as wire, Wire(server) as waiter:
        for name in ("LPUSHIN", "LPUSHAT"):
            due = {}
            for i in range(KEYS):
                delay_ms = rng.randrange(200, 700)
                value = b"%d" % i
                if name == "LPUSHIN":
                    due[value] = time.monotonic() + delay_ms / 1000
                    equal(wire.ask(name, "queue", delay_ms, value), b"+OK")
                else:
                    at = int(time.time() * 1000) + delay_ms
                    due[value] = at / 1000
                    equal(wire.ask(name, "queue", at, value), b"+OK")
            clock = time.monotonic if name == "LPUSHIN" else time.time
            late = []
            for _ in range(KEYS):
                key, value = waiter.ask("BRPOP", "queue", 10)
                late.append((clock() - due.pop(value)) * 1000)
            equal(due, {}, "values that were not delivered")
            check_late(server, f"values of {name}", late)


@own()
def delayed_values_are_pushed_when_no_client_waits(server):
    answers = dict(cli(server, """
        LPUSHIN l 150 third
        LPUSHIN l 50 second
        LPUSHIN l 0 first
        LPUSHAT l 1 also-first
        LLEN nosuch
    """))
    equal(set(answers.values()), {"OK\n", "(integer) 0\n"}, "answers")
    with Wire(server) as wire:
        wait_for(lambda: wire.ask("LLEN", "l") == 4, "four values")
        got = wire.ask("LRANGE", "l", 0, -1)
        equal(got[:2], [b"third", b"second"])
        equal(set(got[2:]), {b"first", b"also-first"})


@own()
def delayed_pushes_that_are_wrong_are_refused(server):
    far = 9223372036854775807
    got = cli(server, f"""
        LPUSHIN l 10
        LPUSHIN l 10 v more
        LPUSHIN l x v
        LPUSHIN l 1.5 v
        LPUSHIN l -1 v
        LPUSHIN l {far} v
        LPUSHAT l
        LPUSHAT l x v
        LPUSHAT l -1 v
        LPUSHAT l {far} v
        SET s string
        LPUSHIN s 10 v
        LPUSHAT s 10 v
        LLEN l
    """)
    for asked, answer in got:
        if asked.startswith("LPUSH"):
            assert answer.startswith(("(error) ERR ", "(error) WRONGTYPE ")), f"{asked}: {answer}"
    equal(got[-1], ("LLEN l", "(integer) 0\n"))


@own()
def a_delayed_value_whose_key_has_become_a_string_changes_nothing(server):
    with Wire(server) as wire:
        equal(wire.ask("LPUSHIN", "k", 30, "value"), b"+OK")
        equal(wire.ask("SET", "k", "string"), b"+OK")
        wait_for(lambda: wire.ask("LPUSHIN", "done", 0, "x") and wire.ask("LLEN", "done") > 50,
                 "many later deliveries")
        equal(wire.ask("GET", "k"), b"string")


@own()
def a_delayed_value_serves_one_client_through_redis_cli(server):
    waiting = Waiting(server, "BLPOP", "queue", 10)
    server.wait_until_blocked(1)
    cli(server, "LPUSHIN queue 100 later")
    has(waiting.answer()[1], "later")


@own()
def deliveries_reach_first_those_who_came_first(server):
    waiting = blocked(server, *["BLPOP queue 0"] * 3)
    cli(server, "LPUSHIN queue 60 third\nLPUSHIN queue 20 first\nLPUSHIN queue 40 second")
    for client, value in zip(waiting, ("first", "second", "third")):
        equal(client.answer()[1], f'1) "queue"\n2) "{value}"\n')
