# SPDX-License-Identifier: MIT
"""What can happen to relays; each with all its records counted at the end."""
import os
import random
import re
import time

import pytest

from judge import Verdict
from relay import wait_for


@pytest.mark.quick
# holds: relay-1
def test_killed_relays_that_come_back_lose_and_double_nothing(case):
    case.read("all", "uncommitted", case.out)
    relays = [case.relay(name).ready() for name in "ab"]
    case.produce(15000, 1000, 15000)
    end = time.monotonic() + 15
    turn = 0
    while time.monotonic() < end:
        time.sleep(random.uniform(0.5, 3))
        victim = relays[turn % 2]
        turn += 1
        victim.kill()
        victim.start()
    case.wait_arrived()
    verdict = case.end()
    verdict.require()
    # That nothing comes twice is due to the transactions: in those that were aborted, records do.
    case.client.finish(case.files["all"])
    everything = Verdict(case.files["sent"], case.files["all"])
    assert not everything.missing and everything.doubled, f"no kill hit a transaction: {everything}"


# holds: relay-12
def test_a_member_takes_over_from_one_that_was_killed(case):
    # The transaction that it leaves open would be in the way for a minute, if its successor did not end it.
    for name in "ab":
        case.relay(name, "-X", "transaction.timeout.ms=60000").ready()
    case.produce(10000, 1000, 25000)
    time.sleep(5)
    case.relays[0].kill()
    case.wait_arrived()
    verdict = case.end()
    verdict.require()
    assert verdict.percentile(1) < 20000, f"the take-over has taken more than 20 s: {verdict}"


def suspend_one_of_two(case, after, **environment):
    """One of two relays sleeps longer than its session, in a transaction that publishes to a topic whose name begins
    with `after`, and goes on; the verdict."""
    flag = os.path.join(case.cluster.folder, "suspend")
    # Its transaction does not end meanwhile: what stops it is that it is no member any more.
    first = case.relay(None, "-X", "transaction.timeout.ms=60000", environment={
        "LD_PRELOAD": case.world.build.suspend, "HTW_SUSPEND": flag, "HTW_SUSPEND_AFTER": after, **environment}).ready()
    case.relay().ready()
    case.produce(20000, 500, 20000)
    time.sleep(3)
    open(flag, "w").close()
    wait_for(first.is_suspended, "a relay that is suspended")
    wait_for(lambda: re.fullmatch(r"\S+:2", case.client.members(case.name)), "one member with both stripes")
    time.sleep(6)  # in which that one goes on with the work
    first.resume()
    case.wait_arrived()
    return case.end()


@pytest.mark.quick
# holds: relay-3
def test_a_member_that_was_suspended_is_fenced(case):
    suspend_one_of_two(case, case.out).require()


def test_a_member_that_was_suspended_while_it_filed_is_fenced(case):
    # By its generation alone: its successor does not know its transactional ids.
    suspend_one_of_two(case, case.name + ".l", HTW_NAMELESS="1").require()


def test_a_broker_that_stands_still_for_longer_than_the_session_meets_no_ghost(case):
    # A relay that came back beside its own old member would wait for the end of that one's session as well.
    for _ in range(2):
        case.relay(None, "-X", "session.timeout.ms=10000").ready()
    case.produce(10000, 500, 25000)
    time.sleep(4)
    node = case.cluster.nodes[0]
    node.suspend()
    time.sleep(13)
    node.resume()
    case.wait_arrived()
    verdict = case.end()
    verdict.require()
    assert verdict.percentile(1) < 20000, f"later than a still broker explains: {verdict}"


def test_a_relay_that_is_stopped_gives_its_work_away_at_once(case):
    # It is no member any more: nobody waits for the end of its session.
    for _ in range(2):
        case.relay(None, "-X", "session.timeout.ms=20000").ready()
    case.produce(10000, 500, 20000)
    time.sleep(4)
    assert case.relays[0].stop() == 0, case.relays[0].text()
    case.wait_arrived()
    verdict = case.end()
    verdict.require()
    assert verdict.percentile(1) < 10000, f"the take-over has waited for a session: {verdict}"


def test_relays_that_are_stopped_leave_at_once(case):
    first = case.relay("a").ready()
    case.produce(10000, 500, 30000)
    for turn in range(6):  # while they join, take a stripe over, or have just done so
        other = case.relay("b")
        time.sleep(random.uniform(0.1, 3))
        assert other.stop() == 0, other.text()
    case.cluster.nodes[0].suspend()
    try:
        time.sleep(random.uniform(0.1, 3))
        begin = time.monotonic()
        status = first.stop()
        span = time.monotonic() - begin
    finally:
        case.cluster.nodes[0].resume()
    # It may have had nothing to commit.
    assert status in (0, 1), first.text()[-2000:]
    assert span < 15, f"it has waited {span:.1f} s for a broker that does not answer"
    first.start()
    case.wait_arrived()
    case.end().require()


@pytest.mark.quick
# holds: relay-11
def test_at_least_once_loses_nothing_when_relays_are_killed(case):
    case.options.append("--at-least-once")
    relays = [case.relay(name).ready() for name in "ab"]
    case.produce(15000, 1000, 12000)
    for turn in range(5):
        time.sleep(2)
        relays[turn % 2].kill()
        relays[turn % 2].start()
    case.wait_arrived()
    verdict = case.end()
    verdict.require(once=False)
    # The judge can see doubles, and here there are some: for each kill at most what may be published and not
    # committed, to buckets and to destinations.
    assert len(verdict.doubled) <= 5 * 2 * 2000, f"more doubles than five kills explain: {verdict}"
    assert verdict.doubled, f"five kills without a record that came twice: {verdict}"
