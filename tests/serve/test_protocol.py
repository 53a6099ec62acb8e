# SPDX-License-Identifier: MIT
"""Each command byte for byte: the same answers as from beanstalkd, errors included."""
import itertools
import random
import re
import signal
import socket
import threading

import pytest
from harness import compared, settings
from programs import wait_for
from servers import HtwServe
from wire import Wire

NAME = b"n" * 200
GARBAGE = [b"", b" ", b"x", b"put", b"put ", b"reserv", b"reserve ", b"RESERVE", b"Put 0 0 1 1", b"\0", b"stats\0", b"stats ", b" stats",
           b"statsx", b"stats-", b"stats-job", b"stats-job ", b"stats-job x", b"stats-job 1x", b"stats-job -1", b"stats-job  1",
           b"stats-job 18446744073709551615", b"stats-job 18446744073709551616", b"stats-tube", b"stats-tube ", b"stats-tube -",
           b"stats-tube a b", b"stats-tube  a", b"stats-tube " + NAME, b"stats-tube " + NAME + b"n", b"use", b"use ", b"use a b",
           b"use -a", b"use a-", b"use a/b;c.d$e_f(g)+h", b"use a,b", b"use \xff", b"use " + NAME, b"use " + NAME + b"n", b"watch", b"watch ",
           b"watch -", b"watch a b", b"watch " + NAME + b"n", b"ignore", b"ignore ", b"ignore nosuch", b"ignore default", b"ignore -a",
           b"list-tubes ", b"list-tubesx", b"list-tube-used ", b"list-tube-usedx", b"list-tubes-watched ", b"list-tubes-watchedx",
           b"list-tubes-wat", b"quitx ", b"kick", b"kick ", b"kick x", b"kick -1", b"kick 1x", b"kick 1 2", b"kick  1", b"kick 4294967296",
           b"kick 99999999999999999999", b"kick-job", b"kick-job ", b"kick-job x", b"kick-job 1 2", b"peek", b"peek ", b"peek x", b"peek 1 2",
           b"peek-ready ", b"peek-readyx", b"peek-delayed ", b"peek-buried ", b"peek-nosuch", b"delete", b"delete ", b"delete x", b"delete 1 2",
           b"delete 99999999999999999999", b"release", b"release 1", b"release 1 1", b"release 1 1 x", b"release 1 4294967296 1",
           b"release 1 1 4294967296", b"release 1 -1 1", b"release 1 1 1 1", b"release x 1 1", b"bury", b"bury 1", b"bury 1 x", b"bury 1 1 1",
           b"bury 1 4294967296", b"touch", b"touch ", b"touch x", b"touch 1 1", b"reserve-job", b"reserve-job ", b"reserve-job x", b"reserve-job 1 1",
           b"reserve-with-timeout", b"reserve-with-timeout 0x", b"reserve-with-timeout 0 0", b"reserve-with-timeout  0",
           b"reserve-with-timeout 99999999999999999999", b"pause-tube", b"pause-tube ", b"pause-tube a", b"pause-tube a x", b"pause-tube a -1",
           b"pause-tube nosuch 1", b"pause-tube default 4294967296", b"pause-tube -a 1", b"pause-tube a 1 1", b"pause-tube " + NAME + b"n 1",
           b"put 1", b"put 1 1", b"put 1 1 1", b"put x 1 1 1", b"put 1 x 1 1", b"put 1 1 x 1", b"put 1 1 1 x", b"put -1 1 1 1", b"put 1 -1 1 1",
           b"put 1 1 -1 1", b"put 1 1 1 -1", b"put 4294967296 1 1 1", b"put 1 4294967296 1 1", b"put 1 1 4294967296 1", b"put 1 1 1 4294967296",
           b"put 1 1 1 1 1", b"put  1  1  1  1x", b"put +1 1 1 1", b"put 0x1 1 1 1", b"x" * 221, b"x" * 222, b"x" * 224, b"x" * 225,
           b"x" * 448, b"x" * 449, b"x" * 10000, b"a\nb", b"\n",
           b"use aZ09-+/;.$_()", b"use a!", b"kick 9 and more", b"kick +1", b"kick -", b"kick -0", b"kick 9223372036854775808", b"kick 18446744073709551615", b"reserve-with-timeout x",
           b"reserve-with-timeout ", b"reserve-with-timeout -", b"release 18446744073709551615 7 8"]


def told(wire, sent):
    wire.send(sent)
    try:
        return repr(sent), wire.answer()
    except TimeoutError:
        raise AssertionError(f"no answer to {sent[:80]!r}") from None


# Not those where the end of the line falls on the end of its buffer, of 224 bytes: beanstalkd never sees it then.
@compared
# holds: serve-4
def test_serve_malformed_lines_are_refused_as_by_beanstalkd(server):
    with Wire(server) as wire:
        return [told(wire, line + b"\r\n") for line in GARBAGE if line != b"quitx "]


@compared
# holds: serve-4
def test_serve_bodies_are_taken_as_by_beanstalkd(server):
    """Each body in one piece, and byte by byte around its end."""
    answers = []
    with Wire(server) as wire:
        for size, body in [(0, b"\r\n"), (1, b"a\r\n"), (2, b"\r\n\r\n"), (3, b"a\r\r\r\n"), (5, b"hello\r\n"), (5, b"hell\r\n\n"),
                           (5, b"hello!\n"), (5, b"hello\rx"), (4, b"\0\xff\r\n\r\n"), (65535, b"x" * 65535 + b"\r\n"),
                           (65536, b"x" * 65536 + b"\r\n"), (200000, b"stats\r\n" * 28572 + b"\r\n"[:-2]), (65536, b"x" * 65538)]:
            command = b"put 5 0 100 %d\r\n" % size + body[:size + 2]
            answers.append((f"put of {size}", re.sub(rb"\d+", b"N", told(wire, command)[1])))
            for piece in (command[:-3], command[-3:-2], command[-2:-1]):
                wire.send(piece)
                assert wire.is_silent(0.01), f"an answer to a part of {size}: {wire.buffer!r}"
            answers.append((f"put of {size} in pieces", re.sub(rb"\d+", b"N", told(wire, command[-1:])[1])))
            answers.append(told(wire, b"list-tube-used\r\n"))
        while (job := wire.reserve()) is not None:
            answers.append(("reserve", job[1]))
            wire.ask(f"delete {job[0]}")
    return answers


@compared
def test_serve_jobs_of_any_number_are_not_found_as_by_beanstalkd(server):
    with Wire(server) as wire:
        return [told(wire, b"%b %d%b\r\n" % (command, number, more)) for number in (0, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64 - 1)
                for command, more in ((b"delete", b""), (b"touch", b""), (b"kick-job", b""), (b"peek", b""), (b"reserve-job", b""),
                                      (b"stats-job", b""), (b"release", b" 0 0"), (b"bury", b" 0"))]


# holds: serve-9
def test_serve_looks_in_a_pipeline_see_what_was_done_before(either):
    with Wire(either) as wire:
        wire.ask("watch a")
        wire.ask("use a")
        for _ in range(300 // settings.slowness):
            job = wire.put(b"x")
            found = b"FOUND %d 1\r\nx" % job
            wire.send(b"peek %d\r\npeek-ready\r\nreserve-job %d\r\npeek-ready\r\nbury %d 0\r\npeek-buried\r\nkick 1\r\n"
                      b"peek-buried\r\npeek-ready\r\ndelete %d\r\npeek %d\r\npeek-ready\r\n" % ((job,) * 5))
            assert wire.answers(12) == [found, found, b"RESERVED %d 1\r\nx" % job, b"NOT_FOUND", b"BURIED", found, b"KICKED 1",
                                     b"NOT_FOUND", found, b"DELETED", b"NOT_FOUND", b"NOT_FOUND"]


# holds: serve-9
def test_serve_a_job_that_a_client_leaves_is_seen_at_once(either):
    """What the server gives back by itself, too, is seen by the looks that come after it."""
    with Wire(either) as wire:
        job = wire.put(b"x")
        for _ in range(100 // settings.slowness):
            with Wire(either) as worker:
                worker.ask(f"reserve-job {job}")
                assert wire.ask("peek-ready") == b"NOT_FOUND"
                worker.send(b"quit\r\n")
                assert worker.until_closed() == b""
            assert wire.ask("peek-ready") == b"FOUND %d 1\r\nx" % job


# holds: serve-9
def test_serve_answers_of_a_long_pipeline_are_in_order(either):
    """Of commands that wait for the disk and such as do not; then the client closes its end."""
    count = 300 // settings.slowness
    with Wire(either) as wire:
        sent = b"".join(b"use t%d\r\nput 0 0 60 %d\r\n%d\r\nput 0 9 60 0\r\n\r\npeek-ready\r\nnosuch\r\nwatch t%d\r\nreserve\r\nignore t%d\r\n"
                        % (number, len(str(number)), number, number, number) for number in range(count))
        threading.Thread(target=lambda: (wire.send(sent), wire.socket.shutdown(socket.SHUT_WR))).start()
        told = re.sub(rb"(INSERTED|FOUND|RESERVED) \d+", rb"\1 N", wire.until_closed())
    assert told == b"".join(b"USING t%d\r\nINSERTED N\r\nINSERTED N\r\nFOUND N %d\r\n%d\r\nUNKNOWN_COMMAND\r\nWATCHING 2\r\nRESERVED N %d\r\n%d\r\n"
                         b"WATCHING 1\r\n" % (number, len(str(number)), number, len(str(number)), number) for number in range(count))


# Commands of a connection that has reserved job {own}, in a tube with the jobs {ready} and {buried}.
REFUSED = ["put 0 0 60 65536\r\n" + "x" * 65536, "put 0 0 60 1\r\nx!!", "put 0 0 60 x", *(f"{command} 999999999" for command in
           ("delete", "touch", "kick-job", "peek", "reserve-job", "stats-job")), "release 999999999 0 0", "bury 999999999 0", "stats-tube nosuch",
           "pause-tube nosuch 0", "ignore a", "peek-delayed", "nosuch", "kick x", "x" * 300]
TAKEN = ["put 0 0 60 1\r\nx", "bury {own} 0", "release {own} 0 0", "delete {own}", "delete {ready}", "touch {own}", "kick-job {buried}", "kick 1",
         "peek {ready}", "peek-ready", "peek-buried", "reserve-job {ready}", "reserve-with-timeout 0", "use b", "watch b", "ignore nosuch",
         "list-tube-used", "list-tubes-watched", "list-tubes", "stats", "stats-tube a", "stats-job {own}", "pause-tube a 0"]


def answers_of(server, commands, at_once):
    """The first line of each, with N in place of numbers. No job is left."""
    with Wire(server) as wire:
        wire.send(b"use a\r\nwatch a\r\nignore default\r\n" + b"put 0 0 60 1\r\nx\r\n" * 3)
        ids = [answer.split()[1].decode() for answer in wire.answers(6)[3:]]
        wire.send(f"reserve-job {ids[0]}\r\nbury {ids[0]} 0\r\nreserve-job {ids[1]}\r\n".encode())
        wire.answers(3)
        sent = [command.format(buried=ids[0], own=ids[1], ready=ids[2]).encode() + b"\r\n" * (not command.endswith("!")) for command in commands]
        answers = []
        for part in [b"".join(sent)] if at_once else sent:
            wire.send(part)
            answers += wire.answers(len(commands) if at_once else 1)
        ids += [answer.split()[1].decode() for answer in answers if answer.startswith(b"INSERTED")]
        wire.send("".join(f"delete {job}\r\n" for job in ids).encode())
        wire.answers(len(ids))
    return [re.sub(rb"\d+", b"N", answer.split(b"\r\n")[0]) for answer in answers]


@compared
# holds: serve-9
def test_serve_refusals_in_a_pipeline_are_told_in_order(server):
    """Each that is refused before and behind each that is not."""
    return [(pair, answers_of(server, pair * 2, at_once=True)) for pair in itertools.product(TAKEN, REFUSED)]


@pytest.mark.parametrize("options", [("--memory",), ("--max-jobs", "3"), ("--max-jobs", "3", "--memory")], ids=" ".join)
# holds: serve-7, serve-9
def test_serve_refusals_are_told_in_order_with_options(options):
    with HtwServe(*options) as server:
        for pair in itertools.product(TAKEN, TAKEN[:1] if "3" in options else REFUSED[::4]):
            assert answers_of(server, pair * 2, at_once=True) == answers_of(server, pair * 2, at_once=False), pair
        if "3" in options:
            with Wire(server) as wire:
                wire.send(b"put 0 0 60 1\r\nx\r\n" * 6)
                assert [answer.split()[0] for answer in wire.answers(6)] == [b"INSERTED"] * 3 + [b"OUT_OF_MEMORY"] * 3


PIECES = [b"\r\n", b"\n", b"0", b"1", b"-", b"9999999", b" ", b"x", b"\0", b"\xff", b"put 0 0 1 5\r\n", b"put 0 0 1 3\r\nabc\r\n", b"put 0 1 1 0\r\n\r\n",
          b"reserve\r\n", b"reserve-with-timeout 0\r\n", b"reserve-with-timeout 1\r\n", b"delete 1\r\n", b"kick 9\r\n", b"use a\r\n", b"watch a\r\n",
          b"ignore a\r\n", b"pause-tube a 1\r\n", b"stats\r\n", b"list-tubes\r\n", b"put 0 0 1 99999\r\n", b"release 1 1 1\r\n", b"bury 1", b"quit\r\n"]


def test_serve_random_bytes_harm_no_other_client(either):
    """Clients that send them and go at any time."""
    rng = random.Random(8)
    with Wire(either) as other:
        wires = []
        for turn in range(3000 // settings.slowness):
            if len(wires) < 30:
                wires.append(Wire(either))
            wire = rng.choice(wires)
            try:
                wire.send(b"".join(rng.choices(PIECES, k=rng.randint(1, 6))))
                if not wire.is_silent():
                    wire.socket.recv(1 << 20)
                has_gone = rng.random() < 0.1
            except ConnectionError:
                has_gone = True
            if has_gone:
                wires.remove(wire)
                wire.close()
            if turn % 100 == 0:
                assert other.ask("list-tube-used") == b"USING default"
        for wire in wires:
            wire.close()
        wait_for(lambda: either.stat("current-connections") == "2", "that all others have gone")
        assert either.stat("current-waiting") == "0"


def random_command(rng, count):
    """A job is named by #N, the number of its put."""
    number = rng.choice([0, 0, 1, 2, 1023, 1024, 4294967295])
    job = f"#{rng.randrange(max(0, count - 20), count)}" if count else "7000"
    tube = rng.choice(["a", "b", "c", "default"])
    return rng.choices([f"put {number} {rng.choice([0, 0, 1000])} 1000 3\r\nabc", "reserve-with-timeout 0",
                        f"delete {job}", f"release {job} {number} {rng.choice([0, 1000])}", f"bury {job} {number}", f"touch {job}",
                        f"kick {rng.choice([0, 1, 3])}", f"kick-job {job}", f"reserve-job {job}", f"peek {job}", "peek-ready",
                        "peek-delayed", "peek-buried", f"use {tube}", f"watch {tube}", f"ignore {tube}", "list-tubes",
                        "list-tubes-watched", "list-tube-used", f"stats-job {job}", f"stats-tube {tube}", f"pause-tube {tube} 0", "stats"],
                       [24, 12, 4, 6, 6, 2, 3, 3, 4, 2, 2, 2, 2, 6, 5, 4, 3, 2, 1, 4, 4, 1, 2])[0]


VARYING = (b"pid", b"version", b"rusage-utime", b"rusage-stime", b"uptime", b"id", b"hostname", b"os", b"platform", b"total-connections",
           b"binlog-oldest-index", b"binlog-current-index", b"binlog-records-migrated", b"binlog-records-written", b"binlog-max-size",
           b"age", b"time-left", b"pause-time-left", b"pause")


def without_varying(answer):
    """Of a list of fields; each size before one depends on them, too."""
    lines = answer.split(b"\n")
    return b"\n".join([b"OK", *(line.split(b":")[0] if line.split(b":")[0] in VARYING else line for line in lines[1:])])


@compared
# holds: serve-4
def test_serve_random_commands_of_two_clients_are_answered_as_by_beanstalkd(server):
    """The server is alone: stats, and all lists in their order. Nothing here depends on time."""
    rng = random.Random(settings.seed or 6)
    numbers, ids, answers = {}, [], []
    with Wire(server) as first, Wire(server) as second:
        for _ in range(2500 // settings.slowness):
            wire = rng.choice([first, second])
            command = random_command(rng, len(ids))
            answer = wire.ask(re.sub(r"#(\d+)", lambda found: str(ids[int(found[1])]), command))
            if answer.startswith(b"INSERTED "):
                numbers[answer.split()[1]] = b"#%d" % len(ids)
                ids.append(int(answer.split()[1]))
            if answer.startswith(b"OK "):
                answer = without_varying(answer)
            answers.append((command, re.sub(rb"^(INSERTED|RESERVED|FOUND) (\d+)",
                                            lambda found: found[1] + b" " + numbers.get(found[2], b"?"), answer)))
    return answers


@compared
def test_serve_drain_mode_is_told_as_by_beanstalkd(server):
    with Wire(server) as wire:
        wire.put(b"before")
        server.process.send_signal(signal.SIGUSR1)
        wait_for(lambda: server.stat("draining") == "true", "draining")
        commands = b"put 0 0 1 1\r\nx\r\n", b"put 0 0 1 1\r\nxyz", b"put 0 0 1 70000\r\n" + b"x" * 70002
        return [*(told(wire, command) for command in commands), ("reserve", wire.reserve()[1])]


@compared
# holds: serve-10
def test_serve_a_half_closed_client_that_waits_is_timed_out(server):
    answers = []
    for command in (b"reserve\r\n", b"reserve-with-timeout 1000\r\n"):
        with Wire(server) as wire:
            wire.send(command)
            server.wait_until_waiting(1)
            wire.socket.shutdown(socket.SHUT_WR)
            answers.append((command, wire.until_closed()))
        server.wait_until_waiting(0)
    with Wire(server) as wire:
        wire.send(b"put 0 0 1 1\r\nx\r\nuse a\r\nreserve\r\npeek-rea")
        wire.socket.shutdown(socket.SHUT_WR)
        answers.append(("a part of a command at the end", re.sub(rb"\d+", b"N", wire.until_closed())))
    return answers


@compared
def test_serve_quit_closes_without_an_answer(server):
    with Wire(server) as wire:
        wire.send(b"use a\r\nquit\r\nuse b\r\n")
        return [("quit", wire.until_closed())]
