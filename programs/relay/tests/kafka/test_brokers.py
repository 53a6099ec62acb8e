# SPDX-License-Identifier: MIT
"""What can happen to Kafka and to its topics; each with all records counted at the end."""
import time

import pytest

from case import now_ms
from relay import Relay, wait_for


@pytest.mark.quick
# holds: relay-1
def test_a_broker_that_is_killed_and_comes_back_costs_nothing_but_time(case):
    case.relay("a").ready()
    case.relay("b")
    case.produce(15000, 500, 15000)
    time.sleep(3)
    case.cluster.nodes[0].kill()
    case.cluster.nodes[0].start()
    case.wait_arrived(seconds=120)
    case.end().require()


# holds: relay-13
def test_a_new_partition_of_the_input_is_used_when_it_has_buckets(case):
    relay = case.relay("a", "-X", "topic.metadata.refresh.interval.ms=1000").ready()
    case.produce(2000, 1000, 5000)
    case.client.partitions(case.name, 4)
    wait_for(lambda: "is new and has no buckets" in relay.text(), "a relay that sees the new partitions")
    case.produce(2000, 3000, 3000)  # the producer may know them, too
    create = Relay(case.world.program, case.cluster, case.name, *case.options, "--create-topics")
    assert create.process.wait(60) == 0, create.text()
    for partition in range(4):
        case.client.sendto(case.name, partition, f"p{partition}", "v", f"htw-deliver-at={now_ms() + 2000}")
    case.next += 4
    case.wait_arrived()
    case.client.finish(case.files["sent"])
    case.read("sent", "committed", case.name)  # with the new partitions
    case.end().require()


def test_topics_that_would_lose_records_are_refused(case):
    def refused(part):
        relay = case.relay()
        assert relay.process.wait(60) not in (0, None), "it runs"
        assert part in relay.text(), relay.text()
        relay.is_stopped = True
    level = case.name + ".l1"
    case.client.config(level, "retention.ms=1000")
    refused("retention")
    case.client.delete(level)
    refused(level)


@pytest.mark.cluster(log_retention_check_interval_ms=1000)
def test_records_that_were_deleted_too_soon_are_missed(case):
    relay = case.relay("a").ready()
    case.produce(10000, 1000, 60000)
    time.sleep(4)
    case.client.config(case.name + ".l3", "retention.ms=1000")
    missed = "were deleted before the relay read them"
    wait_for(lambda: not relay.running(), "a relay that stops", 120)
    assert missed in relay.text(), relay.text()
    case.client.config(case.name + ".l3", "retention.ms=-1")
    left = set(case.waiting())
    assert left and case.arrived() < case.next, "nothing was deleted"
    relay.start()
    assert relay.process.wait(60) != 0, "it went on as if nothing were missing"
    relay.command.append("--recover")
    relay.start()
    wait_for(lambda: case.arrived() and left <= {key.decode() for key in case.keys}, "what was left", 120)
    assert relay.stop() == 0, relay.text()
    verdict = case.verdict()
    print(f"    {verdict}", flush=True)
    assert verdict.missing and not verdict.early and not verdict.unknown, verdict
    # Nor does it begin with what is left of the input.
    case.client.config(case.name, "retention.ms=1000")
    case.produce(100, 1000, 1000)
    wait_for(lambda: case.client.ends(case.name) == "0", "an input whose records were deleted")
    relay.command.remove("--recover")
    relay.start()
    assert relay.process.wait(60) != 0, "it went on as if nothing were missing"
    assert relay.text().count(missed) == 3, relay.text()


@pytest.mark.long
@pytest.mark.cluster(offsets_retention_minutes=1, offsets_retention_check_interval_ms=5000)
def test_a_fleet_that_was_down_until_its_positions_expired_says_so(case):
    relay = case.relay("a").ready()
    case.produce(2000, 1000, 240000)
    time.sleep(10)
    assert relay.stop() == 0
    time.sleep(110)
    relay.start()
    assert relay.process.wait(60) != 0, "it went on as if nothing were missing"
    assert "--recover" in relay.text(), relay.text()
    relay.command.append("--recover")
    relay.start()
    case.wait_arrived(seconds=260)
    case.end().require(once=False)
