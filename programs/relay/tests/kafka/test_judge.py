# SPDX-License-Identifier: MIT
"""The judge of the other tests."""
import os

from judge import Verdict


def test_judge_sees_each_fault(tmp_path):
    """A judge that finds no fault proves nothing: it must find each kind."""
    def written(name, records):
        path = os.path.join(tmp_path, name)
        with open(path, "w", encoding="utf-8") as stream:
            for key, time, text in records:
                stream.write(f"{time}\tt\t0\t0\t{time}\t{key}\t1\tv\t{text}\n")
        return path
    sent = written("sent", [(f"k{i}", 1000, f"a=b;htw-deliver-at={2000 + i};") for i in range(3)]
                   + [("k3", 1000, "htw-delay=1003;"), ("k4", 1000, "htw-id=n;htw-ask=1;")])
    good = [(f"k{i}", 2100, f"htw-delivered-for={2000 + i};") for i in range(3)] + [
        ("k3", 2100, "htw-delivered-for=2003;")]
    verdict = Verdict(sent, written("good", good))
    verdict.require()
    assert verdict.late == [97, 98, 99, 100], verdict.late
    changed = written("changed", [(f"k{i}", 1000, f"htw-deliver-at={2000 + i};htw-id=n;") for i in range(3)]
                      + [("k0", 1001, "htw-cancel=n;"),
                         ("k1", 1001, "htw-deliver-at=3000;htw-id=n;htw-if-offset=1;"),
                         ("k2", 1001, "htw-deliver-at=1900;htw-id=n;")])
    soon = ("k2", 2100, "htw-delivered-for=1900;")
    verdict = Verdict(changed, written("replaced", [("k1", 3000, "htw-delivered-for=3000;"), soon]))
    verdict.require()
    assert (verdict.cancelled, verdict.replaced) == (["k0"], ["k1", "k2"]), vars(verdict)
    verdict = Verdict(changed, written("not replaced", [("k1", 2001, "htw-delivered-for=2001;"), soon, good[2]]))
    verdict.require()
    assert not verdict.replaced, vars(verdict)
    for name, records in {
            "missing": good[1:], "doubled": good + good[:1],
            "early": good[1:] + [("k0", 1999, "htw-delivered-for=2000;")],
            "for another deadline": good[1:] + [("k0", 2100, "htw-delivered-for=1990;")],
            "replaced, and early": (changed, [("k1", 2999, "htw-delivered-for=3000;"), soon]),
            "replaced, and twice": (changed, [("k1", 3000, "htw-delivered-for=3000;"), soon, soon]),
            "replaced on a condition, and at both times": (changed, [("k1", 2001, "htw-delivered-for=2001;"),
                                                                     ("k1", 3000, "htw-delivered-for=3000;"), soon]),
            "never sent": good + [("k9", 2100, "htw-delivered-for=2000;")]}.items():
        wanted, records = records if isinstance(records, tuple) else (sent, records)
        try:
            Verdict(wanted, written("bad", records)).require()
        except AssertionError:
            continue
        raise AssertionError(f"the judge does not see what is {name}")
