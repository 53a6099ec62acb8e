# SPDX-License-Identifier: MIT
import gc
import threading
import weakref

import pytest

import htw
from conftest import advance_interrupted, collected, in_child, in_threads, wait_until
from htw import Purgatory, Reason, Request


class Wait(Request):
    """Is completed when it may take an item from a list."""

    def __init__(self, items, ended=None):
        self.items = items
        self.ended = [] if ended is None else ended

    def try_complete(self):
        if self.items:
            self.got = self.items.pop(0)
            return True
        return False

    def on_complete(self, reason):
        self.ended.append(reason)


@pytest.fixture
def purgatory(manual):
    with Purgatory(manual) as purgatory:
        yield purgatory


def test_event_completes_what_it_can(purgatory):
    items, requests = [], []
    for i in range(3):
        requests.append(Wait(items))
        assert purgatory.watch(requests[-1], ["a", b"b"])
    assert purgatory.count_key("a") == 3 and len(purgatory) == 3
    assert purgatory.check("a") == 0
    items += ["x", "y"]
    assert purgatory.check("b", at_most=1) == 1
    assert purgatory.check("b") == 1
    assert [request.ended for request in requests] == [[Reason.COMPLETED], [Reason.COMPLETED], []]
    assert [request.pending for request in requests] == [False, False, True]
    items.append("z")
    purgatory.check_later("a")
    purgatory._scheduler.advance(0)
    assert requests[2].got == "z" and purgatory._requests == set()


def test_request_that_can_end_at_once_does(purgatory):
    request = Wait(["x"])
    assert purgatory.watch(request, "a") is False
    assert request.ended == [Reason.COMPLETED] and not request.pending


def test_timeout_ends_a_request_and_may_be_changed(purgatory, manual):
    request = Wait([])
    purgatory.watch(request, "a", timeout=5)
    assert request.set_timeout(10)
    manual.advance(9)
    assert request.ended == []
    manual.advance(2)
    assert request.ended == [Reason.EXPIRED]
    assert not request.set_timeout(1) and not request.cancel() and not request.complete()
    purgatory.watch(request, "a", timeout_ns=1_000_000_000)  # again
    manual.advance(2)
    assert request.ended == [Reason.EXPIRED] * 2
    with pytest.raises(TypeError):
        purgatory.watch(request, "a", timeout=1, timeout_ns=1)


def test_each_way_to_end_says_its_reason_and_keeps_nothing(purgatory, manual):
    ways = {
        Reason.COMPLETED: lambda request: request.complete(),
        Reason.CANCELLED: lambda request: request.cancel(),
        Reason.EXPIRED: lambda request: manual.advance(100),
        Reason.CLOSED: lambda request: purgatory.close(),
    }
    for reason, end in ways.items():
        ended = []
        request = Wait([], ended)
        purgatory.watch(request, [b"k%d" % i for i in range(7)], timeout=50)
        reference = weakref.ref(request)
        end(request)
        assert ended == [reason] and not request.pending
        del request
        assert reference() is None, "without a collection"
    with pytest.raises(htw.StoppedError):
        purgatory.watch(Wait([]), "a")
    assert purgatory.close() == 0 and purgatory._requests == set()


def test_second_submission_is_refused_and_harms_nothing(purgatory):
    request = Wait([])
    purgatory.watch(request, "a")
    with pytest.raises(htw.BusyError):
        purgatory.watch(request, "b")
    assert purgatory.cancel_key("a") == 1 and request.ended == [Reason.CANCELLED]
    with pytest.raises(ValueError):
        purgatory.watch(request, [])
    with pytest.raises(TypeError):
        purgatory.watch(object(), "a")
    assert not request.pending and purgatory._requests == set()


def test_hooks_that_raise_are_reported_and_count_as_no(purgatory, unraisable):
    class Bad(Request):
        def try_complete(self):
            raise ValueError("try")

        def on_complete(self, reason):
            raise KeyError(reason)

    request = Bad()
    assert purgatory.watch(request, "a")
    assert purgatory.check("a") == 0
    assert request.cancel() and not request.pending
    assert [type(value) for value, _ in unraisable] == [ValueError] * 3 + [KeyError]
    assert all(source is request for _, source in unraisable)


def test_interrupt_in_a_hook_leaves_the_call(purgatory, unraisable):
    class Interrupted(Request):
        def try_complete(self):
            if self.raising:
                raise KeyboardInterrupt
            return False

    request = Interrupted()
    request.raising = False
    purgatory.watch(request, "a")
    request.raising = True
    with pytest.raises(KeyboardInterrupt):
        purgatory.check("a")
    assert request.pending and unraisable == []
    # Submitted: what the interrupt leaves is a request that waits.
    other = Interrupted()
    other.raising = True
    with pytest.raises(KeyboardInterrupt):
        purgatory.watch(other, "a")
    assert other.pending and purgatory.close() == 2 and not other.pending


@pytest.mark.parametrize("function", ["py_request_ended", "_end"])
def test_interrupt_while_a_request_ends_leaves_nothing(purgatory, manual, unraisable, function):
    request = Wait([])
    purgatory.watch(request, "a", timeout=0.5)
    advance_interrupted(manual, function)
    assert request.ended == [Reason.EXPIRED] and not request.pending
    assert purgatory._requests == set() and unraisable == []


def test_hooks_may_use_the_purgatory(purgatory):
    ended = []

    class Chain(Request):
        def on_complete(self, reason):
            ended.append(self.n)
            if self.n:
                following = Chain()
                following.n = self.n - 1
                purgatory.watch(following, "k%d" % following.n)
                following.complete()
            else:
                purgatory.close()

    first = Chain()
    first.n = 20
    purgatory.watch(first, "k")
    first.complete()
    assert ended == list(range(20, -1, -1)) and purgatory.closed


def test_threshold_completes_in_order_of_values(purgatory):
    threshold = purgatory.threshold(10)
    ended = []

    class At(Request):
        def on_complete(self, reason):
            ended.append((self.value, reason))

    for value in (30, 20, 40, 5):
        request = At()
        request.value = value
        assert threshold.wait(request, value) is (value > 10)
    assert ended == [(5, Reason.COMPLETED)]
    assert threshold.advance(35) == 2 and threshold.value == 35
    assert ended[1:] == [(20, Reason.COMPLETED), (30, Reason.COMPLETED)]
    threshold.lower(3)
    assert threshold.value == 3
    with pytest.raises(ValueError):
        threshold.end_all(Reason.EXPIRED)
    assert threshold.end_all(Reason.CANCELLED) == 1 and ended[-1] == (40, Reason.CANCELLED)
    with pytest.raises(ValueError):
        threshold.wait(At(), -1)


def test_waiting_requests_keep_their_threshold(purgatory, manual):
    request = Wait([])
    purgatory.threshold().wait(request, 5, timeout=10)
    gc.collect()
    assert request.pending
    manual.advance(11)
    assert request.ended == [Reason.EXPIRED]


def test_dropped_purgatory_ends_its_requests():
    ended = []
    with htw.Scheduler() as scheduler:
        purgatory = Purgatory(scheduler)
        request = Wait([], ended)
        request.purgatory = purgatory  # a cycle
        purgatory.watch(request, "a", timeout=1000)
        references = weakref.ref(purgatory), weakref.ref(request)
        del purgatory, request
        assert all(collected(reference) for reference in references)
        assert ended == [Reason.CLOSED]


def test_each_item_goes_to_one_request_of_many_threads(threaded):
    ended, lock, items = [], threading.Lock(), []

    class Take(Request):
        def try_complete(self):
            with lock:
                if items:
                    self.got = items.pop()
                    return True
            return False

        def on_complete(self, reason):
            ended.append((reason, getattr(self, "got", None)))

    with Purgatory(threaded) as purgatory:
        def work(i):
            for j in range(300):
                if i % 2:
                    purgatory.watch(Take(), "k", timeout=0.001 * (j % 4) if j % 3 else None)
                else:
                    with lock:
                        items.append((i, j))
                    purgatory.check("k", at_most=1)

        in_threads(4, work)
        while items and len(purgatory):
            purgatory.check("k")
    wait_until(lambda: len(ended) == 600)
    got = [item for reason, item in ended if reason is Reason.COMPLETED]
    assert len(set(got)) == len(got) == 600 - len(items)
    wait_until(lambda: purgatory._requests == set())


def test_statistics_balance(purgatory):
    for i in range(5):
        purgatory.watch(Wait([]), "k%d" % i)
    purgatory.cancel_key("k1")
    stats = purgatory.stats()
    assert (stats.submitted, stats.cancelled, stats.pending) == (5, 1, 4)
    assert len(stats.waits) == 24
    assert "htw_purgatory_" in purgatory.prometheus()
    with htw.Purgatory(purgatory._scheduler, name="fetches") as named:
        named.watch(Wait([]), "key", timeout=5)
        assert " fetches timeouts()\n" in purgatory._scheduler.dump()


def test_child_gets_errors(purgatory):
    request = Wait([])
    purgatory.watch(request, "a", timeout=5)

    def child():
        with pytest.raises(htw.ForkedError):
            purgatory.check("a")
        with pytest.raises(htw.ForkedError):
            purgatory.watch(Wait([]), "a")
        assert purgatory.close() == 0 and request.ended == []

    assert in_child(child) == 0
    assert request.pending
