# SPDX-License-Identifier: MIT
# holds: serve-2
"""test_histories.py - random histories of the whole protocol: beanstalkd and htw serve give the same answers.

A second is the unit of the protocol, so hundreds of histories run side by side, each on connections and tubes
of its own. A history acts in six slots, 7/6 s apart. What it starts in a slot, a delay, a lease, a pause or a
time-out, ends a whole number of seconds later: no two slots have the same fraction of a second, so that
nothing ends while another slot acts, and no answer depends on how fast a server is. For the same reason
steps of one slot are milliseconds apart, at most one connection waits on a tube, and answers of a waiting
connection are read in the next slot. A slot that takes longer than WINDOW shows that the machine has stalled: the history is
discarded.

A step is a list: slot, connection, command, arguments. A job is named by its label, the number of the step that put it.
"""
import heapq
import itertools
import json
import os
import random
import re
import select
import time

import pytest
from harness import known, settings
from programs import PATIENCE
from servers import Beanstalkd
from wire import Wire, whole_answer

SLOTS = 6
SPACING_S = 7 / 6
WINDOW_S = 0.12
APART_S = 0.006  # of steps that may start a timer
HUNG_S = 20
JUDGED = 20  # of those that differ
CONNECTIONS = 3
TUBES = "abc"
SHORT = [1, 2, 3]
LONG = 1000
STEPS = (3, 8)  # in a slot
READING = ("peek", "peek-ready", "peek-delayed", "peek-buried", "stats-job", "stats-tube", "list-tubes",
           "list-tube-used", "list-tubes-watched")
OF_JOBS = ("peek", "reserve-job", "delete", "release", "bury", "touch", "kick-job", "stats-job")
OF_TUBES = ("use", "watch", "ignore", "pause-tube", "stats-tube")
serial = itertools.count()


class Differs(Exception):
    """The two servers do not answer alike."""


class Finished(Exception):
    """What follows would differ by a mistake of beanstalkd 1.12. It keeps the time-out of a wait that DEADLINE_SOON has ended, and
    takes it for the end of the lease when that is later: then the job stays reserved until its client sends something."""


class End:
    """A connection to each of the two servers."""

    def __init__(self, history, tube):
        self.history = history
        self.wires = [Wire(server) for server in history.servers]
        for wire in self.wires:
            history.crowd.add(wire, history)
            wire.send(f"use {tube}\r\nwatch {tube}\r\nignore default\r\n".encode())
        self.asked = [["setup"]] * 3  # commands that are not answered yet
        self.watched = {tube}

    def close(self, sides=2):
        for wire in self.wires[:sides]:
            self.history.crowd.remove(wire)
            wire.close()


class History:
    """`steps`: what to do, or None for random steps. `planted`: changes what the second server is asked and
    answers."""

    def __init__(self, servers, seed, steps=None, planted=None):
        self.servers, self.seed, self.given, self.planted = servers, seed, steps, planted
        self.prefix = f"h{next(serial)}"
        self.rng = random.Random(seed)
        self.steps = []  # that were done
        self.told = []  # triples: step, answer of the first, of the second
        self.difference = None
        self.was_discarded = False
        self.ids = [{}, {}]  # of labels
        self.labels = [{}, {}]  # of ids
        self.held = [[] for _ in range(CONNECTIONS)]  # labels, as far as known
        self.has_paused = False

    def tube(self, letter):
        return self.prefix + letter

    # What is sent, and what comes back.

    def body(self, label, size):
        return (b"%d:" % label + b"x" * size)[:size]

    def rendered(self, side, step):
        _, _, verb, *arguments = step
        if self.planted and side == 1:
            verb, arguments = self.planted.ask(verb, arguments)
        if verb in OF_JOBS:
            arguments = [self.ids[side].get(arguments[0], 1 << 40), *arguments[1:]]
        elif verb in OF_TUBES:
            arguments = [self.tube(arguments[0]), *arguments[1:]]
        if verb != "put":
            return " ".join([verb, *map(str, arguments)]).encode() + b"\r\n"
        label, *numbers, size = arguments
        return " ".join(["put", *map(str, numbers), str(size)]).encode() + b"\r\n" + self.body(label, size) + b"\r\n"

    def normal(self, side, step, answer):
        """The answer with labels for ids, and without the tubes of other histories."""
        if self.planted and side == 1:
            answer = self.planted.answer(step, answer)
        first, *rest = answer.split(b"\r\n", 1)
        words = first.decode("latin-1").split(" ")
        if words[0] in ("INSERTED", "BURIED") and len(words) == 2:
            self.ids[side][step[3]] = int(words[1])
            self.labels[side][int(words[1])] = step[3]
            return words[0]
        if words[0] in ("RESERVED", "FOUND"):
            label = self.labels[side].get(int(words[1]), -1)
            is_its_own = rest[0] == self.body(label, int(words[2]))
            words[1] = str(label)
            rest = [b"its body"] if is_its_own else [repr(rest[0][:60]).encode()]
        if words[0] == "OK":
            lines = rest[0].decode("latin-1").replace(self.prefix, "").split("\n")
            if step[2] == "stats-job":
                lines[1] = f"id: {self.labels[side].get(int(lines[1].split()[1]))}"
            if step[2] == "list-tubes":
                own = (line for line in rest[0].decode("latin-1").split("\n") if self.prefix in line)
                lines = sorted(line for line in own if line[2:-1] == self.prefix)
            return "\n".join(["OK", *lines])
        return "\r\n".join([" ".join(words).replace(self.prefix, ""), *(part.decode("latin-1") for part in rest)])

    def compare(self, step, answers):
        first, second = (self.normal(side, step, answer) for side, answer in enumerate(answers))
        self.told.append((step, first, second))
        if first != second and known(" ".join(map(str, step[2:] or step)), first, second) is None:
            raise Differs
        return first

    # A step.

    def send(self, end, step):
        end.asked.append(step)
        for side, wire in enumerate(end.wires):
            wire.send(self.rendered(side, step))

    def arrived(self, wires):
        """Waits until each of these has a whole answer."""
        given_up = time.monotonic() + HUNG_S
        while not all(whole_answer(wire.buffer) for wire in wires):
            yield self.crowd.at(given_up, self)
            if time.monotonic() > given_up:
                self.told.append((["no answer"], *(bool(whole_answer(wire.buffer)) for wire in wires[:2])))
                raise Differs

    def answered(self, end):
        """Waits for the answer to the oldest command of a connection, and compares it."""
        yield from self.arrived(end.wires)
        return self.compare(end.asked.pop(0), [wire.take() for wire in end.wires])

    def waiting(self, end):
        """Waits until both servers have begun to wait, or have answered."""
        for side, (wire, control) in enumerate(zip(end.wires, self.control)):
            while not whole_answer(wire.buffer):
                control.send(f"stats-tube {min(end.watched)}\r\n".encode())
                yield from self.arrived([control])
                if b"\ncurrent-waiting: 0\n" not in control.take():
                    break
                if self.planted and side == 1:
                    break

    def may_wait(self, number):
        others = [end.watched for end in self.ends if end and end.asked and end is not self.ends[number]]
        return not any(self.ends[number].watched & watched for watched in others)

    def perform(self, step):
        """Unless what comes before has been dropped, and it makes no sense."""
        _, number, verb, *arguments = step
        end = self.ends[number]
        if end is None or end.asked and verb != "list-tube-used":
            return
        is_waiting = verb == "reserve" or verb == "reserve-with-timeout" and arguments[0] > 0
        if is_waiting and not self.may_wait(number):
            return
        self.steps.append(step)
        if verb == "close":
            end.close(1 if self.planted and self.planted.keeps_closed else 2)
            self.ends[number], self.held[number] = None, []
            return
        if verb not in READING:
            yield from self.until(self.acted + APART_S)
        self.send(end, step)
        if is_waiting:
            yield from self.waiting(end)
        elif len(end.asked) == 1:
            self.learn(number, step, (yield from self.answered(end)))
        if verb == "pause-tube":
            yield from self.keep_tube(arguments[0])
        self.acted = time.monotonic()

    def keep_tube(self, letter):
        """beanstalkd forgets a tube with its pause when nobody uses it; htw serve has the pause on its disk."""
        for wire in self.control:
            wire.send(f"watch {self.tube(letter)}\r\n".encode())
        yield from self.arrived(self.control)
        for wire in self.control:
            wire.take()

    def learn(self, number, step, answer):
        word = answer.split(None, 1)[0]
        end = self.ends[number]
        if word == "WATCHING":
            (end.watched.add if step[2] == "watch" else end.watched.discard)(self.tube(step[3]))
        if word == "DEADLINE_SOON" and step[2] == "reserve-with-timeout" and (step[3] > 0 or self.has_paused):
            raise Finished
        self.has_paused |= word == "PAUSED"
        if word == "RESERVED":
            label = answer.split()[1]
            if label.isdigit():
                self.held[number].append(int(label))
        if step[2] in ("delete", "release", "bury") and word in ("DELETED", "RELEASED", "BURIED"):
            for held in self.held:
                if step[3] in held:
                    held.remove(step[3])

    # A random step.

    def random_step(self, slot, label):
        rng = self.rng
        free = [number for number, end in enumerate(self.ends) if end and not end.asked]
        busy = [number for number, end in enumerate(self.ends) if end and end.asked]
        if not free or busy and rng.random() < 0.03:
            return [slot, rng.choice(busy), "list-tube-used"] if busy else None
        holding = [number for number in free if self.held[number]]
        number = rng.choice(holding if holding and rng.random() < 0.5 else free)
        some = list(self.ids[0])[-8:] or [-1]
        job = rng.choice(self.held[number] if self.held[number] and rng.random() < 0.7 else some)
        letter = rng.choice(TUBES)
        priority = rng.choice([0, 1, 1, 2, 1023, 1024, (1 << 32) - 1])
        delay = rng.choice([0, 0, 0, *SHORT, LONG])
        ttr = rng.choice([0, *SHORT, LONG, LONG, LONG])
        size = rng.choice([0, 1, 5, 20, 300, 3000, rng.choice([65535, 65536])])
        weight, step = zip(*(
            (24, ("put", label, priority, delay, ttr, size)), (12, ("reserve-with-timeout", 0)),
            (5, ("reserve-with-timeout", rng.choice(SHORT))), (4, ("reserve",)), (5, ("reserve-job", job)),
            (5, ("delete", job)), (5, ("release", job, priority, delay)), (5, ("bury", job, priority)), (4, ("touch", job)),
            (4, ("kick", rng.choice([0, 1, 2, 100]))), (3, ("kick-job", job)), (2, ("peek", job)), (1, ("peek-ready",)),
            (1, ("peek-delayed",)), (1, ("peek-buried",)), (4, ("stats-job", job)), (4, ("stats-tube", letter)),
            (2, ("use", letter)), (3, ("watch", letter)), (2, ("ignore", letter)), (3, ("pause-tube", letter, rng.choice([0, *SHORT]))),
            (1, ("list-tubes",)), (1, ("list-tube-used",)), (1, ("list-tubes-watched",))))
        return [slot, number, *rng.choices(step, weight)[0]]

    # The whole history.

    def until(self, when):
        while time.monotonic() < when:
            yield self.crowd.at(when, self)

    def collect(self):
        """The answers that have come since the last slot: both servers must have given as many."""
        for number, end in enumerate(self.ends):
            while end and end.asked:
                come = [bool(whole_answer(wire.buffer)) for wire in end.wires]
                if come[0] != come[1]:
                    late = end.wires[come.index(False)]
                    yield from self.until(time.monotonic() + WINDOW_S / 6)
                    if not whole_answer(late.buffer):
                        self.told.append((end.asked[0], *("answered" if has else "no answer yet" for has in come)))
                        raise Differs
                if not come[0]:
                    break
                step = end.asked[0]
                self.learn(number, step, (yield from self.answered(end)))

    def act(self, slot):
        yield from self.collect()
        if slot == SLOTS - 1:
            end = End(self, self.tube("z"))
            self.ends.append(end)
            for _ in range(3):
                yield from self.answered(end)
            for step in [*([slot, CONNECTIONS, "stats-job", label] for label in list(self.ids[0])),
                         *([slot, CONNECTIONS, "stats-tube", letter] for letter in TUBES)]:
                self.send(end, step)
                yield from self.answered(end)
            return
        for number, end in enumerate(self.ends):
            if end is None:
                self.ends[number] = end = End(self, self.tube(TUBES[number % 2]))
                for _ in range(3):
                    yield from self.answered(end)
        if self.given is not None:
            for step in self.given:
                if step[0] == slot:
                    yield from self.perform(step)
            return
        for count in range(self.rng.randint(*STEPS)):
            step = self.random_step(slot, slot * 100 + count)
            if step:
                yield from self.perform(step)
        if self.rng.random() < 0.15:
            yield from self.perform([slot, self.rng.randrange(CONNECTIONS), "close"])

    def live(self, crowd, began):
        self.crowd = crowd
        self.control = [Wire(server) for server in self.servers]
        for wire in self.control:
            crowd.add(wire, self)
        self.ends = [None] * CONNECTIONS
        slot = 0
        try:
            for slot in range(SLOTS):
                begins = began + slot * SPACING_S
                yield from self.until(begins)
                self.acted = 0
                yield from self.act(slot)
                if time.monotonic() > begins + WINDOW_S:
                    self.was_discarded = True
                    return
        except Finished:
            self.was_discarded = time.monotonic() > begins + WINDOW_S
        except Differs:
            if time.monotonic() < begins + WINDOW_S or self.told[-1][0][0] == "no answer":
                self.difference = self.told[-1]
            else:
                self.was_discarded = True
        finally:
            for end in filter(None, self.ends):
                end.close()
            for wire in self.control:
                crowd.remove(wire)
                wire.close()


class Crowd:
    """Runs histories side by side, in one thread."""

    def __init__(self):
        self.poll = select.epoll()
        self.of_file = {}
        self.wakes = []
        self.running = {}  # history: its generator, and when it is to go on at the latest
        self.count = itertools.count()

    def add(self, wire, history):
        self.of_file[wire.fileno()] = wire, history
        self.poll.register(wire.fileno(), select.EPOLLIN)

    def remove(self, wire):
        self.poll.unregister(wire.fileno())
        del self.of_file[wire.fileno()]

    def at(self, when, history):
        heapq.heappush(self.wakes, (when, next(self.count), history))

    def go_on(self, history):
        if history in self.running:
            try:
                next(self.running[history])
            except StopIteration:
                del self.running[history]

    def run(self, histories):
        began = time.monotonic() + 0.1
        for number, history in enumerate(histories):
            starts = began + number * SPACING_S / len(histories)
            self.running[history] = history.live(self, starts)
            self.at(starts - 0.02, history)
        while self.running:
            timeout = max(0, self.wakes[0][0] - time.monotonic()) if self.wakes else 1
            for file, _ in self.poll.poll(timeout):
                if file in self.of_file:
                    wire, history = self.of_file[file]
                    try:
                        wire.receive()
                    except ConnectionError:
                        history.told.append((["closed by the server"], "", ""))
                        self.running[history].close()
                        history.difference = history.told[-1]
                        del self.running[history]
                        continue
                    self.go_on(history)
            while self.wakes and self.wakes[0][0] <= time.monotonic():
                self.go_on(heapq.heappop(self.wakes)[2])


def run(histories):
    crowd = Crowd()
    try:
        crowd.run(histories)
    finally:
        crowd.poll.close()
    for server in histories[0].servers:
        assert server.process.poll() is None, (f"{server.name} has ended with status {server.process.returncode}: "
                                               f"{server.said()}")
    return histories


def again(history, steps):
    return History(history.servers, history.seed, steps, history.planted)


def repeated(histories, tries=3):
    """Those whose difference shows each time that the same steps are done again."""
    tried = run([again(history, history.steps) for history in histories for _ in range(tries)]) if histories else []
    kept = []
    for number, history in enumerate(histories):
        own = [one for one in tried[number * tries:(number + 1) * tries] if not one.was_discarded]
        if own and all(one.difference for one in own):
            kept.append(history)
    return kept


def shrunk(history):
    """The history with as few steps as still differ. All ways to drop a part are tried at once."""
    part = len(history.steps)
    while part:
        part = min((part + 1) // 2, len(history.steps))
        starts = range(0, len(history.steps), part)
        tried = run([again(history, history.steps[:start] + history.steps[start + part:]) for start in starts])
        shorter = [one for one in tried if one.difference]
        if shorter:
            history = min(shorter, key=lambda one: len(one.steps))
        elif part == 1:
            break
    return history


def described(history):
    lines = [f"seed {history.seed}"]
    for step, first, second in history.told:
        if step == ["setup"]:
            continue
        if first == second:
            lines.append(f"{step}: {first[:60]!r}")
        else:
            lines.append(f"{step}:\n     {history.servers[0].name}: {first!r}\n     {history.servers[1].name}: {second!r}")
    return "\n   ".join([*lines, f"again: --replay '{json.dumps(history.steps)}'"])


def run_all(make, seeds, limit_s):
    """Runs the histories of all seeds, as many at once as the machine bears. Returns those that have not stalled."""
    kept, pending, width = [], list(seeds), settings.histories
    end = time.monotonic() + limit_s
    while pending and time.monotonic() < end:
        now, pending = pending[:width], pending[width:]
        histories = run([make(seed) for seed in now])
        stalled = [one.seed for one in histories if one.was_discarded]
        kept += [one for one in histories if not one.was_discarded]
        pending += stalled
        width = min(settings.histories, width * 2) if len(stalled) < len(now) / 4 else max(4, width // 2)
    return kept


# holds: serve-4
def test_serve_random_histories_are_answered_alike(beanstalkd, server):
    seed = settings.seed if settings.seed is not None else int.from_bytes(os.urandom(4), "little")
    steps = settings.replay and json.loads(settings.replay)
    seeds = [seed] if steps else range(seed, seed + settings.histories * settings.rounds)
    kept = run_all(lambda one: History((beanstalkd, server), one, steps), seeds, PATIENCE * settings.rounds)
    if not kept:
        pytest.skip("the machine stalls all the time")
    print(f"{len(kept)} histories from seed {seed}, {sum(len(one.told) for one in kept)} answers compared")
    differing = [history for history in kept if history.difference]
    lasting = repeated(differing[:JUDGED])
    assert not lasting, f"{len(differing)} of {len(kept)} histories differ:\n   {described(shrunk(lasting[0]))}"
    assert not (settings.quiet_machine and differing), f"differences that do not show again: {described(differing[0])}"


class Mistake:
    """Of the second of two servers. `ask` changes a command and its arguments, `answer` what comes back."""

    def __init__(self, command, change=None, answer=None):
        self.command, self.change, self.change_answer, self.keeps_closed = command, change, answer, command == "close"

    def ask(self, verb, arguments):
        if verb == self.command and self.change:
            verb, *arguments = self.change(verb, *arguments)
        return verb, arguments

    def answer(self, step, answer):
        return self.change_answer(answer) if self.change_answer and step[2:3] == [self.command] else answer


MISTAKES = {
    "the order of a job with priority 1 is that of 2": Mistake("put", lambda verb, label, priority, *rest: (
        verb, label, 2 if priority == 1 else priority, *rest)),
    "a delay is a second too long": Mistake("put", lambda verb, label, priority, delay, *rest: (
        verb, label, priority, delay + (0 < delay < LONG), *rest)),
    "touch does not renew a lease": Mistake("touch", lambda verb, label: ("stats-job", label), lambda answer:
                                            b"TOUCHED" if b"state: reserved" in answer else b"NOT_FOUND"),
    "kick takes one too few": Mistake("kick", lambda verb, count: (verb, max(0, count - 1))),
    "a pause is forgotten": Mistake("pause-tube", lambda verb, letter, _: (verb, letter, 0)),
    "a time-out comes a second late": Mistake("reserve-with-timeout", lambda verb, seconds: (verb, seconds + (0 < seconds))),
    "DEADLINE_SOON is called TIMED_OUT": Mistake("reserve-with-timeout", answer=lambda answer:
                                                 answer.replace(b"DEADLINE_SOON", b"TIMED_OUT")),
    "kicks are not counted": Mistake("stats-job", answer=lambda answer: re.sub(rb"kicks: \d+", b"kicks: 0", answer)),
    "a closed connection keeps its jobs": Mistake("close"),
}


def test_serve_random_histories_find_mistakes(beanstalkd):
    """Planted into what a second beanstalkd is asked, or answers."""
    with Beanstalkd() as other:
        missed = set(MISTAKES)
        for seed in range(5):
            histories = run([History((beanstalkd, other), 1000 * seed + number, planted=MISTAKES[name])
                             for number in range(10 * len(MISTAKES) // len(missed)) for name in sorted(missed)])
            found = [history.planted for history in histories if history.difference]
            missed = {name for name in missed if MISTAKES[name] not in found}
            if not missed:
                return
    raise AssertionError(f"not found: {missed}")
