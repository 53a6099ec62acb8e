# SPDX-License-Identifier: MIT
"""What waits: listing it while relays move it, and cancelling and moving some of it."""
import random
import signal
import threading
import time

from case import now_ms
from relay import Relay, wait_for


def list_all(case, *options, limit=1000):
    """All pages; a record that is on two is an error."""
    rows, after = [], []
    while True:
        page, _ = case.act("list", "--limit", str(limit), *options, *after)
        if not page or "after" not in page[-1]:
            rows += page
            assert len({row["print"] for row in rows}) == len(rows), "a record is on two pages"
            return rows
        rows += page[:-1]
        after = ["--after", page[-1]["after"]]


# holds: relay-16
def test_what_waits_is_listed_while_relays_move_it(case):
    case.relay("a").ready()
    case.relay("b").ready()
    case.produce(100000, 3000, 60000)
    sent = {}
    lists = 0
    end = time.monotonic() + 40
    while time.monotonic() < end:
        begin_ms = now_ms()
        rows = list_all(case, limit=20000 if lists % 2 else 200000)
        end_ms = now_ms()
        lists += 1
        times = {row["key"]: int(row["time_ms"]) for row in rows}
        assert len(times) == len(rows), "a record was listed twice"
        if not sent:
            assert len(times) > 90000, len(times)
        sent.update({key: at for key, at in times.items() if key not in sent})
        # What the first list has shown, and is not due yet: all of it must be there each time. What is listed though it
        # is overdue waits for a commit.
        lost = [key for key, at in sent.items() if at > end_ms and times.get(key) != at]
        assert not lost, f"list {lists} lacks {len(lost)} records, such as {lost[:3]}"
        late = [key for key, at in times.items() if at < begin_ms - 5000]
        assert not late, f"list {lists} has {len(late)} records that were due long before"
    print(f"    {lists} lists, the last in {end_ms - begin_ms} ms", flush=True)
    assert lists > 5
    case.wait_arrived()
    assert not list_all(case)
    case.end().require()


def act_on(case, action, name, *words):
    """Cancels or moves a record whose key is its id; what it says."""
    return case.act(action, name, *words, "--key", name)[0][0]["state"]


# holds: relay-16, relay-21
def test_what_waits_is_shown_cancelled_and_moved(case):
    relay = case.relay("a").ready()
    at = now_ms() + 20000
    for name in ("cancel", "later", "soon", "stay"):
        case.client.send(case.name, name, "v-" + name, f"htw-deliver-at={at}", f"htw-id={name}", "trace=x")
    case.client.send(case.name, "none", "v-none", f"htw-deliver-at={at + 1}")
    case.client.send(case.name, "other", "v", f"htw-deliver-at={at}", "htw-id=stay")
    case.next = 5
    wait_for(case.is_filed, "all are filed")
    # Keys go elsewhere from now on: what is cancelled and moved is found where it is.
    case.client.partitions(case.name, 8)
    rows = list_all(case, limit=2)
    assert sorted(row["key"] for row in rows) == ["cancel", "later", "none", "other", "soon", "stay"], rows
    assert rows[-1]["key"] == "none" and rows[-1]["id"] is None
    assert [row["key"] for row in list_all(case, "--grep", "v-st")] == ["stay"]
    assert [row["key"] for row in list_all(case, "--key", "later")] == ["later"]
    assert [row["key"] for row in list_all(case, "--from", f"{(at + 1) / 1000:.3f}")] == ["none"]
    assert not list_all(case, "--to", "elsewhere")
    shown, _ = case.act("show", "stay", "--key", "other")
    assert [(row["value"], row["time_ms"]) for row in shown] == [("v", str(at))], shown
    assert "no record waits" in case.act("show", "stay", status=1)[1]  # it has a key
    assert act_on(case, "cancel", "cancel") == "sure"
    assert act_on(case, "move", "later", f"{(at + 3000) / 1000:.3f}") == "sure"
    assert act_on(case, "move", "soon", f"{(at - 8000) / 1000:.3f}") == "sure"
    assert "no record waits" in case.act("move", "cancel", "+1h", "--key", "cancel", status=1)[1]
    times = {row["key"]: int(row["time_ms"]) - at for row in list_all(case)}
    assert times == {"later": 3000, "soon": -8000, "stay": 0, "other": 0, "none": 1}, times
    case.wait_arrived()
    assert relay.running()
    verdict = case.end()
    verdict.require()
    assert (verdict.cancelled, sorted(verdict.replaced)) == (["cancel"], ["later", "soon"]), vars(verdict)


def send_named(case, names, delay_ms):
    """Records with their names as keys and ids, that are filed."""
    at = now_ms() + delay_ms
    for name in names:
        case.client.send(case.name, name, "v-" + name, f"htw-deliver-at={at}", f"htw-id={name}")
    case.next += len(names)
    wait_for(case.is_filed, "all are filed")


# holds: relay-16
def test_what_the_input_has_deleted_is_shown_and_moved(case):
    case.relay("a").ready()
    send_named(case, ["old", "other"], 600000)
    case.client.send(case.name, "tick", "v", "htw-every=2s", "htw-id=tick")
    case.client.send(case.name, "ends", "v", "htw-every=1h", "htw-id=ends", f"htw-until={now_ms() + 7200000}")
    time.sleep(5)
    assert "the dead letters say why" in case.act("move", "ends", "+3h", "--key", "ends", status=1)[1]
    begin = now_ms()
    shown, _ = case.act("show", "tick", "--key", "tick")
    assert begin < int(shown[0]["time_ms"]) <= now_ms() + 2000, (shown, begin)  # the next one
    assert act_on(case, "cancel", "tick") in ("sure", "unsure")  # an occurrence may be leaving
    case.client.trim(case.name)
    shown, _ = case.act("show", "old", "--key", "old")
    assert [(row["value"], row["level"] is None) for row in shown] == [("v-old", False)], shown
    assert act_on(case, "cancel", "other") == "sure"
    assert act_on(case, "move", "old", "+2s") == "sure"
    case.next = 2
    case.wait_arrived()
    assert case.keys == {b"old", b"tick"}


def test_a_question_without_a_relay_ends_and_a_cancel_counts_later(case):
    relay = case.relay("a").ready()
    send_named(case, ["gone", "stays"], 50000)
    assert relay.stop() == 0
    got = {}

    def act(action, name):
        rows, why = case.act(action, name, "--key", name, status=1)
        got[action] = rows[0]["state"] if rows else why

    threads = [threading.Thread(target=act, args=words) for words in (("cancel", "gone"), ("show", "stays"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got["cancel"] == "unread" and "has not answered" in got["show"], got
    case.relay("b").ready()
    case.next = 1
    case.wait_arrived()
    case.end().require()
    assert case.keys == {b"stays"}


# holds: relay-21
def test_what_is_surely_cancelled_or_moved_is_so_while_relays_are_killed_and_suspended(case):
    relays = [case.relay(name).ready() for name in "ab"]
    names = [f"n{number}" for number in range(60)]
    send_named(case, names, 40000)
    end, sure, turn = now_ms() + 45000, {}, 0

    def act(some):
        for name in some:
            time.sleep(random.uniform(0, 5))
            moves = names.index(name) % 2
            rows = case.act("move" if moves else "cancel", name, *(["+1h"] if moves else []), "--key", name, status=None)[0]
            sure[name] = bool(rows) and rows[0]["state"] == "sure"

    threads = [threading.Thread(target=act, args=(names[first::4],)) for first in range(4)]
    for thread in threads:
        thread.start()
    while now_ms() < end:
        relay = relays[turn % 2]
        time.sleep(random.uniform(1, 4))
        if turn % 4 < 2:
            relay.kill()
            relay.start()
        else:
            relay.process.send_signal(signal.SIGSTOP)
            time.sleep(8)
            relay.resume()
        turn += 1
    for thread in threads:
        thread.join()
    case.next = sum(name not in sure or not sure[name] for name in names)
    time.sleep(5)
    case.arrived()
    came = {name for name in names if name.encode() in case.keys}
    print(f"    {sum(sure.values())} of {len(names)} surely, {len(came)} came, {turn} turns", flush=True)
    wrong = [name for name in came if sure.get(name)]
    assert not wrong, f"delivered, though they were surely cancelled or moved: {wrong}"
    assert sum(sure.values()) > 10, sure


# holds: relay-15
def test_cancels_and_replacements_by_id_do_what_they_say_while_relays_are_killed(case):
    relays = [case.relay(name).ready() for name in "ab"]
    begin = now_ms()
    case.produce(20000, 35000, 20000, 100, "htw-id=a")  # an id is one of a key
    case.client.produce(case.name, 6000, 0, "-", 0, 10, "htw-cancel=a")
    case.client.produce(case.name, 3000, 6000, begin + 20000, 10000, 100, "htw-id=a")
    case.client.produce(case.name, 3000, 9000, begin + 60000, 10000, 100, "htw-id=a")
    assert now_ms() - begin < 10000, "too slow to send all in time"
    turn = 0
    while now_ms() - begin < 60000:
        time.sleep(random.uniform(0.5, 3))
        relays[turn % 2].kill()
        relays[turn % 2].start()
        turn += 1
    case.next = 14000
    case.wait_arrived()
    wait_for(lambda: not list_all(case), "nothing waits any more", 90)
    verdict = case.end()
    print(f"    {len(verdict.cancelled)} of 6000 cancelled, {len(verdict.replaced)} of 6000 replaced, {turn} kills",
          flush=True)
    verdict.require()
    assert (len(verdict.cancelled), len(verdict.replaced)) == (6000, 6000)


# holds: relay-20
def test_records_whose_index_was_lost_wait_until_it_is_said_what_becomes_of_them(case):
    relay = case.relay("a").ready()
    at = now_ms() + 6000
    for number in range(20):
        case.client.send(case.name, f"k{number}", "v", f"htw-deliver-at={at}", f"htw-id=n{number}")
    case.next = 20
    wait_for(case.is_filed, "all are filed")
    assert relay.stop() == 0
    case.client.delete(case.name + ".ids")
    relay.start()
    wait_for(lambda: not relay.running(), "a relay that misses its index")
    relay.is_stopped = True  # as it should be
    assert "--recover delivers those that wait" in relay.text(), relay.text()
    create = Relay(case.world.program, case.cluster, case.name, *case.options, "--create-topics")
    assert create.process.wait(60) == 0, create.text()
    relay = case.relay("b")
    wait_for(lambda: relay.text().count("stands still") == 2, relay.text)
    time.sleep(max(0, at - now_ms()) / 1000 + 1)
    assert relay.running() and case.arrived() == 0, relay.text()
    assert relay.stop() == 0
    case.relay("c", "--recover").ready()
    case.wait_arrived()
    case.end().require()
