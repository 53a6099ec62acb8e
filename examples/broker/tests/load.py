# SPDX-License-Identifier: MIT
"""Short runs of redis-benchmark: each must end without an error."""
import re
import subprocess
import time

from clients import Wire
from harness import PATIENCE, compared, equal, note, own, percentiles, settings, wait_for

REQUESTS = 3000 // settings.slowness


def benchmark(server, *arguments, clients=50, pipeline=1):
    """Runs it, and returns pairs of the name of a test and its requests per second."""
    done = subprocess.run(
        ["redis-benchmark", "-p", str(server.port), "-n", str(REQUESTS), "-c", str(clients), "-P",
         str(pipeline), "-q", *arguments],
        capture_output=True, text=True, timeout=PATIENCE, check=False)
    text = done.stdout + done.stderr
    assert done.returncode == 0 and not re.search(r"error|ERR|WRONGTYPE", text, re.I), text
    rates = re.findall(r"([^\r\n]*): ([0-9.]+) requests per second", text)
    assert rates, text
    return rates


def tell(server, how, rates):
    note(server, f"{how}, thousand a second: " + ", ".join(
        f"{name} {float(rate) / 1000:.0f}" for name, rate in rates))


@compared
def redis_benchmark_finishes_with_each_command(server):
    with Wire(server) as wire:
        for pipeline in (1, 16):
            rates = benchmark(server, "-t", "ping,set,get", "-r", "1000", pipeline=pipeline)
            sizes = []
            for name in ("lpush", "rpush", "lpop", "rpop"):
                rates += benchmark(server, "-t", name, pipeline=pipeline)
                sizes.append(wire.ask("LLEN", "mylist"))
            tell(server, f"pipelines of {pipeline}", rates)
            # It sends whole pipelines, so it may send somewhat more than asked.
            extra = 50 * pipeline
            assert REQUESTS <= sizes[0] <= REQUESTS + extra, sizes
            assert REQUESTS <= sizes[1] - sizes[0] <= REQUESTS + extra, sizes
            assert sizes[3] <= extra, sizes
            wire.ask("DEL", "mylist")
    return []


@compared
def redis_benchmark_finishes_with_several_at_once(server):
    """Three at once, with different commands on shared keys."""
    mixed = [("-t", "set,get,lpush,lpop,rpush,rpop,lrange_100", "-r", "100", "-d", "200"),
             ("-r", "50", "RPUSH", "queue:__rand_int__", "item"),
             ("-r", "50", "BLPOP", "queue:__rand_int__", "other:__rand_int__", "0.001")]
    running = [subprocess.Popen(["redis-benchmark", "-p", str(server.port), "-n", str(REQUESTS),
                                 "-c", "20", "-q", *arguments],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
               for arguments in mixed]
    for process in running:
        text, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0 and not re.search(r"error|ERR|WRONGTYPE", text, re.I), text
    server.wait_until_blocked(0)
    return []


@compared
def time_outs_come_while_others_keep_it_busy(server):
    """Clients write keys that expire, in long pipelines: as much work for timers as for sockets. If
    timers waited for sockets, they would be late by seconds."""
    with subprocess.Popen(["redis-benchmark", "-p", str(server.port), "-q", "-P", "256", "-c", "50",
                           "-n", "100000000", "-r", "100000000", "SET", "key:__rand_int__", "v",
                           "PX", "300"], stdout=subprocess.DEVNULL) as busy:
        late = []
        try:
            with Wire(server) as wire:
                wait_for(lambda: int(server.info("expired_keys")) > 1000, "keys that expire")
                end = time.monotonic() + 3
                while time.monotonic() < end:
                    began = time.monotonic()
                    equal(wire.ask("BLPOP", "none", "0.1"), None)
                    late.append((time.monotonic() - began) * 1000 - 100)
        finally:
            busy.kill()
    late.sort()
    note(server, f"timeouts late by {percentiles(late)}")
    if server.is_broker:
        limit = 20 if settings.strict else 1500 * settings.slowness
        assert late[len(late) // 2] < limit, f"half of them are late by {late[len(late) // 2]} ms"
    return []


@own()
def the_purgatory_is_empty_after_a_load(server):
    """Its fields in INFO rise while clients are blocked, and return to zero."""
    fields = ("pending", "delayed", "watched", "keys")

    def told():
        return {field: int(server.info(f"purgatory_{field}")) for field in fields}
    nothing = dict.fromkeys(fields, 0)
    equal(told(), nothing, "at the beginning")
    empty = int(server.info("purgatory_memory"))
    with Wire(server) as first, Wire(server) as second, Wire(server) as third:
        for count, (wire, *asked) in enumerate([
                (first, "BLPOP", "a", "b", "c", "a", 60), (second, "BLPOP", "c", 0),
                (third, "BLMOVE", "b", "d", "LEFT", "LEFT", 60)], 1):
            wire.send(*asked)
            server.wait_until_blocked(count)
        equal(told(), {"pending": 3, "delayed": 2, "watched": 5, "keys": 3}, "while three wait")
        assert int(server.info("scheduler_pending")) >= 1
        with Wire(server) as other:
            other.ask("RPUSH", "c", "1", "2")
            equal([first.reply(), second.reply()], [[b"c", b"1"], [b"c", b"2"]])
            equal(told(), {"pending": 1, "delayed": 1, "watched": 1, "keys": 1}, "while one waits")
    server.wait_until_blocked(0)
    equal(told(), nothing, "when the last has gone")
    equal([int(server.info(f"purgatory_{field}")) for field in
           ("submitted", "completed", "expired", "cancelled", "closed")], [3, 2, 0, 1, 0], "ends")
    benchmark(server, "-r", "100", "BLPOP", "none:__rand_int__", "0.002", clients=200)
    equal(told(), nothing, "after many that expired")
    equal(int(server.info("purgatory_expired")) >= REQUESTS, True, "that many expired")
    left = int(server.info("purgatory_memory")) - empty
    note(server, f"{left} bytes of the purgatory are kept after {REQUESTS} waits")
