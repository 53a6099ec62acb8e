#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# holds: scheduler-19
"""Every order of the steps of alarm_timerfd.c, for one sleeper and a few threads that arm timers.

What must hold whenever the sleeper sleeps, wherever the other threads are stopped: one of the two
kernel timers expires no later than the earliest timer of each thread whose call has returned.

The alarm of the deputy (deputy.c) has no clockwork before it: each thread that wants the deputy sets
the alarm. The first thread here then wants it no more and puts the alarm off, as an expirer that has
run its batch; where it is alone, it then wants the deputy again.

Memory is sequentially consistent here. MUTANTS are mistakes that the model must find: so it is
known to see something.

The steps bear the names of the functions in alarm_timerfd.c, clockwork.c and workers.c; what one lock or one
system call covers is one step.
"""

import sys
from collections import deque, namedtuple

NEVER = 99

# The shared timer: `resets` and `claimed` are its version, `at` what it is published to be set to,
# `kernel` what it is set to, `event` whether it has expired and the sleeper has not seen it.
State = namedtuple(
    "State",
    "now armed wake_tick waking resets alert "
    "version claimed at kernel event own_at own_kernel own_event own_armed "
    "sleeper threads has_clockwork",
)

MUTANTS = [
    "set: do not look again after claiming",
    "set: ignore that a reset has happened since",
    "set: publish before setting",
    "set: leave it to the thread that sets the timer",
    "set: wake the sleeper without the flag",
    "plan: do not look at the flag",
    "plan: use the shared timer while another thread sets it",
    "reset: leave the own timer published",
    "reset: do not count",
    "clockwork: ignore the threads that are setting the alarm",
]

DEPUTY_MUTANTS = [
    "put off: read before claiming",
    "put off: although another thread sets the timer",
    "put off: give back before setting",
    "put off: to never",
    "deputy: set the alarm before it is wanted",
    "deputy: leave it to another thread that wants it as early",
]


def successors(state, mutant):
    """All states that one step of one thread, or the passing of time, leads to."""
    yield from sleeper_steps(state, mutant)
    for number, (step, tick, seen) in enumerate(state.threads):
        steps = thread_steps if state.has_clockwork or step in SETTING else deputy_steps
        for after, thread in steps(state, mutant, number, step, tick, seen):
            threads = state.threads[:number] + (thread,) + state.threads[number + 1 :]
            yield after._replace(threads=threads)
    if state.now < 2:
        yield expire(state._replace(now=state.now + 1))


def expire(state):
    """What the kernel does at once."""
    if state.kernel <= state.now:
        state = state._replace(kernel=NEVER, event=True)
    if state.own_kernel <= state.now:
        state = state._replace(own_kernel=NEVER, own_event=True)
    return state


def settime(state, at):
    return expire(state._replace(kernel=at, event=False))


def settime_own(state, at):
    return expire(state._replace(own_kernel=at, own_event=False))


def thread_steps(state, mutant, number, step, tick, seen):
    """htw__clockwork_arm(), htw__alarm_set() and the rest of htw__clockwork_wake()."""
    if step == "arm":  # under the lock of the shard
        after = state._replace(armed=tuple(sorted(state.armed + ((tick, number),))))
        waking = 0 if mutant.startswith("clockwork") else state.waking
        if tick >= state.wake_tick and waking == 0:
            yield after, ("returned", tick, None)
        else:
            wake_tick = min(tick, state.wake_tick)
            after = after._replace(waking=state.waking + 1, wake_tick=wake_tick)
            yield after, ("begin", tick, None)
    elif step == "begin":
        yield state, ("count", tick, (state.wake_tick, 0, 0))
    elif step == "count":
        yield state, ("own", tick, (seen[0], state.resets, 0))
    elif step == "own":
        yield state, ("finish" if state.own_at <= seen[0] else "look", tick, seen)
    elif step == "look":
        yield state, (look(state, mutant, seen), tick, (seen[0], seen[1], state.version))
    elif step == "covered":
        yield state, ("finish" if state.at <= seen[0] else "claim", tick, seen)
    elif step == "claim":
        if state.claimed or state.version != seen[2]:
            yield state, ("look", tick, seen)
        else:  # and nobody else changes `at` from here on
            again = seen[2] == seen[1] and state.at <= seen[0] and mutant != MUTANTS[0]
            following = "publish" if mutant == MUTANTS[2] else "set"
            after = state._replace(version=seen[1], claimed=True)
            yield after, ("release" if again else following, tick, seen)
    elif step == "set":
        yield settime(state, seen[0]), ("release" if mutant == MUTANTS[2] else "publish", tick, seen)
    elif step == "publish":
        # Mistaken: published, and seen to be so, before the kernel knows.
        after = state._replace(at=seen[0])
        if mutant == MUTANTS[2]:
            after = after._replace(claimed=False)
        yield after, ("set" if mutant == MUTANTS[2] else "release", tick, seen)
    elif step == "release":
        yield state._replace(claimed=False), ("finish", tick, seen)
    elif step == "flag":
        yield state._replace(alert=mutant != MUTANTS[4]), ("wake", tick, seen)
    elif step == "wake":
        yield settime_own(state, 0), ("finish", tick, seen)
    elif step == "finish":  # under the lock
        yield state._replace(waking=state.waking - 1), ("returned", tick, None)


SETTING = ("count", "own", "look", "covered", "claim", "set", "publish", "release", "flag", "wake")


def deputy_steps(state, mutant, number, step, tick, seen):
    """htw__deputy_want(), htw__deputy_unlock() and put_off_deputy(), around htw__alarm_set()."""
    wanted = tuple(sorted(state.armed + ((tick, number),)))
    if step == "arm":  # under the mutex
        after = state._replace(armed=wanted)
        if mutant == DEPUTY_MUTANTS[4]:
            yield state, ("count", tick, (tick, 0, 0))
        elif mutant == DEPUTY_MUTANTS[5] and state.armed and state.armed[0][0] <= tick:
            yield after, ("returned", tick, None)
        else:
            yield after, ("count", tick, (tick, 0, 0))
    elif step == "finish":
        after = state._replace(armed=wanted) if mutant == DEPUTY_MUTANTS[4] else state
        yield after, ("returned", tick, None)
    elif step == "returned" and number == 0 and tick == 1:  # under the mutex
        armed = tuple(timer for timer in state.armed if timer[1] != number)
        following = "read" if mutant == DEPUTY_MUTANTS[0] else "put off"
        yield state._replace(armed=armed), (following, tick, (NEVER, 0))
    elif step == "put off":
        yield state, ("again" if state.at == NEVER else "claim it", tick, (seen[0], state.resets))
    elif step == "claim it":
        if (state.claimed and mutant != DEPUTY_MUTANTS[1]) or state.version != seen[1]:
            yield state, ("again", tick, None)
        else:
            following = "put" if mutant == DEPUTY_MUTANTS[0] else "read"
            yield state._replace(claimed=True), (following, tick, seen)
    elif step == "read":  # under the mutex
        at = state.armed[0][0] if state.armed and mutant != DEPUTY_MUTANTS[3] else NEVER
        following = "give back" if mutant == DEPUTY_MUTANTS[2] else "put"
        yield state, ("put off" if mutant == DEPUTY_MUTANTS[0] else following, tick, (at, seen[1]))
    elif step == "put":
        after = state if state.at == seen[0] else settime(state, seen[0])
        yield after, ("again" if mutant == DEPUTY_MUTANTS[2] else "publish it", tick, seen)
    elif step == "publish it":
        yield state._replace(at=seen[0]), ("give back", tick, seen)
    elif step == "give back":
        following = "put" if mutant == DEPUTY_MUTANTS[2] else "again"
        yield state._replace(claimed=False), (following, tick, seen)
    elif step == "again" and len(state.threads) == 1:  # with two there would be far more states
        yield state, ("arm", 2, None)


def look(state, mutant, seen):
    if state.version > seen[1] and mutant != MUTANTS[1]:
        return "finish"
    if state.claimed:
        return "finish" if mutant == MUTANTS[3] else "flag"
    return "covered" if state.version == seen[1] else "claim"


def sleeper_steps(state, mutant):
    """The loop of an expirer: htw__alarm_reset(), the search, htw__alarm_plan(), htw__alarm_wait()."""
    step, seen = state.sleeper
    if step == "reset":
        own_at = state.own_at if mutant == MUTANTS[7] else NEVER
        yield state._replace(own_at=own_at, sleeper=("reset flag", None))
    elif step == "reset flag":
        yield state._replace(alert=False, sleeper=("reset count", None))
    elif step == "reset count":
        resets = state.resets + (mutant != MUTANTS[8])
        yield state._replace(resets=resets, sleeper=("search", None))
    elif step == "search":  # under the lock
        left = tuple(timer for timer in state.armed if timer[0] > state.now)
        wake_tick = left[0][0] if left else NEVER
        yield state._replace(armed=left, wake_tick=wake_tick, sleeper=("next", None))
    elif step == "next":
        if state.wake_tick <= state.now:
            yield state._replace(sleeper=("reset", None))
        else:
            yield state._replace(sleeper=("plan", (state.wake_tick, None)))
    elif step == "plan":
        if state.claimed and mutant != MUTANTS[6]:
            yield state._replace(sleeper=("set own", seen))
        elif state.version == state.resets and not state.claimed:
            yield state._replace(sleeper=("plan covered", (seen[0], state.version)))
        else:
            yield state._replace(sleeper=("plan claim", (seen[0], state.version)))
    elif step == "plan covered":
        following = "clear own" if state.at <= seen[0] else "plan claim"
        yield state._replace(sleeper=(following, seen))
    elif step == "plan claim":
        taken = state.claimed and mutant != MUTANTS[6]
        if taken or state.version != seen[1]:
            yield state._replace(sleeper=("plan", seen))
        else:
            again = seen[1] == state.resets and state.at <= seen[0]
            following = state._replace(version=state.resets, claimed=True)
            yield following._replace(sleeper=("plan release" if again else "plan set", seen))
    elif step == "plan set":
        yield settime(state, seen[0])._replace(sleeper=("plan publish", seen))
    elif step == "plan publish":
        yield state._replace(at=seen[0], sleeper=("plan release", seen))
    elif step == "plan release":
        yield state._replace(claimed=False, sleeper=("clear own", seen))
    elif step == "clear own":
        if state.own_armed:
            yield settime_own(state, NEVER)._replace(own_armed=False, sleeper=("plan flag", None))
        else:
            yield state._replace(sleeper=("wait", None))
    elif step == "set own":
        following = settime_own(state, seen[0])
        yield following._replace(own_armed=True, sleeper=("publish own", seen))
    elif step == "publish own":
        yield state._replace(own_at=seen[0], sleeper=("plan flag", None))
    elif step == "plan flag":
        flag = state.alert and mutant != MUTANTS[5]
        yield state._replace(sleeper=("plan now" if flag else "wait", None))
    elif step == "plan now":
        yield settime_own(state, 0)._replace(own_armed=True, sleeper=("wait", None))
    elif step == "wait":
        if state.event or state.own_event:
            yield state._replace(event=False, own_event=False, sleeper=("reset", None))


def is_broken(state):
    """The sleeper sleeps, and would be late if all other threads were stopped for ever."""
    if state.sleeper[0] != "wait" or state.event or state.own_event:
        return False
    wakes = min(state.kernel, state.own_kernel)
    return any(
        step == "returned" and (tick, number) in state.armed and tick < wakes
        for number, (step, tick, _) in enumerate(state.threads)
    )


def explore(ticks, mutant, has_clockwork):
    """Returns a state that is broken, or None."""
    first = State(
        0, (), NEVER, 0, 0, False, 0, False, NEVER, NEVER, False, NEVER, NEVER, False, False,
        ("reset", None), tuple(("arm", tick, None) for tick in ticks), has_clockwork,
    )  # fmt: skip
    known, open_states = {first}, deque([first])
    while open_states:
        state = open_states.popleft()
        if is_broken(state):
            return state
        for following in successors(state, mutant):
            if following not in known:
                known.add(following)
                open_states.append(following)
    return None


def find(ticks, mutant, has_clockwork=True):
    """Ends the program if the model does not hold for these timers; or, of a mistake, if it does."""
    broken = explore(ticks, mutant, has_clockwork)
    if (broken is None) == (mutant != ""):
        sys.exit(f"timers at {ticks}, mistake {mutant!r}: the sleeper would be late in {broken}")


def main():
    for ticks in ((1,), (2,), (1, 1)):
        find(ticks, "")
    for mutant in MUTANTS:
        find((1, 1) if mutant != MUTANTS[0] else (2, 1), mutant)
    for ticks in ((1,), (1, 1)):
        find(ticks, "", has_clockwork=False)
    for mutant in DEPUTY_MUTANTS:
        find((1, 1), mutant, has_clockwork=False)


main()
