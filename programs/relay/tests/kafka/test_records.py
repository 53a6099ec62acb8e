# SPDX-License-Identifier: MIT
"""What records and destinations can be like; each with all records counted at the end."""
import collections
import random
import time

import pytest

from case import now_ms
from client import read_records
from relay import wait_for
import test_examples


def test_delays_count_from_the_timestamp_that_the_broker_sets(case):
    case.client.config(case.name, "message.timestamp.type=LogAppendTime")
    case.relay("a").ready()
    for delay in (0, 1, 900, 5000):
        case.client.produce(case.name, 500, case.next, "-", 0, 50, f"htw-delay={delay}")
        case.next += 500
    case.wait_arrived()
    case.end().require()


# holds: relay-7
def test_a_cancel_that_was_sent_while_no_relay_ran_is_kept(case):
    """Half of the victims are in the levels already, half in the input; all are due when a relay starts."""
    count = 60
    first = case.relay("a").ready()
    begin = now_ms()
    at = [begin + 25000 + 50 * number for number in range(count)]
    for number in range(0, count, 2):
        case.client.send(case.name, f"k{number}", "v", f"htw-deliver-at={at[number]}", f"htw-id=n{number}")
    wait_for(lambda: sum(case.waiting().values()) >= count // 2, "records in the levels")
    assert first.stop() == 0, first.text()
    for number in range(1, count, 2):
        case.client.send(case.name, f"k{number}", "v", f"htw-deliver-at={at[number]}", f"htw-id=n{number}")
    for number in range(count - 10):
        case.client.send(case.name, f"k{number}", "-", f"htw-deliver-at={at[number]}", f"htw-cancel=n{number}")
    assert now_ms() < at[0], "too slow to send cancels in time"
    time.sleep((at[-1] - now_ms()) / 1000 + 1)
    case.relays.remove(first)
    case.relay("a").ready()
    case.next = 10
    case.wait_arrived()
    time.sleep(1)
    assert case.arrived() == 10
    assert case.keys == {f"k{number}".encode() for number in range(count - 10, count)}, case.keys


def test_the_examples_get_what_they_ask_for_once(case):
    why = test_examples.missing()
    if why:
        print(f"    skipped: {why}")
        return
    case.relay().ready()
    test_examples.try_all(case.cluster.bootstrap, case.cluster.folder, *case.world.build.examples, case.name, case.out)


@pytest.mark.quick
def test_many_records_due_in_one_millisecond_and_long_ago(case):
    case.relay("a", "--max-memory", "4M").ready()
    case.produce(25000, 4000, 0)
    case.produce(5000, -10 ** 9, 0)
    case.client.produce(case.name, 5000, case.next, 0, 0, 10)  # since 1970
    case.next += 5000
    case.wait_arrived()
    case.end().require()


def read_letters(case, number):
    """The dead letters when there are `number` of them, by key; each must be there once."""
    wait_for(lambda: int(case.client.count(case.files["dead"])) >= number, f"{number} dead letters")
    time.sleep(1)
    case.client.finish(case.files["dead"])
    letters = list(read_records(case.files["dead"]))
    assert len(letters) == number, [letter.key for letter in letters]
    return {letter.key: letter.headers["htw-reason"] for letter in letters}


# holds: relay-8
def test_large_records_and_bad_ones(case):
    dead = case.name + ".dead"
    case.read("dead", "committed", dead)
    case.relay("a", "-X", "message.max.bytes=2000000").ready()
    case.produce(20, 1000, 1000, 1000000)
    case.produce(1000, 500, 2000)
    case.wait_arrived()
    at = now_ms()
    bad = {
        "bad-time": ["htw-deliver-at=soon"],
        "bad-none": ["a=b"],
        "bad-topic": [f"htw-deliver-at={at}", "htw-deliver-to=elsewhere"],
        "bad-own": [f"htw-deliver-at={at}", f"htw-deliver-to={case.name}.l0"],
        "bad-many": [f"htw-deliver-at={at}", *(f"{number:x}=" for number in range(100000))],  # more than librdkafka reads
    }
    for key, headers in bad.items():
        case.client.send(case.name, key, "v", *headers)
    letters = read_letters(case, len(bad))
    assert set(letters) == set(bad) and "100 000" in letters["bad-many"], letters
    case.end().require()


def test_large_headers_come_with_little_memory(case):
    relay = case.relay("a", "-X", "message.max.bytes=2000000", "--max-memory", "64M").ready()
    case.produce(500, 8000, 4000, 1, "x=" + "h" * 900000)
    case.wait_arrived()
    peak = relay.peak_mib()
    print(f"    {peak} MiB at most", flush=True)
    case.end().require()
    assert peak < 300, f"{peak} MiB"


# holds: relay-9
def test_dead_letters_that_are_refused_are_not_lost(case):
    dead = case.name + ".dead"
    case.read("dead", "committed", dead)
    case.client.config(dead, "max.message.bytes=1000")
    relay = case.relay("a").ready()
    case.produce(5000, 1000, 8000)
    case.client.send(case.name, "bad", "v" * 5000, "htw-deliver-at=soon")
    wait_for(lambda: "dead letter" in relay.text(), "a relay that says that a dead letter was refused")
    case.client.config(dead, "max.message.bytes=1000000")
    if not relay.running():
        relay.start()
    case.wait_arrived()
    assert set(read_letters(case, 1)) == {"bad"}
    case.end().require()


# A cluster where topics have rights, as soon as one is given or denied.
RIGHTS = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
          "allow.everyone.if.no.acl.found": "true",
          "auto.create.topics.enable": "false"}  # what was deleted would be back


def send_to(case, topic, count, key):
    """Records due within the next seconds. Their keys make the judge leave them out."""
    for number in range(count):
        case.client.send(case.name, f"bad-{key}-{number}", "v", f"htw-deliver-at={now_ms() + 1000 + 100 * number}",
                         f"htw-deliver-to={topic}")


@pytest.mark.cluster(**RIGHTS)
def test_a_destination_that_refuses_writes_stops_no_other(case):
    denied, deleted = case.name + "-denied", case.name + "-deleted"
    for topic in (denied, deleted):
        case.client.topic(topic, 2)
        case.options += ["--allow", topic]
    case.client.deny(denied)
    case.read("dead", "committed", case.name + ".dead")
    relay = case.relay("a").ready()
    case.produce(10000, 1000, 10000)
    case.client.send(case.name, "bad-early", "v", f"htw-deliver-at={now_ms()}", f"htw-deliver-to={deleted}")
    wait_for(lambda: case.client.ends(deleted) != "0", "a record for the destination that will be deleted")
    send_to(case, denied, 20, "denied")
    wait_for(lambda: "may not write to it" in relay.text(), "a relay that says who refuses")
    case.read("other", "committed", denied)  # brokers know its rights by now
    case.client.delete(deleted)
    send_to(case, deleted, 20, "deleted")
    case.wait_arrived()
    reasons = read_letters(case, 40)
    for key, reason in reasons.items():
        assert reason == ("the relay may not write to the topic" if "denied" in key
                          else "the topic or its partition does not exist"), (key, reason)
    # It is tried again within a minute; what does not come then is a dead letter.
    case.client.permit(denied)
    def comes():
        case.client.send(case.name, "bad-again", "v", f"htw-deliver-at={now_ms()}", f"htw-deliver-to={denied}")
        time.sleep(2)
        return int(case.client.count(case.files["other"])) > 0
    wait_for(comes, "a record for a destination that is writable again", 80)
    verdict = case.end()
    verdict.require()
    assert verdict.percentile(1) < 15000, f"the others have waited: {verdict}"


@pytest.mark.quick
# holds: relay-8
def test_a_flood_of_unknown_destinations_stops_nothing(case):
    count, spread = 10000, 4000
    case.options += ["--allow", case.name + "-x*"]
    case.read("dead", "committed", case.name + ".dead")
    relay = case.relay("a").ready()
    # A part of it is overdue on arrival, and the broker makes each topic that a producer asks for.
    case.client.flood(case.name, count, now_ms() - 1000, spread, case.name + "-x")
    case.produce(10000, 500, 8000)
    case.wait_arrived()
    reasons = collections.Counter(read_letters(case, count).values())
    assert reasons == {"the topic or its partition does not exist": count}, reasons
    made = [topic for topic in case.client.topics().split() if topic.startswith(case.name + "-x")]
    assert not made, f"{len(made)} topics were made, such as {made[0]}"
    assert relay.running()
    verdict = case.end()
    verdict.require()
    assert "a commit failed" not in relay.text(), relay.text()
    assert verdict.percentile(.99) < 15000, f"the others have waited: {verdict}"


# holds: relay-18
def test_records_that_recur_come_once_for_each_time_when_relays_are_killed(case):
    relays = [case.relay(name).ready() for name in "ab"]
    until = now_ms() + 30000
    case.produce(300, 2000, 1000, 100, "htw-id=again", "htw-every=1500ms", f"htw-until={until}", "htw-catch-up=1000")
    for number in range(20):
        case.client.send(case.name, f"c{number}", "v", "htw-id=again", "htw-every=1500ms", "htw-catch-up=1000", f"htw-deliver-at={until - 25000}")
    cancelled = None
    for turn in range(12):
        if turn == 6:
            for number in range(20):
                case.client.send(case.name, f"c{number}", "-", "htw-cancel=again")
            cancelled = now_ms()
        time.sleep(random.uniform(0.5, 3))
        victim = relays[turn % 2]
        victim.kill()
        victim.start()
    relays[0].ready()
    wait_for(lambda: now_ms() > until and not case.act("list")[0], "all have ended", 60)
    for what in ("sent", "got"):
        case.client.finish(case.files[what])
    begin = {record.key: int(record.headers["htw-deliver-at"]) for record in read_records(case.files["sent"])
             if not record.key.startswith("c")}
    wanted = collections.Counter((key, at) for key, first in begin.items() for at in range(first, until, 1500))
    all_got = list(read_records(case.files["got"]))
    got = [record for record in all_got if not record.key.startswith("c")]
    came = collections.Counter((record.key, int(record.headers["htw-delivered-for"])) for record in got)
    print(f"    {len(begin)} records, {sum(wanted.values())} occurrences, {sum(came.values())} came", flush=True)
    assert len(begin) == 300 and came == wanted, f"{len(wanted - came)} are missing, {len(came - wanted)} too many"
    assert all(record.timestamp >= int(record.headers["htw-delivered-for"]) for record in got), "early"
    for number in range(20):  # without an end, but for their cancels: none is missing before, and none came after
        times = sorted(int(record.headers["htw-delivered-for"]) for record in all_got if record.key == f"c{number}")
        assert times == list(range(until - 25000, until - 25000 + 1500 * len(times), 1500)), times
        assert times and cancelled - 15000 < times[-1] < cancelled + 15000, (times[-1] - cancelled)
