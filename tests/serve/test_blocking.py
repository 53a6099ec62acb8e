# SPDX-License-Identifier: MIT
"""Workers that wait: which one gets a job, and what becomes of it when a worker goes.

Scenes with more than three workers on a tube are in test_crowd.py: beanstalkd serves three in the order in which they came, and no more.
"""
import random
import re
import signal
import time

import pytest
from harness import compared, note, settings
from programs import PATIENCE, wait_for
from wire import Wire


def put(tube, *bodies, priority=0, delay=0, ttr=60):
    """Commands that put a job with each body."""
    texts = [body.encode("latin-1") for body in bodies]
    return [b"use %s\r\n" % tube.encode()] + [b"put %d %d %d %d\r\n%b\r\n" % (priority, delay, ttr, len(text), text) for text in texts]


def waiting(server, *workers):
    """A connection for each worker, a text with the names of its tubes; they come to wait in this order."""
    already = int(server.stat("current-waiting"))
    wires = []
    for number, tubes in enumerate(workers, 1):
        wire = Wire(server)
        for tube in tubes.split():
            wire.ask(f"watch {tube}")
        wire.ask("ignore default")
        wire.send(b"reserve\r\n")
        server.wait_until_waiting(already + number)
        wires.append(wire)
    return wires


def without_id(answer):
    return re.sub(rb"^(INSERTED|RESERVED|FOUND) \d+", rb"\1 N", answer)


def served(wires):
    """What each worker gets. All have it before the first one deletes its job."""
    answers = [wire.answer() for wire in wires]
    for wire, answer in zip(wires, answers):
        wire.ask("delete " + answer.split()[1].decode())
        wire.close()
    return [(f"worker {number}", without_id(answer)) for number, answer in enumerate(answers, 1)]


def served_of_several(server, wires):
    """On a tube that had waiting workers before, beanstalkd does not begin with the first one. Jobs are named in the order in which
    they should be served."""
    answers = served(wires)
    if server.is_own:
        assert answers == [(name, answer) for (name, _), (_, answer) in zip(answers, sorted(answers, key=lambda one: one[1]))], "order"
    return [("one of several workers", answer) for answer in sorted(answer for _, answer in answers)]


def scene(server, workers, commands):
    """Lets workers wait, sends all commands at once, and returns all answers."""
    wires = waiting(server, *workers)
    with Wire(server) as wire:
        wire.send(b"".join(commands))
        answers = [(command, without_id(wire.answer())) for command in commands]
        answers += served(wires)
        wait_for(lambda: server.stat("current-connections") == "2", "that the workers have gone")  # this one asks, too
    return answers


@compared
def test_serve_a_put_serves_one_worker(server):
    answers = []
    for workers, commands in [
            (["a"], put("a", "job")), (["a b c"], put("c", "job")), (["a a a"], put("a", "job")), (["a", "a"], put("a", "one", "two")),
            (["a b", "b"], put("b", "one", "two")), (["a b", "a"], put("b", "one") + put("a", "two")),
            (["a", "a b", "b"], put("b", "one", "two") + put("a", "three")), (["a"], put("b", "other") + put("a", "job")),
            (["a"], put("a", "\0\r\n\xff")), (["a"], put("a", ""))]:
        answers += scene(server, workers, commands)
    assert server.stat("current-waiting") == "0"
    return answers


@compared
def test_serve_puts_of_a_pipeline_are_served_in_their_order(server):
    """Each put finds a worker that waits, before the next one comes: priorities decide only among jobs that are ready."""
    answers = scene(server, ["a", "a", "a"], put("a", "later", priority=5) + put("a", "urgent", priority=1) + put("a", "last", priority=9))
    return answers + scene(server, ["a", "b", "a b"], put("b", "one", priority=7) + put("a", "two", priority=7) + put("a", "three"))


@compared
# holds: serve-10
def test_serve_jobs_that_are_kicked_or_released_serve_workers(server):
    with Wire(server) as holder:
        holder.ask("use a")
        holder.ask("watch a")
        jobs = [holder.put(b"job %d" % number, priority=number) for number in range(5)]
        for _ in jobs:
            holder.reserve()
        for job in jobs[:3]:
            holder.ask(f"bury {job} 0")
        wires = waiting(server, "a", "a b")
        answers = [("kick", holder.ask("kick 2")), *served_of_several(server, wires)]
        wires = waiting(server, "b a")
        answers += [("kick-job", holder.ask(f"kick-job {jobs[2]}")), *served(wires)]
        wires = waiting(server, "a", "a")
        holder.send(b"release %d 9 0\r\nrelease %d 1 0\r\n" % (jobs[3], jobs[4]))
        return answers + [("release", holder.answer()), ("release", holder.answer()), *served_of_several(server, wires)]


@compared
# holds: serve-10
def test_serve_the_end_of_a_time_serves_workers(server):
    """Of a delay, of a lease, of a connection, and of a pause."""
    with Wire(server) as wire, Wire(server) as holder:
        wire.send(b"".join(put("delayed", "late", priority=5, delay=1) + put("delayed", "urgent", priority=1, delay=1)
                           + put("leased", "job", ttr=1) + put("held", "job")))
        wire.answers(8)
        holder.ask("watch leased")
        assert holder.reserve()[1] == b"job"
        answers = served(waiting(server, "delayed", "delayed leased", "leased"))
        holder.ask("watch held")
        holder.ask("ignore leased")
        assert holder.reserve()[1] == b"job"
        wires = waiting(server, "held")
        holder.close()
        answers += served(wires)
        wires = waiting(server, "paused", "paused open", "paused")
        answers.append(("pause", wire.ask("pause-tube paused 1")))
        commands = put("paused", "job", priority=5) + put("paused", "urgent", priority=1) + put("open", "other")
        wire.send(b"".join(commands))
        answers += [(command, without_id(wire.answer())) for command in commands]
        return answers + served(wires)


@compared
# holds: serve-9
def test_serve_commands_behind_a_wait_are_answered_after_it(server):
    with Wire(server) as waiter, Wire(server) as other:
        waiter.send(b"list-tube-used\r\nreserve\r\nuse b\r\nreserve\r\npeek-ready\r\nreserve-with-timeout 1\r\nput 0 0 9 4\r\nmine\r\n")
        server.wait_until_waiting(1)
        assert waiter.answer() == b"USING default"
        assert waiter.is_silent(0.05), "answered while it waits"
        other.put(b"first")
        assert waiter.answer().split(b"\r\n")[1] == b"first"
        assert waiter.answer() == b"USING b"
        server.wait_until_waiting(1)
        other.put(b"second")
        answers = [(number, without_id(waiter.answer())) for number in range(4)]
        other.ask("use b")
        return [*answers, ("peek-ready", without_id(other.ask("peek-ready")))]


@compared
# holds: serve-2
def test_serve_a_worker_that_goes_leaves_what_it_waited_for(server):
    first, second = waiting(server, "a b", "a")
    first.close()
    server.wait_until_waiting(1)
    with Wire(server) as wire:
        commands = put("b", "kept") + [b"peek-ready\r\n"] + put("a", "next")
        wire.send(b"".join(commands))
        return [*((command, without_id(wire.answer())) for command in commands), *served([second])]


# holds: serve-2
def test_serve_a_job_whose_worker_dies_as_it_is_served_comes_back(either):
    """Before or after the put, unnoticed yet, or with a part of the body: the next worker gets the job."""
    rng = random.Random(1)
    with Wire(either) as wire:
        for number in range(200 // settings.slowness):
            gone = Wire(either, receive_buffer=4096)
            gone.send(b"reserve\r\n")
            either.wait_until_waiting(1)
            body = b"%d" % number + b"x" * rng.choice([0, 10, 60000])
            dies = rng.choice(["before", "after", "as it reads"])
            if dies == "before":
                gone.vanish(number % 2 == 0)
            job = wire.put(body)
            if dies == "as it reads":
                assert gone.socket.recv(10).startswith(b"RESERVED ")
            if dies != "before":
                gone.vanish(number % 2 == 0)
            with Wire(either) as following:
                got = following.reserve(PATIENCE)
                assert got == (job, body), f"the next worker got {str(got)[:60]} where the first died {dies}"
                assert following.ask(f"delete {job}") == b"DELETED"


@pytest.mark.options("--memory")
# holds: serve-2
def test_serve_a_job_that_a_busy_server_gives_to_a_dead_worker_comes_back(server):
    """In one round a job is due, its worker has gone, and another client takes all the time. Nothing wakes the server after that."""
    tubes = 5000 // settings.slowness
    with Wire(server) as gone, Wire(server) as following, Wire(server) as busy, Wire(server) as putting:
        for number, wire in enumerate((gone, following), 1):
            wire.send(b"reserve\r\n")
            server.wait_until_waiting(number)
        for number in range(tubes):
            busy.ask(f"watch {'x' * 190}{number}")
        job = putting.put(b"hello", delay=1)
        server.process.send_signal(signal.SIGSTOP)
        gone.vanish(reset=True)
        busy.send(f"watch {'x' * 190}{tubes - 1}\r\n".encode() * 32)
        time.sleep(1.1)
        server.process.send_signal(signal.SIGCONT)
        assert following.answer() == b"RESERVED %d 5\r\nhello" % job


def send_all_that_fits(wire, data):
    """Until the server reads no more. Returns how many bytes that were."""
    sent = 0
    wire.socket.settimeout(0.2 * settings.slowness)
    try:
        while sent < 1 << 28:
            sent += wire.socket.send(data[sent % len(data):])
    except TimeoutError:
        wire.socket.settimeout(PATIENCE)
        return sent
    raise AssertionError("the server reads without an end")


# holds: serve-8
def test_serve_a_worker_that_sends_much_while_it_waits_is_held_back(either):
    """It gets its job, and all answers behind it."""
    line = b"list-tube-used\r\n"
    with Wire(either) as wire, Wire(either) as other:
        wire.send(b"reserve\r\n")
        sent = send_all_that_fits(wire, line * 4096)
        job = other.put(b"job")
        assert wire.answer() == b"RESERVED %d 3\r\njob" % job
        wire.send(line[sent % len(line):])
        count = sent // len(line) + 1
        for _ in range(count):
            assert wire.answer() == b"USING default"
        note(either, f"{sent >> 10} KiB were sent behind a reserve")


@compared
# holds: serve-2
def test_serve_a_worker_that_sent_much_before_it_went_takes_no_job(server):
    """The end of its connection comes behind more input than the kernel buffers."""
    with Wire(server) as other:
        gone = Wire(server)
        gone.send(b"reserve\r\n")
        send_all_that_fits(gone, b"list-tube-used\r\n" * 4096)
        gone.close()
        job = other.put(b"precious")
        assert other.reserve(PATIENCE) == (job, b"precious")
        return [("delete", other.ask(f"delete {job}"))]


# holds: serve-10
def test_serve_time_outs_race_with_puts(either):
    """A worker gets a job or TIMED_OUT, and a job has a worker or is ready."""
    count, taken = 60 // settings.slowness, 0
    with Wire(either) as other:
        for shift in (-0.05, -0.01):
            wires = [Wire(either) for _ in range(count)]
            began = time.monotonic()
            for wire in wires:
                wire.send(b"reserve-with-timeout 1\r\n")
            took = time.monotonic() - began
            time.sleep(max(0, began + 1 + shift - time.monotonic()))
            put_now = {other.put(b"job") for _ in range(count) if time.sleep(took / count) is None}
            answers = [wire.answer() for wire in wires]
            got = [int(answer.split()[1]) for answer in answers if answer.startswith(b"RESERVED ")]
            assert answers.count(b"TIMED_OUT") == count - len(got), "those that timed out"
            for wire in wires:
                wire.close()
            wait_for(lambda: either.stat("current-jobs-reserved") == "0", "that their jobs are back")
            there = {other.reserve()[0] for _ in range(count)}
            assert there == put_now, "jobs"
            assert len(set(got)) == len(got) and set(got) <= there, "a job has two workers"
            for job in there:
                assert other.ask(f"delete {job}") == b"DELETED"
            taken += len(got)
    note(either, f"{taken} of {2 * count} puts came before the time-out of a worker")
