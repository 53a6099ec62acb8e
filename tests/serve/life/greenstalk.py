# SPDX-License-Identifier: MIT
"""A life cycle through greenstalk: greenstalk.py PORT. What each step gives is printed, without ids."""
import sys

sys.path.append(sys.path.pop(0))  # the library, not this file
import greenstalk  # noqa: E402

with greenstalk.Client(("127.0.0.1", int(sys.argv[1])), use="life", watch=["life"]) as client:
    job = client.put("body", priority=5, delay=0, ttr=60)
    print("peek-ready", client.peek_ready().body, client.stats_job(job)["state"])
    reserved = client.reserve(timeout=1)
    print("reserved", reserved.body, reserved.id == job)
    client.touch(reserved)
    client.release(reserved, priority=7, delay=0)
    reserved = client.reserve()
    client.bury(reserved, priority=3)
    print("buried", client.peek_buried().body, client.stats_job(job)["pri"], client.kick(10))
    later = client.put("later", delay=1000)
    print("delayed", client.peek_delayed().body, client.stats_job(later)["delay"])
    client.kick_job(later)
    client.pause_tube("life", 1)
    print("paused", client.stats_tube("life")["current-jobs-ready"])
    for _ in range(2):
        reserved = client.reserve()
        print("after the pause", reserved.body)
        client.delete(reserved)
    for wrong, act in (("reserve", lambda: client.reserve(timeout=0)), ("delete", lambda: client.delete(job)),
                       ("too big", lambda: client.put("x" * 70000)), ("ignore", lambda: client.ignore("life"))):
        try:
            act()
        except greenstalk.Error as error:
            print(wrong, type(error).__name__)
    print(client.watching(), client.using(), sorted(client.stats()))
