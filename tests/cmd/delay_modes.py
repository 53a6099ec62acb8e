# SPDX-License-Identifier: MIT
"""The options that change how it runs, or what it prints."""
import random
import resource
import time

from harness import PATIENCE, equal, file_with, finish, parse_time, run, start_with, test


@test
# holds: delay-1
def delay_simulated_has_the_order_of_the_real_run(directory):
    rng = random.Random(99)
    delays = [rng.randrange(0, 1500) for _ in range(5000)]
    data = b"".join(b"%dms %d\n" % (delay, n) for n, delay in enumerate(delays))
    path = file_with(directory, "in", data)
    simulated = run("--simulate", "--timestamps", path)
    wanted = sorted(range(5000), key=lambda n: (delays[n], n))
    order = [int(line.split()[3]) for line in simulated.lines]
    equal(order, wanted, "simulated order")
    first = parse_time(simulated.lines[0].split()[0])
    for line in simulated.lines:
        planned, real, late, number = line.split()
        shift = (delays[int(number)] - delays[order[0]]) * 10**6
        assert abs(parse_time(planned) - first - shift) <= 1000, f"planned: {line}"
        equal((real, late), (planned, b"+0.000000"))
    real = run("--from-start", path)
    head = sum(1 for delay in delays if delay < 750)  # these may be late at the start
    equal(list(map(int, real.lines))[head:], wanted[head:], "real order")
    before = time.monotonic()
    equal(run("--simulate", data=b"30d b\n20d a\n").out, b"a\nb\n")
    assert time.monotonic() - before < PATIENCE, "the month was waited for"


@test
def delay_simulated_with_max_pending_takes_turns():
    got = run("--simulate", "-m2", data=b"3 a\n1 b\n1 c\n1 d\n")
    # b leaves at 1, c at 2; then d comes at 3, in the tick of a, but was armed later.
    equal(got.lines, [b"b", b"c", b"a", b"d"])


@test
def delay_with_coarse_ticks_is_rounded_up():
    got = run("--simulate", "-T", "--tick", "500ms", data=b"0.001 a\n0.5 b\n0.501 c\n0 d\n")
    equal([line.split()[2:] for line in got.lines],
          [[b"+0.000000", b"d"], [b"+0.499000", b"a"], [b"+0.000000", b"b"],
           [b"+0.499000", b"c"]])


@test
def delay_goes_on_when_limits_are_lowered():
    for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_MEMLOCK):
        process = start_with(b"0 up\n", until=b"up\n")
        hard = resource.prlimit(process.pid, limit)[1]
        resource.prlimit(process.pid, limit, (8 if limit == resource.RLIMIT_NOFILE else 0, hard))
        got = finish(process, b"100ms b\n0 a\n")
        equal((got.status, got.out), (0, b"a\nb\n"), f"limit {limit}: {got.err}")
