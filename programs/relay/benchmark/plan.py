# SPDX-License-Identifier: MIT
"""What is run: the relay, and a ladder of delay topics. A run is a process of stage.py."""

import json
import pathlib
import re
import sys

from common import measure, peers

ABOUT = "Measures htw relay over a Kafka on this machine, beside a ladder of delay topics."
ROUNDS = "1"
LIMIT_S = 1200

WORKLOADS = {"steady": "records a second through one, two or three hops, and how late they are",
             "late": "the same at 1 000 and 20 000 records a second",
             "waiting": "the memory of a relay while many records wait",
             "takeover": "how late records become when a relay ends",
             "written": "bytes that are written to Kafka for a record"}
PEERS = {"htw": "htw relay", "ladder": "a topic for each of a few fixed delays (ladder.c)"}
MODES = ("exactly once", "at least once")
HERE = pathlib.Path(__file__).parent
SMALL = "--width 1s --size 8"  # the window of level 0 is 8 s, that of level 1 is 32 s
TINY = "--width 1s --size 4 --levels 5"
# By hops: records a second that one broker, the relay, producer and consumer together keep on two cores; and delays.
HOPS = {"one hop": (60000, (0, 0), ""), "two hops": (50000, (2000, 20000), ""), "three hops": (35000, (9000, 20000), SMALL)}
WAITING = (100_000, 1_000_000, 10_000_000)
EVENTS = {"kill": "kill -9, another relay goes on", "restart": "kill -9, restart as the same --instance",
          "stop": "SIGTERM, another relay goes on"}
# Into which level a record goes, the delays that lead there with TINY buckets, and the horizon that does with
# the default ones.
HORIZONS = ((0, (1500, 2900), "1 s, 1 min"), (1, (4200, 5800), "half an hour"), (2, (8500, 11500), "1 h"),
            (3, (17000, 23000), "1 day"), (4, (34000, 46000), "30 days"))


def add_options(parser):
    parser.add_argument("--kafka", default="", metavar="DIR", help="the artifacts of Kafka (./dev fetches them)")
    parser.add_argument("--seconds", type=float, default=0, metavar="N", help="of steady runs (120; --quick 10)")
    parser.add_argument("--warmup", type=float, default=0, metavar="N", help="seconds before them (10; --quick 5)")
    parser.add_argument("--only", default="", metavar="PATTERN", help="runs whose peer, mode and case match")
    parser.add_argument("--rate", type=int, default=0, metavar="N", help="of steady runs")


def prepare(options, parser):
    program = pathlib.Path(options.program).resolve()
    options.given = {"program": str(program), "relay": str(program.parents[3] / "htw-relay"), "jars": options.kafka,
                     "classes": str(pathlib.Path(options.json).parent / "classes")}
    if not pathlib.Path(options.kafka, ".complete").exists():
        parser.error(f"--kafka: there is no Kafka in {options.kafka or 'no folder'}")
    kafka = next(pathlib.Path(options.kafka).glob("kafka_*.jar")).stem.rsplit("-", 1)[1]
    options.versions = {"Kafka": kafka, "JVM": peers.java_version()}


def run(options, workload, label="", peer="htw", mode="exactly once", case="", **more):
    """`label`: the workload of the report, if it is not that of stage.py."""
    label = label or workload
    if label in options.workloads and re.search(options.only, f"{peer}, {mode}, {case}"):
        words = {**options.given, "label": label, "peer": peer, "mode": mode, "case": case, **more}
        yield measure.Run([sys.executable, str(HERE / "stage.py"), "--workload", workload, json.dumps(words)])


def plan_rates(options):
    more = {"seconds": options.seconds or (10 if options.quick else 120), "warmup": options.warmup or (5 if options.quick else 10)}
    for mode in MODES:
        for hops, (rate, delays, geometry) in HOPS.items():
            rate = options.rate or (2000 if options.quick else rate)
            yield from run(options, "steady", rate=rate, delays=delays, geometry=geometry, mode=mode, case=hops, **more)
        rate = options.rate or (2000 if options.quick else HOPS["two hops"][0])
        yield from run(options, "steady", rate=rate, peer="ladder", mode=mode, case="delays of 1, 2, 5 and 10 s", **more)


def plan_lateness(options):
    for rate in (1000, 20000):
        for mode in MODES:
            for peer in PEERS:
                yield from run(options, "steady", "late", peer, mode, f"{rate} records a second", rate=rate, delays=(2000, 5000),
                               seconds=options.seconds or (10 if options.quick else 60), warmup=5)


def plan_others(options):
    for count in WAITING[:1] if options.quick else WAITING:
        yield from run(options, "waiting", count=count, delays=(900_000, 8_100_000), seconds=600, warmup=5,
                       case=f"{count} wait, from 15 min to 2 h 15 min")
    for event, case in EVENTS.items():
        yield from run(options, "takeover", delays=(2000, 5000), event=event, seconds=50, warmup=5, case=case)
    for level, delays, horizon in HORIZONS[:2] if options.quick else HORIZONS:
        yield from run(options, "written", rate=2000, seconds=20, delays=delays, geometry=TINY, writes=level + 2,
                       case=f"level {level}: {horizon}")
    yield from run(options, "written", rate=2000, seconds=20, peer="ladder", case="1, 2, 5 and 10 s")


def plan(options):
    for _ in range(options.rounds or 1):
        yield from plan_rates(options)
        yield from plan_lateness(options)
        yield from plan_others(options)
