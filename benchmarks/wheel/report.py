# SPDX-License-Identifier: MIT
"""The figures of the wheel: a table for each of them, with the numbers of timers across."""

from common.report import number, table

TITLE = "Wheel"
LABELS = {"peer": "htw", "timers": 1000000}
PAIR = ("pair_ns", "ns a pair", 1)
MOVE = ("move_ns", "ns a move", 1)
COLUMNS = {
    "churn": [PAIR],
    "fifo": [PAIR],
    "fifo-time": [PAIR, MOVE],
    "expire": [("add_ns", "add: ns a timer", 1), ("expire_ns", "expire: ns a timer", 1),
               ("expire_wakeups", "expire: wake-ups a timer", 1)],
    "long": [("add_ns", "add: ns a timer", 1), ("drain_ns", "drain: ns a timer", 1),
             ("drain_advances", "drain: advances a timer", 1)],
    "slack": [("expire_add_ns", "expire, add: ns a timer", 1),
              ("expire_ns", "expire: ns a timer", 1),
              ("expire_wakeups", "expire: wake-ups a timer", 1),
              ("long_add_ns", "long, add: ns a timer", 1),
              ("long_drain_ns", "long, drain: ns a timer", 1),
              ("long_drain_advances", "long, drain: advances a timer", 1)],
    "keep-alive": [MOVE],
    "sparse": [("timer_ns", "ns a timer", 1), ("timer_advances", "advances a timer", 1)],
    "memory": [("fixed_bytes", "fixed: bytes a wheel", 1),
               ("timer_bytes", "armed: bytes a timer", 1)],
}
NULL = "null"  # the harness alone
MARKS = {NULL, "relink"}  # what there is to pay at least


def is_peer(name):
    return name not in MARKS and not name.startswith("htw")


def cell(value, state):
    return number(value) if value is not None else state.split(":")[0] or "-"


def block(figures, workload, metric, head, is_net):
    """A figure of all peers; None if there is none. is_net: without the cost of the harness."""
    rows = figures.rows(workload)
    peers = list(dict.fromkeys(peer for peer, _ in rows))
    sizes = list(dict.fromkeys(timers for _, timers in rows))

    def value(peer, timers):
        found = figures.value(workload, (peer, timers), metric)
        harness = figures.value(workload, (NULL, timers), metric) if is_net else 0
        return None if found is None or harness is None else found - harness

    shown = [peer for peer in peers if any(value(peer, timers) is not None for timers in sizes)
             and not (is_net and peer == NULL)]
    if not shown:
        return None
    lines = [[peer, *(cell(value(peer, timers), figures.state(workload, (peer, timers)))
                      for timers in sizes)] for peer in shown]
    best = [min((value(peer, timers) for peer in shown
                 if is_peer(peer) and value(peer, timers) is not None), default=None)
            for timers in sizes]
    own = [value("htw", timers) for timers in sizes]
    ratios = [number(ns / base) if ns is not None and base else "-" for ns, base in zip(own, best)]
    if any(text != "-" for text in ratios):
        lines.append(["htw / best peer", *ratios])
    head += ", net of null" if is_net else ""
    return table([head, *(f"{timers:g}" if timers % 1000 == 0 else str(timers)
                          for timers in sizes)], lines)


def notes(figures, workload):
    """Why figures are missing, a line for each reason."""
    reasons = {}
    for peer, timers in figures.rows(workload):
        state = figures.state(workload, (peer, timers))
        if state.startswith("left out"):
            reasons.setdefault(state, {})[peer] = None
        elif state:
            reasons.setdefault(state, {})[f"{peer} with {timers} timers"] = None
    return "\n".join(f"{state}: {', '.join(names)}" for state, names in reasons.items())


def blocks(figures, workload):
    found = []
    for metric, head, _ in COLUMNS[workload]:
        found.append(block(figures, workload, metric, head, False))
        if any(figures.value(workload, (NULL, timers), metric) is not None
               for _, timers in figures.rows(workload)):
            found.append(block(figures, workload, metric, head, True))
    found.append(notes(figures, workload))
    return filter(None, found)
