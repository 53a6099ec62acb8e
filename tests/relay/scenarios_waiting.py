# SPDX-License-Identifier: MIT
"""What waits: listing it while relays move it, and cancelling and moving some of it."""
import random
import time

from case import LONG, now_ms, scenario
from relay import wait_for


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


@scenario()
def what_waits_is_listed_while_relays_move_it(case):
    case.ready(case.relay("a"))
    case.ready(case.relay("b"))
    case.produce(100000, 3000, 60000)
    sent = {}
    lists = 0
    end = time.monotonic() + 40
    while time.monotonic() < end:
        begin_ms = now_ms()
        rows = list_all(case, limit=200000)
        end_ms = now_ms()
        lists += 1
        times = {row["key"]: int(row["time_ms"]) for row in rows}
        assert len(times) == len(rows), "a record was listed twice"
        assert all(row["copies"] == 1 for row in rows), "a record was found twice, and counted as two"
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


@scenario(LONG)
def a_million_that_wait_are_listed(case):
    case.ready(case.relay("a"))
    case.produce(1000000, 600000, 60000)
    wait_for(lambda: case.act("show")[0][0]["input"] == 0, "all are filed", 300)
    for limit in (100, 10000):
        begin = time.monotonic()
        rows, _ = case.act("list", "--limit", str(limit))
        print(f"    the first {limit}: {time.monotonic() - begin:.1f} s", flush=True)
        assert len(rows) == limit + 1
    assert case.act("show")[0][0]["records"] == 1000000


@scenario()
def what_waits_is_shown_cancelled_and_moved(case):
    relay = case.ready(case.relay("a"))
    at = now_ms() + 20000
    for name in ("cancel", "move", "stay", "twice", "twice2"):
        case.client.send(case.name, name, "v-" + name, f"htw-deliver-at={at}", f"htw-id={name.rstrip('2')}", "trace=x")
    case.client.send(case.name, "none", "v-none", f"htw-deliver-at={at + 1}")
    case.next = 5
    wait_for(lambda: case.act("show")[0][0]["input"] == 0, "all are filed")
    # Keys go elsewhere from now on: what is cancelled and moved is found where it is.
    case.client.partitions(case.name, 8)
    rows = list_all(case, limit=2)
    assert sorted(row["key"] for row in rows) == ["cancel", "move", "none", "stay", "twice", "twice2"], rows
    assert rows[-1]["key"] == "none" and rows[-1]["id"] is None
    assert [row["key"] for row in list_all(case, "--grep", "v-st")] == ["stay"]
    assert [row["key"] for row in list_all(case, "--key", "move")] == ["move"]
    assert [row["key"] for row in list_all(case, "--from", f"{(at + 1) / 1000:.3f}")] == ["none"]
    assert not list_all(case, "--to", "elsewhere")
    shown, _ = case.act("show", rows[-1]["print"])
    assert shown[0]["value"] == "v-none", shown
    assert "no record waits" in case.act("show", "nothing", status=1)[1]
    assert "several records" in case.act("cancel", "twice", status=1)[1]
    assert "no htw-id" in case.act("cancel", rows[-1]["print"], status=1)[1]
    assert "later time only" in case.act("move", "move", "+1s", status=1)[1]
    assert case.act("cancel", "cancel")[0][0]["state"] == "sure"
    assert case.act("move", "move", f"{(at + 3000) / 1000:.3f}")[0][0]["state"] == "sure"
    assert "already" in case.act("cancel", "move", status=1)[1]
    fates = {row["key"]: row for row in list_all(case)}
    assert fates["cancel"]["cancelled"] and not fates["stay"]["cancelled"], fates
    assert fates["move"]["moves_to_ms"] == str(at + 3000), fates
    case.wait_arrived()
    assert relay.running()
    verdict = case.end()
    verdict.require()
    assert (verdict.cancelled, verdict.moved) == (["cancel"], ["move"]), vars(verdict)


@scenario()
def cancels_and_moves_under_load_with_kills_do_what_they_say_or_nothing(case):
    relays = [case.ready(case.relay(name)) for name in "ab"]
    case.produce(20000, 1000, 25000)
    at = now_ms() + 12000
    for number in range(900):
        case.client.send(case.name, f"n{number}", "v", f"htw-deliver-at={at + number % 100 * 50}", f"htw-id=i{number}")
    for number in range(600):
        change = f"htw-cancel=i{number}" if number % 2 else f"htw-move=i{number}"
        more = [] if number % 2 else [f"htw-move-to={at + 8000 + number}"]
        case.client.send(case.name, f"n{number}", "-", f"htw-deliver-at={at + number % 100 * 50}", change, *more)
    end = time.monotonic() + 15
    turn = 0
    while time.monotonic() < end:
        time.sleep(random.uniform(0.5, 3))
        relays[turn % 2].kill()
        relays[turn % 2].start()
        turn += 1
    case.next += 600
    case.wait_arrived()
    wait_for(lambda: not list_all(case), "nothing waits any more", 90)
    verdict = case.end()
    print(f"    {len(verdict.cancelled)} of 300 cancelled, {len(verdict.moved)} of 300 moved", flush=True)
    verdict.require()
    assert len(verdict.moved) > 150 and len(verdict.cancelled) > 150
