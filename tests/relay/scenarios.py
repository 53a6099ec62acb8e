# SPDX-License-Identifier: MIT
"""What can happen to relays, to Kafka and to records; each with all its records counted at the end."""
import collections
import itertools
import os
import random
import re
import shutil
import struct
import time

from judge import Verdict, header
from client import read_records
from relay import QUICK, Relay, wait_for
import test_examples

tests = []
numbers = itertools.count()


# Who runs a test: --quick, which is a part of CI, and all others; all but --quick; --long only.
CI, USUAL, LONG = "ci", "usual", "long"


def scenario(kind=USUAL, nodes=1, **settings):
    """Collects a test: who runs it, and what cluster it needs."""
    def collect(function):
        tests.append((function, kind, nodes, settings))
        return function
    return collect


def now_ms():
    return int(time.time() * 1000)


class Case:
    """The topics of one test, its relays, and readers of what goes in and out."""

    # Buckets of 250 ms, 1 s, 4 s, 16 s: within seconds a record passes through several levels.
    LEVELS = ("--width", "250ms", "--size", "8", "--levels", "5")

    def __init__(self, world, stripes=2, *options):
        self.world, self.client, self.cluster = world, world.client, world.cluster
        self.name = f"t{next(numbers)}"
        self.out = self.name + "-out"
        self.options = [self.name, *self.LEVELS, "--allow", self.out, "--to", self.out, *options]
        for name, value in QUICK.items():
            self.options += ["-X", f"{name}={value}"]
        self.relays = []
        self.client.topic(self.name, stripes)
        # The broker's time at the moment of appending shows what is early, whenever it is read.
        self.client.topic(self.out, 3, "message.timestamp.type=LogAppendTime", "max.message.bytes=2097152")
        create = Relay(world.program, self.cluster, self.name, *self.options, "--create-topics")
        assert create.process.wait(60) == 0, create.text()
        self.files = {}
        self.read("sent", "committed", self.name)
        self.read("got", "committed", self.out)
        self.next = 0
        self.keys, self.read_to = set(), 0

    def read(self, what, isolation, topic):
        self.files[what] = os.path.join(self.cluster.folder, f"{self.name}.{what}")
        self.client.consume(self.files[what], isolation, topic)

    def relay(self, instance=None, *options, environment=None):
        relay = Relay(self.world.program, self.cluster, self.name, *self.options, *options, instance=instance,
                      environment=environment)
        self.relays.append(relay)
        return relay

    def ready(self, relay):
        wait_for(lambda: "ready" in relay.text() or not relay.running(), "a relay that is ready")
        assert relay.running(), relay.text()
        return relay

    def produce(self, count, from_ms, spread_ms, size=100, *headers):
        """Records due between now + from_ms and spread_ms later."""
        self.client.produce(self.name, count, self.next, now_ms() + from_ms, spread_ms, size, *headers)
        self.next += count

    def arrived(self):
        """How many different records have arrived."""
        with open(self.files["got"], "rb") as stream:
            stream.seek(self.read_to)
            lines = stream.read().split(b"\n")
        self.read_to += sum(len(line) + 1 for line in lines[:-1])
        self.keys.update(line.split(b"\t", 6)[5] for line in lines[:-1])
        return len(self.keys)

    def wait_arrived(self, seconds=90):
        def all_arrived():
            for relay in self.relays:
                assert relay.running() or relay.is_stopped, f"a relay has ended: {relay.text()[-2000:]}"
            return self.arrived() >= self.next
        wait_for(all_arrived, lambda: f"{self.next} records; {len(self.keys)} have come", seconds)

    def waiting(self, levels=5):
        """How often each key is in a bucket, and not done."""
        files = {}
        for topic in (f"{self.name}.l{level}" for level in range(levels)):
            files[topic] = os.path.join(self.cluster.folder, topic + ".waiting")
            self.client.consume(files[topic], "committed", topic)
        for path in files.values():
            self.client.finish(path)
        positions = {}
        for one in self.client.offsets(self.name).split():
            topic, partition, offset, _ = one.split(":", 3)
            positions[topic, int(partition)] = int(offset)
        return collections.Counter(record.key for path in files.values() for record in read_records(path)
                                   if record.offset >= positions[record.topic, record.partition])

    def verdict(self, ahead_ms=0):
        for what in ("sent", "got"):
            self.client.finish(self.files[what])
        return Verdict(self.files["sent"], self.files["got"], ahead_ms)

    def end(self, ahead_ms=0):
        """Stops all, and judges: each once, none early."""
        time.sleep(1)  # for what should not come
        for relay in self.relays:
            if relay.running():
                assert relay.stop() == 0, relay.text()[-2000:]
        verdict = self.verdict(ahead_ms)
        print(f"    {verdict}", flush=True)
        return verdict

    def close(self):
        for relay in self.relays:
            if relay.running():
                relay.kill()


@scenario()
def records_pass_all_levels_once(case):
    case.ready(case.relay("a"))
    case.produce(20000, 4000, 12000)
    case.wait_arrived()
    case.end().require()


@scenario()
def members_that_join_and_leave_under_load_lose_nothing(case):
    first = case.ready(case.relay("a"))
    case.produce(20000, 1000, 10000)
    second = case.relay("b")
    time.sleep(4)
    assert first.stop() == 0, first.text()
    case.ready(second)
    time.sleep(2)
    case.relay("c")
    case.wait_arrived()
    case.end().require()


@scenario(CI)
def killed_relays_that_come_back_lose_and_double_nothing(case):
    case.read("all", "uncommitted", case.out)
    relays = [case.ready(case.relay(name)) for name in "ab"]
    case.produce(30000, 1000, 15000)
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


@scenario()
def a_member_takes_over_from_one_that_was_killed(case):
    # The transaction that it leaves open would be in the way for a minute, if its successor did not end it.
    for name in "ab":
        case.ready(case.relay(name, "-X", "transaction.timeout.ms=60000"))
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
    first = case.ready(case.relay(None, "-X", "transaction.timeout.ms=60000", environment={
        "LD_PRELOAD": case.world.suspend, "HTW_SUSPEND": flag, "HTW_SUSPEND_AFTER": after, **environment}))
    case.ready(case.relay())
    case.produce(20000, 500, 20000)
    time.sleep(3)
    open(flag, "w").close()
    wait_for(first.is_suspended, "a relay that is suspended")
    wait_for(lambda: re.fullmatch(r"\S+:2", case.client.members(case.name)), "one member with both stripes")
    time.sleep(6)  # in which that one goes on with the work
    first.resume()
    case.wait_arrived()
    return case.end()


@scenario(CI)
def a_member_that_was_suspended_is_fenced(case):
    suspend_one_of_two(case, case.out).require()


@scenario()
def a_member_that_was_suspended_while_it_filed_is_fenced(case):
    # By its generation alone: its successor does not know its transactional ids.
    suspend_one_of_two(case, case.name + ".l", HTW_NAMELESS="1").require()


@scenario(CI)
def without_fencing_a_suspended_member_doubles_records(case):
    try:
        verdict = suspend_one_of_two(case, case.out, HTW_NAMELESS="1", HTW_UNFENCED=case.name)
    except AssertionError as error:
        # The positions went back so far that what they want has been deleted.
        assert "were deleted before the relay read them" in str(error), error
        return
    assert verdict.doubled, f"the test above would not notice that fencing is missing: {verdict}"


@scenario(CI)
def a_broker_that_is_killed_and_comes_back_costs_nothing_but_time(case):
    case.ready(case.relay("a"))
    case.relay("b")
    case.produce(15000, 500, 15000)
    time.sleep(3)
    case.cluster.nodes[0].kill()
    case.cluster.nodes[0].start()
    case.wait_arrived(seconds=120)
    case.end().require()


@scenario()
def of_two_relays_of_one_name_one_ends(case):
    case.ready(case.relay("a"))
    case.produce(5000, 1000, 15000)
    time.sleep(2)
    case.relay("a")
    wait_for(lambda: not all(relay.running() for relay in case.relays), "a relay that ends")
    time.sleep(5)
    ended = [relay for relay in case.relays if not relay.running()]
    assert len(ended) == 1 and ended[0].process.returncode == 1, f"{len(ended)} have ended"
    assert "another relay runs as the same --instance" in ended[0].text(), ended[0].text()
    ended[0].is_stopped = True
    case.wait_arrived()
    case.end().require()


@scenario()
def relays_that_are_stopped_leave_at_once(case):
    first = case.ready(case.relay("a"))
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


@scenario(disk="200m")
def a_broker_whose_disk_was_full_costs_nothing_but_time(case):
    if not case.cluster.has_disk:
        print("    skipped: a file system cannot be mounted here")
        return
    node = case.cluster.nodes[0]
    for name in "ab":
        case.ready(case.relay(name))
    case.produce(10000, 500, 20000)
    time.sleep(4)
    filler = os.path.join(node.folder, "filler")
    with open(filler, "wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, shutil.disk_usage(node.folder).free - (256 << 10))
    wait_for(lambda: node.process.poll() is not None, "a broker that ends for lack of space")
    os.unlink(filler)
    node.start()
    case.wait_arrived(seconds=120)
    case.end().require()


@scenario()
def a_fleet_that_was_down_goes_on_where_it_was(case):
    relays = [case.ready(case.relay(name)) for name in "ab"]
    case.produce(10000, 1000, 30000)
    time.sleep(5)
    for relay in relays:
        assert relay.stop() == 0, relay.text()
    time.sleep(12)  # six turns of the lowest level
    for relay in relays:
        relay.start()
    case.wait_arrived()
    case.end().require()


class Clock:
    """A wall clock for relays that are started with its environment."""

    def __init__(self, case):
        self.path = os.path.join(case.cluster.folder, case.name + ".clock")
        self.environment = {"LD_PRELOAD": case.world.set_clock, "HTW_CLOCK": self.path}
        self.set_ahead(0)

    def set_ahead(self, seconds):
        """Of the real time. Those that run see it at once."""
        with open(self.path, "r+b" if os.path.exists(self.path) else "wb") as stream:
            stream.write(struct.pack("=q", seconds * 10 ** 9))


@scenario()
def a_clock_that_is_set_forward_and_back_loses_and_doubles_nothing(case):
    clock = Clock(case)
    case.ready(case.relay("a", environment=clock.environment))
    case.relay("b")
    case.produce(30000, 1000, 35000)
    for ahead, seconds in ((5, 4), (0, 4), (-8, 10), (0, 2), (5, 2), (-20, 3), (0, 0)):
        time.sleep(seconds)
        clock.set_ahead(ahead)
    case.wait_arrived()
    case.end(ahead_ms=5000).require()


@scenario()
def deadlines_within_ten_years_wait_and_come(case):
    year = 365 * 24 * 3600
    clock = Clock(case)
    # Its buckets reach half a minute ahead, and turn within the test: records beyond move on each time.
    relay = case.ready(case.relay("a", "--levels", "3", environment=clock.environment))
    case.produce(5000, -10 ** 12, 10 ** 12)
    case.produce(5000, 0, 40000)
    case.produce(10000, 100000, 10 * year * 1000)
    wait_for(lambda: case.arrived() >= 10000, lambda: f"10000 records; {len(case.keys)} have come", 90)
    time.sleep(5)
    assert case.arrived() == 10000, f"{case.arrived()} have come"
    assert case.waiting(levels=3) == {str(number): 1 for number in range(10000, 20000)}
    clock.set_ahead(11 * year)
    case.wait_arrived()
    # A clock that was wrong does not make the relay wait until it is that late.
    clock.set_ahead(0)
    case.produce(5000, 0, 10000)
    case.wait_arrived()
    assert relay.running()
    case.end(ahead_ms=11 * year * 1000).require()


@scenario()
def delays_count_from_the_timestamp_that_the_broker_sets(case):
    case.client.config(case.name, "message.timestamp.type=LogAppendTime")
    case.ready(case.relay("a"))
    for delay in (0, 1, 900, 5000):
        case.client.produce(case.name, 500, case.next, "-", 0, 50, f"htw-delay={delay}")
        case.next += 500
    case.wait_arrived()
    case.end().require()


@scenario()
def a_cancelled_record_is_not_delivered(case):
    case.ready(case.relay("a"))
    at = now_ms() + 6000
    for number in range(40):
        case.client.send(case.name, f"k{number}", "v", f"htw-deliver-at={at}", f"htw-id=n{number}")
    for number in range(0, 40, 2):
        case.client.send(case.name, f"k{number}", "-", f"htw-deliver-at={at}", f"htw-cancel=n{number}")
    case.next = 20
    case.wait_arrived()
    time.sleep(1)
    assert case.arrived() == 20
    assert case.keys == {f"k{number}".encode() for number in range(1, 40, 2)}, case.keys


@scenario()
def the_examples_get_what_they_ask_for_once(case):
    why = test_examples.missing()
    if why:
        print(f"    skipped: {why}")
        return
    case.ready(case.relay())
    test_examples.try_all(case.cluster.bootstrap, case.cluster.folder, *case.world.examples, case.name, case.out)


@scenario()
def a_new_partition_of_the_input_is_used_when_it_has_buckets(case):
    relay = case.ready(case.relay("a", "-X", "topic.metadata.refresh.interval.ms=1000"))
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


@scenario()
def topics_that_would_lose_records_are_refused(case):
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


@scenario(CI)
def many_records_due_in_one_millisecond_and_long_ago(case):
    case.ready(case.relay("a", "--max-memory", "8M"))
    case.produce(50000, 6000, 0)
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


@scenario()
def large_records_and_bad_ones(case):
    dead = case.name + ".dead"
    case.read("dead", "committed", dead)
    case.ready(case.relay("a", "-X", "message.max.bytes=2000000"))
    case.produce(20, 1000, 1000, 1000000)
    case.produce(1000, 500, 2000)
    case.wait_arrived()
    at = now_ms()
    bad = {
        "bad-time": ["htw-deliver-at=soon"],
        "bad-none": ["a=b"],
        "bad-topic": [f"htw-deliver-at={at}", "htw-deliver-to=elsewhere"],
        "bad-own": [f"htw-deliver-at={at}", f"htw-deliver-to={case.name}.l0"],
    }
    for key, headers in bad.items():
        case.client.send(case.name, key, "v", *headers)
    assert set(read_letters(case, len(bad))) == set(bad)
    case.end().require()


@scenario()
def large_records_come_with_little_memory(case):
    case.ready(case.relay("a", "-X", "message.max.bytes=2000000", "--max-memory", "8M"))
    case.produce(60, 8000, 0, 1000000)
    case.produce(60, 8000, 2000, 1000000)
    case.wait_arrived()
    case.end().require()


@scenario()
def dead_letters_that_are_refused_are_not_lost(case):
    dead = case.name + ".dead"
    case.read("dead", "committed", dead)
    case.client.config(dead, "max.message.bytes=1000")
    relay = case.ready(case.relay("a"))
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
          "allow.everyone.if.no.acl.found": "true"}


def send_to(case, topic, count, key):
    """Records due within the next seconds. Their keys make the judge leave them out."""
    for number in range(count):
        case.client.send(case.name, f"bad-{key}-{number}", "v", f"htw-deliver-at={now_ms() + 1000 + 100 * number}",
                         f"htw-deliver-to={topic}")


@scenario(**RIGHTS)
def a_destination_that_refuses_writes_stops_no_other(case):
    denied, deleted = case.name + "-denied", case.name + "-deleted"
    for topic in (denied, deleted):
        case.client.topic(topic, 2)
        case.options += ["--allow", topic]
    case.client.deny(denied)
    case.read("dead", "committed", case.name + ".dead")
    relay = case.ready(case.relay("a"))
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


@scenario(log_retention_check_interval_ms=1000)
def records_that_were_deleted_too_soon_are_missed(case):
    relay = case.ready(case.relay("a"))
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


@scenario(CI)
def at_least_once_loses_nothing_when_relays_are_killed(case):
    case.options.append("--at-least-once")
    relays = [case.ready(case.relay(name)) for name in "ab"]
    case.produce(30000, 1000, 12000)
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


def send_a_million(case, spread_ms):
    # Buckets that have time for so many: what is overdue is delivered from where it is, and not loaded.
    case.options += ["--width", "16s", "--levels", "3"]
    for name in "ab":
        case.ready(case.relay(name, "--max-memory", "64M", "--stats"))
    case.produce(1000000, 150000, spread_ms)
    case.wait_arrived(seconds=400)
    case.end().require()
    for relay in case.relays:
        passes = re.search(r"(\d+)  Times that a bucket was read again", relay.text())
        print(f"    {passes.group(0).strip()}", flush=True)
        assert int(passes.group(1)) > 0, "all of it was in memory at once"


@scenario(LONG)
def a_million_records_due_in_one_second(case):
    send_a_million(case, 1000)


@scenario(LONG)
def a_million_records_due_in_one_millisecond(case):
    send_a_million(case, 0)


@scenario(LONG)
def kills_for_five_minutes_lose_and_double_nothing(case):
    relays = [case.ready(case.relay("a"))] + [case.relay(name) for name in "bc"]  # of whom one has nothing to do
    case.produce(200000, 5000, 300000)
    for turn in range(20):
        time.sleep(15)
        victim = relays[turn % 3]
        victim.kill()
        if turn % 2:
            time.sleep(12)  # others take over
        victim.start()
    case.wait_arrived(seconds=180)
    case.end().require()


@scenario(LONG)
def a_fleet_that_was_down_for_ten_minutes_goes_on_where_it_was(case):
    relays = [case.ready(case.relay(name)) for name in "ab"]
    case.produce(40000, 1000, 800000)
    time.sleep(10)
    for relay in relays:
        assert relay.stop() == 0, relay.text()
    time.sleep(600)
    for relay in relays:
        relay.start()
    case.wait_arrived(seconds=400)
    case.end().require()


@scenario(LONG, nodes=3)
def brokers_that_are_killed_one_after_the_other_cost_nothing_but_time(case):
    case.ready(case.relay("a"))
    case.relay("b")
    case.produce(40000, 2000, 90000)
    for node in case.cluster.nodes:
        time.sleep(5)
        node.kill()
        time.sleep(8)
        node.start()
    case.wait_arrived(seconds=180)
    case.end().require()


@scenario(LONG, offsets_retention_minutes=1, offsets_retention_check_interval_ms=5000)
def positions_outlive_their_retention_while_a_relay_runs(case):
    case.ready(case.relay("a"))
    case.produce(2000, 1000, 200000)
    case.wait_arrived(seconds=260)
    case.end().require()


@scenario(LONG, offsets_retention_minutes=1, offsets_retention_check_interval_ms=5000)
def a_fleet_that_was_down_until_its_positions_expired_says_so(case):
    relay = case.ready(case.relay("a"))
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
